"""Makes the smallest cross-encoder there can be: of a question and a passage it gives 2 minus the number of words in the
passage that the question has too. So it likes best what searching by words finds last.

usage: python make.py (needs onnx), in this folder; writes model.onnx and the files of its tokenizer
"""

import json

from onnx import TensorProto as T
from onnx import checker, helper as h, save

WORDS = "[PAD] [UNK] [CLS] [SEP] who waters the garden ann bob orchid fern cactus on monday".split()


def node(kind, inputs, output, **attributes):
    return h.make_node(kind, inputs, [output], **attributes)


def number(name, kind, values, shape=()):
    return h.make_tensor(name, kind, shape, values)


nodes = [
    node("Cast", ["attention_mask"], "mask", to=T.FLOAT),
    node("Cast", ["token_type_ids"], "in_passage", to=T.FLOAT),
    node("Sub", ["one", "in_passage"], "in_question"),
    node("Greater", ["input_ids", "last_mark"], "is_word"),
    node("Cast", ["is_word"], "word", to=T.FLOAT),
    node("Mul", ["word", "mask"], "seen"),
    node("Mul", ["seen", "in_question"], "asked"),
    node("Mul", ["seen", "in_passage"], "told"),
    node("Unsqueeze", ["input_ids", "last"], "down"),
    node("Unsqueeze", ["input_ids", "middle"], "across"),
    node("Equal", ["down", "across"], "is_equal"),
    node("Cast", ["is_equal"], "equal", to=T.FLOAT),
    node("Unsqueeze", ["asked", "middle"], "asked_across"),
    node("Mul", ["equal", "asked_across"], "met"),
    node("ReduceMax", ["met"], "is_met", axes=[2], keepdims=0),
    node("Mul", ["is_met", "told"], "shared"),
    node("ReduceSum", ["shared", "middle"], "count", keepdims=1),
    node("Sub", ["two", "count"], "logits"),
]
constants = [
    number("one", T.FLOAT, [1.0]),
    number("two", T.FLOAT, [2.0]),
    number("last_mark", T.INT64, [3]),
    number("middle", T.INT64, [1], (1,)),
    number("last", T.INT64, [2], (1,)),
]
inputs = [h.make_tensor_value_info(n, T.INT64, ["b", "t"]) for n in ("input_ids", "attention_mask", "token_type_ids")]
outputs = [h.make_tensor_value_info("logits", T.FLOAT, ["b", 1])]
graph = h.make_graph(nodes, "reranker", inputs, outputs, constants)
model = h.make_model(graph, opset_imports=[h.make_opsetid("", 17)], ir_version=8)
checker.check_model(model)
save(model, "model.onnx")


def write(name, content):
    with open(name, "w", encoding="utf-8") as file:
        json.dump(content, file, indent=1)
        file.write("\n")


def mark(word):
    return {"id": WORDS.index(word), "content": word, "special": True, "single_word": False, "lstrip": False,
            "rstrip": False, "normalized": False}


def place(kind, name, type_id):
    return {kind: {"id": name, "type_id": type_id}}


separator = place("SpecialToken", "[SEP]", 0)
write("tokenizer.json", {
    "version": "1.0", "truncation": None, "padding": None,
    "added_tokens": [mark(word) for word in WORDS[:4]],
    "normalizer": {"type": "Lowercase"},
    "pre_tokenizer": {"type": "BertPreTokenizer"},
    "post_processor": {
        "type": "TemplateProcessing",
        "single": [place("SpecialToken", "[CLS]", 0), place("Sequence", "A", 0), separator],
        "pair": [place("SpecialToken", "[CLS]", 0), place("Sequence", "A", 0), separator, place("Sequence", "B", 1),
                 place("SpecialToken", "[SEP]", 1)],
        "special_tokens": {word: {"id": word, "ids": [WORDS.index(word)], "tokens": [word]} for word in WORDS[2:4]},
    },
    "decoder": None,
    "model": {"type": "WordLevel", "vocab": {word: n for n, word in enumerate(WORDS)}, "unk_token": "[UNK]"},
})
write("config.json", {"model_type": "bert", "pad_token_id": 0})
write("special_tokens_map.json", {"unk_token": "[UNK]", "pad_token": "[PAD]", "cls_token": "[CLS]", "sep_token": "[SEP]"})
write("tokenizer_config.json", {"model_max_length": 512, "pad_token": "[PAD]"})
