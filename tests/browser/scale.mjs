// Journeys through much, and through what was written to break pages.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFile, rename } from "node:fs/promises";
import { join } from "node:path";
import { at, checked, closed, fits, keep, notice, opened, url } from "./browser.mjs";
import { graph, texts, turns } from "./hostile.mjs";
import { call } from "./story.mjs";

const MANY = 10000;
const PAGES = ["overview", "browse", "timeline", "commitments", "decisions", "entities", "entities/merges", "graph", "jobs", "namespaces", "audit", "settings", "keys"];

/** An archive of many notes, a minute apart; a tenth by Ada, sixty tagged, the importance from 0 to 0.99. */
function archive() {
  const lines = [{ type: "remembrancer-archive", version: 2 }];
  for (let n = 0; n < MANY; n += 1) {
    const content = `Note ${n}: the gauge at pier ${n % 7} showed ${n % 311} centimetres.`;
    const sha256 = createHash("sha256").update(content).digest("hex");
    const date = new Date(Date.UTC(2026, 0, 1) + n * 60e3).toISOString();
    lines.push({ type: "artifact", sha256, content });
    lines.push({
      type: "revision", artifact: sha256, context: n % 2 ? "note" : "document", author: n % 10 ? `Author ${n % 9}` : "Ada", date, created_at: date,
      title: `Gauge ${n}`, tags: n % 167 ? [] : ["spring tide"], importance: (n % 100) / 100, latest: true,
    });
  }
  return Buffer.from(lines.map((line) => JSON.stringify(line)).join("\n") + "\n");
}

/** Words of ours that run backwards: a name beside them turned them round. Gives them. */
const turned = (page) => page.evaluate(() => {
  const walker = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
  const found = [];
  const range = document.createRange();
  const place = (node, n) => { range.setStart(node, n); range.setEnd(node, n + 1); return range.getClientRects()[0]; };
  while (walker.nextNode()) {
    const node = walker.currentNode;
    const text = node.textContent;
    if (node.parentElement.closest("bdi, pre, .content, option, script") || !/^[\x20-\x7e\s·–…]*$/.test(text)) continue;
    const from = text.search(/\S/), to = text.trimEnd().length - 1;
    if (from < 0 || to <= from) continue;
    const [first, last] = [place(node, from), place(node, to)];
    if (first && last && Math.abs(first.top - last.top) < 2 && last.left < first.left) found.push(text);
  }
  return found;
});

async function unharmed(page, name) {
  assert.equal(await page.evaluate(() => document.body.dataset.executed), undefined, `${name} ran what a text says`);
  assert.equal(await page.locator("main script, main img, main svg[onload]").count(), 0, `${name} has elements of a text`);
  assert.deepEqual(await turned(page), [], `${name} has words turned round`);
  await fits(page, name);
}

export const atScale = {
  async "ten thousand texts: from an archive, by pages, filtered, many at once"() {
    const page = await opened();
    await page.goto(at("namespaces", "many"));
    await page.locator("#archive-file").setInputFiles({ name: "many.jsonl", mimeType: "application/jsonl", buffer: archive() });
    await page.locator(".files .ok").waitFor({ timeout: 300000 });
    await page.goto(at("browse", "many"));
    await page.locator("h1 .count", { hasText: /^10.000 texts$/ }).waitFor();
    await page.getByRole("rowheader", { name: "Gauge 9999" }).waitFor();
    const rows = () => page.locator("tbody tr").count();
    for (let shown = 100; shown <= 250; shown += 50) {
      await page.getByRole("link", { name: "Show more" }).click();
      await page.waitForFunction((shown) => document.querySelectorAll("tbody tr").length === shown, shown);
    }
    const titles = await page.locator("tbody th a").allInnerTexts();
    assert.deepEqual(titles, titles.map((_, n) => `Gauge ${9999 - n}`), "every text once, newest first");
    // More than may be done at once is said before it is tried.
    await page.getByLabel("All shown").check();
    await page.getByText("250 selected; at most 200 at a time").waitFor();
    assert.equal(await page.getByRole("button", { name: "Tag", exact: true }).isDisabled(), true);

    await page.goto(at("browse?tags=Spring+Tide", "many"));
    await page.locator("h1 .count", { hasText: "60 texts" }).waitFor();
    await page.getByRole("link", { name: "Show more" }).click();
    await page.waitForFunction(() => document.querySelectorAll("tbody tr").length === 60);
    assert.equal(await page.getByRole("link", { name: "Show more" }).count(), 0, "the list ends");
    await page.getByLabel("All shown").check();
    await page.getByText("60 selected").waitFor();
    await page.getByRole("button", { name: "Forget…" }).click();
    await page.getByRole("button", { name: "Forget them" }).click();
    await notice(page).getByText("60 texts forgotten.").waitFor({ timeout: 120000 });

    await page.getByRole("link", { name: "Show all" }).click();
    await page.getByText("More filters").click();
    await page.getByLabel("Author").fill("author 3");
    await page.getByLabel("Importance at least").fill("0.9");
    await page.getByLabel("From", { exact: true }).fill("2026-01-03");
    await page.getByLabel("To", { exact: true }).fill("2026-01-04");
    await page.getByLabel("Order").selectOption("important");
    await page.getByRole("button", { name: "Show", exact: true }).click();
    await page.locator("tbody tr").first().waitFor();
    const importances = (await page.locator("tbody td.num").evaluateAll((cells) => cells.filter((_, n) => n % 3 === 0).map((cell) => Number(cell.textContent))));
    assert.ok(importances.length > 20 && importances.every((value, n) => value >= 0.9 && (n === 0 || value <= importances[n - 1])), String(importances));
    assert.ok((await page.locator("tbody tr").allInnerTexts()).every((row) => row.includes("Author 3")));
    assert.ok(await rows() <= 50);
    await page.goto(at("browse?order=oldest", "many"));
    await page.getByRole("rowheader", { name: "Gauge 1", exact: false }).first().waitFor();
    await checked(page, "browse, ten thousand");
    await closed(page);
  },

  async "what was written to break pages is shown as it is, in every field"() {
    const ids = [];
    for (const text of texts) ids.push((await call(url, "remember", text, "hostile")).id);
    for (const turn of turns) await call(url, "remember", turn, "hostile");
    await call(url, "create_entities", { entities: graph.entities }, "hostile");
    await call(url, "create_relations", { relations: graph.relations }, "hostile");
    const page = await opened();
    for (let waited = 0; (await call(url, "status", {}, "hostile")).pending_jobs > 0; waited += 1) {
      assert.ok(waited < 300, "they are read");
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
    const found = ["search?q=evil+report", `search?q=${encodeURIComponent(texts[0].title)}`, `browse?tags=${encodeURIComponent(texts[3].title)}`, `entities?name=${encodeURIComponent(texts[1].title)}`,
      `browse?conversation=${encodeURIComponent(turns[0].conversation_id)}`, `audit?who=${encodeURIComponent(texts[3].title)}`, `graph?mode=focus&id=${encodeURIComponent(texts[0].title)}`];
    for (const path of [...PAGES, ...found, ...ids.flatMap((id) => [`memory/${id}`, `memory/${id}/forget`])]) {
      await page.goto(at(path, "hostile"));
      if (path === "graph") await page.locator("canvas[data-drawn]").waitFor();
      await unharmed(page, path);
      if (["browse", "graph", "entities", "search?q=evil+report", `memory/${ids[3]}`].includes(path)) {
        await page.setViewportSize({ width: 390, height: 800 });
        await unharmed(page, `${path}, small`);
        await page.setViewportSize({ width: 1360, height: 900 });
        await checked(page, path);
        await keep(page, `hostile-${path.split(/[/?]/)[0]}`, true);
      }
    }
    // What has no mark that is to be seen can be opened all the same.
    await page.goto(at("browse", "hostile"));
    await page.getByRole("link", { name: "(not visible)" }).first().click();
    await page.waitForURL(/memory\/art_/);
    await closed(page);
  },

  async "a text of ten megabytes comes in, is read by parts and goes"() {
    const page = await opened();
    await page.goto(at("import", "large"));
    const line = "The harbour office moved a box, and nobody minded. ";
    await page.locator("#pick").setInputFiles({ name: "\u202Egpj.txt", mimeType: "text/plain", buffer: Buffer.from(line.repeat(Math.floor(1e7 / line.length))) });
    await page.locator(".files .ok, .files .failed").waitFor({ timeout: 300000 });
    await page.locator(".files a").click();
    await page.getByText(/of 9.999.9\d\d$/).waitFor();
    await page.getByRole("link", { name: "After" }).click();
    await page.getByText(/characters 20.001 to 40.000/).waitFor();
    await unharmed(page, "a long text");
    // Fields take what fits them and say so of the rest.
    await page.goto(at("import", "large"));
    for (const label of ["Title", "Author", "Tags"]) {
      await page.getByLabel("Text", { exact: true }).fill("A short note.");
      await page.getByLabel(label).evaluate((field) => { field.removeAttribute("maxlength"); field.value = "x".repeat(2e6); });
      await page.getByRole("button", { name: "Remember" }).click();
      await page.locator(".notice.bad").waitFor();
      await unharmed(page, `a long ${label}`);
    }
    await page.goto(at("browse", "large"));
    await page.locator("tbody th a").first().click();
    await page.getByRole("link", { name: "Forget…" }).click();
    await page.getByRole("button", { name: "Forget it" }).click();
    await notice(page).getByText("Forgotten").waitFor();
    await closed(page);
  },

  async "pages say that the database is down, and are back with it"() {
    const data = process.env.DATA;
    const page = await opened();
    await page.goto(at("overview"));
    // Without its programs it is not started again.
    await rename(join(data, "runtime"), join(data, "runtime-away"));
    process.kill(Number((await readFile(join(data, "postgres/data/postmaster.pid"), "utf8")).split("\n")[0]), "SIGINT");
    await page.locator(".verdict.bad").waitFor({ timeout: 30000 });
    await page.getByText("postgres is down").waitFor();
    await keep(page, "down-light", true);
    for (const path of ["browse", "search?q=x", "jobs", "entities", "graph", "timeline"]) {
      await page.goto(at(path));
      await page.getByText("The database cannot be reached right now").waitFor();
      await fits(page, path);
    }
    await checked(page, "a page without the database");
    await rename(join(data, "runtime-away"), join(data, "runtime"));
    for (let tried = 0; (await page.goto(at("browse"))).status() !== 200; tried += 1) {
      assert.ok(tried < 60, "it comes back");
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
    await closed(page);
  },
};
