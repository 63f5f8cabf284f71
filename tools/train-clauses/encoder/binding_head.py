"""binding_head.py DIRECTIVES.jsonl… ADAPTER.safetensors OUT.safetensors [--diaries DUMP.jsonl] [--beside OUT.jsonl]: trains the head for sentences that later requests may depend on, on the
states as they are, so that nothing else that the encoder says changes: those that state directives, and what people tell of themselves. What long texts of diaries have of it is rarer and counts more. Prints the
average precision of each file held aside, and what a threshold passes of those sentences and of others. With --beside it writes what it learned
from that looks so and is not, for bearing.py."""
import argparse, json
import numpy as np, torch, torch.nn.functional as F
from safetensors.torch import load_file, save_file
from encoder import loaded
from sentences import read, states_of

# How much the weights, of states of mean 0 and deviation 1, are held to 0.
HELD = 1e-3
# From these log-odds on what states nothing looks as if it did.
LOOKS = -2.5
# What a sentence of a diary counts beside one of another text.
OF_DIARIES = 20
torch.set_num_threads(2)
p = argparse.ArgumentParser()
p.add_argument("directives", nargs="+"); p.add_argument("adapter"); p.add_argument("out"); p.add_argument("--diaries"); p.add_argument("--beside")
a = p.parse_args()
model = loaded(a.adapter); model.eval()
texts = [text for file in a.directives for text in read(file)]; others = len(texts); texts += read(a.diaries) if a.diaries else []
states = states_of(model, [doc for doc, _ in texts])
clauses = [(doc, one) for doc, own in texts for one in own]
wanted = torch.tensor([float(one["targets"]) for _, one in clauses]); counts = torch.tensor([OF_DIARIES if at >= others else 1.0 for at, (_, own) in enumerate(texts) for _ in own])
own = torch.tensor([doc.folder == "training" for doc, _ in clauses]); names = np.array([doc.name.rsplit("-", 1)[0] for doc, _ in clauses])
mean, deviation = states[own].mean(0), states[own].std(0) + 1e-4
x = (states - mean) / deviation
weight, bias = torch.zeros(x.shape[1], requires_grad=True), torch.zeros(1, requires_grad=True)
opt = torch.optim.LBFGS([weight, bias], max_iter=150, history_size=10, line_search_fn="strong_wolfe")


def loss():
    opt.zero_grad(); off = (F.binary_cross_entropy_with_logits(x[own] @ weight + bias, wanted[own], reduction="none") * counts[own]).sum() / counts[own].sum() + HELD * (weight ** 2).sum(); off.backward()
    return off


opt.step(loss)
said = (x @ weight + bias).detach()
for name in sorted(set(names[~own.numpy() & (wanted.numpy() > 0)])):
    of = torch.tensor(names == name) & ~own; right = wanted[of][said[of].argsort(descending=True)].numpy()
    print(f"{name} {(np.cumsum(right) / np.arange(1, len(right) + 1) * right).sum() / right.sum():.3f}")
for least in (-2, -1.5, -1, -0.5, 0):
    print(least, *(f"{(said[~own & (wanted == is_one)] > least).float().mean():.3f}" for is_one in (1, 0)))
if a.beside:
    with open(a.beside, "w") as file:
        for (doc, one), log_odds in zip(clauses, said.tolist()):
            if doc.folder == "training" and not one["targets"] and log_odds > LOOKS: file.write(json.dumps(dict(text=doc.text[slice(*one["span"])])) + "\n")
weight, bias = weight.detach() / deviation, bias.detach() - (weight.detach() * mean / deviation).sum()
save_file(dict(load_file(a.adapter), **{"binding.weight": weight[None].half(), "binding.bias": bias.half()}), a.out)
