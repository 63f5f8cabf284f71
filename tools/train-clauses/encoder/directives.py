"""directives.py CLAUSES.jsonl DIRECTIVES.jsonl ADAPTER OUT.safetensors: teaches the thin matrices of an adapter which sentences state
directives, and with --learn the labelled clauses of some documents, while what they say of all other clauses and names stays what it was."""
import argparse, json, os, random, re, time
import numpy as np, torch, torch.nn.functional as F
from safetensors.torch import save_file
from adapter import student_of, tensors_of
from documents import Document, batches, is_training, read
from encoder import HEADS, loaded
p = argparse.ArgumentParser()
p.add_argument("clauses"); p.add_argument("directives"); p.add_argument("adapter"); p.add_argument("out")
p.add_argument("--start", help="an adapter to go on from, instead of the one whose answers are kept")
p.add_argument("--epochs", type=int, default=3); p.add_argument("--lr", type=float, default=3e-4); p.add_argument("--headlr", type=float, default=2e-3)
p.add_argument("--kept", type=float, default=1.0, help="weight of what stays as it was"); p.add_argument("--states", type=float, default=0.5)
p.add_argument("--tokens", type=int, default=1700); p.add_argument("--dropout", type=float, default=0.05); p.add_argument("--threads", type=int, default=2)
p.add_argument("--names", type=float, default=0.1)
p.add_argument("--learn", help="a pattern: of documents with such names the labels are learned"); p.add_argument("--every", type=int, default=4, help="one batch of them in so many steps")
a = p.parse_args()
# Where the machine does not multiply bf16 itself it would be slower.
reading = lambda: torch.autocast("cpu", torch.bfloat16, enabled=torch.ops.mkldnn._is_mkldnn_bf16_supported())
torch.set_num_threads(a.threads); torch.manual_seed(0); random.seed(0)
teacher = loaded(a.adapter); teacher.eval()
student, thin, base = student_of(a.start or a.adapter, a.dropout)
thin += [*student.clauses.parameters(), *student.names.parameters()]
head = list(student.directives.parameters())


class Stating(Document):
    """A text whose clauses are its sentences: whether each states a directive, and whose words it has."""
    def __init__(self, line):
        super().__init__(dict(line, folder=os.path.basename(line["folder"])))
        self.voices = [one["voice"] for one in line["clauses"]]
        self.wanted = torch.tensor([float(t) for t in self.targets])


def logits_of(model, docs):
    states, begins = model.states(docs)
    pooled = model.pooled(states, begins, docs, [range(len(d.clauses)) for d in docs])
    voices = torch.tensor([v for d in docs for v in d.voices])
    return model.directives(pooled).gather(1, voices[:, None])[:, 0]


texts = [Stating(line) for line in map(json.loads, open(a.directives))]
texts = [d for d in texts if len(d.ids) and d.clauses]
own = [d for d in texts if d.folder == "training"]; aside = [d for d in texts if d.folder != "training"]
others = [d for d in read(a.clauses, is_training)]
learned = [d for d in others if a.learn and re.search(a.learn, d.name)]
others = [d for d in others if d not in set(learned)]
for d in learned: d.which = [k for k, target in enumerate(d.targets) if target is not None]
learned = [d for d in learned if d.which]
parts = batches(own, a.tokens); steps = len(parts) * a.epochs
opt = torch.optim.AdamW([dict(params=thin, lr=a.lr, weight_decay=0.0), dict(params=head, lr=a.headlr, weight_decay=0.01)], fused=True)
sched = torch.optim.lr_scheduler.LambdaLR(opt, lambda s: min(1, (s + 1) / 40) * max(0.0, 1 - s / steps))
print(len(own), "texts", len(aside), "aside", len(others), "documents", len(learned), "learned", steps, "steps", sum(x.numel() for x in thin), "numbers", flush=True)


def judge():
    """Average precision of each file that nothing learned from."""
    student.eval(); said = {}
    for b in batches(aside, 3000, False):
        with torch.no_grad(), reading(): out = logits_of(student, b).float().tolist()
        out = iter(out)
        for d in b:
            name = d.name.rsplit("-", 1)[0]
            said.setdefault(name, []).extend((next(out), t) for t in d.targets)
    student.train(); line = []
    for name, pairs in sorted(said.items()):
        right = np.array([t for _, t in sorted(pairs, key=lambda one: -one[0])], float)
        precision = np.cumsum(right) / np.arange(1, len(right) + 1)
        line.append(f"{name} {(precision * right).sum() / right.sum():.3f} {max((np.cumsum(right) / right.sum())[precision >= 0.88], default=0):.2f}")
    print("  ".join(line), flush=True)


def judge_clauses():
    """Average precision of the encoder alone on documents that nothing learned from."""
    student.eval(); said = {}
    for b in batches([d for d in held if d.clauses], 3000, False):
        with torch.no_grad(), reading(): _, classes, _ = student.read(b)
        rows = iter(torch.softmax(classes.float(), 1).tolist())
        for d in b:
            for target in d.targets:
                row = next(rows)
                if target is not None:
                    most = max(range(1, 9), key=lambda k: row[k])
                    said.setdefault(d.folder, []).append((row[most], target[most] > 0, target[0] < 1))
    student.train(); line = []
    for name, rows in sorted(said.items()):
        rows.sort(key=lambda one: -one[0]); right = np.array([r for _, r, _ in rows], float); all_ = sum(e for _, _, e in rows)
        precision = np.cumsum(right) / np.arange(1, len(right) + 1); recall = np.cumsum(right) / max(1, all_)
        line.append(f"{name} {(precision * right).sum() / max(1, all_):.3f} {max(recall[precision >= 0.75], default=0):.2f}")
    print("clauses:", "  ".join(line), flush=True)


student.train(); step, t0, sums = 0, time.time(), [0.0] * 5
held = read(a.clauses, lambda line: not is_training(line))
judge(); judge_clauses()
anchors, lessons = iter(()), iter(())
even = lambda x: x - x.mean(1, keepdim=True)
for epoch in range(a.epochs):
    for b in batches(own, a.tokens):
        with reading(): logits = logits_of(student, b)
        wanted = torch.cat([d.wanted for d in b])
        stated = F.binary_cross_entropy_with_logits(logits.float(), wanted)
        stated.backward()
        if (other := next(anchors, None)) is None: anchors = iter(batches(others, a.tokens)); other = next(anchors)
        with reading():
            with torch.no_grad(): states, classes, types = teacher.read(other)
            own_states, own_classes, own_types = student.read(other)
        off = ((own_states.float() - states.float()) ** 2).sum(-1).mean() / (states.float() ** 2).sum(-1).mean()
        of_clauses = F.kl_div(F.log_softmax(own_classes, 1), F.log_softmax(classes, 1), log_target=True, reduction="batchmean")
        of_names = ((even(own_types) - even(types)) ** 2).mean() if types is not None else torch.zeros(())
        (a.kept * (a.states * off + of_clauses + a.names * of_names)).backward()
        of_labels = torch.zeros(())
        if learned and step % a.every == 0:
            if (lesson := next(lessons, None)) is None: lessons = iter(batches(learned, a.tokens)); lesson = next(lessons)
            with reading():
                states, begins = student.states(lesson)
                classes = student.clause_logits(states, begins, lesson, [d.which for d in lesson]).float()
            labels = torch.tensor([d.targets[k] for d in lesson for k in d.which])
            of_labels = -(F.log_softmax(classes, 1) * labels).sum(1).mean()
            of_labels.backward()
        torch.nn.utils.clip_grad_norm_(thin + head, 1.0)
        opt.step(); sched.step(); opt.zero_grad(); step += 1
        sums = [s + x.item() for s, x in zip(sums, (stated, off, of_clauses, of_names, of_labels * a.every))]
        if step % 40 == 0: print(step, [round(s / 40, 4) for s in sums], round(time.time() - t0), "s", flush=True); sums = [0.0] * 5
        if step % 200 == 0: judge(); judge_clauses()
    judge(); judge_clauses(); save_file(tensors_of(student, base, a.adapter, HEADS[:3]), a.out)
