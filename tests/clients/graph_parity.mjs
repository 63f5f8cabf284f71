// The knowledge graph against the reference server, @modelcontextprotocol/server-memory: both get the same calls over stdio, each
// with a MEMORY_FILE_PATH of its own. They must answer with the same text, byte for byte, and the same structured content, and
// leave the same file, byte for byte. What differs on purpose stands in DIFFERENCES; one that no longer differs fails too.
//
// Usage: graph_parity.mjs BINARY FOLDER
// A folder in FOLDER is for the files; the binary finds its data folder in the environment.

import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { ResourceUpdatedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";

import { DIFFERENCES, FILES, GROUPS, all, create, e } from "./graph_parity_cases.mjs";

const [binary, parent] = process.argv.slice(2);
// Absolute: the reference server would take a relative path from its own folder.
const folder = mkdtempSync(resolve(parent, "graph-parity-"));
const reference = fileURLToPath(import.meta.resolve("@modelcontextprotocol/server-memory/dist/index.js"));
const { version } = JSON.parse(readFileSync(new URL("../package.json", `file://${reference}`), "utf8"));
const commands = { reference: [process.execPath, reference], ours: [binary, "stdio"] };
const GRAPH = "memory://knowledge-graph";
const seen = new Set();

/** One server on one file. */
class Server {
  static async start(side, name, content) {
    const server = new Server();
    server.file = `${folder}/${side}-${name}.jsonl`;
    if (content !== undefined) writeFileSync(server.file, content);
    const settings = Object.entries(process.env).filter(([key]) => key.startsWith("REMEMBRANCER_"));
    const [command, ...args] = commands[side];
    server.client = new Client({ name: "remembrancer-clients", version: "1" });
    await server.client.connect(
      new StdioClientTransport({ command, args, stderr: "ignore", env: { ...Object.fromEntries(settings), MEMORY_FILE_PATH: server.file } }),
    );
    // The client checks structured content against the schemas that it has seen.
    server.tools = (await server.client.listTools()).tools;
    return server;
  }

  /** What a host sees of a call, in the server's own order of keys. */
  async call([tool, args]) {
    try {
      const { content, structuredContent, isError } = await this.client.callTool({ name: tool, arguments: args });
      const [text, ...notices] = content.map((item) => item.text);
      return { text, notices, structured: JSON.stringify(structuredContent), isError: isError === true };
    } catch (error) {
      return { text: `${error}`, notices: [], structured: undefined, isError: true };
    }
  }

  /** An empty graph has no file or an empty one. */
  bytes() {
    return existsSync(this.file) ? readFileSync(this.file, "utf8") : "";
  }

  async graph() {
    return JSON.parse((await this.call(all)).text);
  }

  /** A large graph goes page by page. */
  async clear() {
    for (let graph = await this.graph(); graph.entities.length + graph.relations.length; graph = await this.graph()) {
      await this.call(["delete_relations", { relations: graph.relations }]);
      await this.call(["delete_entities", { entityNames: graph.entities.map((entity) => entity.name) }]);
    }
    assert.equal(this.bytes(), "", "an empty graph leaves something in its file");
  }
}

class Pair {
  static async start(name, content) {
    const pair = new Pair();
    pair.reference = await Server.start("reference", name, content);
    pair.ours = await Server.start("ours", name, content);
    return pair;
  }

  async close() {
    await this.reference.client.close();
    await this.ours.client.close();
  }

  /** Makes one call on both sides; a call marked with a difference must differ, and ours must be as the mark says. */
  async step(where, call) {
    const [theirs, ours] = [await this.reference.call(call), await this.ours.call(call)];
    const difference = call[2];
    if (!difference) {
      assert.equal(ours.text, theirs.text, where);
      assert.deepEqual(ours.notices, [], where);
      assert.deepEqual(JSON.parse(ours.structured), JSON.parse(theirs.structured), where);
      assert.equal(ours.isError, theirs.isError, where);
      assert.equal(this.ours.bytes(), this.reference.bytes(), `${where}: the files differ`);
      if (ours.structured !== theirs.structured) seen.add("order");
      return;
    }
    const { id, expected } = difference;
    seen.add(id);
    const same = ours.text === theirs.text && ours.isError === theirs.isError && this.ours.bytes() === this.reference.bytes();
    assert(!same, `${where}: «${DIFFERENCES[id]}» does not show any more`);
    if (expected.error) {
      const { error } = JSON.parse(ours.text);
      assert(ours.isError && error.includes(expected.error), `${where}: ${ours.text}`);
      if (id === "refusals") assert.equal(error, theirs.text, where);
    } else {
      assert(!ours.isError, `${where}: ${ours.text}`);
      const value = JSON.parse(ours.text);
      if (expected.value) assert.deepEqual(value, expected.value, where);
      if (expected.page) assert.deepEqual([value.entities.length, typeof value.next_cursor], [expected.page, "string"], where);
      assert(ours.notices.join().includes(expected.notice ?? ""), `${where}: ${ours.notices}`);
    }
  }

  async clear() {
    await this.reference.clear();
    await this.ours.clear();
  }
}

/** The nine tools look the same: arguments that must be given, and what may happen. */
function compareTools(pair) {
  for (const theirs of pair.reference.tools) {
    const ours = pair.ours.tools.find((tool) => tool.name === theirs.name);
    assert(ours, `${theirs.name} is missing`);
    assert.deepEqual(ours.annotations, { ...theirs.annotations, ...(ours.annotations.title && { title: ours.annotations.title }) }, theirs.name);
    assert.deepEqual((ours.inputSchema.required ?? []).toSorted(), (theirs.inputSchema.required ?? []).toSorted(), theirs.name);
    for (const name of Object.keys(theirs.inputSchema.properties ?? {})) {
      assert.equal(ours.inputSchema.properties[name]?.type, theirs.inputSchema.properties[name].type, `${theirs.name} ${name}`);
    }
    assert.deepEqual(Object.keys(theirs.outputSchema.properties).filter((name) => !ours.outputSchema.properties[name]), [], theirs.name);
  }
}

/** The whole graph as a resource, and word of its changes. */
async function compareResource(pair) {
  const answers = [];
  for (const { client, call } of [pair.reference, pair.ours].map((server) => ({ client: server.client, call: server.call.bind(server) }))) {
    const empty = await client.readResource({ uri: GRAPH });
    const [listed] = (await client.listResources()).resources.filter((resource) => resource.uri === GRAPH);
    const changed = new Promise((resolve, reject) => {
      client.setNotificationHandler(ResourceUpdatedNotificationSchema, (note) => resolve(note.params.uri));
      setTimeout(() => reject(new Error("no word of the change within 10 s")), 10_000).unref();
    });
    await client.subscribeResource({ uri: GRAPH });
    await call(create(e("Alice", "person", "Is a student")));
    const uri = await changed;
    await client.unsubscribeResource({ uri: GRAPH });
    const { contents } = await client.readResource({ uri: GRAPH });
    answers.push({ empty: empty.contents, contents, uri, listed: { name: listed.name, title: listed.title, mimeType: listed.mimeType } });
  }
  assert.deepEqual(answers[1], answers[0]);
}

const problems = [];

async function check(name, run) {
  try {
    const calls = await run();
    console.log(`ok server-memory-${version} ${name}${calls ? ` (${calls} calls)` : ""}`);
  } catch (problem) {
    problems.push(name);
    console.error(`FAILED ${name}: ${problem.message}`);
  }
}

const pair = await Pair.start("calls");
await check("tools", () => compareTools(pair));
for (const [group, cases] of Object.entries(GROUPS)) {
  await check(group, async () => {
    let calls = 0;
    for (const [name, steps] of Object.entries(cases)) {
      try {
        for (const [n, call] of steps.entries()) {
          await pair.step(`${name}, call ${n + 1} (${call[0]})`, call);
          calls += 1;
        }
      } finally {
        await pair.clear();
      }
    }
    return calls;
  });
}
await check("resource", () => compareResource(pair));
await pair.close();

await check("files", async () => {
  let calls = 0;
  for (const [n, { name, content, steps }] of FILES.entries()) {
    const pair = await Pair.start(`file-${n}`, content);
    try {
      for (const call of steps) {
        await pair.step(`${name} (${call[0]})`, call);
        calls += 1;
      }
    } finally {
      await pair.close();
    }
  }
  return calls;
});

const unseen = Object.keys(DIFFERENCES).filter((id) => !seen.has(id));
if (unseen.length) problems.push(`no case shows ${unseen.join(", ")}`);
if (problems.length) {
  console.error(`${problems.length} failed: ${problems.join("; ")}`);
  process.exitCode = 1;
} else {
  console.log(`ok server-memory-${version} known differences (${seen.size})`);
}
