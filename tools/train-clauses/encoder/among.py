"""among.py PEOPLE.jsonl… TEXTS OUT.jsonl: what people want and tell of themselves (as bearing.py reads it), alone and among the sentences of
other texts (of the folder TEXTS, those that state no directive), and what they ask for, as texts with their directives."""
import glob, json, os, random, sys

random.seed(7)
*people, folder, out = sys.argv[1:]
read = lambda file: [json.loads(line) for line in open(file)]
texts = [one["text"].strip() for file in sorted(glob.glob(os.path.join(folder, "*.jsonl"))) for one in read(file)
         if not one["directives"] and one["context"] in ("chat", "note", "conversation") and 40 < len(one["text"]) < 700]
ended = lambda text: text if text[-1] in ".!?" else text + random.choice([".", ".", "\n", " -"])


def among(text):
    """Alone, behind or before another text, or between two."""
    draw = random.random()
    if draw < 0.35: return text
    if draw < 0.8: return " ".join(ended(part) if at == 0 else part for at, part in enumerate(random.sample([text, random.choice(texts)], 2)))
    before, behind = random.sample(texts, 2)
    return f"{ended(before)} {ended(text)} {behind}"


with open(out, "w") as file:
    say = lambda context, text, directives: file.write(json.dumps(dict(context=context, text=text, directives=directives)) + "\n")
    for person in (one for path in people for one in read(path)):
        for wish in map(str.strip, person["directives"]): say(random.choice(["chat", "chat", "chat", "note"]), among(wish), [wish])
        for request in person["requests"]: say("chat", request["text"].strip(), [])
