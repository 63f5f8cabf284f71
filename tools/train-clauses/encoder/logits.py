"""logits.py ADAPTER.safetensors PAIRS.safetensors TEXTS.jsonl: what the encoder with an adapter gives for names and clauses. Each line has "text" and "names",
each with "places" in bytes; they are written again with logits, and with those of all lines of the text as clauses and as
sentences that may state directives, revise them or bind; and whether the last line takes the place of the first."""
import json, sys, torch
from documents import Document
from encoder import loaded
from pairs import Pair, pair_logits

model, of_pairs = loaded(sys.argv[1]), loaded(sys.argv[2]); model.eval(); of_pairs.eval()
for line in open(sys.argv[3]):
    line = json.loads(line); text = line["text"]
    in_bytes, in_chars = lambda n: len(text[:n].encode()), lambda n: len(text.encode()[:n].decode())
    spans, at = [], 0
    for one in text.split("\n"):
        if one.strip(): spans.append((at, at + len(one)))
        at += len(one) + 1
    places = [one["places"] for one in line["names"]]
    names = [dict(places=[(in_chars(a), in_chars(b)) for a, b in own], features=[], **{"class": 0}) for own in places]
    clauses = [dict(span=span, targets=None) for span in spans]
    doc = Document(dict(name="", folder="", fold=0, text=text, clauses=clauses, names=names))
    with torch.no_grad():
        _, of_clauses, of_names = model.read([doc])
        states, begins = model.states([doc])
        pooled = model.pooled(states, begins, [doc], [range(len(spans))])
        stating, revising, binding = model.directives(pooled), model.revising(pooled), model.binding(pooled)
        first, last = (text[a:b] for a, b in (spans[0], spans[-1]))
        replaced = pair_logits(of_pairs, [Pair(first, last, False)])
    rounded = lambda logits: [[round(value, 3) for value in row] for row in ([] if logits is None else logits.tolist())]
    print(json.dumps(dict(text=text, names=[dict(places=own, logits=row) for own, row in zip(places, rounded(of_names))],
        clauses=[dict(place=[in_bytes(a), in_bytes(b)], logits=row, directive=odds, revises=revises, binds=binds)
                 for (a, b), row, odds, (revises,), (binds,) in zip(spans, *map(rounded, (of_clauses, stating, revising, binding)))],
        replaced=round(replaced.item(), 3)), ensure_ascii=False))
