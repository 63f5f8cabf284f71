"""What may be a name in a text, as the name encoder reads it: its document's windows, and which states of tokens are pooled for it."""
import collections, json
import numpy as np, torch, torch.nn.functional as F
from scipy.sparse import csr_matrix
import bert
from bert import CLS, SEP, H, Bert, tok

CLASSES = ["none", "person", "org", "project", "place", "rest"]
LAYERS, WINDOW, STEP, UNUSED, PLACES, FOLDS = 3, 200, 140, 30, 12, 5
MASK = 103


class NameBert(Bert):
    def __init__(self, rank=0, dropout=0.1, layers=LAYERS):
        super().__init__(rank, 0, dropout)
        self.layers = self.layers[:layers]
        self.head = torch.nn.Linear(3 * H, len(CLASSES))
        torch.nn.init.zeros_(self.head.weight); torch.nn.init.zeros_(self.head.bias)

    def pooled(self, texts, ids=None):
        """A row for each candidate of texts: the mean of its tokens' states, of those before it and of those after it."""
        ids = [t.ids for t in texts] if ids is None else ids
        wins = [w for t, i in zip(texts, ids) for w in t.windows(i)]
        most = max(len(w) for w in wins)
        batch, mask = torch.zeros(len(wins), most, dtype=torch.long), torch.zeros(len(wins), most)
        for n, w in enumerate(wins): batch[n, :len(w)] = torch.as_tensor(w); mask[n, :len(w)] = 1
        states = self(batch, mask).reshape(-1, H).float()
        at, out = 0, []
        for t in texts:
            rows, tokens, parts, weights = t.pool
            flat = at * most + t.window_of[tokens] * most + t.place_in[tokens]
            sums = torch.zeros(t.count * 3, H)
            sums = sums.index_add(0, rows * 3 + parts, states[flat] * weights[:, None])
            out.append(sums.view(t.count, 3 * H)); at += t.wins
        return torch.cat(out)

    def of_pooled(self, pooled):
        return self.head(F.dropout(pooled, self.drop, self.training))


class Text:
    """A document in tokens, with its candidates and the class of each."""
    def __init__(self, doc):
        self.name, self.folder = doc["doc"], doc["folder"]
        self.fold, text = doc["fold"], doc["text"]
        ids, begins, ends, at = [], [], [], 0
        lines = text.split("\n")
        for line, enc in zip(lines, tok.encode_batch(lines, add_special_tokens=False)):
            if enc.ids:
                ids += enc.ids + [SEP]
                begins += [at + a for a, _ in enc.offsets] + [at + len(line)]
                ends += [at + b for _, b in enc.offsets] + [at + len(line)]
            at += len(line) + 1
        self.ids = np.array(ids, dtype=np.int64)
        self.starts = list(range(0, max(1, len(ids) - WINDOW + STEP), STEP)) if len(ids) > WINDOW else [0]
        self.wins = len(self.starts)
        tokens = np.arange(len(ids))
        owner = np.clip((tokens - UNUSED) // STEP, 0, self.wins - 1)
        self.window_of, self.place_in = torch.as_tensor(owner), torch.as_tensor(tokens - owner * STEP + 1)
        self.candidates = doc["names"]
        self.count = len(self.candidates)
        self.labels = [one["y"] for one in self.candidates]
        self.pieces, pool = [], []
        begins, ends = np.array(begins), np.array(ends)
        for row, one in enumerate(self.candidates):
            pieces, places = [], one["s"][:PLACES]
            for a, b in one["s"]:
                first = min(int(np.searchsorted(ends, a, "right")), len(ids) - 1)
                last = min(max(first + 1, int(np.searchsorted(begins, b, "left"))), len(ids))
                pieces.append((first, last))
            for first, last in pieces[:PLACES]:
                share = 1 / len(places)
                pool += [(row, t, 0, share / (last - first)) for t in range(first, last)]
                if first > 0: pool.append((row, first - 1, 1, share))
                if last < len(ids): pool.append((row, last, 2, share))
            self.pieces.append(pieces)
        rows, toks, parts, weights = zip(*pool) if pool else ((), (), (), ())
        as_long = lambda x: torch.tensor(x, dtype=torch.long)
        self.pool = as_long(rows), as_long(toks), as_long(parts), torch.tensor(weights)

    def windows(self, ids):
        return [np.concatenate([[CLS], ids[a:a + WINDOW]]) for a in self.starts]

    def hidden(self, rng, share):
        """Its tokens where a share of the candidates cannot be read."""
        ids = self.ids.copy()
        for row in range(self.count):
            if rng.random() < share:
                for first, last in self.pieces[row]: ids[first:last] = MASK
        return ids


def texts_of(path):
    docs = [json.loads(line) for line in open(path)]
    return [t for t in map(Text, docs) if t.count and len(t.ids)]


def softmax(z):
    z = np.exp(z - z.max(1, keepdims=True))
    return z / z.sum(1, keepdims=True)


class Sparse:
    """The name model of features, trained as train-clauses does."""
    def __init__(self, texts, l2=1.5, rounds=150, step=0.1):
        counts = collections.Counter(f for t in texts for one in t.candidates for f in one["f"])
        self.known = {f: n for n, f in enumerate(sorted(f for f, c in counts.items() if c >= 2))}
        x = self.matrix(texts); y = np.eye(6, dtype=np.float32)[[c for t in texts for c in t.labels]]
        n = x.shape[0]; xt = x.T.tocsr()
        w = np.zeros((x.shape[1], 6), np.float32); slope, curve = np.zeros_like(w), np.zeros_like(w)
        for r in range(1, rounds + 1):
            g = (xt @ (softmax(x @ w) - y) + l2 * w) / n
            slope = 0.9 * slope + 0.1 * g; curve = 0.99 * curve + 0.01 * g * g
            w -= step * (1 - (r - 1) / rounds) * (slope / (1 - 0.9 ** r)) / (np.sqrt(curve / (1 - 0.99 ** r)) + 1e-8)
        self.w = w

    def matrix(self, texts):
        cols, ptr = [], [0]
        for t in texts:
            for one in t.candidates:
                cols += [self.known[f] for f in one["f"] if f in self.known]; ptr.append(len(cols))
        return csr_matrix((np.ones(len(cols), np.float32), cols, ptr), shape=(len(ptr) - 1, len(self.known)))

    def logodds(self, text):
        z = self.matrix([text]) @ self.w
        return (z - np.log(np.exp(z - z.max(1, keepdims=True)).sum(1, keepdims=True)) - z.max(1, keepdims=True)).astype(np.float32)


def give_offsets(texts):
    """What the sparse model of the other folds says of each candidate."""
    for fold in range(FOLDS):
        model = Sparse([t for t in texts if t.fold != fold])
        for t in texts:
            if t.fold == fold: t.offset = torch.tensor(model.logodds(t))
