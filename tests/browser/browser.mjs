// The browser of the journeys, and what each page of it is held to.
import assert from "node:assert/strict";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

export const url = process.argv[2];
export const pictures = process.env.PICTURES;
export const at = (page, namespace = "default") => `${url}/ui/n/${namespace}/${page}`;
export const notice = (page) => page.locator(".notice[role=status]");
const PATIENCE = 20000;
const axe = await readFile(join(dirname(fileURLToPath(import.meta.url)), "node_modules/axe-core/axe.min.js"), "utf8");

await mkdir(pictures, { recursive: true });
const folder = await mkdtemp(join(tmpdir(), "browser-"));
const browser = await chromium.launchPersistentContext(folder, {
  executablePath: process.env.CHROMIUM_BINARY,
  headless: true,
  args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
  viewport: { width: 1360, height: 900 },
  acceptDownloads: true,
});
browser.setDefaultTimeout(PATIENCE);

/** A page on which an error of a script, a breach of the policy or a request to elsewhere fails the journey. */
export async function opened() {
  const page = await browser.newPage();
  page.faults = [];
  page.on("pageerror", (error) => page.faults.push(String(error)));
  page.on("dialog", (dialog) => { page.faults.push(`a dialog: ${dialog.message()}`); dialog.dismiss(); });
  page.on("console", (message) => {
    if (message.type() === "error" && !/status of (4|5)\d\d|ERR_CONNECTION_REFUSED|ERR_INCOMPLETE_CHUNKED/.test(message.text())) page.faults.push(message.text());
  });
  page.on("request", (request) => {
    const to = new URL(request.url());
    if (to.protocol.startsWith("http") && to.origin !== url) page.faults.push(`a request to ${to.origin}`);
  });
  return page;
}

export async function closed(page) {
  assert.deepEqual(page.faults, [], "nothing went wrong in the browser");
  await page.close();
}

export async function violationsOf(page, name) {
  const violations = await page.evaluate(async (source) => {
    // The policy of the page allows no script but its own; that of the debugger is not asked.
    if (!window.axe) (0, eval)(source);
    const found = await window.axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] });
    return found.violations.map((v) => `${v.id}: ${v.help}: ${v.nodes.slice(0, 3).map((n) => n.html.slice(0, 140) + " " + (n.any[0]?.message ?? "")).join(" | ")}`);
  }, axe).catch((error) => [String(error)]);
  return violations.map((violation) => `${name}: ${violation}`);
}

export async function checked(page, name) {
  assert.deepEqual(await violationsOf(page, name), []);
}

/** Nothing sticks out of the page at the side. */
export async function fits(page, name) {
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  assert.ok(wide <= 0, `${name} is ${wide} pixels too wide`);
}

export async function keep(page, name, fullPage = false) {
  await page.screenshot({ path: join(pictures, `${name}.png`), fullPage });
}

/** Runs the journeys whose names have one of the words, of all where there is none; gives how many failed. */
export async function travel(journeys, words) {
  let failed = 0;
  const began = Date.now();
  for (const [name, journey] of Object.entries(journeys)) {
    if (words.length && !words.some((word) => name.includes(word))) continue;
    const start = Date.now();
    try {
      await journey();
      console.log(`ok ${name} (${((Date.now() - start) / 1000).toFixed(1)} s)`);
    } catch (error) {
      failed += 1;
      console.log(`FAILED ${name}\n${error.stack ?? error}`);
      const pages = browser.pages();
      const last = pages[pages.length - 1];
      const shown = await last?.locator("main").innerText({ timeout: 2000 }).catch((fault) => String(fault));
      console.log(`it was at ${last?.url()}, which shows:\n${shown?.slice(0, 600)}`);
      await last?.screenshot({ path: join(pictures, `failed-${failed}.png`) }).catch(() => {});
      if (last) await writeFile(join(pictures, `failed-${failed}.html`), await last.content().catch(() => ""));
      for (const page of pages.slice(1)) await page.close();
    }
  }
  await browser.close();
  await rm(folder, { recursive: true, force: true });
  console.log(`${failed ? `${failed} failed` : "all passed"} in ${((Date.now() - began) / 1000).toFixed(0)} s; pictures in ${pictures}`);
  return failed;
}
