"""train.py DUMP OUT --fold K (left out; -1 for none) [--start CHECKPOINT.pt]: fine-tunes the encoder on the clauses of a dump.
After each epoch OUT.pt has the weights, at the end OUT.json the logits of every document that was not trained on."""
import argparse, json, random, time, sys
import torch
from adapter import checkpoint
from bert import *
p = argparse.ArgumentParser()
p.add_argument("dump"); p.add_argument("out")
p.add_argument("--fold", type=int, default=0); p.add_argument("--folds", type=int, default=5)
p.add_argument("--rank", type=int, default=0); p.add_argument("--epochs", type=int, default=3)
p.add_argument("--lr", type=float, default=1e-4); p.add_argument("--headlr", type=float, default=1e-3)
p.add_argument("--frozen", type=int, default=0); p.add_argument("--threads", type=int, default=1)
p.add_argument("--tokens", type=int, default=1600); p.add_argument("--seed", type=int, default=0)
p.add_argument("--start", help="a checkpoint to go on from"); p.add_argument("--minutes", type=float, default=float("inf"), help="no longer than this")
p.add_argument("--dropout", type=float, default=0.1)
a = p.parse_args()
torch.set_num_threads(a.threads); torch.manual_seed(0); random.seed(a.seed)
docs = [json.loads(l) for l in open(a.dump)]
train, test = [], []
for d in docs:
    is_train = "training" in d["folder"] or "tuning" in d["folder"]
    (train if is_train and d["fold"] % a.folds != a.fold else test).append(d)

def items(docs, labelled):
    out = []
    for d in docs:
        for ids, cl in windows(d):
            if labelled:
                cl = [(d["clauses"][k]["targets"], s, e) for k, s, e in cl if d["clauses"][k]["targets"] is not None]
                if not cl: continue
            out.append((ids, cl, d["name"]))
    return out

def batches(its, shuffle):
    its = list(its)
    if shuffle: random.shuffle(its)
    its.sort(key=lambda x: len(x[0]) + (random.random() * 20 if shuffle else 0))
    out, cur = [], []
    for it in its:
        if cur and (len(cur) + 1) * max(len(it[0]), len(cur[0][0])) > a.tokens: out.append(cur); cur = []
        cur.append(it)
    if cur: out.append(cur)
    if shuffle: random.shuffle(out)
    return out

def tensors(b):
    t = max(len(i[0]) for i in b)
    ids = torch.zeros(len(b), t, dtype=torch.long); mask = torch.zeros(len(b), t)
    rows, st, en, tg = [], [], [], []
    for n, (w, cl, _) in enumerate(b):
        ids[n, :len(w)] = torch.tensor(w); mask[n, :len(w)] = 1
        for x, s, e in cl: rows.append(n); st.append(s); en.append(e); tg.append(x)
    return ids, mask, torch.tensor(rows), torch.tensor(st), torch.tensor(en), tg

# Trainings of every seed begin with the same head, so that their weights can be averaged.
m = Bert(a.rank, a.frozen, a.dropout)
if a.seed: torch.manual_seed(a.seed)
if a.start: m.load_state_dict(checkpoint(a.start))
head = list(m.head.parameters()); hid = {id(x) for x in head}
rest = [x for x in m.parameters() if x.requires_grad and id(x) not in hid]
opt = torch.optim.AdamW([dict(params=rest, lr=a.lr), dict(params=head, lr=a.headlr)], weight_decay=0.01, fused=True)
its = items(train, True)
per = len(batches(its, True)); steps = per * a.epochs
t0 = time.time()
def done(step): return max(step / steps, (time.time() - t0) / 60 / a.minutes)
sched = torch.optim.lr_scheduler.LambdaLR(opt, lambda s: min(1, (s + 1) / (0.08 * steps)) * max(0.0, 1 - done(s)))
print(len(train), "docs", len(its), "windows", sum(len(i[0]) for i in its), "tokens", sum(len(i[1]) for i in its), "clauses", steps, "steps",
      sum(x.numel() for x in rest), "params", flush=True)

def predict(docs):
    m.eval()
    out = [[None] * len(d["clauses"]) for d in docs]
    read = [(ids, [((n, k), s, e) for k, s, e in cl], None) for n, d in enumerate(docs) for ids, cl in windows(d)]
    for b in batches(read, False):
        ids, mask, rows, st, en, where = tensors(b)
        with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
            lg = m.clauses(ids, mask, rows, st, en)
        for (n, k), l in zip(where, lg.float().tolist()): out[n][k] = [round(v, 4) for v in l]
    m.train(); return {d["folder"].split("/")[-1] + "/" + d["name"]: res for d, res in zip(docs, out)}

step = 0
for epoch in range(a.epochs):
    m.train(); tot = n = 0
    for b in batches(its, True):
        if done(step) >= 1: break
        ids, mask, rows, st, en, tg = tensors(b); tg = torch.tensor(tg)
        with torch.autocast("cpu", torch.bfloat16):
            lg = m.clauses(ids, mask, rows, st, en)
        loss = -(F.log_softmax(lg.float(), 1) * tg).sum() 
        (loss / len(tg)).backward()
        torch.nn.utils.clip_grad_norm_(rest + head, 1.0)
        opt.step(); sched.step(); opt.zero_grad(); step += 1
        tot += loss.item(); n += len(tg)
        if step % 40 == 0: print(step, round(tot / n, 4), round(time.time() - t0), "s", flush=True)
    torch.save({k: v for k, v in m.state_dict().items()}, a.out + ".pt")
    if epoch + 1 == a.epochs or done(step) >= 1: json.dump(predict(test), open(a.out + ".json", "w"))
    print("epoch", epoch, round(tot / n, 4), round(time.time() - t0), "s", flush=True)
    if done(step) >= 1: break
