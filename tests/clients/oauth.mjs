// The TypeScript and the Python SDK's own OAuth clients against the real server, the owner's consent given in a real browser; and
// tokens of a real external issuer.
//
// Usage: oauth.mjs BINARY PYTHON...
// PYTHON are folders of installed packages; the data folder is found in the environment.

import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:net";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import * as modern from "@modelcontextprotocol/client";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

import { consent } from "./consent.mjs";
import { checkIssuer } from "./issuer.mjs";

const [binary, ...pythons] = process.argv.slice(2);
const versions = JSON.parse(readFileSync(new URL("package.json", import.meta.url), "utf8")).dependencies;
const PASSWORD = "correct horse battery staple";
const run = promisify(execFile);

export async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** A server of its own address; gives that and how it ends. */
async function serve(...flags) {
  const port = await freePort();
  const base = `http://127.0.0.1:${port}`;
  const child = spawn(binary, ["serve", "--bind", `127.0.0.1:${port}`, "--public-url", base, ...flags], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  for (let tries = 0; ; tries++) {
    assert(child.exitCode === null && tries < 600, "the server does not listen");
    try {
      if ((await fetch(`${base}/readyz`)).ok) break;
    } catch {
      // It will.
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  const end = async () => {
    child.kill();
    if (child.exitCode === null) await once(child, "exit");
  };
  return { base, end };
}

/** What a program keeps that connects by OAuth. */
class Kept {
  constructor(redirectUrl, scope) {
    this.redirectUrl = redirectUrl;
    this.scope = scope;
    this.asked = [];
  }
  get clientMetadata() {
    return {
      client_name: "A client of the tests",
      redirect_uris: [this.redirectUrl],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      scope: this.scope,
    };
  }
  state = () => "a-state-of-the-client";
  clientInformation = () => this.information;
  saveClientInformation = (information) => void (this.information = information);
  tokens = () => this.saved;
  saveTokens = (tokens) => void (this.saved = tokens);
  redirectToAuthorization = (url) => void this.asked.push(url);
  saveCodeVerifier = (verifier) => void (this.verifier = verifier);
  codeVerifier = () => this.verifier;
  saveDiscoveryState = (state) => void (this.discovered = state);
  discoveryState = () => this.discovered;
  invalidateCredentials = (scope) => {
    if (scope === "all" || scope === "tokens") this.saved = undefined;
    if (scope === "all" || scope === "client") this.information = undefined;
    if (scope === "all" || scope === "discovery") this.discovered = undefined;
  };
}

const generations = [
  {
    name: `typescript-sdk-${versions["@modelcontextprotocol/sdk"]}`,
    transport: (url, authProvider) => new StreamableHTTPClientTransport(url, { authProvider }),
    client: () => new Client({ name: "oauth", version: "1" }),
    finish: (transport, parameters) => transport.finishAuth(parameters.get("code")),
  },
  {
    name: `typescript-client-${versions["@modelcontextprotocol/client"]}`,
    transport: (url, authProvider) => new modern.StreamableHTTPClientTransport(url, { authProvider }),
    client: () => new modern.Client({ name: "oauth", version: "1" }, { versionNegotiation: { mode: "auto" } }),
    finish: (transport, parameters) => transport.finishAuth(parameters),
  },
];

const tools = async (client) => (await client.listTools()).tools.map((tool) => tool.name);
/** How many texts it sees, which tells the namespaces apart. */
const texts = async (client) =>
  (await client.callTool({ name: "status", arguments: {} })).structuredContent.counts.artifacts;
const IN_SHARED = 1;
const IN_WORK = 2;

async function remember(namespace, count) {
  for (let n = 1; n <= count; n++) {
    const remembering = run(binary, ["--namespace", namespace, "remember"]);
    remembering.child.stdin.end(`Note ${n} of ${namespace}.`);
    await remembering;
  }
}

async function revoke(base, token, clientId) {
  const metadata = await (await fetch(`${base}/.well-known/oauth-authorization-server`)).json();
  const body = new URLSearchParams({ token, client_id: clientId });
  assert((await fetch(metadata.revocation_endpoint, { method: "POST", body })).ok);
}

async function checkTypescript(base, generation) {
  const url = new URL(`${base}/mcp`);
  const kept = new Kept(`http://127.0.0.1:${await freePort()}/callback`, "memory:read");
  const first = generation.transport(url, kept);
  await assert.rejects(generation.client().connect(first), /nauthorized/);
  assert.equal(kept.asked.length, 1, "it asks for consent");
  assert.equal(kept.asked[0].searchParams.get("resource"), String(url));
  const told = await consent(kept.asked[0], { password: PASSWORD, role: "reader", namespaces: "shared, own", wrong: true });
  assert.equal(told.searchParams.get("state"), "a-state-of-the-client");
  assert.equal(told.searchParams.get("iss"), base);
  await generation.finish(first, told.searchParams);

  const client = generation.client();
  await client.connect(generation.transport(url, kept));
  assert.equal(await texts(client), IN_SHARED);
  const offered = await tools(client);
  assert(offered.includes("recall") && !offered.includes("forget"), `a reader is offered ${offered}`);

  // A token that was given back is replaced by the refresh token, without the owner.
  const old = kept.saved;
  await revoke(base, old.access_token, kept.information.client_id);
  assert.equal(await texts(client), IN_SHARED);
  assert.notEqual(kept.saved.refresh_token, old.refresh_token, "it was rotated");
  assert.equal(kept.asked.length, 1, "the owner was not asked again");

  // What takes more than was consented to is refused as such; whether the owner is asked for more is up to the client.
  await assert.rejects(client.callTool({ name: "remember", arguments: { content: "A note." } }), /403|scope|nauthorized/);
  const before = kept.asked.length;

  await revoke(base, kept.saved.refresh_token, kept.information.client_id);
  await assert.rejects(texts(client), "nothing is open any more");
  assert.equal(kept.asked.length, before + 1, "it asks anew");
  const denied = await consent(kept.asked.at(-1), { password: PASSWORD, role: "reader", namespaces: "x", decision: "deny" });
  assert.equal(denied.searchParams.get("error"), "access_denied");
  await client.close();
  console.log(`ok ${generation.name} oauth: registration, consent, refresh, insufficient scope, revocation`);
}

async function checkPython(base, folder) {
  const script = fileURLToPath(new URL("oauth_python.py", import.meta.url));
  const browser = fileURLToPath(new URL("consent.mjs", import.meta.url));
  const env = { ...process.env, PYTHONPATH: folder, PYTHONDONTWRITEBYTECODE: "1" };
  const port = String(await freePort());
  const { stdout } = await run("python3", [script, `${base}/mcp`, browser, PASSWORD, port], { env, timeout: 300_000 });
  process.stdout.write(stdout);
}

const { base, end } = await serve();
try {
  await run(binary, ["password", "set"], { env: { ...process.env, REMEMBRANCER_PASSWORD: PASSWORD } });
  await remember("shared", IN_SHARED);
  await remember("work", IN_WORK);
  for (const generation of generations) await checkTypescript(base, generation);
  for (const folder of pythons) await checkPython(base, folder);
  // A key goes on opening, on its own path too.
  const made = await run(binary, ["keys", "create", "beside-oauth", "--role", "reader"]);
  for (const path of ["/mcp", "/key/mcp"]) {
    const requestInit = { headers: { authorization: `Bearer ${made.stdout.trim()}` } };
    const client = new Client({ name: "key", version: "1" });
    await client.connect(new StreamableHTTPClientTransport(new URL(base + path), { requestInit }));
    assert((await tools(client)).includes("recall"));
    await client.close();
  }
  console.log("ok keys beside oauth");
} finally {
  await end();
}
const audit = async () => (await run(binary, ["audit", "--all-namespaces", "--json"])).stdout;
await checkIssuer(serve, freePort, IN_WORK, audit);
