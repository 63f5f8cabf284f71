// What the memory of the tests holds, written by a client of the endpoint.
const DAY = 86400e3;
const date = (days) => new Date(Date.now() + days * DAY).toISOString().slice(0, 10);

export const texts = [
  { title: "Harbour relaunch, planning", context: "meeting", author: "Priya Raman", date: date(-12), tags: ["harbour", "planning"], importance: 0.8,
    content: `Participants: Priya Raman, Omar Haddad, Dana Whitfield.\n\nWe decided to move the booking service to Postgres because the old store loses writes under load. Omar Haddad will migrate the booking tables by ${date(9)}. Dana Whitfield will write the release notes by ${date(-4)}. Priya Raman will send the budget to Omar Haddad by ${date(-6)}. There is a risk that the payment provider rejects the new certificate.` },
  { title: "Re: release notes", context: "email", author: "Dana Whitfield", date: date(-3), tags: ["harbour"], importance: 0.6,
    content: `Hi Priya,\n\nI finished the release notes for the harbour relaunch yesterday. Omar Haddad reviewed them. I will publish the changelog by ${date(5)}.\n\nDana` },
  { title: "Quay Systems, call", context: "meeting", author: "Omar Haddad", date: date(-8), tags: ["vendors"], importance: 0.5,
    content: `Call with Quay Systems. Helena Brandt will send the price list to Omar Haddad by ${date(3)}. We agreed to keep the old contract until March. Priya Raman asked for a discount of 10 %.` },
  { title: "Retrospective", context: "note", author: "Priya Raman", date: date(-1), tags: ["team", "planning"], importance: 0.4,
    content: `What went well: the booking service was fast all week. What did not: the nightly export failed twice. Omar Haddad fixed the export on Tuesday. We decided to alert on exports that take longer than an hour. D. Whitfield will add the alert by ${date(12)}.` },
  { title: "Contract review", context: "note", author: "Dana Whitfield", date: date(-5), tags: ["vendors"], importance: 0.5,
    content: `Priya Raman will sign the contract by ${date(14)}. Dana Whitfield will send the contract to Omar Haddad by ${date(6)}.` },
  { title: "Tide tables", context: "note", date: date(-9), tags: [], importance: 0.5, content: `Lena Fischer will send the tide tables to Ben Ortiz by ${date(8)}.` },
  { title: "Insurance", context: "note", date: date(-7), tags: [], importance: 0.5, content: "Lena reviewed the insurance with Carla Meyer yesterday." },
  { title: "Preferences", context: "preference", author: "Priya Raman", date: date(-20), tags: [], importance: 0.7,
    content: "I prefer short summaries with a list of open points. Always name the owner of each point." },
  { title: "Runbook: booking service", context: "document", source: "wiki", source_id: "runbook", date: date(-30), tags: ["harbour", "operations"], importance: 0.5,
    content: "Restart the booking service with `systemctl restart booking`. The on-call engineer is Omar Haddad. Escalate to Priya Raman after 30 minutes." },
];

export const graph = {
  entities: [
    { name: "Booking service", entityType: "system", observations: ["Runs in two regions.", "Its store is Postgres."] },
    { name: "Payment gateway", entityType: "system", observations: ["Needs a new certificate."] },
    { name: "Priya", entityType: "person", observations: ["Leads the harbour relaunch."] },
  ],
  relations: [
    { from: "Booking service", to: "Payment gateway", relationType: "calls" },
    { from: "Priya", to: "Booking service", relationType: "owns" },
  ],
};

/** Calls a tool of the server. */
export async function call(url, name, args, namespace = "default") {
  const response = await fetch(`${url}/mcp?namespace=${namespace}`, {
    method: "POST",
    headers: { "Content-Type": "application/json", Accept: "application/json, text/event-stream", "MCP-Protocol-Version": "2025-06-18" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: args } }),
  });
  const answer = await response.json();
  if (answer.error || answer.result.isError) throw new Error(`${name}: ${JSON.stringify(answer)}`);
  return answer.result.structuredContent;
}

/** Writes all of it, and waits until it was read. */
export async function tell(url) {
  const ids = {};
  for (const text of texts) ids[text.title] = (await call(url, "remember", text)).id;
  for (let n = 0; n < 70; n += 1) await call(url, "remember", { title: `Log ${n}`, context: "note", content: `Log entry ${n}: the tide gauge at pier ${n % 7} was read.`, date: date(-40 - n) });
  await call(url, "create_entities", { entities: graph.entities });
  await call(url, "create_relations", { relations: graph.relations });
  for (let waited = 0; ; waited += 1) {
    const status = await call(url, "status", {});
    if (status.pending_jobs === 0) return ids;
    if (waited > 600) throw new Error(`jobs are still pending: ${JSON.stringify(status)}`);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}
