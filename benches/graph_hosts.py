#!/usr/bin/env python3
"""Counts what several hosts keep that write to one knowledge graph file at the same time, for any stdio server.

usage: graph_hosts.py [--hosts 4] [--calls 25] [--label NAME] FILE COMMAND...

Each host starts the command for itself with MEMORY_FILE_PATH=FILE, as agents' hosts do, and creates entities one by one. Then
one more host reads the graph. Standard library only.
"""
import argparse, json, os, sys, threading, time

from mcp_client import Failure, Stdio


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--hosts", type=int, default=4)
    parser.add_argument("--calls", type=int, default=25)
    parser.add_argument("--label", default="server")
    parser.add_argument("file")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    a = parser.parse_args()
    path = os.path.abspath(a.file)
    if os.path.exists(path):
        parser.error(f"{path} is there already")
    start, acknowledged, refused, lock = threading.Barrier(a.hosts), set(), [], threading.Lock()

    def host(number):
        with Stdio(a.command, MEMORY_FILE_PATH=path) as client:
            client.ask("read_graph")
            start.wait(60)
            for n in range(a.calls):
                entity = {"name": f"host {number} entity {n}", "entityType": "Note", "observations": [f"written by host {number}"]}
                answer = client.call("create_entities", entities=[entity])
                with lock:
                    if answer.is_error:
                        refused.append(answer.text)
                    else:
                        acknowledged.add(entity["name"])

    threads = [threading.Thread(target=host, args=(number,)) for number in range(a.hosts)]
    began = time.perf_counter()
    [t.start() for t in threads]
    [t.join() for t in threads]
    took = time.perf_counter() - began
    with Stdio(a.command, MEMORY_FILE_PATH=path) as client:
        kept = {entity["name"] for entity in json.loads(client.ask("read_graph").text)["entities"]}
    with open(path, encoding="utf-8") as file:
        in_file = {json.loads(line)["name"] for line in file if line.strip()}
    print(json.dumps({"label": a.label, "hosts": a.hosts, "acknowledged": len(acknowledged), "refused": len(refused),
                      "kept": len(kept & acknowledged), "in_file": len(in_file & acknowledged), "seconds": round(took, 1)}))


try:
    main()
except Failure as failure:
    sys.exit(f"graph_hosts.py: {failure}")
