"""prune.py DUMP CHECKPOINT OUT.pt [--heads 10] [--wide 1152]: leaves of each layer the heads and the intermediate values without which
the encoder says most else. Of a head that is what its absence changes in 60 documents, of an intermediate value its size times its weights."""
import argparse, random
import torch, torch.nn.functional as F
from bert import H, HEADS, axes, narrowed
from documents import batches, is_training, read
from encoder import PARTS, Encoder, loaded, write
p = argparse.ArgumentParser()
p.add_argument("dump"); p.add_argument("checkpoint"); p.add_argument("out"); p.add_argument("--fold", type=int, default=0)
p.add_argument("--heads", type=int, default=10); p.add_argument("--wide", type=int, default=1152); p.add_argument("--documents", type=int, default=60)
a = p.parse_args()
torch.set_num_threads(2); random.seed(0)
m = loaded(a.checkpoint); m.eval()
docs = [d for d in read(a.dump, is_training) if d.fold != a.fold]; random.shuffle(docs)
few = batches(docs[:a.documents], 3000, False)
wide, gates = [torch.zeros(len(layer["up"].bias)) for layer in m.layers], [torch.ones(HEADS) for _ in m.layers]
for n, layer in enumerate(m.layers):
    def see(_, x, n=n): wide[n] += (x[0].float() ** 2).mean((0, 1)).sqrt()
    def close(_, x, n=n): return (x[0] * gates[n].repeat_interleave(H // HEADS).to(x[0].dtype),)
    layer["down"].register_forward_pre_hook(see); layer["o"].register_forward_pre_hook(close)


def said():
    out = []
    for b in few:
        with torch.no_grad(), torch.autocast("cpu", torch.bfloat16): states, clauses, names = m.read(b)
        out.append((states.float(), clauses, names))
    return out


even = lambda x: x - x.mean(1, keepdim=True)


def apart(one, other):
    (states, clauses, names), (states2, clauses2, names2) = one, other
    off = ((states - states2) ** 2).sum(-1).mean() / (states ** 2).sum(-1).mean()
    if clauses is not None: off += F.kl_div(F.log_softmax(clauses2, 1), F.log_softmax(clauses, 1), log_target=True, reduction="batchmean")
    if names is not None: off += 0.1 * ((even(names2) - even(names)) ** 2).mean()
    return off.item()


whole, kept = said(), []
sizes = [one.clone() for one in wide]
for n, layer in enumerate(m.layers):
    off = []
    for head in range(HEADS):
        gates[n][head] = 0
        off.append(sum(map(apart, whole, said())))
        gates[n][head] = 1
    worth = sizes[n] * layer["down"].weight.norm(dim=0)
    kept.append([sorted(torch.tensor(off).topk(a.heads).indices.tolist()), sorted(worth.topk(a.wide).indices.tolist())])
    print(n, [round(x, 3) for x in off], flush=True)
pruned, weights = Encoder(kept=kept), {}
for key, value in m.state_dict().items():
    if key.startswith("layers."):
        _, n, part, _ = key.split(".")
        value = narrowed(value, PARTS[part], *axes(kept[int(n)]))
    weights[key] = value
pruned.load_state_dict(weights); write(pruned, a.out)
