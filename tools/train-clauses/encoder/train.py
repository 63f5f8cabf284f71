"""train.py DUMP OUT --fold K (left out; -1 for none) [--start CHECKPOINT] [--soft LOGITS.json]: fine-tunes the encoder on the clauses and
names of a dump. After each epoch OUT.pt has the weights, at the end OUT.json and OUT.names.json the logits of what was not trained on."""
import argparse, json, random, time
import torch, torch.nn.functional as F
from documents import batches, read
from encoder import CLAUSE_CLASSES, Encoder, loaded, write
from name_features import give_offsets
p = argparse.ArgumentParser()
p.add_argument("dump"); p.add_argument("out"); p.add_argument("--fold", type=int, default=0)
p.add_argument("--start", help="a checkpoint to go on from"); p.add_argument("--seed", type=int, default=0)
p.add_argument("--soft", help="logits of another encoder, by names of documents"); p.add_argument("--share", type=float, default=0.5, help="of its classes in the targets")
p.add_argument("--epochs", type=int, default=4); p.add_argument("--lr", type=float, default=1.5e-4); p.add_argument("--headlr", type=float, default=1e-3)
p.add_argument("--names", type=float, default=0.5, help="weight of the names' loss"); p.add_argument("--twice", help="a file with the names of documents whose names count twice")
p.add_argument("--hiding", type=float, default=0.5, help="how many texts with labelled names are read with hidden ones"); p.add_argument("--hide", type=float, default=0.5, help="how many of their names are hidden")
p.add_argument("--tokens", type=int, default=1700, help="of a batch"); p.add_argument("--dropout", type=float, default=0.1); p.add_argument("--threads", type=int, default=2)
a = p.parse_args()
torch.set_num_threads(a.threads); torch.manual_seed(0); random.seed(a.seed)
docs = read(a.dump)
labelled = lambda d: d.folder in ("training", "tuning")
train = [d for d in docs if labelled(d) and d.fold != a.fold]
test = [d for d in docs if not labelled(d) or d.fold == a.fold]
give_offsets([d for d in docs if labelled(d)])
soft = json.load(open(a.soft)) if a.soft else {}
twice = set(open(a.twice).read().split()) if a.twice else ()
for d in train:
    d.which = [k for k, target in enumerate(d.targets) if target is not None]
    d.wanted = torch.tensor([d.targets[k] for k in d.which]).reshape(-1, CLAUSE_CLASSES)
    if d.which and len(soft.get(d.name, ())) == len(d.targets):
        said = torch.softmax(torch.tensor([soft[d.name][k] for k in d.which]), 1)
        d.wanted = (1 - a.share) * d.wanted + a.share * said
    d.weight = 2.0 if d.name in twice else 1.0
train = [d for d in train if d.which or d.classes]

# Trainings of every seed begin with the same last layers, so that their weights can be averaged.
m = loaded(a.start, a.dropout) if a.start else Encoder(dropout=a.dropout)
if a.seed: torch.manual_seed(a.seed)
heads = [*m.clauses.parameters(), *m.names.parameters()]; known = {id(x) for x in heads}
rest = [x for x in m.parameters() if x.requires_grad and id(x) not in known]
opt = torch.optim.AdamW([dict(params=rest, lr=a.lr), dict(params=heads, lr=a.headlr)], weight_decay=0.01, fused=True)
steps = len(batches(train, a.tokens)) * a.epochs
sched = torch.optim.lr_scheduler.LambdaLR(opt, lambda s: min(1, (s + 1) / (0.08 * steps)) * max(0.0, 1 - s / steps))
print(len(train), "docs", sum(len(d.ids) for d in train), "tokens", sum(len(d.which) for d in train), "clauses", sum(len(d.classes) for d in train), "names", steps, "steps", flush=True)

rng, t0, step = random.Random(a.seed), time.time(), 0
for epoch in range(a.epochs):
    m.train(); sums = [0.0, 0, 0.0, 0]
    for b in batches(train, a.tokens):
        ids = [d.hidden(rng, a.hide) if d.classes and rng.random() < a.hiding else d.ids for d in b]
        with torch.autocast("cpu", torch.bfloat16): states, begins = m.states(b, ids)
        loss = 0
        if any(d.which for d in b):
            wanted = torch.cat([d.wanted for d in b])
            logits = m.clause_logits(states, begins, b, [d.which for d in b]).float()
            own = -(F.log_softmax(logits, 1) * wanted).sum()
            loss = loss + own / len(wanted); sums[0] += own.item(); sums[1] += len(wanted)
        named = [(d, begin) for d, begin in zip(b, begins) if d.classes]
        if named:
            logits = torch.cat([d.offset for d, _ in named]) + m.name_logits(states, [q for _, q in named], [d for d, _ in named]).float()
            weights = torch.cat([torch.full((len(d.classes),), d.weight) for d, _ in named])
            own = (F.cross_entropy(logits, torch.tensor([c for d, _ in named for c in d.classes]), reduction="none") * weights).sum()
            loss = loss + a.names * own / weights.sum(); sums[2] += own.item(); sums[3] += weights.sum().item()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(rest + heads, 1.0)
        opt.step(); sched.step(); opt.zero_grad(); step += 1
        if step % 60 == 0: print(step, round(sums[0] / sums[1], 4), round(sums[2] / max(sums[3], 1), 4), round(time.time() - t0), "s", flush=True)
    write(m, a.out + ".pt")
    print("epoch", epoch, round(sums[0] / sums[1], 4), round(sums[2] / max(sums[3], 1), 4), round(time.time() - t0), "s", flush=True)

m.eval(); clauses, names = {}, {}
rows = lambda logits, count: [[round(v, 4) for v in next(logits)] for _ in range(count)]
for b in batches(test, 3000, False):
    with torch.no_grad(), torch.autocast("cpu", torch.bfloat16): _, of_clauses, of_names = m.read(b)
    of_clauses, of_names = (iter([] if x is None else x.tolist()) for x in (of_clauses, of_names))
    for d in b:
        clauses[d.folder + "/" + d.name] = rows(of_clauses, len(d.clauses))
        if d.classes: names[d.name] = rows(of_names, len(d.classes))
json.dump(clauses, open(a.out + ".json", "w")); json.dump(names, open(a.out + ".names.json", "w"))
