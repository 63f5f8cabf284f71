"""Makes of diaries (tests/gold/directives/diaries) what the others learn from.
diaries.py texts OUT DIARIES.jsonl…: labelled texts, in OUT/states with all that requests depend on, in OUT/wishes with what is wanted alone, below
training those of files of that name and below aside the others. The others read the dump of OUT/states, and an adapter of the text encoder:
diaries.py people DUMP.jsonl ADAPTER OUT.jsonl DIARIES.jsonl…: people for bearing.py: what their requests depend on, each as its quote and as its
sentences, beside their other sentences that look most like it to the head for circumstances.
diaries.py pairs DUMP.jsonl ADAPTER OUT.jsonl DIARIES.jsonl…: pairs of an earlier state and a later sentence for replacing.py: what ends a state, twice,
beside the likest that it leaves; what states something else, and what looks to the head for revising sentences as if it ended one, beside the
likest before."""
import json, os, random, sys

# Longer sentences are read by their quote alone; the first as by the server.
READ_MAX, HELD_MAX = 400, 250
# Of one person so many sentences that look so, of so many characters at least.
BESIDE, BESIDE_MIN = 10, 15
# So many states are left by what ends one, and by each other sentence; and so many other sentences of a person.
LEFT, OF_OTHERS, LOOKING = 4, 2, 6


def read(files): return [json.loads(line) for file in files for line in open(file)]


def texts(out, *files):
    for kind in ("states", "wishes"):
        for file in files:
            name = os.path.basename(file); folder = os.path.join(out, kind, "training" if name.startswith("training") else "aside"); os.makedirs(folder, exist_ok=True)
            with open(os.path.join(folder, name), "w") as written:
                for diary in read([file]):
                    for place, text in enumerate(diary["texts"]):
                        own = [state["quote"] for state in diary["states"] if state["text"] == place and kind in ("states", state["kind"] + "es")]
                        # Minutes and mails are read as notes are.
                        context = "chat" if text["context"] == "chat" else "note"
                        written.write(json.dumps(dict(context=context, text=text["content"], directives=own)) + "\n")


def sentences_of(dump, adapter, head):
    """Of each text its sentences: where they stand, the log-odds of a head, and whether they state something."""
    from encoder import loaded
    from sentences import read as dumped, states_of
    model = loaded(adapter); model.eval(); docs = dumped(dump); head = getattr(model, head)
    said = iter((states_of(model, [doc for doc, _ in docs]) @ head.weight.detach().float()[0] + head.bias.detach().float()).tolist())
    return {doc.text: [(one["span"], next(said), one["targets"]) for one in own] for doc, own in docs}


def around(text, quote, sentences, longest):
    """The sentences that a quote stands in, unless they are long."""
    start = text.find(quote); end = start + len(quote)
    own = [span for span, _, _ in sentences.get(text, []) if span[0] < end and start < span[1]]
    whole = text[min([start, *(span[0] for span in own)]):max([end, *(span[1] for span in own)])]
    return whole if len(whole) <= longest else quote


def people(dump, adapter, out, *files):
    sentences = sentences_of(dump, adapter, "binding")
    with open(out, "w") as written:
        for diary in read(files):
            contents = [text["content"] for text in diary["texts"]]
            hold = [place for place, state in enumerate(diary["states"]) if state.get("over") is None]
            beside = sorted(((said, text[slice(*span)]) for text in contents for span, said, is_state in sentences.get(text, []) if not is_state), reverse=True)
            beside = [sentence for _, sentence in beside if len(sentence) > BESIDE_MIN][:BESIDE]
            requests = [dict(text=request["text"], bear=[hold.index(place) for place in request["bear"] if place in hold]) for request in diary["requests"]]
            for longest in (0, READ_MAX):
                own = [around(contents[diary["states"][place]["text"]], diary["states"][place]["quote"], sentences, longest) for place in hold]
                written.write(json.dumps(dict(person=diary["person"], directives=own + beside, requests=requests)) + "\n")


def embedder():
    """What makes vectors of texts, as the embedding model does."""
    import torch, torch.nn.functional as F
    from tokenizers import Tokenizer
    from bert import BASE, Bert
    base = Bert(1, 0.0, layers=6); base.eval()
    tokenizer = Tokenizer.from_file(os.path.join(BASE, "tokenizer.json")); tokenizer.enable_truncation(128); tokenizer.enable_padding()

    def vectors(texts):
        encoded = tokenizer.encode_batch(texts); mask = torch.tensor([e.attention_mask for e in encoded]).float()
        with torch.no_grad(): states = base(torch.tensor([e.ids for e in encoded]), mask).float()
        return F.normalize((states * mask[:, :, None]).sum(1), dim=1)
    return vectors


def pairs(dump, adapter, out, *files):
    random.seed(3); vectors = embedder()
    sentences, made = sentences_of(dump, adapter, "revising"), []
    for diary in read(files):
        states, contents = diary["states"], [text["content"] for text in diary["texts"]]
        whole = lambda at, quote: around(contents[at], quote, sentences, HELD_MAX)
        own = vectors([state["quote"] for state in states])

        def held(at, later, ended, kept):
            """Pairs of a later sentence with what it ends, and with so many of the likest before it that it leaves."""
            likeness = (own @ vectors([later])[0]).tolist()
            left = sorted((place for place, state in enumerate(states) if state["text"] < at and place not in ended), key=lambda place: -likeness[place])[:kept]
            for place in ended + left:
                earlier = states[place]["quote"] if random.random() < 0.5 else whole(states[place]["text"], states[place]["quote"])
                made.append(dict(earlier=earlier, later=later, label="replaced" if place in ended else "kept"))

        for end in diary["ends"]:
            for later in (end["quote"], whole(end["text"], end["quote"])): held(end["text"], later, [place for place in end["ends"] if states[place]["text"] < end["text"]], LEFT)
        is_end = lambda at, start, stop: any(end["text"] == at and contents[at].find(end["quote"]) < stop and start < contents[at].find(end["quote"]) + len(end["quote"]) for end in diary["ends"])
        for state in states:
            start = contents[state["text"]].find(state["quote"])
            if not is_end(state["text"], start, start + len(state["quote"])): held(state["text"], whole(state["text"], state["quote"]), [], OF_OTHERS)
        looking = sorted(((said, at, text[slice(*span)]) for at, text in enumerate(contents) for span, said, _ in sentences.get(text, []) if not is_end(at, *span)), reverse=True)
        for _, at, sentence in looking[:LOOKING]: held(at, sentence, [], OF_OTHERS)
    with open(out, "w") as file:
        for pair in made: file.write(json.dumps(pair) + "\n")
    print(len(made), "pairs,", sum(pair["label"] == "replaced" for pair in made), "replaced")


dict(texts=texts, people=people, pairs=pairs)[sys.argv[1]](*sys.argv[2:])
