// The TypeScript SDK, first and second generation, against a running server: HTTP and stdio, both eras.
//
// Usage: typescript_sdk.mjs BINARY URL RUN
// RUN makes the namespaces of this run its own; stdio hosts find the data folder in the environment.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";

import * as modern from "@modelcontextprotocol/client";
import { StdioClientTransport as ModernStdio } from "@modelcontextprotocol/client/stdio";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ResourceUpdatedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";

const [binary, url, run] = process.argv.slice(2);
const story = JSON.parse(readFileSync(new URL("story.json", import.meta.url), "utf8"));
const versions = JSON.parse(readFileSync(new URL("package.json", import.meta.url), "utf8")).dependencies;
const GRAPH = "memory://knowledge-graph";
const info = { name: "remembrancer-clients", version: "1" };

function transport(kind, namespace, Http, Stdio) {
  if (kind === "http") return new Http(new URL(`${url}?namespace=${namespace}`));
  const settings = Object.entries(process.env).filter(([key]) => key.startsWith("REMEMBRANCER_"));
  return new Stdio({ command: binary, args: ["--namespace", namespace, "stdio"], env: Object.fromEntries(settings) });
}

const generations = [
  {
    name: `typescript-sdk-${versions["@modelcontextprotocol/sdk"]}`,
    updated: ResourceUpdatedNotificationSchema,
    eras: [{ name: "2025-11-25" }],
    connect: async (kind, namespace) => {
      const client = new Client(info);
      await client.connect(transport(kind, namespace, StreamableHTTPClientTransport, StdioClientTransport));
      return client;
    },
  },
  {
    name: `typescript-client-${versions["@modelcontextprotocol/client"]}`,
    updated: "notifications/resources/updated",
    eras: [
      { name: "2025-11-25", mode: "legacy", era: "legacy" },
      { name: "2026-07-28", mode: { pin: "2026-07-28" }, era: "modern" },
      { name: "2026-07-28 (negotiated)", mode: "auto", era: "modern" },
    ],
    connect: async (kind, namespace, mode) => {
      const client = new modern.Client(info, { versionNegotiation: { mode } });
      await client.connect(transport(kind, namespace, modern.StreamableHTTPClientTransport, ModernStdio));
      return client;
    },
  },
];

/** The structured answer and whether it is an error; the text must be the same JSON. */
async function call(client, tool, args = {}) {
  const result = await client.callTool({ name: tool, arguments: args });
  assert.deepEqual(JSON.parse(result.content[0].text), result.structuredContent, `${tool}: text and structure differ`);
  return { value: result.structuredContent, isError: result.isError === true };
}

async function ask(client, tool, args) {
  const { value, isError } = await call(client, tool, args);
  assert(!isError, `${tool}: ${JSON.stringify(value)}`);
  return value;
}

async function settled(client) {
  for (let tries = 0; tries < 300; tries++) {
    if ((await ask(client, "status")).pending_jobs === 0) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  assert.fail("jobs stay pending");
}

/** Offsets count Unicode scalar values; the strings of this language count UTF-16 units. */
function checkEvidence(evidence, contents) {
  assert(evidence.length > 0, "an event without evidence");
  for (const one of evidence) {
    const characters = Array.from(contents.get(one.artifact_id));
    assert.equal(characters.slice(one.start_char, one.end_char).join(""), one.quote);
  }
}

async function tellTheStory(client) {
  const names = (await client.listTools()).tools.map((tool) => tool.name);
  for (const tool of ["forget", "recall", "remember", "status"]) assert(names.includes(tool), `${tool} is missing`);
  // The SDK holds refusals against the output schema as well.
  for (const tool of names) await call(client, tool, { nonsense: 1 });
  const meeting = await ask(client, "remember", story.meeting);
  const email = await ask(client, "remember", story.email);
  const contents = new Map([[meeting.id, story.meeting.content], [email.id, story.email.content]]);
  await settled(client);

  const found = await ask(client, "recall", { query: story.query, limit: 1 });
  const [best] = found.results;
  assert.equal(best.id, meeting.id);
  assert(best.snippet.includes(story.passage), best.snippet);
  const categories = best.events.map((event) => event.category);
  for (const category of ["Commitment", "Decision", "QualityRisk"]) assert(categories.includes(category), `${categories}`);
  for (const event of best.events) checkEvidence(event.evidence, contents);
  const related = found.related.find((event) => event.artifact_id === email.id);
  assert.equal(related?.reason, `same_actor:${story.actor}`);
  checkEvidence(related.evidence, contents);
  assert(found.entities.some((entity) => entity.name === story.actor), JSON.stringify(found.entities));

  const refused = await call(client, "forget", { id: meeting.id });
  assert(refused.isError && refused.value.deleted === false && refused.value.hint.includes("confirm"));
  assert((await ask(client, "forget", { id: meeting.id, confirm: true })).deleted);
  const gone = await ask(client, "recall", { query: story.query });
  assert(!gone.results.some((result) => result.id === meeting.id));
}

async function watchTheGraph(client, updated, kind, isModern) {
  const create = async (name) => {
    const entities = [{ name, entityType: "person", observations: ["Likes tea"] }];
    const result = await client.callTool({ name: "create_entities", arguments: { entities } });
    assert.deepEqual(JSON.parse(result.content[0].text), entities);
  };
  const guide = await client.getPrompt({ name: "memory-guide" });
  assert(guide.messages[0].content.text.includes("`recall`"));
  assert.deepEqual((await client.listResources()).resources.map((one) => one.uri), [GRAPH, "memory://briefing"]);
  const uris = [];
  client.setNotificationHandler(updated, ({ params }) => uris.push(params.uri));
  const told = async (times) => {
    for (let tries = 0; tries < 300 && uris.length < times; tries++) await new Promise((next) => setTimeout(next, 100));
    assert.deepEqual(uris, Array(times).fill(GRAPH));
  };
  if (isModern) {
    const subscription = await client.listen({ resourceSubscriptions: [GRAPH] });
    // To look once, and then of the change.
    await told(1);
    await create("Ann");
    await told(2);
    await subscription.close();
  } else if (kind === "stdio") {
    await client.subscribeResource({ uri: GRAPH });
    await create("Ann");
    await told(1);
  } else {
    // Not offered over HTTP, so the SDK may refuse before the server does.
    await assert.rejects(client.subscribeResource({ uri: GRAPH }));
    await create("Ann");
  }
  const read = await client.readResource({ uri: GRAPH });
  assert.deepEqual(JSON.parse(read.contents[0].text).entities.map((entity) => entity.name), ["Ann"]);
}

for (const generation of generations) {
  for (const kind of ["http", "stdio"]) {
    for (const [n, era] of generation.eras.entries()) {
      const client = await generation.connect(kind, `${run}-${generation.name}-${kind}-${n}`, era.mode);
      if (era.era) assert.equal(client.getProtocolEra(), era.era);
      await tellTheStory(client);
      await watchTheGraph(client, generation.updated, kind, era.name.startsWith("2026"));
      await client.close();
      console.log(`ok ${generation.name} ${kind} ${era.name}`);
    }
  }
}
