#!/usr/bin/env python3
"""Calls every tool of a running server with arguments that its schema allows, nearly allows and does not allow, and with broken messages.

    fuzz/http_arguments.py http://127.0.0.1:3100/mcp [--seconds 120] [--seed 1]

Standard library only. What it remembers is in a namespace of its own, which it leaves behind: use a server that may be thrown away, and never
one that others use (only loopback addresses are taken). A fault is: no answer, an answer that is no JSON-RPC, a status of 500 or above,
an internal error, or an answer that took longer than 30 seconds. The call that led to it is printed as JSON; the run ends with 1 then.
The same seed makes the same calls, but ids that the server gave go into later ones.
"""

import argparse
import http.client
import itertools
import json
import os
import random
import sys
import time
import urllib.parse

PROTOCOL = "2025-06-18"
TEXTS = [
    "", " ", "\x00", "\u202e", "\ufeff", "a" * 3000, "é" * 301, "👩‍👩‍👧‍👦" * 40, "%s%n{}", "' or 1=1 --", "\\", "../../etc/passwd", "null", "\n\r\t", "İ", "ß",
    "default", "Alice Chen committed to deliver the API design by Friday.", "We decided to use PostgreSQL. Bob is waiting on Alice.", "Alice Chen",
    "2024-03-15", "2024-02-30", "0000-01-01", "-9999-01-01T00:00:00Z", "9999-12-31T23:59:59.999999999Z", "next Friday", "art_000000000000",
    "evt_0000000000000000", "obs_1", "from:1:b3f302c3fa76:ca73761ddabf:cd2662154e6d", "from:18446744073709551615:0:0:0", "Commitment", "overdue", "newest",
]
NUMBERS = [0, 1, -1, 2, 5, 10, 100, 0.5, -0.0, 1.0, 1e-300, 1e308, 2**31, 2**53, 2**63 - 1, 2**63, 2**64, -(2**63), 10**30]


class Fault(Exception):
    pass


class Fuzzer:
    def __init__(self, url, seed):
        place = urllib.parse.urlsplit(url)
        if place.hostname not in {"127.0.0.1", "localhost", "::1"}:
            sys.exit("only a server on this machine is called: http://127.0.0.1:PORT/mcp")
        self.place, self.path = place, f"{place.path or '/mcp'}?namespace=fuzz-{os.getpid()}"
        self.random = random.Random(seed)
        self.connection = None
        # Names and ids that the server told: some calls are to meet what is there.
        self.met = list(TEXTS)

    def post(self, body):
        headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "MCP-Protocol-Version": PROTOCOL}
        if os.environ.get("REMEMBRANCER_TOKEN"):
            headers["Authorization"] = "Bearer " + os.environ["REMEMBRANCER_TOKEN"]
        for attempt in range(2):
            # A connection that was kept may have been closed meanwhile.
            fresh = self.connection is None
            self.connection = self.connection or http.client.HTTPConnection(self.place.hostname, self.place.port, timeout=30)
            try:
                self.connection.request("POST", self.path, body, headers)
                answer = self.connection.getresponse()
                text = answer.read()
                if answer.getheader("Connection") == "close":
                    self.connection = None
                return answer.status, answer.getheader("Content-Type") or "", text
            except (OSError, http.client.HTTPException) as error:
                self.connection = None
                if fresh or attempt:
                    raise Fault(f"no answer: {error!r}") from error

    def message(self, kind, text):
        """The JSON-RPC message of an answer, which may come as an event stream."""
        if kind.startswith("text/event-stream"):
            lines = [line[5:].strip() for line in text.decode().splitlines() if line.startswith("data:") and line[5:].strip()]
            text = lines[-1]
        return json.loads(text)

    def request(self, method, params):
        status, kind, text = self.post(json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode())
        if status != 200:
            raise Fault(f"status {status}: {text[:300]!r}")
        try:
            return self.message(kind, text)
        except (ValueError, IndexError) as error:
            raise Fault(f"no JSON-RPC message: {text[:300]!r}") from error

    def open(self):
        self.request("initialize", {"protocolVersion": PROTOCOL, "capabilities": {}, "clientInfo": {"name": "fuzz", "version": "1"}})
        return self.request("tools/list", {})["result"]["tools"]

    def learn(self, value):
        """Keeps short texts of an answer."""
        if isinstance(value, dict):
            for inner in value.values():
                self.learn(inner)
        elif isinstance(value, list):
            for inner in value[:5]:
                self.learn(inner)
        elif isinstance(value, str) and len(value) < 100:
            if len(self.met) < 400:
                self.met.append(value)
            else:
                self.met[self.random.randrange(len(TEXTS), 400)] = value

    def anything(self, depth=0):
        pick = self.random.random()
        if pick < 0.45 or depth > 4:
            return self.random.choice(self.met)
        if pick < 0.7:
            return self.random.choice(NUMBERS)
        if pick < 0.8:
            return self.random.choice([None, True, False])
        if pick < 0.9:
            return [self.anything(depth + 1) for _ in range(self.random.randrange(4))]
        return {self.random.choice(self.met)[:50]: self.anything(depth + 1) for _ in range(self.random.randrange(4))}

    def value(self, schema, root):
        """Mostly what the schema asks for."""
        if self.random.random() < 0.06 or not isinstance(schema, dict):
            return self.anything()
        if "$ref" in schema:
            schema = root["$defs"][schema["$ref"].rsplit("/", 1)[1]]
            return self.value(schema, root)
        if "enum" in schema:
            return self.random.choice(schema["enum"])
        for kind in ("anyOf", "oneOf"):
            if kind in schema:
                return self.value(self.random.choice(schema[kind]), root)
        kind = schema.get("type")
        if kind == "object" or "properties" in schema:
            return self.fields(schema, root)
        if kind == "array":
            return [self.value(schema.get("items", {}), root) for _ in range(self.random.choice([0, 1, 1, 2, 3, 30]))]
        if kind == "string":
            text = self.random.choice(self.met)
            return text + self.random.choice(self.met) if self.random.random() < 0.2 else text
        if kind == "boolean":
            return self.random.random() < 0.5
        if kind in ("integer", "number"):
            bounds = [schema[name] for name in ("minimum", "maximum") if name in schema]
            near = [bound + shift for bound in bounds for shift in (-1, 0, 1)]
            return self.random.choice(NUMBERS + near * 3)
        return self.anything()

    def fields(self, schema, root):
        wanted = set(schema.get("required", []))
        given = {
            name: self.value(inner, root)
            for name, inner in schema.get("properties", {}).items()
            if self.random.random() < (0.97 if name in wanted else 0.3)
        }
        if self.random.random() < 0.05:
            given[self.random.choice(self.met)[:50]] = self.anything()
        return given

    def each_field(self, tools):
        """Every value in every field, beside others as the schema asks for."""
        for tool in tools:
            schema = tool["inputSchema"]
            for name, inner in schema.get("properties", {}).items():
                for value in [*TEXTS, "a\x00b", *NUMBERS, None, [], {}, [["a"]], ["a\x00b"] * 2]:
                    yield {"name": tool["name"], "arguments": {**self.fields({**schema, "properties": {
                        field: kept for field, kept in schema["properties"].items() if field in schema.get("required", [])}}, schema), name: value}}
                    if isinstance(value, str) and "$ref" not in json.dumps(inner):
                        yield {"name": tool["name"], "arguments": {**self.fields(schema, schema), name: value}}

    def any_call(self, tools):
        while True:
            tool = self.random.choice(tools)
            yield {"name": tool["name"], "arguments": self.fields(tool["inputSchema"], tool["inputSchema"])}

    def call(self, call):
        if self.random.random() < 0.1:
            self.broken(call)
        started = time.monotonic()
        try:
            answer = self.request("tools/call", call)
            seconds = time.monotonic() - started
            shown = json.dumps(answer)
            if "result" not in answer and "error" not in answer:
                raise Fault(f"neither result nor error: {shown[:300]}")
            if answer.get("error", {}).get("code") == -32603 or "internal error" in shown.lower() or "panic" in shown.lower():
                raise Fault(f"an internal error: {shown[:300]}")
            if seconds > 30:
                raise Fault(f"it took {seconds:.0f} s")
        except Fault as fault:
            print(json.dumps(call), file=sys.stderr)
            raise Fault(f"{call['name']}: {fault}") from fault
        self.learn(answer.get("result", {}).get("structuredContent"))
        return "error" if "error" in answer else "refused" if answer["result"].get("isError") else "done"

    def broken(self, call):
        """A message with some bytes changed, cut out, or said twice."""
        body = bytearray(json.dumps({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": call}).encode())
        for _ in range(self.random.randrange(1, 5)):
            at = self.random.randrange(len(body)) if body else 0
            how = self.random.randrange(4)
            if how == 0 and body:
                body[at] = self.random.randrange(256)
            elif how == 1:
                del body[at : at + self.random.randrange(1, 20)]
            elif how == 2:
                body[at:at] = body[at : at + self.random.randrange(1, 40)]
            else:
                body[at:at] = self.random.choice([b"\\ud800", b"\xff", b"[" * 200, b"1e999", b'"id":', b"\x00", b"{}", b","])
        try:
            status, kind, text = self.post(bytes(body))
            if status >= 500 or b"internal error" in text.lower():
                raise Fault(f"status {status}: {text[:300]!r}")
            if status == 200:
                self.message(kind, text)
        except (Fault, ValueError, IndexError) as fault:
            print(repr(bytes(body)), file=sys.stderr)
            raise Fault(f"a broken message: {fault}") from fault


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("url")
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    fuzzer = Fuzzer(options.url, options.seed)
    tools = fuzzer.open()
    counted, faults, end = {}, 0, time.monotonic() + options.seconds
    # First there must be something to meet.
    filling = itertools.islice(fuzzer.any_call(tools), 2000)
    for call in itertools.chain(filling, fuzzer.each_field(tools), fuzzer.any_call(tools)):
        if time.monotonic() > end or faults == 20:
            break
        try:
            outcome = fuzzer.call(call)
        except Fault as fault:
            faults += 1
            outcome = "fault"
            print(fault, file=sys.stderr)
        counted[outcome] = counted.get(outcome, 0) + 1
    print(f"{sum(counted.values())} calls of {len(tools)} tools, seed {options.seed}: "
          + ", ".join(f"{count} {outcome}" for outcome, count in sorted(counted.items())))
    sys.exit(1 if faults else 0)


main()
