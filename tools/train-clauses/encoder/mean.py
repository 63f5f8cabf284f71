"""mean.py ADAPTER… OUT.safetensors: the mean of adapters that were trained on from one another."""
import sys
from safetensors.torch import load_file, save_file

*names, out = sys.argv[1:]
adapters = [load_file(name) for name in names]
kept = lambda key, value: key.endswith(".kept") or not value.is_floating_point()
save_file({key: value if kept(key, value) else (sum(one[key].float() for one in adapters) / len(adapters)).half()
           for key, value in adapters[0].items() if all(key in one for one in adapters)}, out)
