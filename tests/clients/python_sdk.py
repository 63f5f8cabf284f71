"""The Python SDK against a running server, over HTTP and stdio, in every protocol era that it speaks.

Usage: python_sdk.py BINARY URL RUN
RUN makes the namespaces of this run its own; stdio hosts find the data folder in the environment.
"""

import asyncio
import json
import os
import sys
import warnings
from contextlib import asynccontextmanager
from importlib.metadata import version
from pathlib import Path

from mcp import ClientSession, StdioServerParameters, stdio_client

# The older way to subscribe is called on purpose.
warnings.filterwarnings("ignore", message="resources/subscribe")
BINARY, URL, RUN = sys.argv[1:]
VERSION = version("mcp")
IS_MODERN = int(VERSION.split(".")[0]) >= 2
GRAPH = "memory://knowledge-graph"
STORY = json.loads(Path(__file__).with_name("story.json").read_text(encoding="utf-8"))


def host(namespace):
    settings = {k: v for k, v in os.environ.items() if k.startswith("REMEMBRANCER_")}
    return StdioServerParameters(command=BINARY, args=["--namespace", namespace, "stdio"], env=settings)


class Session:
    """What the two generations of the SDK have in common."""

    def __init__(self, sdk, protocol, transport, updates):
        self.sdk = sdk
        self.protocol = protocol
        self.transport = transport
        self.updates = updates

    async def tools(self):
        return (await self.sdk.list_tools()).tools

    async def call(self, tool, **arguments):
        """The structured answer and whether it is an error; the text must be the same JSON."""
        result = await self.sdk.call_tool(tool, arguments)
        value = result.structured_content if IS_MODERN else result.structuredContent
        assert json.loads(result.content[0].text) == value, f"{tool}: text and structured content differ"
        return value, result.is_error if IS_MODERN else result.isError

    async def ask(self, tool, **arguments):
        value, is_error = await self.call(tool, **arguments)
        assert not is_error, f"{tool}: {value}"
        return value


def collector():
    """A queue of what is told of resources, and the handler that fills it."""
    updates = asyncio.Queue()

    async def handle(message):
        message = getattr(message, "root", message)
        if getattr(message, "method", None) == "notifications/resources/updated":
            updates.put_nowait(str(message.params.uri))

    return updates, handle


@asynccontextmanager
async def modern(transport, namespace, mode):
    from mcp import Client

    server = f"{URL}?namespace={namespace}" if transport == "http" else host(namespace)
    updates, handle = collector()
    async with Client(server, mode=mode, message_handler=handle) as client:
        yield Session(client, client.protocol_version, transport, updates)


@asynccontextmanager
async def handshake(transport, namespace):
    from mcp.client.streamable_http import streamable_http_client

    streams = streamable_http_client(f"{URL}?namespace={namespace}") if transport == "http" else stdio_client(host(namespace))
    updates, handle = collector()
    async with streams as (read, write, *_), ClientSession(read, write, message_handler=handle) as session:
        greeting = await session.initialize()
        yield Session(session, greeting.protocolVersion, transport, updates)


async def settled(session):
    for _ in range(300):
        if (await session.ask("status"))["pending_jobs"] == 0:
            return
        await asyncio.sleep(0.1)
    raise AssertionError("jobs stay pending")


def check_evidence(evidence, contents):
    assert evidence, "an event without evidence"
    for one in evidence:
        content = contents[one["artifact_id"]]
        assert content[one["start_char"] : one["end_char"]] == one["quote"], one


async def tell_the_story(session):
    names = sorted(tool.name for tool in await session.tools())
    assert {"forget", "recall", "remember", "status"} <= set(names), names
    for tool in names:
        # The SDK holds refusals against the output schema as well.
        await session.call(tool, nonsense=1)
    meeting = await session.ask("remember", **STORY["meeting"])
    email = await session.ask("remember", **STORY["email"])
    contents = {meeting["id"]: STORY["meeting"]["content"], email["id"]: STORY["email"]["content"]}
    await settled(session)

    found = await session.ask("recall", query=STORY["query"], limit=1)
    [best] = found["results"]
    assert best["id"] == meeting["id"] and STORY["passage"] in best["snippet"], best
    categories = {event["category"] for event in best["events"]}
    assert {"Commitment", "Decision", "QualityRisk"} <= categories, categories
    for event in best["events"]:
        check_evidence(event["evidence"], contents)
    related = [event for event in found["related"] if event["artifact_id"] == email["id"]]
    assert related and related[0]["reason"] == f"same_actor:{STORY['actor']}", found["related"]
    check_evidence(related[0]["evidence"], contents)
    assert STORY["actor"] in [entity["name"] for entity in found["entities"]], found["entities"]

    refusal, is_error = await session.call("forget", id=meeting["id"])
    assert is_error and not refusal["deleted"] and "confirm" in refusal["hint"], refusal
    assert (await session.ask("forget", id=meeting["id"], confirm=True))["deleted"]
    gone = await session.ask("recall", query=STORY["query"])
    assert meeting["id"] not in [result["id"] for result in gone["results"]], gone


def uri():
    """The resource's address as this generation of the SDK takes it."""
    if IS_MODERN:
        return GRAPH
    from pydantic import AnyUrl

    return AnyUrl(GRAPH)


async def watch_the_graph(session):
    async def create(name):
        entity = {"name": name, "entityType": "person", "observations": ["Likes tea"]}
        result = await session.sdk.call_tool("create_entities", {"entities": [entity]})
        assert json.loads(result.content[0].text) == [entity], result

    guide = await session.sdk.get_prompt("memory-guide")
    assert "`recall`" in guide.messages[0].content.text, guide
    assert [str(one.uri) for one in (await session.sdk.list_resources()).resources] == [GRAPH, "memory://briefing"]
    if session.protocol >= "2026-07-28":
        async with session.sdk.listen(resource_subscriptions=[GRAPH]) as subscription:
            events = aiter(subscription)
            # To look once, and then of the change.
            assert (await anext(events)).uri == GRAPH
            await create("Ann")
            assert (await anext(events)).uri == GRAPH
    elif session.transport == "stdio":
        await session.sdk.subscribe_resource(uri())
        await create("Ann")
        assert await session.updates.get() == GRAPH
    else:
        await create("Ann")
        try:
            await session.sdk.subscribe_resource(uri())
            raise AssertionError("a subscription that nobody serves")
        except Exception as refusal:
            assert "subscriptions/listen" in str(refusal), refusal
    read = await session.sdk.read_resource(uri())
    assert [entity["name"] for entity in json.loads(read.contents[0].text)["entities"]] == ["Ann"], read


async def run(transport, name, connection, expected_protocol):
    async with asyncio.timeout(60):
        async with connection as session:
            assert session.protocol == expected_protocol, f"{session.protocol} was negotiated"
            await tell_the_story(session)
            await watch_the_graph(session)
    print(f"ok python-mcp-{VERSION} {transport} {name}", flush=True)


async def main():
    for transport in ["http", "stdio"]:
        space = f"{RUN}-py{VERSION}-{transport}"
        if not IS_MODERN:
            await run(transport, "2025-11-25", handshake(transport, space), "2025-11-25")
            continue
        for mode, expected in [("legacy", "2025-11-25"), ("2026-07-28", "2026-07-28"), ("auto", "2026-07-28")]:
            name = f"{expected} (negotiated)" if mode == "auto" else expected
            await run(transport, name, modern(transport, f"{space}-{mode}", mode), expected)


asyncio.run(main())
