#!/usr/bin/env python3
"""Measures a running server over HTTP: remember and recall p50 and p95 in milliseconds.

usage: latency.py URL [--artifacts 200] [--recalls 200] [--clients 1] [--namespace bench]

Remembers that many short notes one by one in a namespace of its own, waits until their events are extracted, then asks
questions one by one (or by several clients at once). Standard library only; one kept-alive connection a client.
"""
import argparse, http.client, json, random, statistics, threading, time, urllib.parse

PEOPLE = "Alice Chen,Bob Martinez,Carol Diaz,Dan Okafor,Erin Walsh,Farid Haddad,Grace Kim,Hugo Lind,Ines Prado,Jonas Weber".split(",")
PROJECTS = "Apollo,Borealis,Cascade,Delphi,Ember,Fathom,Granite,Harbor".split(",")
THINGS = ("API design,budget,schema migration,release notes,load test,login page,billing export,search index,backup plan,"
          "contract,training set,vendor list,incident report,mobile client,data retention policy").split(",")
VERBS = "finish,review,rewrite,present,test,document,ship,estimate,clean up,hand over".split(",")
REASONS = ("because the customer asked for it,after the outage in March,before the audit,as the old one is too slow,"
           "so that support can answer faster,since the licence runs out,to unblock the design team").split(",")

def note(rng, n):
    p, q = rng.sample(PEOPLE, 2)
    return (f"{p} will {rng.choice(VERBS)} the {rng.choice(THINGS)} of project {rng.choice(PROJECTS)} by "
            f"{rng.choice(['Monday', 'Friday', 'the end of the month', 'March 21'])} {rng.choice(REASONS)}. "
            f"{q} asked about the {rng.choice(THINGS)} and ticket {rng.choice('ABC')}X-{n}.")

def question(rng):
    return rng.choice([f"What will {rng.choice(PEOPLE)} do about the {rng.choice(THINGS)}?",
                       f"Who works on project {rng.choice(PROJECTS)}?",
                       f"status of the {rng.choice(THINGS)}",
                       f"ticket {rng.choice('ABC')}X-{rng.randrange(200)}"])

class Client:
    def __init__(self, url, namespace):
        parts = urllib.parse.urlsplit(url)
        self.path = f"{parts.path}?namespace={namespace}"
        self.connection = http.client.HTTPConnection(parts.hostname, parts.port)
        self.headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
                        "MCP-Protocol-Version": "2025-06-18"}

    def call(self, tool, **arguments):
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}})
        started = time.perf_counter()
        self.connection.request("POST", self.path, body, self.headers)
        answer = self.connection.getresponse().read()
        took = (time.perf_counter() - started) * 1e3
        result = json.loads(answer)["result"]
        if result.get("isError"):
            raise SystemExit(f"{tool}: {result['structuredContent']}")
        return result["structuredContent"], took

def spread(times):
    times = sorted(times)
    at = lambda share: times[min(len(times) - 1, int(len(times) * share))]
    return {"p50": round(statistics.median(times), 2), "p95": round(at(.95), 2), "p99": round(at(.99), 2), "n": len(times)}

def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("url")
    arguments.add_argument("--artifacts", type=int, default=200)
    arguments.add_argument("--recalls", type=int, default=200)
    arguments.add_argument("--clients", type=int, default=1)
    arguments.add_argument("--namespace", default="bench")
    a = arguments.parse_args()
    rng = random.Random(7)
    client = Client(a.url, a.namespace)
    client.call("status")
    started = time.perf_counter()
    remembers = [client.call("remember", content=note(rng, n), date="2024-03-15")[1] for n in range(a.artifacts)]
    stored = time.perf_counter() - started
    while client.call("status")[0]["pending_jobs"]:
        time.sleep(.05)
    settled = time.perf_counter() - started
    for _ in range(10):
        client.call("recall", query=question(rng))
    times, lock = [], threading.Lock()
    def ask(seed):
        mine, rng, client = [], random.Random(seed), Client(a.url, a.namespace)
        for _ in range(a.recalls):
            mine.append(client.call("recall", query=question(rng))[1])
        with lock:
            times.extend(mine)
    threads = [threading.Thread(target=ask, args=(seed,)) for seed in range(a.clients)]
    began = time.perf_counter()
    [t.start() for t in threads]
    [t.join() for t in threads]
    print(json.dumps({"artifacts": a.artifacts, "clients": a.clients, "remember_ms": spread(remembers), "recall_ms": spread(times),
                      "recalls_per_second": round(len(times) / (time.perf_counter() - began), 1),
                      "stored_seconds": round(stored, 1), "extracted_after_seconds": round(settled, 1),
                      "jobs_per_second": round(a.artifacts / settled, 1)}))

main()
