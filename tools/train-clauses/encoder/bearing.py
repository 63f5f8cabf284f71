"""bearing.py PEOPLE.jsonl… OUT.safetensors [--aside PEOPLE.jsonl…]: an adapter of all layers of the sentence encoder, by whose vectors
requests are near the directives of the same person that bear on them. A line is a person: {"directives": [text], "requests": [{"text",
"bear": [places of directives]}]}. With --beside sentences that bear on nothing, {"text"} a line, stand among each person's in training."""
import argparse, json, os, random, time
import numpy as np, torch, torch.nn.functional as F
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer
from adapter import name_in_file
from bert import BASE, Bert
p = argparse.ArgumentParser()
p.add_argument("people", nargs="+"); p.add_argument("out"); p.add_argument("--aside", nargs="*", default=[])
p.add_argument("--epochs", type=int, default=6); p.add_argument("--lr", type=float, default=3e-4); p.add_argument("--rank", type=int, default=32); p.add_argument("--dropout", type=float, default=0.1)
p.add_argument("--scale", type=float, default=20, help="of cosines, before the softmax"); p.add_argument("--least", type=float, default=0.35, help="the cosine at which even odds lie"); p.add_argument("--odds", type=float, default=0.3, help="what the loss of each pair on its own counts beside the choice among one person's")
p.add_argument("--start", help="an adapter to go on from"); p.add_argument("--beside"); p.add_argument("--besides", type=int, default=8, help="of these a person")
p.add_argument("--together", type=int, default=4, help="people a step"); p.add_argument("--threads", type=int, default=2); p.add_argument("--seed", type=int, default=1)
a = p.parse_args()
torch.set_num_threads(a.threads); torch.manual_seed(a.seed); random.seed(a.seed)
LAYERS, TOKENS = 6, 128
def start(model, adapter):
    """Goes on from what an adapter adds."""
    now = model.state_dict()
    for key, value in now.items():
        if not key.startswith("layers."): continue
        name = name_in_file(key); added = adapter.get({"a": name + ".down", "b": name + ".up"}.get(key.rsplit(".", 1)[1], name))
        if added is not None: now[key] = added.float() + (value if value.dim() == 1 else 0)
    model.load_state_dict(now)


read = lambda files: [json.loads(line) for file in files for line in open(file)]
tokenizer = Tokenizer.from_file(os.path.join(BASE, "tokenizer.json")); tokenizer.enable_truncation(TOKENS); tokenizer.enable_padding()
model = Bert(a.rank, a.dropout, layers=LAYERS)
base = {key: value.clone() for key, value in model.state_dict().items()}
beside = [one["text"] for one in read([a.beside])] if a.beside else []
if a.start: start(model, load_file(a.start))


def vectors(texts):
    encoded = tokenizer.encode_batch(texts)
    ids, mask = torch.tensor([e.ids for e in encoded]), torch.tensor([e.attention_mask for e in encoded]).float()
    with torch.autocast("cpu", torch.bfloat16, enabled=model.training): states = model(ids, mask)
    return F.normalize((states.float() * mask[:, :, None]).sum(1), dim=1)


def cosines(people):
    """For each request the cosines of its person's directives, and which of them bear on it."""
    own, asked = vectors([d for person in people for d in person["directives"]]), vectors([r["text"] for person in people for r in person["requests"]])
    rows, begin, at = [], 0, 0
    for person in people:
        count = len(person["directives"])
        for request in person["requests"]:
            bear = torch.zeros(count); bear[request["bear"]] = 1
            rows.append((own[begin:begin + count] @ asked[at], bear)); at += 1
        begin += count
    return rows


def loss_of(rows):
    chosen, single, count = 0.0, 0.0, 0
    for cosine, bear in rows:
        single = single + F.binary_cross_entropy_with_logits((cosine - a.least) * a.scale, bear, reduction="sum")
        if bear.any():
            near, others = cosine[bear == 1] * a.scale, torch.logsumexp(cosine[bear == 0] * a.scale, 0)
            chosen = chosen + (torch.logaddexp(near, others) - near).sum(); count += len(near)
    return (chosen + a.odds * single) / max(count, 1)


def judge(file):
    """Average precision over all pairs, the share of requests whose nearest bears, and of what bears that is among the three nearest."""
    model.eval()
    with torch.no_grad(): rows = [row for person in read([file]) for row in cosines([person])]
    model.train()
    order = torch.cat([cosine for cosine, _ in rows]).argsort(descending=True); right = torch.cat([bear for _, bear in rows])[order].numpy()
    precision = np.cumsum(right) / np.arange(1, len(right) + 1); needy = [row for row in rows if row[1].any()]
    first = np.mean([bear[cosine.argmax()] for cosine, bear in needy]); near = sum(float(bear[cosine.topk(3).indices].sum()) for cosine, bear in needy)
    return f"{os.path.basename(file)}: {(precision * right).sum() / right.sum():.3f}, first {first:.3f}, of three {near / right.sum():.3f}"


train = read(a.people)
thin = [value for value in model.parameters() if value.requires_grad]
steps = a.epochs * -(-len(train) // a.together)
opt = torch.optim.AdamW(thin, lr=a.lr, weight_decay=0.0)
sched = torch.optim.lr_scheduler.LambdaLR(opt, lambda s: min(1, (s + 1) / 20) * max(0.0, 1 - s / steps))
print(len(train), "people", sum(len(person["requests"]) for person in train), "requests", *map(judge, a.aside), sep="  ", flush=True); model.train(); t0 = time.time()
for epoch in range(a.epochs):
    random.shuffle(train); total = 0.0
    for at in range(0, len(train), a.together):
        people = [dict(one, directives=one["directives"] + random.sample(beside, a.besides)) for one in train[at:at + a.together]] if beside else train[at:at + a.together]
        loss = loss_of(cosines(people))
        opt.zero_grad(); loss.backward(); torch.nn.utils.clip_grad_norm_(thin, 1.0); opt.step(); sched.step(); total += loss.item()
    print(epoch, round(total * a.epochs / steps, 3), *map(judge, a.aside), round(time.time() - t0), "s", sep="  ", flush=True)
tensors = {}
for key, value in model.state_dict().items():
    if not key.startswith("layers."): continue
    name = name_in_file(key)
    if key.endswith(".a"): tensors[name + ".down"] = value
    elif key.endswith(".b"): tensors[name + ".up"] = value
    elif value.dim() == 1: tensors[name] = value - base[key]
save_file({name: value.detach().half().contiguous() for name, value in tensors.items() if value.any()}, a.out)
