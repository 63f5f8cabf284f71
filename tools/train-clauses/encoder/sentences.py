"""Texts whose clauses are their sentences, and the states of these as an encoder has them."""
import json, os
import torch
from documents import Document, batches


def read(path):
    """Documents with their text, each with its sentences as they were dumped."""
    texts = []
    for line in map(json.loads, open(path)):
        doc = Document(dict(line, folder=os.path.basename(line["folder"]))); doc.text = line["text"]
        if len(doc.ids) and line["clauses"]: texts.append((doc, line["clauses"]))
    return texts


def states_of(model, docs):
    rows = []
    for batch in batches(docs, 3000, False):
        with torch.no_grad():
            states, begins = model.states(batch); rows += zip(batch, model.pooled(states, begins, batch, [range(len(d.clauses)) for d in batch]).float().split([len(d.clauses) for d in batch]))
    rows = dict((id(doc), row) for doc, row in rows)
    return torch.cat([rows[id(doc)] for doc in docs])
