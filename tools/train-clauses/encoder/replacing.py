"""replacing.py DIRECTIVES.jsonl ADAPTER PAIRS.jsonl OUT.safetensors REVISING.safetensors [--aside PAIRS.jsonl]: an adapter that goes on from
another and says whether an earlier directive no longer holds after a later sentence, and the other with one more head, on its states as
they are: whether a sentence may end or change a directive at all."""
import argparse, json, os, random, re, time
import numpy as np, torch, torch.nn.functional as F
from safetensors.torch import load_file, save_file
from adapter import student_of, tensors_of
from documents import Document, batches
from encoder import loaded
from pairs import Pair, of_files, pair_logits
p = argparse.ArgumentParser()
p.add_argument("directives"); p.add_argument("adapter"); p.add_argument("pairs"); p.add_argument("out"); p.add_argument("revising")
p.add_argument("--turns", nargs="*", default=[], help="long turns with what ends a directive in them, for the head of the other"); p.add_argument("--aside"); p.add_argument("--epochs", type=int, default=6, help="0 makes REVISING alone"); p.add_argument("--lr", type=float, default=3e-4)
p.add_argument("--headlr", type=float, default=2e-3); p.add_argument("--dropout", type=float, default=0.25)
p.add_argument("--unlike", type=float, default=0.3, help="statements put together by chance, for each pair"); p.add_argument("--threads", type=int, default=2)
a = p.parse_args()
torch.set_num_threads(a.threads); torch.manual_seed(0); random.seed(0)
train, aside = of_files([a.pairs]), of_files([a.aside] if a.aside else [])


class Sentences(Document):
    def __init__(self, line):
        super().__init__(dict(line, folder=os.path.basename(line["folder"])))


def curve(said):
    """Average precision, and recall and least logit at some precisions."""
    said = sorted(said, reverse=True); right = np.array([float(r) for _, r in said])
    precision, recall = np.cumsum(right) / np.arange(1, len(right) + 1), np.cumsum(right) / right.sum()
    last = lambda least: max(np.where(precision >= least)[0], default=0)
    return f"{(precision * right).sum() / right.sum():.3f}  " + "  ".join(f"{q}: {recall[last(q)]:.2f} from {said[last(q)][0]:.1f}" for q in (0.95, 0.9, 0.85, 0.8))


def judge():
    student.eval(); said = []
    for b in batches(aside, 3000, False):
        with torch.no_grad(): said += zip(pair_logits(student, b).tolist(), [d.replaced for d in b])
    some = random.Random(1); chance = [Pair(some.choice(aside).earlier, some.choice(aside).later, False) for _ in range(400)]; logits = []
    for b in batches(chance, 3000, False):
        with torch.no_grad(): logits += pair_logits(student, b).tolist()
    student.train()
    return curve(said) + f"  by chance above 0.5, 1, 1.5, 2: {[round(float(np.mean(np.array(logits) > least)), 4) for least in (0.5, 1, 1.5, 2)]}"


def turns(files, are_ends):
    """Sentences of long turns, read among the others, that end a directive or do not."""
    found = []
    for case in (json.loads(line) for file in files for line in open(file)):
        ends = [(case["turn"].index(end["words"]), end["words"]) for end in case["ends"]]
        ends = [(start, start + len(words)) for start, words in ends]
        spans = sorted(set(ends)) if are_ends else [m.span() for m in re.finditer(r"[^.!?\n]{8,}[.!?]*", case["turn"]) if all(m.end() <= start or m.start() >= end for start, end in ends)]
        if spans: found.append(Sentences(dict(name="", fold=0, folder="training", text=case["turn"], clauses=[dict(span=span, targets=are_ends) for span in spans])))
    return found


def revising():
    """A logistic regression on the states of sentences: those that end a directive, and all of texts that state none."""
    model = loaded(a.adapter); model.eval()
    lines = [line for line in map(json.loads, open(a.directives))]
    plain = [Sentences(line) for line in lines if line["clauses"] and not any(one["targets"] for one in line["clauses"])]
    ends = lambda pairs: [Sentences(dict(name="", fold=0, folder="training", text=d.later, clauses=[dict(span=(0, len(d.later)), targets=True)])) for d in pairs if d.replaced]
    def states_of(docs):
        rows = []
        for b in batches([d for d in docs if len(d.ids)], 3000, False):
            with torch.no_grad():
                states, begins = model.states(b); rows.append(model.pooled(states, begins, b, [range(len(d.clauses)) for d in b]).float())
        return torch.cat(rows)
    own, others = states_of(ends(train) + turns(a.turns, True)), states_of([d for d in plain if d.folder == "training"] + turns(a.turns, False))
    x, y = torch.cat([own, others]), torch.cat([torch.ones(len(own)), torch.zeros(len(others))])
    mean, scale = x.mean(0), x.std(0) + 1e-3
    weight, bias = torch.zeros(x.shape[1], requires_grad=True), torch.zeros(1, requires_grad=True)
    opt = torch.optim.LBFGS([weight, bias], max_iter=200, history_size=20, line_search_fn="strong_wolfe")
    def loss():
        opt.zero_grad()
        out = F.binary_cross_entropy_with_logits(((x - mean) / scale) @ weight + bias, y) + 2e-3 * (weight ** 2).sum(); out.backward(); return out
    opt.step(loss)
    weight = (weight / scale).detach(); bias = (bias.detach() - weight @ mean)
    if aside:
        found, passed = np.sort((states_of(ends(aside)) @ weight + bias).numpy()), (states_of([d for d in plain if d.folder != "training"]) @ weight + bias).numpy()
        for share in (0.98, 0.95, 0.9, 0.8):
            least = found[int((1 - share) * len(found))]; print(f"{share} of what ends one from {least:.2f}, with {np.mean(passed >= least):.3f} of other sentences", flush=True)
    save_file(dict(load_file(a.adapter), **{"revising.weight": weight[None].half(), "revising.bias": bias.half()}), a.revising)


revising()
if not a.epochs: raise SystemExit
student, thin, base = student_of(a.adapter, a.dropout)
head = list(student.replacing.parameters())
steps = len(batches(train, 900)) * a.epochs
opt = torch.optim.AdamW([dict(params=thin, lr=a.lr, weight_decay=0.0), dict(params=head, lr=a.headlr, weight_decay=0.05)], fused=True)
sched = torch.optim.lr_scheduler.LambdaLR(opt, lambda s: min(1, (s + 1) / 30) * max(0.0, 1 - s / steps))
print(len(train), "pairs", len(aside), "aside", steps, "steps", flush=True); student.train(); t0 = time.time()
for epoch in range(a.epochs):
    total = 0.0
    for b in batches(train, 900):
        some = b + [Pair(random.choice(train).earlier, d.later, False) for d in b if random.random() < a.unlike]
        with torch.autocast("cpu", torch.bfloat16): logits = pair_logits(student, some)
        loss = F.binary_cross_entropy_with_logits(logits.float(), torch.tensor([d.replaced for d in some]))
        loss.backward(); torch.nn.utils.clip_grad_norm_(thin + head, 1.0); opt.step(); sched.step(); opt.zero_grad(); total += loss.item()
    print(epoch, round(total * a.epochs / steps, 3), judge() if aside else "", round(time.time() - t0), "s", flush=True)
save_file(tensors_of(student, base, a.adapter, ("replacing.",)), a.out)
