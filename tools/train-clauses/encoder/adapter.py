"""adapter.py CHECKPOINT… RANK OUT.safetensors: what training changed (the mean of checkpoints), as thin matrices of 16 bits.
A checkpoint is what train.py writes, or an adapter."""
import sys, torch
from safetensors.torch import load_file, save_file
from bert import Bert
NAMES = dict(q="attention.self.query", k="attention.self.key", v="attention.self.value", o="attention.output.dense",
             on="attention.output.LayerNorm", up="intermediate.dense", down="output.dense", dn="output.LayerNorm")


def thin(trained, rank):
    """What is in the file: matrices by their largest singular values, all else as it is."""
    base, tensors = Bert().state_dict(), {}
    for key, value in trained.items():
        if key.startswith("head."):
            tensors[key] = value
        elif key.startswith("layers."):
            _, n, part, kind = key.split(".")
            name = f"encoder.layer.{n}.{NAMES[part]}.{kind}"
            d = value - base[key]
            if d.dim() == 2:
                u, s, v = torch.linalg.svd(d, full_matrices=False)
                root = s[:rank].sqrt()
                tensors[name + ".up"] = u[:, :rank] * root
                tensors[name + ".down"] = root[:, None] * v[:rank]
            else:
                tensors[name] = d
    return tensors


def checkpoint(name):
    """The weights that train.py has written, or those of an adapter merged into the model."""
    if not name.endswith(".safetensors"):
        return torch.load(name)
    adapter, weights = {key: value.float() for key, value in load_file(name).items()}, Bert().state_dict()
    for key, value in weights.items():
        if key.startswith("head."):
            weights[key] = adapter[key]
        elif key.startswith("layers."):
            _, n, part, kind = key.split(".")
            name = f"encoder.layer.{n}.{NAMES[part]}.{kind}"
            if name + ".up" in adapter:
                weights[key] = value + adapter[name + ".up"] @ adapter[name + ".down"]
            elif name in adapter:
                weights[key] = value + adapter[name]
    return weights


if __name__ == "__main__":
    *checkpoints, rank, out = sys.argv[1:]
    rank, checkpoints = int(rank), [checkpoint(name) for name in checkpoints]
    trained = {key: sum(one[key] for one in checkpoints) / len(checkpoints) for key in checkpoints[0]}
    tensors = thin(trained, rank)
    save_file({k: v.half().contiguous() for k, v in tensors.items()}, out)
    print(sum(v.numel() for v in tensors.values()), "numbers")
