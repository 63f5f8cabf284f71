"""Pairs of an earlier directive and a later sentence, and what the encoder says of them."""
import json, torch
from documents import Document


class Pair(Document):
    """Two statements, one below the other: whether the later one ends the earlier."""
    def __init__(self, earlier, later, replaced):
        self.earlier, self.later = earlier.replace("\n", " "), later.replace("\n", " ")
        first, second = len(self.earlier), len(self.earlier) + 1
        spans = (0, first), (second, second + len(self.later))
        super().__init__(dict(name="", fold=0, folder="", text=self.earlier + "\n" + self.later, clauses=[dict(span=span, targets=None) for span in spans]))
        self.replaced = float(replaced)


def of_files(paths):
    lines = (json.loads(line) for path in paths for line in open(path))
    return [Pair(one["earlier"], one["later"], one["label"] == "replaced") for one in lines]


def pair_logits(model, docs):
    """Of the pooled states of both statements, their product and their distance."""
    states, begins = model.states(docs)
    earlier, later = model.pooled(states, begins, docs, [range(2)] * len(docs)).view(len(docs), 2, -1).unbind(1)
    return model.replacing(torch.cat([earlier, later, earlier * later, (earlier - later).abs()], 1))[:, 0]
