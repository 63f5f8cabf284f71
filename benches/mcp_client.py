"""A small MCP client for the scripts of this folder: one server over stdio or HTTP, standard library only.

The time of a call runs from the first byte sent to the last byte received; making and reading JSON is left out.
"""
import argparse, http.client, json, os, shlex, subprocess, tempfile, time, urllib.parse

PROTOCOL = "2025-06-18"


class Failure(Exception):
    """The server did not answer as the protocol says, or ended."""


class Answer:
    """What a tool answered: its text, its structured content, whether it is an error, seconds and bytes on the wire."""

    def __init__(self, result, seconds, size):
        self.text = result["content"][0]["text"] if result.get("content") else ""
        self.structured = result.get("structuredContent")
        self.is_error = bool(result.get("isError"))
        self.seconds, self.size = seconds, size


class Client:
    """What both transports have in common."""

    def __init__(self):
        self.last_id = 0

    def open(self):
        self.request("initialize", protocolVersion=PROTOCOL, capabilities={},
                     clientInfo={"name": "remembrancer-benches", "version": "1"})
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"}, None)
        return self

    def request(self, method, **params):
        """The result of a request, its seconds and the size of the answer in bytes."""
        self.last_id += 1
        message = {"jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params}
        answer, seconds, size = self.send(message, self.last_id)
        if "error" in answer:
            raise Failure(f"{method}: {answer['error']}")
        return answer["result"], seconds, size

    def call(self, tool, **arguments):
        return Answer(*self.request("tools/call", name=tool, arguments=arguments))

    def ask(self, tool, **arguments):
        """Like `call`, but a refusal ends the script."""
        answer = self.call(tool, **arguments)
        if answer.is_error:
            raise Failure(f"{tool} refused: {answer.text[:500]}")
        return answer

    def tools(self):
        return {tool["name"]: tool for tool in self.request("tools/list")[0]["tools"]}

    def __enter__(self):
        return self.open()

    def __exit__(self, *_):
        self.close()


class Stdio(Client):
    """A server started as a child; what it says on standard error is shown when it fails."""

    def __init__(self, command, **environment):
        super().__init__()
        self.log = tempfile.TemporaryFile()
        self.child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log,
                                      bufsize=1 << 20, env={**os.environ, **environment})

    def send(self, message, expected_id):
        line = json.dumps(message, ensure_ascii=False).encode() + b"\n"
        started = time.perf_counter()
        try:
            self.child.stdin.write(line)
            self.child.stdin.flush()
        except BrokenPipeError:
            self.complain()
        while expected_id is not None:
            answer = self.child.stdout.readline()
            seconds = time.perf_counter() - started
            if not answer:
                self.complain()
            parsed = json.loads(answer)
            if parsed.get("id") == expected_id:  # else a notification
                return parsed, seconds, len(answer)

    def complain(self):
        self.log.seek(0)
        said = self.log.read().decode(errors="replace").strip()
        raise Failure(f"`{shlex.join(self.child.args)}` ended" + (f":\n{said[-2000:]}" if said else ""))

    def close(self):
        self.child.stdin.close()
        try:
            self.child.wait(20)
        except subprocess.TimeoutExpired:
            self.child.kill()
            self.child.wait()


class Http(Client):
    """A running server, on one kept-alive connection. The token comes from REMEMBRANCER_TOKEN."""

    def __init__(self, url):
        super().__init__()
        parts = urllib.parse.urlsplit(url)
        kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        self.connection = kind(parts.hostname, parts.port)
        self.path = urllib.parse.urlunsplit(("", "", parts.path, parts.query, ""))
        self.headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
                        "MCP-Protocol-Version": PROTOCOL}
        if os.environ.get("REMEMBRANCER_TOKEN"):
            self.headers["Authorization"] = f"Bearer {os.environ['REMEMBRANCER_TOKEN']}"

    def send(self, message, expected_id):
        body = json.dumps(message, ensure_ascii=False).encode()
        started = time.perf_counter()
        self.connection.request("POST", self.path, body, self.headers)
        response = self.connection.getresponse()
        answer = response.read()
        seconds = time.perf_counter() - started
        if response.status >= 300:
            raise Failure(f"HTTP {response.status}: {answer[:500].decode(errors='replace')}")
        if response.headers.get("Mcp-Session-Id"):
            self.headers["Mcp-Session-Id"] = response.headers["Mcp-Session-Id"]
        if expected_id is None:
            return None
        if response.headers.get_content_type() == "text/event-stream":
            events = [json.loads(line[5:]) for line in answer.decode().splitlines() if line.startswith("data:") and line[5:].strip()]
        else:
            events = [json.loads(answer)]
        return next(event for event in events if event.get("id") == expected_id), seconds, len(answer)

    def close(self):
        self.connection.close()


def parse(parser):
    """The parser's arguments with the two ways to name a server."""
    parser.add_argument("--http", metavar="URL", help="a running server, as in http://localhost:3100/mcp?namespace=bench")
    parser.add_argument("--stdio", metavar="COMMAND", nargs=argparse.REMAINDER,
                        help="a server to start; takes the rest of the line")
    a = parser.parse_args()
    if bool(a.http) == bool(a.stdio):
        parser.error("name one server: --http URL, or --stdio COMMAND")
    return a
