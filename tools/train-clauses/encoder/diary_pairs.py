"""diary_pairs.py DUMP.jsonl ADAPTER OUT.jsonl DIARIES.jsonl…: pairs of an earlier state and a later sentence, for replacing.py, of diaries whose sentences
are dumped (of diaries.py): what ends a state, twice, beside the likest that it leaves; what states something else, and what only looks to the head
for revising sentences of the adapter as if it ended one, beside the likest before."""
import json, os, random, sys
import torch, torch.nn.functional as F
from tokenizers import Tokenizer
from bert import BASE, Bert
from encoder import loaded
from sentences import read as dumped, states_of

SENTENCES_MAX, LEFT, OF_OTHERS, LOOKING = 250, 4, 2, 6
random.seed(3)
dump, adapter, out, *files = sys.argv[1:]
tokenizer = Tokenizer.from_file(os.path.join(BASE, "tokenizer.json")); tokenizer.enable_truncation(128); tokenizer.enable_padding()
base = Bert(1, 0.0, layers=6); base.eval()


def vectors(texts):
    encoded = tokenizer.encode_batch(texts); mask = torch.tensor([e.attention_mask for e in encoded]).float()
    with torch.no_grad(): states = base(torch.tensor([e.ids for e in encoded]), mask).float()
    return F.normalize((states * mask[:, :, None]).sum(1), dim=1)


model = loaded(adapter); model.eval(); docs = dumped(dump)
revising = iter((states_of(model, [doc for doc, _ in docs]) @ model.revising.weight.detach().float()[0] + model.revising.bias.detach().float()).tolist())
sentences = {doc.text: [(one["span"], next(revising)) for one in own] for doc, own in docs}
pairs = []
for diary in (json.loads(line) for file in files for line in open(file)):
    states, contents = diary["states"], [text["content"] for text in diary["texts"]]

    def around(at, quote):
        """The sentences that a quote stands in, unless they are long."""
        text = contents[at]; start = text.find(quote); end = start + len(quote)
        own = [span for span, _ in sentences.get(text, []) if span[0] < end and start < span[1]]
        whole = text[min([start, *(span[0] for span in own)]):max([end, *(span[1] for span in own)])]
        return whole if len(whole) <= SENTENCES_MAX else quote

    own = vectors([state["quote"] for state in states])
    def held(at, later, ended, kept):
        """Pairs of a later sentence with what it ends, and with so many of the likest before it that it leaves."""
        likeness = (own @ vectors([later])[0]).tolist()
        left = sorted((place for place, state in enumerate(states) if state["text"] < at and place not in ended), key=lambda place: -likeness[place])[:kept]
        for place in ended + left:
            earlier = states[place]["quote"] if random.random() < 0.5 else around(states[place]["text"], states[place]["quote"])
            pairs.append(dict(earlier=earlier, later=later, label="replaced" if place in ended else "kept"))

    for end in diary["ends"]:
        for later in (end["quote"], around(end["text"], end["quote"])): held(end["text"], later, [place for place in end["ends"] if states[place]["text"] < end["text"]], LEFT)
    is_end = lambda at, start, stop: any(end["text"] == at and contents[at].find(end["quote"]) < stop and start < contents[at].find(end["quote"]) + len(end["quote"]) for end in diary["ends"])
    for state in states:
        start = contents[state["text"]].find(state["quote"])
        if not is_end(state["text"], start, start + len(state["quote"])): held(state["text"], around(state["text"], state["quote"]), [], OF_OTHERS)
    looking = sorted(((said, at, text[slice(*span)]) for at, text in enumerate(contents) for span, said in sentences.get(text, []) if not is_end(at, *span)), reverse=True)
    for _, at, sentence in looking[:LOOKING]: held(at, sentence, [], OF_OTHERS)
with open(out, "w") as file:
    for pair in pairs: file.write(json.dumps(pair) + "\n")
print(len(pairs), "pairs,", sum(pair["label"] == "replaced" for pair in pairs), "replaced")
