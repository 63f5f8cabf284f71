"""distill.py DUMP RANK OUT.safetensors CHECKPOINT…: thin matrices of RANK for the mean of checkpoints. They begin with the largest
singular values of what training changed, and are trained to give the states and classes that the whole matrices give."""
import argparse, random, time
import torch, torch.nn.functional as F
from safetensors.torch import save_file
from documents import batches, is_training, read
from encoder import Encoder, checkpoint, name_of
p = argparse.ArgumentParser()
p.add_argument("dump"); p.add_argument("rank", type=int); p.add_argument("out"); p.add_argument("checkpoints", nargs="+")
p.add_argument("--fold", type=int, default=0); p.add_argument("--steps", type=int, default=500); p.add_argument("--lr", type=float, default=3e-4)
p.add_argument("--tokens", type=int, default=1700); p.add_argument("--threads", type=int, default=2)
a = p.parse_args()
torch.set_num_threads(a.threads); torch.manual_seed(0); random.seed(0)
checkpoints = [checkpoint(path) for path in a.checkpoints]
kept, several = checkpoints[0][0], [weights for _, weights in checkpoints]
assert all(one == kept for one, _ in checkpoints), "they keep different parts"
whole = {key: sum(one[key] for one in several) / len(several) for key in several[0]}
teacher, student = Encoder(kept=kept), Encoder(a.rank, kept=kept)
base = {key: value.clone() for key, value in teacher.state_dict().items()}
teacher.load_state_dict(whole); teacher.eval()
state, is_head = student.state_dict(), lambda key: key.startswith(("clauses.", "names."))
for key, value in whole.items():
    if key.startswith("layers.") and value.dim() == 2:
        u, s, v = torch.linalg.svd(value - base[key], full_matrices=False); root = s[:a.rank].sqrt()
        state[key.removesuffix("weight") + "b"] = u[:, :a.rank] * root
        state[key.removesuffix("weight") + "a"] = root[:, None] * v[:a.rank]
    elif key.startswith("layers.") or is_head(key): state[key] = value
student.load_state_dict(state)
student.eval()  # no dropout
for key, value in student.named_parameters():
    value.requires_grad_(is_head(key) or key.startswith("layers.") and not (value.dim() == 2 and key.endswith(".weight")))
params = [x for x in student.parameters() if x.requires_grad]
docs = [d for d in read(a.dump, is_training) if d.fold != a.fold]
opt = torch.optim.AdamW(params, lr=a.lr, weight_decay=0.0, fused=True)
sched = torch.optim.lr_scheduler.LambdaLR(opt, lambda s: min(1, (s + 1) / 30) * max(0.0, 1 - s / a.steps))
print(len(docs), "docs", sum(x.numel() for x in params), "numbers", flush=True)
step, t0, sums = 0, time.time(), [0.0] * 3
while step < a.steps:
    for b in batches(docs, a.tokens):
        with torch.autocast("cpu", torch.bfloat16):
            with torch.no_grad(): wanted, classes, types = teacher.read(b)
            states, clauses, names = student.read(b)
        off = ((states.float() - wanted.float()) ** 2).sum(-1).mean() / (wanted.float() ** 2).sum(-1).mean()
        of_clauses = F.kl_div(F.log_softmax(clauses, 1), F.log_softmax(classes, 1), log_target=True, reduction="batchmean")
        # What is said of names is added to what the features say: only differences count.
        even = lambda x: x - x.mean(1, keepdim=True)
        of_names = ((even(names) - even(types)) ** 2).mean() if names is not None else torch.zeros(())
        (off + of_clauses + 0.1 * of_names).backward()
        torch.nn.utils.clip_grad_norm_(params, 1.0)
        opt.step(); sched.step(); opt.zero_grad(); step += 1
        sums = [s + x.item() for s, x in zip(sums, (off, of_clauses, of_names))]
        if step % 40 == 0: print(step, [round(s / 40, 4) for s in sums], round(time.time() - t0), "s", flush=True); sums = [0.0] * 3
        if step >= a.steps: break
tensors = {}
for key, value in student.state_dict().items():
    if is_head(key): tensors[key] = value
    elif key.startswith("layers."):
        name = name_of(key)
        if key.endswith(".a"): tensors[name.removesuffix("a") + "weight.down"] = value
        elif key.endswith(".b"): tensors[name.removesuffix("b") + "weight.up"] = value
        elif value.dim() == 1: tensors[name] = value - base[key]
# Without what training left as it was.
tensors = {key: value.detach().half().contiguous() for key, value in tensors.items() if value.any()}
for n, layer in enumerate(kept or ()):
    for part, numbers in zip(("attention", "intermediate"), layer):
        tensors[f"encoder.layer.{n}.{part}.kept"] = torch.tensor(numbers, dtype=torch.int32)
save_file(tensors, a.out)
print(sum(value.numel() for value in tensors.values()), "numbers")
