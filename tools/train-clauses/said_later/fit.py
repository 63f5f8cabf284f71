"""fit.py URL STREAM.jsonl...: the weights of memory-engine/src/recall/said_later.rs, from streams of labelled notes.

Each stream is remembered by a server of its own at URL (start it with an empty data folder, give one stream at a time with --dump), and
each open commitment is recalled among later texts. `fit.py --dump FILE URL STREAM.jsonl` writes what is found, `fit.py FILE...` fits two
logistic regressions on all of it but the streams of NOT_LEARNED, whether a text tells what became of the commitment, and whether it is
over by it, and shows what these streams reach with them, and each other stream with the weights of the others. Needs numpy and scipy."""
import datetime, json, os, re, sys, time, urllib.request
import numpy as np
from scipy.optimize import minimize

CONTEXTS = {"commit": "document", "comment": "chat"}
# No weight is learned from these; what signs there are was chosen with the figures of all streams in view.
NOT_LEARNED = ("allotment", "release", "family", "photoapp", "bookshop", "hospital", "leave", "theatre", "carehome")
CANDIDATES, THRESHOLDS, BEHIND = 4, (1, 0.5, 0, -0.25, -0.5, -0.75), 1.5
NAMES = ["score", "end words", "shared words", "end words there", "about due", "on the due day", "long after due", "without a due time", "within a day", "days", "short"]
KINDS = dict(tells="what became of it", over="that it is over")
CRATES = os.path.join(os.path.dirname(__file__), "../../../crates")
END_WORDS = os.path.join(CRATES, "memory-core/data/end_weights.txt")
LEXICON = os.path.join(CRATES, "memory-language/src/lexicon/mod.rs")


class Server:
    def __init__(self, url):
        self.url, self.session, self.count = url, None, 0
        self.ask("initialize", dict(protocolVersion="2025-06-18", capabilities={}, clientInfo=dict(name="fit", version="1")))

    def ask(self, method, params):
        self.count += 1
        body = json.dumps(dict(jsonrpc="2.0", id=self.count, method=method, params=params)).encode()
        head = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        if self.session: head["Mcp-Session-Id"] = self.session
        answer = urllib.request.urlopen(urllib.request.Request(self.url, body, head), timeout=120)
        self.session = answer.headers.get("Mcp-Session-Id") or self.session
        text = answer.read().decode()
        lines = [line[5:] for line in text.splitlines() if line.startswith("data:") and line[5:].strip()]
        return json.loads(lines[-1] if lines else text)

    def call(self, tool, **arguments):
        return self.ask("tools/call", dict(name=tool, arguments=arguments))["result"]["structuredContent"]


def dump(url, stream):
    server, notes, by_id = Server(url), [json.loads(line) for line in open(stream)], {}
    for note in notes:
        context = CONTEXTS.get(note["context"], note["context"])
        by_id[server.call("remember", content=note["text"], date=note["date"], author=note["author"], context=context, title=note.get("title"))["id"]] = note
    while (jobs := server.call("status")["jobs"])["pending"] + jobs["processing"] + jobs["passages_without_vector"]: time.sleep(0.5)
    begins = lambda text: {word[:5] for word in re.findall("[a-z0-9]+", text.lower()) if len(word) > 2}
    asked, cursor = [], None
    for state in ("open", "overdue"):
        while True:
            page = server.call("recall", state=state, limit=50, **({"cursor": cursor} if cursor else {}))
            for result in page["results"]:
                event = result["events"][0]; note = by_id[event["evidence"][0]["artifact_id"]]
                said = begins(event["evidence"][0]["quote"] + event["summary"])
                task = max(note["makes"], key=lambda task: len(said & begins(task["what"])), default=None)
                if not task or (len(note["makes"]) > 1 and not said & begins(task["what"])): continue
                found = server.call("recall", query=event["summary"], date_from=note["date"], limit=8)["results"]
                later = [it for it in found if by_id.get(it["id"], note)["date"] > note["date"]]
                ends = lambda note, moved: any(end["task"] == task["task"] and (moved or end["how"] != "moved") for end in note["ends"])
                asked.append(dict(promise=event["summary"], date=note["date"], due=event.get("due_time"), ended=any(ends(note, True) for note in notes), texts=[
                    dict(score=it["score"], date=it["date"], text=it["snippet"], passage=by_id[it["id"]]["text"],
                         tells=ends(by_id[it["id"]], True), over=ends(by_id[it["id"]], False)) for it in later[:CANDIDATES]]))
            if not (cursor := page.get("next_cursor")): break
    return asked


with open(END_WORDS) as lines: OF_END = {words: float(weight) for words, weight in (line.rstrip("\n").split("\t") for line in lines)}


def end_words(text):
    """As `told_by_words.rs` reads a text."""
    words = ["0" if word[0].isdigit() else word for word in re.findall(r"[a-z']+|[0-9][0-9.,:]*|[^\w\s]", text.lower().replace("’", "'"))]
    said = {" ".join(words[at:at + count]) for count in (1, 2, 3) for at in range(len(words) - count + 1)}
    return OF_END[""] + sum(OF_END.get(words, 0) for words in said)


with open(LEXICON) as source: FUNCTION_WORDS = set(re.findall(r'"([a-z\']+)"', source.read().split("const FUNCTION_WORDS")[1].split("];")[0]))


def nearest(promise, passage):
    """The most words that one sentence shares with a promise, and how much its words tell an end."""
    begins = lambda text: {word[:5] for word in re.findall("[a-z0-9]+", text.lower()) if len(word) > 2 and word not in FUNCTION_WORDS}
    promised = begins(promise)
    shared, sentence = max(((len(promised & begins(it)), it) for it in re.split(r"(?<=[.!?])\s+|\n", passage) if it.strip()), key=lambda it: it[0], default=(0, ""))
    return shared, end_words(sentence)


def features(asked):
    day = lambda text: datetime.date.fromisoformat(text[:10])
    for text in asked["texts"]:
        of_due = (day(text["date"]) - day(asked["due"])).days if asked["due"] else None
        age = (day(text["date"]) - day(asked["date"])).days
        yield [text["score"], end_words(text["text"]), *nearest(asked["promise"], text["passage"]),
               of_due is not None and -3 <= of_due <= 2, of_due is not None and -1 <= of_due <= 0, of_due is not None and of_due > 7,
               of_due is None, age <= 1, np.log1p(min(max(age, 0), 30)), len(text["passage"]) < 300]


def fitted(streams, kind):
    X = np.array([row for stream in streams for asked in stream for row in features(asked)], float)
    y = np.array([float(text[kind]) for stream in streams for asked in stream for text in asked["texts"]])
    mean, spread = X.mean(0), X.std(0) + 1e-9
    Z = np.c_[(X - mean) / spread, np.ones(len(X))]

    def loss(w):
        odds, kept = Z @ w, np.r_[w[:-1], 0]
        return (np.logaddexp(0, odds) - y * odds).sum() + 2.5 * (kept ** 2).sum(), Z.T @ (1 / (1 + np.exp(-odds)) - y) + 5 * kept

    w = minimize(loss, np.zeros(Z.shape[1]), jac=True, method="L-BFGS-B").x
    return w[:-1] / spread, w[-1] - (w[:-1] * mean / spread).sum()


def best_of(stream, kind, weights, bias):
    """Of each commitment the last of the texts that are nearly as likely as the likeliest."""
    for asked in stream:
        rows = [(float(np.dot(row, weights) + bias), text["date"], text[kind]) for row, text in zip(features(asked), asked["texts"])]
        if rows:
            most = max(rows)[0]
            odds, _, right = max((row for row in rows if row[0] >= most - BEHIND), key=lambda row: row[1])
            yield odds, right


def report(name, best):
    shown = lambda least: [right for odds, right in best if odds >= least]
    print(f"  {name}:", *(f"{least}: {sum(shown(least))} of {len(shown(least))} right" for least in THRESHOLDS), sep="  ")


if sys.argv[1] == "--dump":
    json.dump(dump(*sys.argv[3:5]), open(sys.argv[2], "w"))
else:
    streams = {os.path.basename(name).removesuffix(".json"): json.load(open(name)) for name in sys.argv[1:]}
    learned = {name: stream for name, stream in streams.items() if name not in NOT_LEARNED}
    aside = [stream for name, stream in streams.items() if name in NOT_LEARNED]
    print(*(f"{sum(map(len, them))} found, {sum(asked['ended'] for stream in them for asked in stream)} of them ended" for them in (learned.values(), aside)), sep="; ")
    for kind, what in KINDS.items():
        print(what)
        others = lambda name: [stream for other, stream in learned.items() if other != name]
        report("each with the weights of the others", [one for name, stream in learned.items() for one in best_of(stream, kind, *fitted(others(name), kind))])
        weights, bias = fitted(learned.values(), kind)
        report("held aside", [one for stream in aside for one in best_of(stream, kind, weights, bias)])
        print(*(f"  {name} {weight:.2f}" for name, weight in zip(NAMES, weights)), f"  bias {bias:.2f}", sep="\n")
