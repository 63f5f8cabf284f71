"""logits.py ADAPTER.safetensors TEXT: what the encoder with an adapter gives for each line of a text, as a JSON object a line."""
import json, sys, torch
from safetensors.torch import load_file
from adapter import NAMES
from bert import Bert, windows


def adapted(path):
    model, tensors = Bert(), load_file(path)
    state = model.state_dict()
    for key in state:
        if key.startswith("head."):
            state[key] = tensors[key].float()
        elif key.startswith("layers."):
            _, n, part, kind = key.split(".")
            name = f"encoder.layer.{n}.{NAMES[part]}.{kind}"
            if name + ".up" in tensors:
                state[key] = state[key] + tensors[name + ".up"].float() @ tensors[name + ".down"].float()
            elif name in tensors:
                state[key] = state[key] + tensors[name].float()
    model.load_state_dict(state)
    return model.eval()


if __name__ == "__main__":
    model, text = adapted(sys.argv[1]), open(sys.argv[2]).read()
    at, clauses = 0, []
    for line in text.split("\n"):
        if line.strip():
            clauses.append({"span": (at, at + len(line))})
        at += len(line) + 1
    for ids, inside in windows({"text": text, "clauses": clauses}):
        rows = torch.zeros(len(inside), dtype=torch.long)
        starts, ends = (torch.tensor([span[n] for span in inside]) for n in (1, 2))
        with torch.no_grad():
            logits = model.clauses(torch.tensor([ids]), torch.ones(1, len(ids)), rows, starts, ends)
        for (number, *_), row in zip(inside, logits.tolist()):
            a, b = clauses[number]["span"]
            print(json.dumps({"clause": text[a:b], "logits": [round(value, 3) for value in row]}))
