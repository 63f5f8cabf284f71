"""fit.py URL STREAM.jsonl...: the weights of memory-engine/src/recall/said_later.rs, from streams of labelled notes.

Each stream is remembered by a server of its own at URL (start it with an empty data folder, give one stream at a time with --dump), and
each open commitment is recalled among later texts. `fit.py --dump FILE URL STREAM.jsonl` writes what is found, `fit.py FILE...` fits a
logistic regression on all of it and shows what each stream reaches with the weights of the others. Needs numpy and scipy."""
import datetime, json, re, sys, time, urllib.request
import numpy as np
from scipy.optimize import minimize

CONTEXTS = {"commit": "document", "comment": "chat"}
CANDIDATES, THRESHOLDS = 4, (1, 0.5, 0, -0.5, -1)
NAMES = ["lead", "vector", "late interaction", "about due", "long after due", "length"]


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
        by_id[server.call("remember", content=note["text"], date=note["date"], author=note["author"], context=context)["id"]] = note
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
                found = server.call("recall", query=event["summary"], date_from=note["date"], limit=8, explain=True)["results"]
                later = [it for it in found if by_id.get(it["id"], note)["date"] > note["date"]]
                ends = lambda note: any(end["task"] == task["task"] for end in note["ends"])
                asked.append(dict(due=event.get("due_time"), ended=any(map(ends, notes)), texts=[
                    dict(score=it["score"], explain=it["explain"], date=it["date"], chars=len(by_id[it["id"]]["text"]), ends=ends(by_id[it["id"]]))
                    for it in later[:CANDIDATES]]))
            if not (cursor := page.get("next_cursor")): break
    return asked


def features(asked):
    day = lambda text: datetime.date.fromisoformat(text[:10])
    for at, text in enumerate(asked["texts"]):
        others = asked["texts"][1:] if at == 0 else asked["texts"]
        days = (day(text["date"]) - day(asked["due"])).days if asked["due"] else None
        score = lambda arm: (text["explain"].get(arm) or {}).get("score", 0)
        yield [text["score"] - (others[0]["score"] if others else 0), score("vector"), score("late_interaction"),
               float(days is not None and -3 <= days <= 2), float(days is not None and days > 7), min(text["chars"] / 300, 3)]


def fitted(streams):
    X = np.array([row for stream in streams for asked in stream for row in features(asked)])
    y = np.array([float(text["ends"]) for stream in streams for asked in stream for text in asked["texts"]])
    mean, spread = X.mean(0), X.std(0) + 1e-9
    Z = np.c_[(X - mean) / spread, np.ones(len(X))]

    def loss(w):
        p = 1 / (1 + np.exp(-Z @ w)); kept = np.r_[w[:-1], 0]
        return -(y * np.log(p + 1e-12) + (1 - y) * np.log(1 - p + 1e-12)).sum() + 2.5 * (kept ** 2).sum(), Z.T @ (p - y) + 5 * kept

    w = minimize(loss, np.zeros(Z.shape[1]), jac=True, method="L-BFGS-B").x
    return w[:-1] / spread, w[-1] - (w[:-1] * mean / spread).sum()


def best_of(stream, weights, bias):
    for asked in stream:
        rows = [(float(np.dot(row, weights) + bias), text["ends"]) for row, text in zip(features(asked), asked["texts"])]
        if rows: yield max(rows)


if sys.argv[1] == "--dump":
    json.dump(dump(*sys.argv[3:5]), open(sys.argv[2], "w"))
else:
    streams = [json.load(open(name)) for name in sys.argv[1:]]
    best = [one for at, stream in enumerate(streams) for one in best_of(stream, *fitted(streams[:at] + streams[at + 1:]))]
    ended = sum(asked["ended"] for stream in streams for asked in stream)
    for threshold in THRESHOLDS:
        shown = [right for odds, right in best if odds >= threshold]
        print(f"{threshold}: {sum(shown)} of {len(shown)} right, of {ended} that ended")
    weights, bias = fitted(streams)
    print(*(f"{name} {weight:.2f}" for name, weight in zip(NAMES, weights)), f"bias {bias:.2f}", sep="\n")
