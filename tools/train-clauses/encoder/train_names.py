"""train_names.py DUMP OUT.safetensors --fold K (left out; -1 for none): trains the name encoder on the candidates of a dump.
With --epochs 0 only the head, of the encoder as it is. At the end OUT.json has the logits of the documents that were left out."""
import argparse, json, random, time
import torch
from safetensors.torch import load_file, save_file
from scipy.optimize import minimize
from adapter import NAMES
from names import *


def fit_head(states, offset, labels, weights, l2, rounds=80):
    """Weights and biases that add to the offset what the states know; how large they are costs l2, in units of their spread."""
    mean, spread = states.mean(0), states.std(0) + 1e-3
    x = torch.cat([(states - mean) / spread, torch.ones(len(states), 1)], 1)
    n, cost = weights.sum(), torch.full((x.shape[1], 1), l2); cost[-1] = 0
    def loss(flat):
        w = torch.tensor(flat, dtype=torch.float32).view(x.shape[1], 6)
        logs = F.log_softmax(offset + x @ w, 1)
        off = (logs.exp() - F.one_hot(labels, 6)) * weights[:, None]
        value = -(logs[torch.arange(len(labels)), labels] * weights).sum() + 0.5 * (cost * w * w).sum()
        return value.item() / n.item(), ((x.T @ off + cost * w) / n).double().flatten().numpy()
    found = minimize(loss, np.zeros(x.shape[1] * 6), jac=True, method="L-BFGS-B", options=dict(maxiter=rounds))
    w = torch.tensor(found.x, dtype=torch.float32).view(-1, 6)
    head = (w[:-1] / spread[:, None]).T.contiguous()
    return head, w[-1] - head @ mean


def batches(texts, tokens):
    texts = list(texts); random.shuffle(texts)
    texts.sort(key=lambda t: min(len(t.ids), WINDOW) + random.random() * 40)
    out, cur, size = [], [], 0
    for t in texts:
        if cur and size + t.wins * WINDOW > tokens: out.append(cur); cur, size = [], 0
        cur.append(t); size += t.wins * min(WINDOW, len(t.ids))
    out.append(cur); random.shuffle(out)
    return out


def states_of(model, texts):
    model.eval()
    for t in texts:
        with torch.no_grad(), torch.autocast("cpu", torch.bfloat16): t.states = model.pooled([t])


def written(model, base):
    """What is in the file: the head, thin matrices, and what changed of the biases and norms."""
    tensors = {"head.weight": model.head.weight, "head.bias": model.head.bias}
    for key, value in model.state_dict().items():
        if not key.startswith("layers."): continue
        _, n, part, kind = key.split(".")
        name = f"encoder.layer.{n}.{NAMES[part]}."
        if kind == "a": tensors[name + "weight.down"] = value
        elif kind == "b": tensors[name + "weight.up"] = value
        elif value.dim() == 1 and (value != base[key]).any(): tensors[name + kind] = value - base[key]
    return {k: v.detach().half().contiguous() for k, v in tensors.items()}


def tune(model, train, a):
    head = list(model.head.parameters())
    rest = [v for k, v in model.named_parameters() if k.startswith("layers.") and int(k.split(".")[1]) >= a.frozen and v.requires_grad and (v.dim() == 2 or not a.rank)]
    for k, v in model.named_parameters(): v.requires_grad_(any(v is x for x in rest + head))
    opt = torch.optim.AdamW([dict(params=rest, lr=a.lr), dict(params=head, lr=a.headlr)], weight_decay=a.decay, fused=True)
    steps, step, t0, rng = len(batches(train, a.tokens)) * a.epochs, 0, time.time(), random.Random(a.seed)
    def done(step): return max(step / steps, (time.time() - t0) / 60 / a.minutes)
    sched = torch.optim.lr_scheduler.LambdaLR(opt, lambda s: min(1, (s + 1) / (0.1 * steps)) * max(0.0, 1 - done(s)))
    for epoch in range(a.epochs):
        model.train(); total = n = 0
        for b in batches(train, a.tokens):
            if done(step) >= 1: break
            ids = [t.hidden(rng, a.hide) if rng.random() < a.hiding else t.ids for t in b]
            with torch.autocast("cpu", torch.bfloat16): pooled = model.pooled(b, ids)
            logits = torch.cat([t.offset for t in b]) + model.of_pooled(pooled)
            weights = torch.cat([torch.full((t.count,), t.weight) for t in b])
            loss = (F.cross_entropy(logits, torch.tensor([y for t in b for y in t.labels]), reduction="none") * weights).sum()
            (loss / weights.sum()).backward()
            torch.nn.utils.clip_grad_norm_(rest + head, 1.0)
            opt.step(); sched.step(); opt.zero_grad(); step += 1
            total += loss.item(); n += weights.sum().item()
            if step % 20 == 0: print(step, "of", steps, round(total / n, 4), round(time.time() - t0), "s", flush=True)
        print("epoch", epoch, step, "steps", round(total / n, 4), round(time.time() - t0), "s", flush=True)


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("dump"); p.add_argument("out"); p.add_argument("--fold", type=int, default=0)
    p.add_argument("--rank", type=int, default=16); p.add_argument("--epochs", type=int, default=3)
    p.add_argument("--lr", type=float, default=1e-3); p.add_argument("--headlr", type=float, default=3e-4)
    p.add_argument("--decay", type=float, default=0.05); p.add_argument("--dropout", type=float, default=0.1)
    p.add_argument("--l2", type=float, default=1000, help="of the first head")
    p.add_argument("--hiding", type=float, default=0.5, help="how many texts are read with hidden names"); p.add_argument("--hide", type=float, default=0.5, help="how many of their names are hidden")
    p.add_argument("--start", help="a file with the head to begin with"); p.add_argument("--minutes", type=float, default=float("inf"), help="no longer than this")
    p.add_argument("--frozen", type=int, default=0, help="how many layers stay as they are")
    p.add_argument("--tokens", type=int, default=1600); p.add_argument("--threads", type=int, default=2); p.add_argument("--seed", type=int, default=0)
    p.add_argument("--twice", help="a file with names of documents that count twice")
    a = p.parse_args()
    torch.set_num_threads(a.threads); torch.manual_seed(a.seed); random.seed(a.seed)
    texts = texts_of(a.dump); give_offsets(texts)
    twice = set(open(a.twice).read().split()) if a.twice else ()
    for t in texts: t.weight = 2.0 if t.name in twice else 1.0
    train, test = [t for t in texts if t.fold != a.fold], [t for t in texts if t.fold == a.fold]
    model = NameBert(a.rank if a.epochs else 0, a.dropout); base = {k: v.clone() for k, v in model.state_dict().items()}
    weights = torch.cat([torch.full((t.count,), t.weight) for t in train])
    if a.start:
        first = load_file(a.start); head = first["head.weight"].float(), first["head.bias"].float()
    else:
        states_of(model, texts)
        head = fit_head(torch.cat([t.states for t in train]), torch.cat([t.offset for t in train]),
                        torch.tensor([y for t in train for y in t.labels]), weights, a.l2)
    model.head.weight.data, model.head.bias.data = head
    if a.epochs: tune(model, train, a)
    if a.epochs or a.start: states_of(model, test)
    save_file(written(model, base), a.out)
    model.eval()
    with torch.no_grad(): json.dump({t.name: [[round(v, 4) for v in row] for row in model.head(t.states).tolist()] for t in test}, open(a.out.removesuffix(".safetensors") + ".json", "w"))
