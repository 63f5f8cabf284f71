"""The thin matrices of an adapter as what training goes on from, and as they are written."""
from safetensors.torch import load_file
from encoder import HEADS, Encoder, loaded, name_of


def name_in_file(key):
    return name_of(key.removesuffix("a").removesuffix("b") + "weight" if key.endswith((".a", ".b")) else key)


def student_of(path, dropout, kept_of=None):
    """A model with the matrices of an adapter, those of its parameters that are not of heads, and what they are differences to."""
    teacher = loaded(kept_of or path); teacher.eval()
    adapter = {key: value.float() for key, value in load_file(path).items()}
    rank = adapter["encoder.layer.0.attention.self.query.weight.down"].shape[0]
    student = Encoder(rank, dropout, teacher.kept)
    state = student.state_dict()
    for key, value in state.items():
        if key.startswith(HEADS): state[key] = adapter.get(key, value)
        elif key.startswith("layers."):
            name = name_in_file(key)
            if key.endswith(".a"): state[key] = adapter[name + ".down"]
            elif key.endswith(".b"): state[key] = adapter[name + ".up"]
            elif value.dim() == 1 and name in adapter: state[key] = value + adapter[name]
    base = {key: value.clone() for key, value in Encoder(kept=teacher.kept).state_dict().items()}
    student.load_state_dict(state)
    for key, value in student.named_parameters():
        value.requires_grad_(key.startswith(HEADS) or key.startswith("layers.") and not (value.dim() == 2 and key.endswith(".weight")))
    thin = [value for key, value in student.named_parameters() if value.requires_grad and key.startswith("layers.")]
    return student, thin, base


def tensors_of(student, base, kept_of, heads=HEADS):
    """What is written of a model, without what training left as it was."""
    tensors = {}
    for key, value in student.state_dict().items():
        if key.startswith(HEADS):
            if key.startswith(heads): tensors[key] = value
        elif key.startswith("layers."):
            name = name_in_file(key)
            if key.endswith(".a"): tensors[name + ".down"] = value
            elif key.endswith(".b"): tensors[name + ".up"] = value
            elif value.dim() == 1: tensors[name] = value - base[key]
    tensors = {key: value.detach().half().contiguous() for key, value in tensors.items() if value.any()}
    for key, value in load_file(kept_of).items():
        if key.endswith(".kept"): tensors[key] = value
    return tensors
