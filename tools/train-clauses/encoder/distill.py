"""distill.py DUMP RANK OUT.safetensors CHECKPOINT…: thin matrices of RANK for the mean of checkpoints (or adapters). They begin with the largest
singular values of what training changed, and are trained to give the states and classes that the whole matrices give."""
import argparse, json, random, time
import torch
from safetensors.torch import load_file, save_file
from adapter import NAMES, checkpoint, thin
from bert import *
p = argparse.ArgumentParser()
p.add_argument("dump"); p.add_argument("rank", type=int); p.add_argument("out"); p.add_argument("checkpoints", nargs="+")
p.add_argument("--fold", type=int, default=0); p.add_argument("--steps", type=int, default=500); p.add_argument("--lr", type=float, default=3e-4)
p.add_argument("--tokens", type=int, default=1600); p.add_argument("--threads", type=int, default=2)
a = p.parse_args()
torch.set_num_threads(a.threads); torch.manual_seed(0); random.seed(0)
loaded = [checkpoint(name) for name in a.checkpoints]
whole = {key: sum(one[key] for one in loaded) / len(loaded) for key in loaded[0]}
teacher, student = Bert(), Bert(a.rank)
teacher.load_state_dict(whole); teacher.eval()
tensors = thin(whole, a.rank)
state = student.state_dict()
for key in state:
    if key.startswith("head."): state[key] = whole[key]
    elif key.startswith("layers."):
        _, n, part, kind = key.split(".")
        name = f"encoder.layer.{n}.{NAMES[part]}."
        if kind == "a": state[key] = tensors[name + "weight.down"]
        elif kind == "b": state[key] = tensors[name + "weight.up"]
        elif name + kind in tensors: state[key] = whole[key]
student.load_state_dict(state)
student.eval()  # no dropout
for key, value in student.named_parameters():
    value.requires_grad_(key.startswith("head.") or key.startswith("layers.") and not (value.dim() == 2 and key.endswith(".weight")))
params = [x for x in student.parameters() if x.requires_grad]
docs = [json.loads(l) for l in open(a.dump)]
docs = [d for d in docs if ("training" in d["folder"] or "tuning" in d["folder"]) and d["fold"] != a.fold]
read = [w for d in docs for w in windows(d)]

def batches():
    its = sorted(read, key=lambda w: len(w[0]) + random.random() * 20)
    out, cur = [], []
    for it in its:
        if cur and (len(cur) + 1) * len(it[0]) > a.tokens: out.append(cur); cur = []
        cur.append(it)
    out.append(cur); random.shuffle(out); return out

opt = torch.optim.AdamW(params, lr=a.lr, weight_decay=0.0, fused=True)
sched = torch.optim.lr_scheduler.LambdaLR(opt, lambda s: min(1, (s + 1) / 30) * max(0.0, 1 - s / a.steps))
print(len(docs), "docs", len(read), "windows", sum(x.numel() for x in params), "numbers", flush=True)
step, t0, sums = 0, time.time(), [0.0, 0.0]
while step < a.steps:
    for b in batches():
        t = max(len(w) for w, _ in b)
        ids, mask = torch.zeros(len(b), t, dtype=torch.long), torch.zeros(len(b), t)
        for n, (w, _) in enumerate(b): ids[n, :len(w)] = torch.tensor(w); mask[n, :len(w)] = 1
        rows = torch.tensor([n for n, (_, cl) in enumerate(b) for _ in cl])
        st = torch.tensor([s for _, cl in b for _, s, _ in cl]); en = torch.tensor([e for _, cl in b for _, _, e in cl])
        with torch.autocast("cpu", torch.bfloat16):
            with torch.no_grad(): wanted = teacher(ids, mask); classes = teacher.of_states(wanted, rows, st, en)
            states = student(ids, mask); logits = student.of_states(states, rows, st, en)
        real = mask.bool()
        off = ((states.float() - wanted.float())[real] ** 2).sum(-1).mean() / (wanted.float()[real] ** 2).sum(-1).mean()
        kl = F.kl_div(F.log_softmax(logits.float(), 1), F.log_softmax(classes.float(), 1), log_target=True, reduction="batchmean")
        (off + kl).backward()
        torch.nn.utils.clip_grad_norm_(params, 1.0)
        opt.step(); sched.step(); opt.zero_grad(); step += 1
        sums[0] += off.item(); sums[1] += kl.item()
        if step % 40 == 0: print(step, [round(s / 40, 4) for s in sums], round(time.time() - t0), "s", flush=True); sums = [0.0, 0.0]
        if step >= a.steps: break
final = student.state_dict()
base = Bert().state_dict()
for key, value in final.items():
    if key.startswith("head."): tensors[key] = value
    elif key.startswith("layers."):
        _, n, part, kind = key.split(".")
        name = f"encoder.layer.{n}.{NAMES[part]}."
        if kind == "a": tensors[name + "weight.down"] = value
        elif kind == "b": tensors[name + "weight.up"] = value
        elif value.dim() == 1: tensors[name + kind] = value - base[key]
save_file({k: v.detach().half().contiguous() for k, v in tensors.items()}, a.out)
print(sum(v.numel() for v in tensors.values()), "numbers")
