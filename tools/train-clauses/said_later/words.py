"""words.py OUT: the weights of memory-core/src/recall/told_by_words.rs, of the words by which a text tells that something promised is
done or dropped.

Learned from six streams of tests/gold/ending/streams and from tests/gold/ending/tasks-training.jsonl. Prints what the other streams
and tasks-held-aside.jsonl have. Needs numpy, scipy and scikit-learn."""
import json, os, sys
import numpy as np
from sklearn.metrics import average_precision_score
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../changed_values"))
from fit import GOLD, fitted, normal, odds, write

LEARNED, OVER = ("bakery", "clinic", "harbour", "indie", "platform", "thesis"), ("done", "happened", "cancelled")
REGULARISATION, LEAST = 0.3, -1.0


def pairs(name):
    return [(normal(pair["later"]), pair["label"] in OVER) for pair in map(json.loads, open(f"{GOLD}/{name}.jsonl"))]


def stream(name):
    notes = map(json.loads, open(f"{GOLD}/streams/{name}"))
    return [(normal(note["text"]), any(end["how"] in OVER for end in note["ends"])) for note in notes]


streams = {name[:-6]: stream(name) for name in sorted(os.listdir(f"{GOLD}/streams")) if name.endswith(".jsonl")}
model = fitted(sum((notes for name, notes in streams.items() if name in LEARNED), []), pairs("tasks-training"), REGULARISATION)
for name, texts in [*((name, texts) for name, texts in streams.items() if name not in LEARNED), ("tasks-held-aside", pairs("tasks-held-aside"))]:
    found, over = odds(model, texts), np.array([is_over for _, is_over in texts])
    said = found >= LEAST
    print(f"{name}: average precision {average_precision_score(over, found):.2f}, {said[over].sum()} of {over.sum()} found, {said.sum()} said")
write(sys.argv[1], model, LEAST)
