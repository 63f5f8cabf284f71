"""directive_head.py DIRECTIVES.jsonl ADAPTER.safetensors OUT.safetensors [DIARIES.jsonl]: trains the head for sentences that state directives on from what it is, on
the states as they are, so that nothing else that the encoder says changes. What long texts of diaries have of it is rarer and counts more. Prints the average precision of each file held aside, before and after."""
import sys
import numpy as np, torch, torch.nn.functional as F
from safetensors.torch import load_file, save_file
from encoder import loaded
from sentences import read, states_of

# How much the weights are held to what they were.
HELD = 1e-3
# What a sentence of a diary counts beside one of another text.
OF_DIARIES = 5
torch.set_num_threads(2)


model = loaded(sys.argv[2]); model.eval()
texts = read(sys.argv[1]); others = len(texts); texts += read(sys.argv[4]) if sys.argv[4:] else []
states = states_of(model, [doc for doc, _ in texts])
clauses = [(doc, one) for doc, own in texts for one in own]
voices = torch.tensor([one["voice"] for _, one in clauses]); wanted = torch.tensor([float(one["targets"]) for _, one in clauses])
counts = torch.tensor([OF_DIARIES if at >= others else 1.0 for at, (_, own) in enumerate(texts) for _ in own])
own = torch.tensor([doc.folder == "training" for doc, _ in clauses]); names = np.array([doc.name.rsplit("-", 1)[0] for doc, _ in clauses])
was = model.directives.weight.detach().float(), model.directives.bias.detach().float()


def logits(weight, bias, of=slice(None)):
    return (states[of] @ weight.T + bias).gather(1, voices[of][:, None])[:, 0]


def judge(weight, bias):
    said, line = logits(weight, bias).detach().numpy(), []
    for name in sorted(set(names[~own.numpy()])):
        of = (names == name) & ~own.numpy(); right = wanted.numpy()[of][np.argsort(-said[of])]
        line.append(f"{name} {(np.cumsum(right) / np.arange(1, len(right) + 1) * right).sum() / right.sum():.3f}")
    print("  ".join(line), flush=True)


judge(*was)
weight, bias = was[0].clone().requires_grad_(True), was[1].clone().requires_grad_(True)
opt = torch.optim.LBFGS([weight, bias], max_iter=60, history_size=10, line_search_fn="strong_wolfe")


def loss():
    opt.zero_grad(); off = (F.binary_cross_entropy_with_logits(logits(weight, bias, own), wanted[own], reduction="none") * counts[own]).sum() / counts[own].sum() + HELD * ((weight - was[0]) ** 2).sum(); off.backward()
    return off


opt.step(loss); judge(weight, bias)
save_file(dict(load_file(sys.argv[2]), **{"directives.weight": weight.detach().half(), "directives.bias": bias.detach().half()}), sys.argv[3])
