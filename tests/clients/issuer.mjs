// Tokens of an external issuer: a real one, and what somebody tries who cannot sign in its name.

import assert from "node:assert/strict";
import { createPublicKey } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";

import { SignJWT, UnsecuredJWT, exportJWK, generateKeyPair } from "jose";
import { Provider } from "oidc-provider";

const GRANTS = "memory-admins=admin:default,memory-team=writer:work+home";

/** An OpenID provider that gives programs tokens for the resource that they name. */
async function issuer(port, key) {
  const address = `http://127.0.0.1:${port}`;
  const client = (id) => ({
    client_id: id,
    client_secret: "a secret of this program",
    grant_types: ["client_credentials"],
    redirect_uris: [],
    response_types: [],
  });
  const provider = new Provider(address, {
    clients: [client("memory-team"), client("strangers")],
    jwks: { keys: [{ ...(await exportJWK(key)), kid: "first", alg: "RS256", use: "sig" }] },
    extraTokenClaims: (_, token) => ({ groups: ["everybody", token.clientId] }),
    features: {
      clientCredentials: { enabled: true },
      devInteractions: { enabled: false },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: (_, resource) => ({ scope: "", audience: resource, accessTokenFormat: "jwt" }),
      },
    },
  });
  const server = provider.listen(port, "127.0.0.1");
  await once(server, "listening");
  const end = () => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  };
  return { address, end };
}

async function tokenFor(address, client, resource) {
  const body = new URLSearchParams({ grant_type: "client_credentials", resource });
  const credentials = Buffer.from(`${client}:${encodeURIComponent("a secret of this program")}`).toString("base64");
  const answer = await fetch(`${address}/token`, { method: "POST", body, headers: { authorization: `Basic ${credentials}` } });
  const json = await answer.json();
  assert(answer.ok, JSON.stringify(json));
  return json.access_token;
}

async function call(base, token, tool, query = "", given = {}) {
  const answer = await fetch(`${base}/mcp${query}`, {
    method: "POST",
    headers: {
      accept: "application/json, text/event-stream",
      "content-type": "application/json",
      "mcp-protocol-version": "2025-06-18",
      ...(token ? { authorization: `Bearer ${token}` } : {}),
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: tool, arguments: given } }),
  });
  const text = await answer.text();
  return { status: answer.status, challenge: answer.headers.get("www-authenticate") ?? "", text };
}

async function checkForgeries(base, address, key, good) {
  const now = Math.floor(Date.now() / 1000);
  const sound = {
    iss: address,
    aud: `${base}/mcp`,
    sub: "somebody",
    groups: ["memory-team"],
    exp: now + 600,
    iat: now,
  };
  const header = { alg: "RS256", kid: "first", typ: "at+jwt" };
  const sign = (claims, by = key, as = header) => new SignJWT({ ...sound, ...claims }).setProtectedHeader(as).sign(by);
  assert.equal((await call(base, await sign({}), "status")).status, 200, "what the forgeries are made of is sound");
  const other = await generateKeyPair("RS256", { extractable: true });
  const published = createPublicKey(key).export({ type: "spki", format: "pem" });
  const forged = {
    "another audience": await sign({ aud: "https://other.example/mcp" }),
    "no audience": await sign({ aud: undefined }),
    "another issuer": await sign({ iss: "https://other.example" }),
    "no issuer": await sign({ iss: undefined }),
    "over": await sign({ exp: now - 120 }),
    "without an end": await sign({ exp: undefined }),
    "not yet begun": await sign({ nbf: now + 600 }),
    "without a subject": await sign({ sub: undefined }),
    "another key": await sign({}, other.privateKey),
    "a key that is not published": await sign({}, other.privateKey, { ...header, kid: "second" }),
    "the published key as a secret": await new SignJWT(sound)
      .setProtectedHeader({ alg: "HS256", kid: "first" })
      .sign(new TextEncoder().encode(published)),
    "no signature": new UnsecuredJWT(sound).encode(),
    "a cut signature": good.slice(0, -8),
    "a key of ours": `rem_${"0".repeat(12)}_${"0".repeat(64)}`,
    "three parts": "a.b.c",
  };
  for (const [what, token] of Object.entries(forged)) {
    const answer = await call(base, token, "status");
    assert.equal(answer.status, 401, `${what}: ${answer.text}`);
    assert.match(answer.challenge, /error="invalid_token", resource_metadata=/, what);
  }
  // Who is known, and has nothing in the claim that opens anything.
  for (const groups of [["everybody", "memory"], "memory-team2", undefined]) {
    assert.equal((await call(base, await sign({ groups }), "status")).status, 403, String(groups));
  }
  return Object.keys(forged).length;
}

/** An address that gives another issuer's document for its own. */
async function checkMixedUp(serve, address, token) {
  const document = await (await fetch(`${address}/.well-known/openid-configuration`)).text();
  const server = createServer((_, response) => response.end(document)).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { base, end } = await serve("--oidc-issuer", `http://127.0.0.1:${server.address().port}`, "--oidc-grants", GRANTS);
  try {
    const answer = await call(base, token, "status");
    assert.equal(answer.status, 503, `${answer.status} ${answer.text}`);
  } finally {
    await end();
    server.close();
  }
}

export async function checkIssuer(serve, freePort, inWork, audit) {
  const { privateKey: key } = await generateKeyPair("RS256", { extractable: true });
  const { address, end: endIssuer } = await issuer(await freePort(), key);
  const { base, end } = await serve("--oidc-issuer", address, "--oidc-grants", GRANTS);
  try {
    const metadata = await (await fetch(`${base}/.well-known/oauth-protected-resource/mcp`)).json();
    assert.deepEqual(metadata.authorization_servers, [address]);
    assert.equal((await fetch(`${base}/.well-known/oauth-authorization-server`)).status, 404);
    assert.equal((await fetch(`${base}/oauth/register`, { method: "POST" })).status, 404);
    const token = await tokenFor(address, "memory-team", `${base}/mcp`);
    assert.equal(token.split(".").length, 3, "the issuer gives a signed token");
    const answer = await call(base, token, "status");
    assert.equal(answer.status, 200, answer.text);
    assert.equal(JSON.parse(answer.text).result.structuredContent.counts.artifacts, inWork);
    assert.equal((await call(base, token, "status", "?namespace=home")).status, 200);
    assert.equal((await call(base, token, "remember", "?namespace=home", { content: "A note." })).status, 200);
    assert.match(await audit(), /memory-team \(issued\)/, "who it was is recorded");
    assert.equal((await call(base, token, "status", "?namespace=default")).status, 403);
    assert.equal((await call(base, undefined, "status")).status, 401, "nobody comes in without a token");
    const stranger = await tokenFor(address, "strangers", `${base}/mcp`);
    assert.equal((await call(base, stranger, "status")).status, 403);
    const elsewhere = await tokenFor(address, "memory-team", "https://other.example/mcp");
    assert.equal((await call(base, elsewhere, "status")).status, 401);
    await checkMixedUp(serve, address, token);
    const forgeries = await checkForgeries(base, address, key, token);
    console.log(`ok external issuer (oidc-provider): claim to role and namespaces; ${forgeries} forgeries refused`);
  } finally {
    await end();
    await endIssuer();
  }
}
