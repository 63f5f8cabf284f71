"""diaries.py texts OUT DIARIES.jsonl…: the texts of diaries as labelled texts, in OUT/states with all that requests depend on, in OUT/wishes with
what is wanted alone, below training those of files of that name and below aside the others. diaries.py people DUMP.jsonl OUT.jsonl DIARIES.jsonl…: what their requests depend on as bearing.py reads people, each as its quote
and as its sentences (of the dump of OUT/states), beside the likest other sentences of theirs, as the head for circumstances of the adapter
ADAPTER (in the environment) has them."""
import json, os, sys

# A sentence beyond this is read by its quote alone, as by the server.
SENTENCES_MAX, BESIDE, BESIDE_MIN = 400, 10, 15
read = lambda files: [json.loads(line) for file in files for line in open(file)]


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


def people(dump, out, *files):
    from encoder import loaded
    from sentences import read as dumped, states_of
    model = loaded(os.environ["ADAPTER"]); model.eval(); docs = dumped(dump)
    weight, bias = model.binding.weight.detach().float()[0], model.binding.bias.detach().float()
    log_odds = iter((states_of(model, [doc for doc, _ in docs]) @ weight + bias).tolist())
    sentences = {doc.text: [(one["span"], next(log_odds), one["targets"]) for one in own] for doc, own in docs}
    with open(out, "w") as written:
        for diary in read(files):
            content = lambda state: diary["texts"][state["text"]]["content"]

            def around(state):
                text = content(state); start = text.find(state["quote"]); end = start + len(state["quote"])
                own = [span for span, _, _ in sentences.get(text, []) if span[0] < end and start < span[1]]
                whole = text[min([start, *(span[0] for span in own)]):max([end, *(span[1] for span in own)])]
                return whole if len(whole) <= SENTENCES_MAX else state["quote"]

            hold = [place for place, state in enumerate(diary["states"]) if state.get("over") is None]
            beside = sorted(((said, text["content"][slice(*span)]) for text in diary["texts"] for span, said, is_state in sentences.get(text["content"], []) if not is_state), reverse=True)
            beside = [sentence for _, sentence in beside if len(sentence) > BESIDE_MIN][:BESIDE]
            requests = [dict(text=request["text"], bear=[hold.index(place) for place in request["bear"] if place in hold]) for request in diary["requests"]]
            for form in (lambda state: state["quote"], around):
                written.write(json.dumps(dict(person=diary["person"], directives=[form(diary["states"][place]) for place in hold] + beside, requests=requests)) + "\n")


dict(texts=texts, people=people)[sys.argv[1]](*sys.argv[2:])
