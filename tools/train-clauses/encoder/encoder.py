"""The encoder with its two last layers: clauses into nine classes, what may be a name into six."""
import numpy as np, torch, torch.nn as nn, torch.nn.functional as F
from safetensors.torch import load_file
from bert import Bert, H, LAYERS

HEADS = ("clauses.", "names.", "directives.", "replacing.", "revising.", "binding.")
CLAUSE_CLASSES, NAME_CLASSES, DIRECTIVE_CLASSES = 9, 6, 3
# Of the modules here in the files of weights.
PARTS = dict(q="attention.self.query", k="attention.self.key", v="attention.self.value", o="attention.output.dense",
             on="attention.output.LayerNorm", up="intermediate.dense", down="output.dense", dn="output.LayerNorm")


class Encoder(Bert):
    def __init__(self, rank=0, dropout=0.1, kept=None):
        super().__init__(rank, dropout, kept)
        self.clauses, self.names = nn.Linear(2 * H, CLAUSE_CLASSES), nn.Linear(3 * H, NAME_CLASSES)
        # Whose words a sentence has, each with its own weights.
        self.directives = nn.Linear(2 * H, DIRECTIVE_CLASSES)
        # Whether a later statement takes the place of an earlier one: of both, their product and their distance; and whether it may take
        # the place of any; and whether later requests may depend on it.
        self.replacing, self.revising, self.binding = nn.Linear(8 * H, 1), nn.Linear(2 * H, 1), nn.Linear(2 * H, 1)
        for part in (self.replacing, self.revising, self.binding): nn.init.zeros_(part.weight); nn.init.zeros_(part.bias)
        nn.init.normal_(self.clauses.weight, std=0.02)
        nn.init.zeros_(self.directives.weight); nn.init.zeros_(self.directives.bias)
        nn.init.zeros_(self.names.weight); nn.init.zeros_(self.names.bias)

    def states(self, docs, ids=None):
        """The states of all tokens of documents, one after the other, and where each document begins."""
        ids = [d.ids for d in docs] if ids is None else ids
        rows = [np.concatenate([before, own[low:high]]) for d, own in zip(docs, ids) for before, low, high in d.windows]
        width = max(map(len, rows))
        batch, mask = torch.zeros(len(rows), width, dtype=torch.long), torch.zeros(len(rows), width)
        for n, row in enumerate(rows): batch[n, :len(row)] = torch.as_tensor(row); mask[n, :len(row)] = 1
        flat, begins, window = [], [], 0
        for d in docs:
            begins.append(sum(map(len, flat))); flat.append((d.window_of + window) * width + d.column); window += len(d.windows)
        return self(batch, mask).reshape(-1, H)[torch.as_tensor(np.concatenate(flat))], begins

    def pooled(self, states, begins, docs, which):
        """The mean and the most of the states of clauses; `which` are their numbers in each document."""
        spans = [(b + d.clauses[k][0], b + d.clauses[k][1]) for d, b, numbers in zip(docs, begins, which) for k in numbers]
        starts, ends = torch.tensor(spans).T
        at = starts[:, None] + torch.arange(int((ends - starts).max())); inside = at < ends[:, None]
        x = states.index_select(0, at.clamp(max=len(states) - 1).flatten()).view(*at.shape, H).float()
        mean = (x * inside[:, :, None]).sum(1) / inside.sum(1, keepdim=True)
        most = x.masked_fill(~inside[:, :, None], -1e4).amax(1)
        return F.dropout(torch.cat([mean, most], 1), self.drop, self.training)

    def clause_logits(self, states, begins, docs, which):
        return self.clauses(self.pooled(states, begins, docs, which))

    def name_logits(self, states, begins, docs):
        """Of the means of the states within names, before and behind them, of all names of documents."""
        out = []
        for d, begin in zip(docs, begins):
            rows, tokens, parts, shares = d.uses
            sums = torch.zeros(len(d.classes) * 3, H).index_add(0, rows * 3 + parts, states[begin + tokens].float() * shares[:, None])
            out.append(sums.view(-1, 3 * H))
        return self.names(F.dropout(torch.cat(out), self.drop, self.training))

    def read(self, docs, which=None):
        """Logits of the clauses (all unless `which`) and of the names of documents, one after the other; None where there are none."""
        states, begins = self.states(docs)
        which = [range(len(d.clauses)) for d in docs] if which is None else which
        clauses = self.clause_logits(states, begins, docs, which).float() if any(map(len, which)) else None
        named = [(d, b) for d, b in zip(docs, begins) if d.classes]
        names = self.name_logits(states, [b for _, b in named], [d for d, _ in named]).float() if named else None
        return states, clauses, names


def name_of(key):
    """A tensor of a layer in files of weights."""
    _, n, part, kind = key.split(".")
    return f"encoder.layer.{n}.{PARTS[part]}.{kind}"


def write(model, path):
    torch.save(dict(kept=model.kept, weights=model.state_dict()), path)


def checkpoint(path):
    """What is kept of each layer (`Bert`), and the weights that train.py has written, or those of an adapter merged into the model."""
    if not path.endswith(".safetensors"):
        read = torch.load(path)
        return (read["kept"], read["weights"]) if "weights" in read else (None, read)
    adapter = load_file(path)
    of_layer = lambda n: [adapter[f"encoder.layer.{n}.{part}.kept"].tolist() for part in ("attention", "intermediate")]
    kept = [of_layer(n) for n in range(LAYERS)] if "encoder.layer.0.attention.kept" in adapter else None
    weights = Encoder(kept=kept).state_dict()
    adapter = {key: value.float() for key, value in adapter.items()}
    for key, value in weights.items():
        if key.startswith(HEADS): weights[key] = adapter.get(key, value)
        elif key.startswith("layers."):
            name = name_of(key)
            if name + ".up" in adapter: weights[key] = value + adapter[name + ".up"] @ adapter[name + ".down"]
            elif name in adapter: weights[key] = value + adapter[name]
    return kept, weights


def loaded(path, dropout=0.1):
    kept, weights = checkpoint(path)
    model = Encoder(dropout=dropout, kept=kept)
    model.load_state_dict(weights)
    return model
