"""fit.py OUT: the weights of memory-core/src/recall/told_by_words.rs, of the words by which a text tells that a fact has changed.

Learned from the streams of tests/gold/ending/values (which texts replace a value) but for some, and from
tests/gold/ending/changes. Prints what each stream reaches with the weights of the others. Needs numpy, scipy and scikit-learn."""
import glob, json, os, re, sys
import numpy as np
import scipy.sparse as sparse
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score

GOLD = os.path.join(os.path.dirname(__file__), "../../../tests/gold/ending")
NOT_LEARNED = ("bakery", "choir", "devops", "journalist", "mobileapp", "museum", "parents", "patient")
# Texts of streams count twice; the others have more changes than life has, which a feature of their own takes up.
WEIGHT, SHARE, REGULARISATION, CHANGED_FROM = 2, 3, 0.1, 0.2


def normal(text):
    return re.sub(r"\d[\d.,:]*", " 0 ", text.lower().replace("’", "'"))


def lines(folder, label):
    files = (name for name in sorted(glob.glob(f"{GOLD}/{folder}/*.jsonl")) if "-questions" not in name)
    return {os.path.basename(name)[:-6]: [(normal(line["text"]), bool(line[label])) for line in map(json.loads, open(name))] for name in files}


def fitted(streams, others, regularisation=REGULARISATION):
    texts = streams + others
    words = CountVectorizer(ngram_range=(1, 3), min_df=2, binary=True, token_pattern=r"[a-z']+|\d+|[^\w\s]")
    is_other = np.r_[np.zeros(len(streams)), np.ones(len(others))]
    rows = sparse.hstack([words.fit_transform([text for text, _ in texts]), sparse.csr_matrix(is_other[:, None] * SHARE)]).tocsr()
    model = LogisticRegression(C=regularisation, l1_ratio=1, solver="liblinear", max_iter=3000, random_state=1)
    model.fit(rows, [changes for _, changes in texts], sample_weight=np.where(is_other == 1, 1, WEIGHT))
    return words, model.coef_[0][:-1], model.intercept_[0]


def odds(model, texts):
    words, weights, bias = model
    return words.transform([text for text, _ in texts]) @ weights + bias


def write(path, model, least):
    """The weights, and under no word the bias, so that their sum is above zero where the log-odds are at least `least`."""
    words, weights, bias = model
    with open(path, "w") as out:
        print(f"\t{bias - least:.2f}", file=out)
        for word, weight in zip(words.get_feature_names_out(), weights):
            if abs(weight) >= 0.005: print(f"{word}\t{weight:.2f}", file=out)


if __name__ == "__main__":
    values, others = lines("values", "replaces"), sum(lines("changes", "change").values(), [])
    learned = [name for name in values if name not in NOT_LEARNED]
    least = np.log(CHANGED_FROM / (1 - CHANGED_FROM))
    for name, texts in values.items():
        found = odds(fitted(sum((values[other] for other in learned if other != name), []), others), texts)
        changes = np.array([changes for _, changes in texts])
        said = found >= least
        print(f"{name}: average precision {average_precision_score(changes, found):.2f}, {said[changes].sum()} of {changes.sum()} found, {said.sum()} said")
    write(sys.argv[1], fitted(sum((values[name] for name in learned), []), others), least)
