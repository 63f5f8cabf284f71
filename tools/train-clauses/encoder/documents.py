"""Documents as the windows in which the encoder reads them, with the tokens of their clauses and of what may be a name.
`crates/memory-inference/src/text_encoder` cuts and pools in the same way."""
import json, os, random, re
import numpy as np, torch
from tokenizers import Tokenizer
from bert import BASE

OWN, ENDING, BEFORE, BEHIND, HEADING = 192, 64, 24, 8, 10
PLACES, CLAUSE_TOKENS = 12, 160
CLS, SEP, MASK = 101, 102, 103
tok = Tokenizer.from_file(BASE + "/tokenizer.json")
tok.no_truncation(); tok.no_padding()


def is_heading(line):
    s = line.strip()
    return bool(s) and len(s) <= 60 and (s.startswith("#") or s[-1] not in ".,;?!") and not re.match(r"([-*+•]|\d+[.)])\s", s)


class Document:
    """A line of a dump: text, clauses (span, targets, odds) and names (places, features, class)."""
    def __init__(self, line):
        self.name, self.fold, text = line["name"], line["fold"], line["text"]
        self.folder = os.path.basename(line["folder"])
        ids, begins, ends, heads, at, heading = [], [], [], [], 0, []
        lines = text.split("\n")
        for one, enc in zip(lines, tok.encode_batch(lines, add_special_tokens=False)):
            if enc.ids:
                ids += enc.ids + [SEP]; heads += [heading] * (len(enc.ids) + 1)
                begins += [at + a for a, _ in enc.offsets] + [at + len(one)]
                ends += [at + b for _, b in enc.offsets] + [at + len(one)]
                if is_heading(one): heading = enc.ids[:HEADING]
            at += len(one) + 1
        self.ids, self.begins, self.ends = np.array(ids, dtype=np.int64), np.array(begins), np.array(ends)
        self.cut(heads)
        self.clauses = [self.span(*one["span"]) for one in line["clauses"]]
        self.targets = [one["targets"] for one in line["clauses"]]
        names = line.get("names") or []
        self.features, self.classes = [one["features"] for one in names], [one["class"] for one in names]
        self.pool([one["places"] for one in names])

    def cut(self, heads):
        """Windows as (tokens before, from, to), and for each token its window and where it stands in it."""
        self.windows, start, count = [], 0, len(self.ids)
        self.window_of, self.column = np.zeros(count, np.int64), np.zeros(count, np.int64)
        while start < count:
            end = min(start + OWN, count)
            if end < count:
                line_ends = [k for k in range(end - ENDING, end) if self.ids[k] == SEP]
                if line_ends: end = line_ends[-1] + 1
            low, high = max(0, start - BEFORE), min(count, end + BEHIND)
            before = [CLS] + (heads[low] + [SEP] if heads[low] else [])
            self.window_of[start:end] = len(self.windows)
            self.column[start:end] = np.arange(start, end) - low + len(before)
            self.windows.append((before, low, high)); start = end
        self.width = max((len(before) + high - low for before, low, high in self.windows), default=0)

    def span(self, a, b):
        """The tokens of a clause."""
        begins = self.begins
        s, e = np.searchsorted(begins, a, "left"), np.searchsorted(begins, b, "left")
        # A clause may begin within a token.
        if s == len(begins) or (begins[s] > a and s > 0 and self.ids[s - 1] != SEP and begins[s] >= b): s = max(s - 1, 0)
        return int(s), int(min(max(e, s + 1), s + CLAUSE_TOKENS))

    def pool(self, names):
        """For each name the tokens within its first places, before them and behind them, with the share of each."""
        pool, self.pieces = [], []
        for row, places in enumerate(names):
            pieces = []
            for a, b in places:
                first = min(int(np.searchsorted(self.ends, a, "right")), len(self.ids) - 1)
                pieces.append((first, min(max(first + 1, int(np.searchsorted(self.begins, b, "left"))), len(self.ids))))
            share = 1 / max(1, len(pieces[:PLACES]))
            for first, last in pieces[:PLACES]:
                pool += [(row, t, 0, share / (last - first)) for t in range(first, last)]
                if first > 0: pool.append((row, first - 1, 1, share))
                if last < len(self.ids): pool.append((row, last, 2, share))
            self.pieces.append(pieces)
        rows, tokens, parts, shares = zip(*pool) if pool else ((), (), (), ())
        as_long = lambda x: torch.tensor(x, dtype=torch.long)
        self.uses = as_long(rows), as_long(tokens), as_long(parts), torch.tensor(shares)

    def hidden(self, rng, share):
        """Its tokens where a share of the names cannot be read."""
        ids = self.ids.copy()
        for pieces in self.pieces:
            if rng.random() < share:
                for first, last in pieces: ids[first:last] = MASK
        return ids


def read(path, wanted=lambda line: True):
    docs = (Document(line) for line in map(json.loads, open(path)) if wanted(line))
    return [doc for doc in docs if len(doc.ids) and doc.clauses]


def is_training(line):
    return os.path.basename(line["folder"]) in ("training", "tuning")


def batches(docs, tokens, shuffle=True):
    docs = list(docs)
    if shuffle: random.shuffle(docs)
    docs.sort(key=lambda d: d.width + (random.random() * 30 if shuffle else 0))
    out, cur, size = [], [], 0
    for d in docs:
        own = len(d.windows) * d.width
        if cur and size + own > tokens: out.append(cur); cur, size = [], 0
        cur.append(d); size += own
    if cur: out.append(cur)
    if shuffle: random.shuffle(out)
    return out
