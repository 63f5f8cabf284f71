"""logits_names.py ENCODER.safetensors TEXTS.jsonl: what the name encoder gives for candidates. Each line has "text" and "names", each with
"name" and its "places" in bytes (all places of the name where there are none); they are written again with "logits"."""
import json, sys
from safetensors.torch import load_file
from adapter import NAMES
from names import *


def name_encoder(path):
    model, tensors = NameBert(), {key: value.float() for key, value in load_file(path).items()}
    state = model.state_dict()
    for key in state:
        if key.startswith("head."):
            state[key] = tensors[key]
        elif key.startswith("layers."):
            _, n, part, kind = key.split(".")
            name = f"encoder.layer.{n}.{NAMES[part]}.{kind}"
            if name + ".up" in tensors: state[key] = state[key] + tensors[name + ".up"] @ tensors[name + ".down"]
            elif name in tensors: state[key] = state[key] + tensors[name]
    model.load_state_dict(state)
    return model.eval()


def places_of(text, name):
    at, out = text.find(name), []
    while at >= 0:
        out.append([at, at + len(name)]); at = text.find(name, at + len(name))
    return out


if __name__ == "__main__":
    model = name_encoder(sys.argv[1])
    for line in open(sys.argv[2]):
        doc = json.loads(line); text = doc["text"]; in_bytes = lambda n: len(text[:n].encode())
        in_chars = lambda n: len(text.encode()[:n].decode())
        for one in doc["names"]:
            one["s"] = [[in_chars(a), in_chars(b)] for a, b in one["places"]] if "places" in one else places_of(text, one["name"])
            one["places"] = [[in_bytes(a), in_bytes(b)] for a, b in one["s"]]
        read = Text(dict(doc=doc.get("doc", ""), folder="", fold=0, text=text, names=[dict(n=o["name"], s=o["s"], y=0) for o in doc["names"]]))
        with torch.no_grad(): rows = model.head(model.pooled([read])).tolist()
        names = [dict(name=o["name"], places=o["places"], logits=[round(v, 3) for v in row]) for o, row in zip(doc["names"], rows)]
        print(json.dumps(dict(text=text, names=names), ensure_ascii=False))
