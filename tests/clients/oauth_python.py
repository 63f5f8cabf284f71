"""The Python SDK's own OAuth client against a running server; the owner consents in a browser.

Usage: oauth_python.py URL BROWSER PASSWORD PORT
BROWSER is the script that drives the browser, PORT one for the answer.
"""

import asyncio
import json
import subprocess
import sys
import urllib.parse
import urllib.request
from importlib.metadata import version

from mcp import ClientSession
from mcp.client.auth import OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import OAuthClientMetadata

URL, BROWSER, PASSWORD, PORT = sys.argv[1:]
VERSION = version("mcp")
IS_MODERN = int(VERSION.split(".")[0]) >= 2
# Texts of the namespace that is consented to.
IN_SHARED = 1
REDIRECT = f"http://127.0.0.1:{PORT}/callback"

if IS_MODERN:
    from httpx2 import AsyncClient
    from mcp.shared.auth import AuthorizationCodeResult
else:
    from httpx import AsyncClient


class Kept:
    """What a program keeps that connects by OAuth."""

    tokens = None
    client = None

    async def get_tokens(self):
        return self.tokens

    async def set_tokens(self, tokens):
        self.tokens = tokens

    async def get_client_info(self):
        return self.client

    async def set_client_info(self, client):
        self.client = client


class Owner:
    """The owner, who allows it in a browser; and what the program is told."""

    def __init__(self):
        self.asked = 0
        self.told = {}

    async def ask(self, url):
        self.asked += 1
        arguments = ["node", BROWSER, url, PASSWORD, "writer", "shared", "allow"]
        ran = await asyncio.to_thread(subprocess.run, arguments, capture_output=True, text=True, check=False)
        assert ran.returncode == 0, ran.stderr
        self.told = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(ran.stdout.strip()).query))

    async def answer(self):
        code, state, iss = (self.told.get(name) for name in ("code", "state", "iss"))
        assert iss == URL.removesuffix("/mcp"), self.told
        return AuthorizationCodeResult(code=code, state=state, iss=iss) if IS_MODERN else (code, state)


async def status(http):
    async with streamable_http_client(URL, http_client=http) as streams, ClientSession(*streams[:2]) as session:
        await session.initialize()
        result = await session.call_tool("status", {})
        value = result.structured_content if IS_MODERN else result.structuredContent
        names = [tool.name for tool in (await session.list_tools()).tools]
        return value["counts"]["artifacts"], names


def revoke(token):
    base = URL.removesuffix("/mcp")
    with urllib.request.urlopen(f"{base}/.well-known/oauth-authorization-server") as answer:
        endpoint = json.load(answer)["revocation_endpoint"]
    body = urllib.parse.urlencode({"token": token}).encode()
    with urllib.request.urlopen(endpoint, data=body) as answer:
        assert answer.status == 200


async def main():
    kept, owner = Kept(), Owner()
    metadata = OAuthClientMetadata(
        client_name="A Python client of the tests",
        redirect_uris=[REDIRECT],
        grant_types=["authorization_code", "refresh_token"],
        response_types=["code"],
    )
    provider = OAuthClientProvider(URL, metadata, kept, owner.ask, owner.answer)
    async with AsyncClient(auth=provider, timeout=60, follow_redirects=True) as http:
        texts, names = await status(http)
        assert texts == IN_SHARED and "remember" in names, (texts, names)
        assert owner.asked == 1 and kept.client.client_id.startswith("client_")
        assert kept.tokens.scope == "memory:write", kept.tokens.scope

        # The clock of the client says that the token is over.
        before = kept.tokens
        provider.context.token_expiry_time = 1
        assert (await status(http))[0] == IN_SHARED
        assert kept.tokens.refresh_token != before.refresh_token and owner.asked == 1, "it was refreshed"

        # What was given back opens nothing: the owner is asked again.
        await asyncio.to_thread(revoke, kept.tokens.refresh_token)
        assert (await status(http))[0] == IN_SHARED
        assert owner.asked == 2, owner.asked
    print(f"ok python-sdk-{VERSION} oauth: registration, consent, refresh, revocation")


asyncio.run(main())
