#!/usr/bin/env python3
"""Measures a knowledge graph server: p50 and p95 of its tools at several sizes, for any MCP server with the nine graph tools.

usage: graph_latency.py [--sizes 1000,5000,100000] [--label NAME] [--calls 50] [--json FILE] --http URL
       graph_latency.py [...] [--preload-jsonl FILE] --stdio COMMAND...

The graph must be empty. It is filled in calls of 500 entities, each with two observations, then as many relations, and
measured at each size. Answers are compared with what was written, and a wrong one ends the run. Of a server that answers
page by page, the first page is measured, and reading all pages apart. What the measured calls write is deleted before the
next size. With --preload-jsonl the graph is not filled by calls: FILE is written, and the server is started anew for each
size with MEMORY_FILE_PATH=FILE. Standard library only; tokens are counted when tiktoken is there.
"""
import argparse, json, os, random, statistics, sys, time

from mcp_client import Failure, Http, Stdio, parse

BATCH = 500
AREAS = ("checkout,billing,search,catalog,identity,shipping,pricing,inventory,ledger,notification,reporting,session,tax,returns,"
         "loyalty,media,audit,gateway,scheduler,ingest").split(",")
KINDS = {"api": "Service", "worker": "Service", "db": "Database", "queue": "Queue", "host": "Host", "job": "Task",
         "config": "Configuration", "incident": "Incident", "runbook": "Document", "decision": "Decision", "owner": "Person",
         "dashboard": "Dashboard"}
REGIONS = "eu-west-3,us-east-1,uk-south-2,ap-south-1,sa-east-1".split(",")
PEOPLE = "Alice Chen,Bob Martinez,Carol Díaz,Dan Okafor,Erin Walsh,Farid Haddad,Grace Kim,Hugo Lindström,Inès Prado,Jonas Weber".split(",")
MONTHS = "January,February,March,April,May,June,July,August,September,October,November,December".split(",")
THINGS = "connection pool,page cache,write-ahead log,retry queue,token bucket,search index,session store,billing export".split(",")
VERBS = "calls,writes to,reads from,depends on,is owned by,runs on,documents,replaces".split(",")
OBSERVATIONS = [
    "Runs version {a}.{b}.{c} in {region}, port {port}",
    "Deployed from commit {sha} on {c} {month} 2026",
    "{person} owns it and answers within {a} hours",
    "Ends with a timeout when the {thing} holds more than {port} entries",
    "Writes its log to /var/log/{area}/{sha}.log",
    "Reads {AREA}_TIMEOUT_MS={port} from /etc/{area}/service.toml",
    "Error {AREA}-{port} means that the {thing} is full",
    "Metrics are at https://grafana.example.net/d/{sha}/{area}?from=now-{a}h",
    "{person} decided in {month} 2026 to keep the {thing} in {region}",
    "p99 latency fell from {port} ms to {c} ms after the {thing} was resized",
    "Connects to postgres://{area}@db-{b}.{region}.example.net:5432/{area}",
    "Backed up every {a} hours to s3://backup-{region}/{area}/{sha}",
]
COMMON = ["timeout", "example.net", "connection pool", "eu-west-3", "Okafor", "incident"]
SHORT = ["db", "p9", "hu", "Ca", "s3"]


def rare_word(number):
    """A word that only the entity of this number has, like that of a ticket."""
    return f"KB{number * 7919 % 1000003:06d}"


class Graph:
    """The graph that the server must hold: entities in their order, and relations by endpoint."""

    def __init__(self):
        self.rng = random.Random(11)
        self.names, self.entities, self.relations, self.touching = [], {}, [], {}

    def observation(self, area):
        rng = self.rng
        return rng.choice(OBSERVATIONS).format(
            a=rng.randrange(1, 10), b=rng.randrange(20), c=rng.randrange(1, 29), region=rng.choice(REGIONS), port=rng.randrange(1000, 10000),
            sha=f"{rng.getrandbits(40):010x}", month=rng.choice(MONTHS), person=rng.choice(PEOPLE), thing=rng.choice(THINGS), area=area,
            AREA=area.upper())

    def entity(self, prefix=""):
        area, kind = self.rng.choice(AREAS), self.rng.choice(list(KINDS))
        number = len(self.names)
        return {"name": f"{prefix}{area}-{kind}-{number:06d}", "entityType": KINDS[kind],
                "observations": [self.observation(area), f"{self.observation(area)} ({rare_word(number)})"]}

    def relation(self, name):
        """One in twenty points to one of the first fifty entities, which become hubs."""
        others = self.names[:50] if self.rng.random() < .05 else self.names
        return {"from": name, "to": self.rng.choice(others), "relationType": self.rng.choice(VERBS)}

    def add_entity(self, entity):
        self.names.append(entity["name"])
        self.entities[entity["name"]] = entity
        return entity

    def add_relation(self, relation):
        self.relations.append(relation)
        for name in {relation["from"], relation["to"]}:
            self.touching.setdefault(name, []).append(relation)
        return relation

    def grow(self, size):
        """The entities and relations that bring it to `size` of each."""
        entities = [self.add_entity(self.entity()) for _ in range(size - len(self.names))]
        return entities, [self.add_relation(self.relation(entity["name"])) for entity in entities]

    def matches(self, query):
        """The entities that a search must find. The script's own texts are all simple to fold."""
        query = query.lower()
        return [e["name"] for e in self.entities.values()
                if any(query in text.lower() for text in (e["name"], e["entityType"], *e["observations"]))]

    def relations_of(self, names):
        return [relation for name in names for relation in self.touching.get(name, [])]

    def jsonl(self):
        lines = [{"type": "entity", **e} for e in self.entities.values()] + [{"type": "relation", **r} for r in self.relations]
        return "\n".join(json.dumps(line, ensure_ascii=False, separators=(",", ":")) for line in lines)


def key(relation):
    return relation["from"], relation["to"], relation["relationType"]


def must(is_right, what):
    if not is_right:
        raise Failure(f"wrong answer: {what}")


class Meter:
    """Measures one tool after the other on a filled graph, and compares every answer with the graph."""

    def __init__(self, client, graph, a):
        self.client, self.graph, self.a = client, graph, a
        self.rng, self.rows, self.walked = random.Random(5), [], {}

    def measure(self, operation, one, calls=None):
        """`one(n)` makes the nth call and gives its answer and how much it found; stops early when --seconds are over."""
        answers, found, began = [], [], time.perf_counter()
        one(-1)
        for n in range(calls or self.a.calls):
            answer, count = one(n)
            answers.append(answer)
            found.append(count)
            if n >= 2 and time.perf_counter() - began > self.a.seconds:
                break
        times = sorted(answer.seconds * 1e3 for answer in answers)
        self.rows.append({"operation": operation, "p50_ms": round(statistics.median(times), 2),
                          "p95_ms": round(times[min(len(times) - 1, int(len(times) * .95))], 2), "calls": len(times),
                          "found": round(statistics.median(found)), "bytes": round(statistics.median(a.size for a in answers))})
        return answers[-1]

    def holds(self, tool, arguments, names):
        """Calls a tool that answers with a graph; what it answers is right: these entities and what touches them.

        A server may answer with a first page and a cursor. That page is compared each time, all pages once.
        """
        answer = self.client.ask(tool, **arguments)
        got = answer.structured or json.loads(answer.text)
        case = tool, json.dumps(arguments)
        if got.get("next_cursor") and case not in self.walked:
            self.walked[case] = self.walk(tool, arguments)
            self.compare(case, *self.walked[case][:2], names, is_whole=True)
        self.compare(case, got["entities"], got["relations"], names, is_whole=not got.get("next_cursor"))
        return answer, len(got["entities"])

    def walk(self, tool, arguments):
        """Entities and relations of all pages, the pages as large as the server allows; seconds, bytes and how many."""
        page = {"limit": 1000, **arguments}
        entities, relations, seconds, size, pages = [], [], 0, 0, 0
        while page:
            answer = self.client.ask(tool, **page)
            got = answer.structured
            entities += got["entities"]
            relations += got["relations"]
            seconds, size, pages = seconds + answer.seconds, size + answer.size, pages + 1
            page = {**page, "cursor": got["next_cursor"]} if got.get("next_cursor") else None
        return entities, relations, seconds, size, pages

    def compare(self, case, entities, relations, names, is_whole):
        must([e["name"] for e in entities] == (names if is_whole else names[:len(entities)]),
             f"{case} found {len(entities)} entities instead of {len(names)}")
        for e in entities:
            must(e["observations"] == self.graph.entities[e["name"]]["observations"], f"{case} changed the observations of {e['name']}")
        got, expected = {key(r) for r in relations}, {key(r) for r in self.graph.relations_of(names)}
        must(got == expected if is_whole else got <= expected, f"{case} gave {len(got)} relations instead of {len(expected)}")

    def every_page(self, operation, tool, arguments):
        """What it costs to get everything from a server that answers page by page."""
        if (tool, json.dumps(arguments)) in self.walked:
            entities, _, seconds, size, pages = self.walked[tool, json.dumps(arguments)]
            self.rows.append({"operation": operation, "p50_ms": round(seconds * 1e3, 1), "p95_ms": round(seconds * 1e3, 1), "calls": 1,
                              "found": len(entities), "bytes": size, "pages": pages})

    def search(self, queries):
        def one(n):
            query = queries[n % len(queries)]
            return self.holds("search_nodes", {"query": query}, self.graph.matches(query))
        return one

    def open(self, many):
        def one(_):
            wanted = set(self.rng.sample(self.graph.names, many))
            return self.holds("open_nodes", {"names": sorted(wanted)}, [name for name in self.graph.names if name in wanted])
        return one

    def reads(self):
        rare = [rare_word(number) for number in self.rng.sample(range(len(self.graph.names)), self.a.calls + 1)]
        rare = [query.lower() if n % 2 else query for n, query in enumerate(rare)]
        self.measure("search, rare word", self.search(rare))
        self.measure("search, common word", self.search(COMMON))
        self.every_page(f"… '{COMMON[0]}', all pages", "search_nodes", {"query": COMMON[0]})
        self.measure("search, 2 characters", self.search(SHORT))
        self.measure("open 1 name", self.open(1))
        self.measure("open 10 names", self.open(10))
        answer = self.measure("read_graph", lambda _: self.holds("read_graph", {}, list(self.graph.names)), min(self.a.calls, 5))
        self.rows[-1].update(text_bytes=len(answer.text.encode()), text_tokens=tokens(answer.text))
        self.every_page("read_graph, all pages", "read_graph", {})

    def writes(self):
        """Measures the writing tools; their own deletes bring the graph back to what it was."""
        base, created, noted = len(self.graph.names), [], []

        def entity(n):
            entity = self.graph.entity(prefix="measured-")
            answer = self.client.ask("create_entities", entities=[entity])
            must(json.loads(answer.text) == [entity], "create_entities did not give the entity back")
            created.append(self.graph.add_entity(entity)["name"])
            return answer, 1

        def relation(n):
            relation = self.graph.relation(created[n + 1])
            answer = self.client.ask("create_relations", relations=[relation])
            must(json.loads(answer.text) == [relation], "create_relations did not give the relation back")
            self.graph.add_relation(relation)
            return answer, 1

        def observation(n):
            name = self.rng.choice(self.graph.names[:base])
            text = f"{self.graph.observation('checkout')} (measured {n})"
            answer = self.client.ask("add_observations", observations=[{"entityName": name, "contents": [text]}])
            must(json.loads(answer.text) == [{"entityName": name, "addedObservations": [text]}], "add_observations did not give it back")
            self.graph.entities[name]["observations"].append(text)
            noted.append((name, text))
            return answer, 1

        def deletion(n):
            name = created.pop()
            answer = self.client.ask("delete_entities", entityNames=[name])
            self.forget(name)
            return answer, 1

        self.measure("create 1 entity", entity)
        made = len(created) - 1
        self.measure("create 1 relation", relation, made)
        self.measure("add 1 observation", observation)
        self.holds("open_nodes", {"names": created}, list(created))
        self.holds("search_nodes", {"query": "measured"}, self.graph.matches("measured"))
        self.measure("delete 1 entity", deletion, made)
        for name in list(created):
            deletion(name)
        self.client.ask("delete_observations", deletions=[{"entityName": name, "observations": [text]} for name, text in noted])
        for name, text in noted:
            self.graph.entities[name]["observations"].remove(text)
        self.holds("search_nodes", {"query": "measured"}, [])

    def forget(self, name):
        graph = self.graph
        graph.names.remove(name)
        del graph.entities[name]
        gone = graph.touching.pop(name, [])
        for relation in gone:
            graph.relations.remove(relation)
            for end in {relation["from"], relation["to"]} - {name}:
                graph.touching[end].remove(relation)


def tokens(text):
    """cl100k_base tokens, or nothing without tiktoken: a guess from bytes would be no measurement."""
    try:
        import tiktoken
    except ImportError:
        return None
    encoding = tiktoken.get_encoding("cl100k_base")
    return sum(len(encoding.encode(text[at:at + 100_000], disallowed_special=())) for at in range(0, len(text), 100_000))


def load(client, entities, relations, limit):
    """Fills the server; gives seconds for entities and relations, or says how far it came in `limit` seconds."""
    began, spent = time.perf_counter(), []
    for tool, field, rows in (("create_entities", "entities", entities), ("create_relations", "relations", relations)):
        started = time.perf_counter()
        for at in range(0, len(rows), BATCH):
            if time.perf_counter() - began > limit:
                return f"loading was not finished in {limit} s: {at:,} of {len(rows):,} {field}"
            batch = rows[at:at + BATCH]
            must(json.loads(client.ask(tool, **{field: batch}).text) == batch, f"{tool} did not give back what it was given")
        spent.append(round(time.perf_counter() - started, 2))
    return {"load_entities_seconds": spent[0], "load_relations_seconds": spent[1]}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--sizes", default="1000,5000,100000", help="entities, and as many relations (default: %(default)s)")
    parser.add_argument("--label", default="server", help="name of the server in the output")
    parser.add_argument("--calls", type=int, default=50, help="calls a measurement (default: %(default)s)")
    parser.add_argument("--seconds", type=float, default=30, help="a measurement ends after so long, with fewer calls (default: %(default)s)")
    parser.add_argument("--load-seconds", type=float, default=600, help="give up filling after so long (default: %(default)s)")
    parser.add_argument("--preload-jsonl", metavar="FILE", help="fill by writing this file; only with --stdio")
    parser.add_argument("--json", metavar="FILE", help="add a line of JSON for each measurement to this file")
    a = parse(parser)
    if a.preload_jsonl and a.http:
        parser.error("--preload-jsonl needs --stdio: the server reads the file when it starts")
    run(a, Report(a))


class Report:
    """The table on standard output, and lines of JSON."""

    def __init__(self, a):
        self.label, self.transport, self.file = a.label, "http" if a.http else "stdio", a.json
        print(f"{'entities':>9}  {'operation':<22}{'p50 ms':>10}{'p95 ms':>10}{'calls':>7}{'found':>8}{'bytes':>13}   {a.label}, {self.transport}")

    def row(self, size, row):
        print(f"{size:>9,}  {row['operation']:<22}{row['p50_ms']:>10}{row['p95_ms']:>10}{row['calls']:>7}{row['found']:>8,}{row['bytes']:>13,}")
        if "pages" in row:
            print(f"{'':>9}  pages: {row['pages']}, asked for one after the other")
        if "text_bytes" in row:
            known = "not counted: no tiktoken" if row["text_tokens"] is None else f"{row['text_tokens']:,} cl100k_base tokens"
            print(f"{'':>9}  text of one answer: {row['text_bytes']:,} bytes, {known}")
        self.line(size, row)

    def note(self, size, text, **fields):
        print(f"{size:>9,}  {text}")
        self.line(size, {"note": text, **fields})

    def line(self, size, row):
        sys.stdout.flush()
        if self.file:
            with open(self.file, "a", encoding="utf-8") as file:
                file.write(json.dumps({"label": self.label, "transport": self.transport, "entities": size, **row}) + "\n")


def measure(client, graph, size, a, report):
    meter = Meter(client, graph, a)
    meter.reads()
    meter.writes()
    for row in meter.rows:
        report.row(size, row)


def run(a, report):
    sizes = sorted(int(size) for size in a.sizes.split(","))
    if a.preload_jsonl:
        for size in sizes:
            graph = Graph()
            graph.grow(size)
            with open(a.preload_jsonl, "w", encoding="utf-8") as file:
                file.write(graph.jsonl())
            started = time.perf_counter()
            with Stdio(a.stdio, MEMORY_FILE_PATH=os.path.abspath(a.preload_jsonl)) as client:
                client.ask("open_nodes", names=graph.names[:1])
                took = round(time.perf_counter() - started, 2)
                report.note(size, f"first answer {took} s after the start, from a file of {os.path.getsize(a.preload_jsonl):,} bytes",
                            first_answer_seconds=took)
                measure(client, graph, size, a, report)
        return
    with Http(a.http) if a.http else Stdio(a.stdio) as client:
        there = client.ask("read_graph")
        if json.loads(there.text)["entities"]:
            raise Failure("the graph is not empty: name another namespace (?namespace=) or another file")
        graph = Graph()
        for size in sizes:
            loaded = load(client, *graph.grow(size), a.load_seconds)
            if isinstance(loaded, str):
                report.note(size, loaded, finished=False)
                break
            report.note(size, "filled in {load_entities_seconds} s + {load_relations_seconds} s".format(**loaded), **loaded)
            measure(client, graph, size, a, report)


if __name__ == "__main__":
    try:
        main()
    except Failure as failure:
        sys.exit(f"graph_latency.py: {failure}")
