"""evaluate_names.py OFFSETS-DUMP OUT.json…: how many of the labelled names are found at precisions, by the features alone and with the
encoder's logits of documents that it was not trained on (a, b and biases of each fifth are fitted on the others, or all on one)."""
import json, sys
import numpy as np
from scipy.optimize import minimize

TYPES = ["person", "org", "project", "place"]


def softmax(z):
    z = np.exp(z - z.max(1, keepdims=True))
    return z / z.sum(1, keepdims=True)


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
    from names import give_offsets, texts_of
    dump, twice, *outs = sys.argv[1:]
    wanted = set(open(twice).read().split())
    logits = {k: v for out in outs for k, v in json.load(open(out)).items()}
    texts = texts_of(dump); give_offsets(texts)
    texts = [t for t in texts if t.name in logits]
    s = np.concatenate([t.offset.numpy() for t in texts]); e = np.concatenate([np.array(logits[t.name]).reshape(-1, 6) for t in texts])
    y = np.array([c for t in texts for c in t.labels]); fold = np.array([t.fold for t in texts for _ in t.labels])
    mine = np.array([t.name in wanted for t in texts for _ in t.labels])
    p = softmax(s + e)
    if len(set(fold)) > 1:
        for k in set(fold): p[fold == k] = softmax(joined(fit_blend(s[fold != k], e[fold != k], y[fold != k]), s, e)[fold == k])
    print("a, b and biases:", np.round(fit_blend(s, e, y), 3))
    for label, which in (("all", mine | True), ("those that count twice", mine)):
        table(softmax(s)[which], y[which], "features, " + label)
        table(softmax(s + e)[which], y[which], "plain sum, " + label)
        table(p[which], y[which], "blended, " + label)
