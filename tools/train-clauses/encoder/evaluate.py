"""evaluate.py DUMP LOGITS.json… [--final]: the clause model alone, the encoder alone and both, clause by clause."""
import json, sys, hashlib, numpy as np
from scipy.optimize import minimize
dump, pred = sys.argv[1], [p for p in sys.argv[2:] if p != "--final"]
docs = [json.loads(l) for l in open(dump)]
preds = [json.load(open(p)) for p in pred]
def key(d): return d["folder"].split("/")[-1] + "/" + d["name"]
def soft(x):
    x = x - x.max(-1, keepdims=True); e = np.exp(x); return e / e.sum(-1, keepdims=True)
def in_text(o):
    o = o.copy(); t = .2; telling = (1 - o[:, 0]).sum(); share = (telling + 2 * t) / (len(o) + 2)
    doubt = min(share / max(1 - share, 1e-6) / (t / (1 - t)), 1)
    al = o[:, 0] + doubt * o[:, 1:].sum(1); o[:, 0] /= al; o[:, 1:] *= (doubt / al)[:, None]; return o
def group(d):
    f = d["folder"].split("/")[-1]
    if f in ("training", "tuning"): return "left-out"
    if f in ("documents", "notes"):
        half = int(hashlib.md5(d["name"].encode()).hexdigest(), 16) % 2
        return f + ("-tune" if half == 0 else "-final")
    return f
sets = {}
for d in docs:
    k = key(d)
    if not d["clauses"]: continue
    ps = [p[k] for p in preds if k in p]
    if not ps: continue
    old = np.log(np.clip(np.array([c["odds"] for c in d["clauses"]]), 1e-7, 1))
    enc = np.mean([np.array(x) for x in ps], 0)
    enc = np.log(soft(enc))
    tg = [c["targets"] for c in d["clauses"]]
    sets.setdefault(group(d), []).append((d, old, enc, tg))
def curve(items, f):
    s, r, w = [], [], 0
    for d, old, enc, tg in items:
        o = f(old, enc); o = soft(o); o = in_text(o)
        for row, t in zip(o, tg):
            if t is None: continue
            c = row[1:].argmax() + 1
            s.append(row[c]); r.append(t[c] > 0); w += t[0] < 1
    s, r = np.array(s), np.array(r); i = np.argsort(-s, kind="stable"); r = r[i]; s = s[i]
    tp = r.cumsum(); n = np.arange(1, len(r) + 1); P = tp / n; R = tp / w
    ap = (P * r).sum() / w
    out = [f"AP {ap*100:5.1f}"]
    for p in (.8, .75, .7):
        ok = np.where(P >= p)[0]
        out.append(f"R@{p:.2f} {R[ok[-1]]*100 if len(ok) else 0:5.1f} (t {s[ok[-1]] if len(ok) else 1:.2f})")
    f1 = (2 * P * R / (P + R + 1e-9)).max()
    out.append(f"F1max {f1*100:.1f}"); out.append(f"n {w}")
    return "  ".join(out)
# stack: fitted on left-out: w_old, w_enc, bias
X = [(o, e, np.array([t if t else [np.nan] * 9 for t in tg], float)) for _, o, e, tg in sets["left-out"]]
O = np.concatenate([x[0] for x in X]); E = np.concatenate([x[1] for x in X]); T = np.concatenate([x[2] for x in X])
ok = ~np.isnan(T[:, 0]); O, E, T = O[ok], E[ok], T[ok]
def unpack(w): return w[0], w[1], w[2:11]
def loss(w):
    a, b, c = unpack(w); z = a * O + b * E + c; z = z - z.max(1, keepdims=True)
    lse = np.log(np.exp(z).sum(1)); l = -(T * z).sum(1) + lse
    p = np.exp(z - lse[:, None]); g = (p - T)
    return l.mean() + 1e-4 * (w[2:] ** 2).sum(), np.concatenate([[(g * O).sum(1).mean(), (g * E).sum(1).mean()], g.mean(0) + 2e-4 * w[2:]])
def ll(z):
    z = z - z.max(1, keepdims=True); return (-(T * z).sum(1) + np.log(np.exp(z).sum(1))).mean()
r = minimize(loss, np.concatenate([[.5, .5], np.zeros(9)]), jac=True)
a, b, c = unpack(r.x)
print("stack", round(a, 2), round(b, 2), c.round(2), "loss old", round(ll(O), 4), "enc", round(ll(E), 4), "both", round(r.fun, 4))
for g in ["left-out", "documents-tune", "notes-tune", "documents", "held-aside", "held-aside-kinds"] + (["documents-final", "notes-final"] if "--final" in sys.argv else []):
    if g not in sets: continue
    for name, f in [("old", lambda o, e: o), ("enc", lambda o, e: e), ("mean", lambda o, e: (o + e) / 2), ("stack", lambda o, e: a * o + b * e + c)]:
        print(f"{g:17s} {name:6s}", curve(sets[g], f))
