"""evaluate_names.py DUMP OUT.names.json…: how many of the labelled names are found at precisions, by the features alone and with the
encoder's logits of documents that it was not trained on (a, b and biases of each fifth are fitted on the others, or all on one)."""
import json, sys
import numpy as np
from scipy.optimize import minimize
from documents import is_training, read
from name_features import give_offsets, softmax

TYPES = ["person", "org", "project", "place"]


def joined(v, s, e):
    return s * v[0] + e * v[1] + v[2:]


def fit_blend(s, e, y, keep_slope=0.1):
    """a, b and the biases by which they judge best."""
    t = np.eye(6)[y]
    def loss(v):
        p = softmax(joined(v, s, e)); off = (p - t) / len(y)
        value = -np.log(p[np.arange(len(y)), y] + 1e-12).mean() + 1e-3 * (v[2:] ** 2).sum()
        return value, np.concatenate([[(off * s).sum(), (off * e).sum()], off.sum(0) + 2e-3 * v[2:]])
    return minimize(loss, np.r_[1.0, 0.5, np.zeros(6)], jac=True, method="L-BFGS-B").x


def recall_at(p, right, least):
    order = np.argsort(-p); hits = np.cumsum(right[order]); precision = hits / np.arange(1, len(p) + 1)
    fine = np.nonzero(precision >= least)[0]
    return 100 * hits[fine[-1]] / right.sum() if len(fine) else 0.0


def average_precision(p, right):
    right = right[np.argsort(-p)]
    return 100 * (np.cumsum(right) / np.arange(1, len(p) + 1))[right].mean()


def table(p, y, label=""):
    nll = -np.log(p[np.arange(len(y)), y] + 1e-12).mean()
    cells, aps = [], []
    for c, name in enumerate(TYPES, 1):
        right = y == c
        if not right.any(): continue
        ap = average_precision(p[:, c], right); aps.append(ap)
        cells.append(f"{name}({right.sum()}) " + "/".join(f"{recall_at(p[:, c], right, least):.0f}" for least in (0.7, 0.6)) + f" {ap:.1f}")
    print(f"{label:34} nll {nll:.4f}  mean ap {np.mean(aps):.1f}  " + "  ".join(cells), flush=True)


if __name__ == "__main__":
    dump, *outs = sys.argv[1:]
    logits = {k: v for out in outs for k, v in json.load(open(out)).items()}
    docs = read(dump, is_training); give_offsets(docs)
    docs = [d for d in docs if d.classes and d.name in logits]
    s = np.concatenate([d.offset.numpy() for d in docs]); e = np.concatenate([np.array(logits[d.name]).reshape(-1, 6) for d in docs])
    y = np.array([c for d in docs for c in d.classes]); fold = np.array([d.fold for d in docs for _ in d.classes])
    p = softmax(joined(fit_blend(s, e, y), s, e))
    for k in set(fold) if len(set(fold)) > 1 else ():
        p[fold == k] = softmax(joined(fit_blend(s[fold != k], e[fold != k], y[fold != k]), s, e)[fold == k])
    print("a, b and biases:", np.round(fit_blend(s, e, y), 3))
    for label, odds in (("features", softmax(s)), ("plain sum", softmax(s + e)), ("blended", p)): table(odds, y, label)
