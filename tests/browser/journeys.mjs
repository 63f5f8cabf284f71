// Journeys of people through the pages. node journeys.mjs URL [JOURNEY...]
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { at, checked, closed, fits, keep, notice, opened, travel, url, violationsOf } from "./browser.mjs";
import { atScale } from "./scale.mjs";
import { call, tell } from "./story.mjs";

const run = promisify(execFile);
const ids = await tell(url);

const journeys = {
  async "find, open, see the evidence, forget"() {
    const page = await opened();
    await page.goto(at("search"));
    await page.keyboard.press("/");
    await page.keyboard.type("who migrates the booking tables");
    await page.keyboard.press("Enter");
    await page.getByRole("link", { name: "Harbour relaunch, planning" }).first().waitFor();
    await page.getByText("Why it was found").first().click();
    await page.getByRole("cell", { name: /cosine/ }).first().waitFor();
    await page.getByText("The answer as an agent gets it").click();
    assert.match(await page.locator(".agent pre").innerText(), /"results"/);
    await page.getByRole("link", { name: "Harbour relaunch, planning" }).first().click();
    assert.match(await page.locator("mark").first().innerText(), /decided|migrate|release notes|risk/i);
    await page.getByRole("link", { name: "Forget…" }).click();
    await page.getByText(/It goes for good, and with it: 1 revision/).waitFor();
    await page.getByRole("link", { name: "Keep it" }).click();
    const { id } = await call(url, "remember", { title: "To be forgotten", content: "Zebras crossed the quay at dawn." });
    await page.goto(at(`memory/${id}`));
    await page.getByRole("link", { name: "Forget…" }).click();
    await page.getByRole("button", { name: "Forget it" }).click();
    await notice(page).getByText("Forgotten").waitFor();
    await page.goto(at(`memory/${id}`));
    await page.getByRole("heading", { name: "Not found" }).waitFor();
    await closed(page);
  },

  async "edit title, tags and importance"() {
    const page = await opened();
    await page.goto(at(`memory/${ids["Runbook: booking service"]}`));
    await page.getByText("Edit", { exact: true }).click();
    await page.getByLabel("Title").fill("Runbook of the booking service");
    await page.getByLabel("Tags").fill("operations, on call");
    await page.getByRole("button", { name: "Save" }).click();
    await notice(page).getByText("Saved.").waitFor();
    await page.getByRole("heading", { name: "Runbook of the booking service" }).waitFor();
    await page.getByRole("link", { name: "on call" }).click();
    await page.getByText("1 text", { exact: true }).waitFor();
    await closed(page);
  },

  async "browse by pages, select, tag, export, forget"() {
    const page = await opened();
    await page.goto(at("browse"));
    assert.equal(await page.locator("tbody tr").count(), 50);
    await page.getByRole("link", { name: "Show more" }).click();
    await page.waitForFunction(() => document.querySelectorAll("tbody tr").length > 70);
    assert.equal(await page.getByRole("button", { name: "Tag" }).isDisabled(), true);
    await page.getByLabel("Select Log 3", { exact: true }).check();
    await page.getByLabel("Select Log 4", { exact: true }).check();
    await page.getByText("2 selected").waitFor();
    await page.getByLabel("Tags to add").fill("tide");
    await page.getByRole("button", { name: "Tag", exact: true }).click();
    await notice(page).getByText("2 texts tagged.").waitFor();
    await page.goto(at("browse?tags=tide"));
    await page.getByLabel("All shown").check();
    const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Export" }).click()]);
    const lines = (await readFile(await download.path(), "utf8")).trim().split("\n").map((line) => JSON.parse(line));
    assert.equal(lines.length, 2);
    assert.ok(lines.every((line) => line.tags.includes("tide")));
    await page.getByRole("button", { name: "Forget…" }).click();
    await page.getByRole("button", { name: "Forget them" }).click();
    await notice(page).getByText("2 texts forgotten.").waitFor();
    await page.getByText("No text is like that").waitFor();
    await closed(page);
  },

  async "drop files"() {
    const page = await opened();
    await page.goto(at("import"));
    await page.locator("#pick").setInputFiles([
      { name: "minutes.md", mimeType: "text/markdown", buffer: Buffer.from("# Minutes\n\nThe lighthouse keeper reported fog.") },
      { name: "picture.png", mimeType: "image/png", buffer: Buffer.from([0xff, 0xd8, 0xff]) },
    ]);
    await page.getByText("remembered", { exact: true }).waitFor();
    await page.getByText("It is not plain text in UTF-8.").waitFor();
    await page.getByRole("link", { name: "minutes.md" }).click();
    await page.locator(".content").getByText("The lighthouse keeper reported fog.").waitFor();
    await page.goto(at("import"));
    await page.getByLabel("Text", { exact: true }).fill("A note <script>alert(1)</script> by hand.");
    await page.getByRole("button", { name: "Remember" }).click();
    await notice(page).getByText("Remembered.").waitFor();
    await page.locator(".content").getByText("<script>alert(1)</script>").waitFor();
    await closed(page);
  },

  async "merge two people, and split them again"() {
    const page = await opened();
    await page.goto(at("entities/merges"));
    const pair = page.locator(".pair").filter({ hasText: "Lena Fischer" }).first();
    await pair.getByRole("button", { name: "The same: keep Lena Fischer" }).click();
    await notice(page).getByText("counts as Lena Fischer from now on").waitFor();
    await page.goto(at("entities?name=lena"));
    await page.getByRole("link", { name: "Lena Fischer" }).first().click();
    await page.getByRole("heading", { name: "Merged into it" }).waitFor();
    await page.getByRole("button", { name: "Split" }).first().click();
    await notice(page).getByText("was split off").waitFor();
    await page.getByRole("heading", { name: /Promised/ }).waitFor();
    await closed(page);
  },

  async "commitments, decisions and the timeline"() {
    const page = await opened();
    await page.goto(at("commitments"));
    await page.locator(".chip", { hasText: "overdue" }).first().waitFor();
    await page.getByLabel("Of").fill("Omar Haddad");
    await page.getByRole("button", { name: "Show" }).click();
    await page.getByText(/migrate the booking tables/).first().waitFor();
    await page.getByRole("link", { name: "in its text" }).first().click();
    await page.locator("mark#at").waitFor();
    await page.goto(at("decisions"));
    await page.getByText(/booking service to Postgres/).first().waitFor();
    await page.goto(at("timeline?category=Decision"));
    await page.locator(".day-group").first().waitFor();
    await closed(page);
  },

  async "retry a job that failed, and cancel it"() {
    // A text that takes a while, so that its job can be cancelled.
    const { id } = await call(url, "remember", { content: `A long day at the quay. ${"The crane moved a box. ".repeat(9000)}` });
    const page = await opened();
    await page.goto(at("jobs"));
    const row = page.locator("tbody tr").filter({ hasText: id }).first();
    await row.waitFor();
    await row.getByRole("button", { name: /Cancel/ }).click();
    await notice(page).getByText("was cancelled").waitFor();
    await page.goto(at("jobs?state=FAILED"));
    await page.getByText("an operator cancelled it").first().waitFor();
    await page.getByRole("button", { name: /Retry job/ }).first().click();
    await notice(page).getByText("waits to be tried again").waitFor();
    await page.goto(at(`memory/${id}/forget`));
    await page.getByRole("button", { name: "Forget it" }).click();
    await notice(page).getByText("Forgotten").waitFor();
    await closed(page);
  },

  async "the graph: map, choose by the list, focus, path"() {
    const page = await opened();
    await page.goto(at("graph"));
    await page.locator("canvas[data-drawn]").waitFor();
    await page.getByText(/All \d+ entities are shown/).waitFor();
    const painted = await page.locator("canvas").evaluate((canvas) => {
      const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
      return data.some((value, n) => n % 4 === 3 && value > 0);
    });
    assert.ok(painted, "something is drawn");
    const button = page.getByRole("button", { name: "Omar Haddad", exact: true });
    await button.focus();
    await page.keyboard.press("Enter");
    assert.equal(await button.getAttribute("aria-pressed"), "true");
    await page.getByRole("link", { name: "Focus on Omar Haddad" }).click();
    await page.locator("canvas[data-drawn]").waitFor();
    assert.match(page.url(), /mode=focus/);
    const number = async (name) => new URL(await page.getByRole("link", { name: `Page of ${name}`, exact: true }).getAttribute("href"), url).pathname.split("/").pop();
    const [from, to] = [await number("Omar Haddad"), await number("Priya Raman")];
    await page.goto(at(`graph?mode=path&id=${from}&to=${to}`));
    await page.locator("canvas[data-drawn]").waitFor();
    await page.getByText("Path", { exact: true }).click();
    await page.getByLabel("Entity", { exact: true }).fill("Dana Whitfield");
    await page.getByLabel("to", { exact: true }).fill("omar haddad");
    await Promise.all([page.waitForURL(/id=Dana/), page.getByRole("button", { name: "Show" }).click()]);
    await page.getByRole("link", { name: "Page of Dana Whitfield" }).waitFor();
    await page.locator("canvas[data-drawn]").waitFor();
    await closed(page);
  },

  async "the overview keeps itself up to date, and draws how the memory grew"() {
    const page = await opened();
    await page.goto(at("overview"));
    await page.locator(".chart[data-drawn] canvas").waitFor();
    const texts = () => page.locator(".figure", { hasText: "Texts" }).locator("dd").innerText();
    const before = await texts();
    await call(url, "remember", { content: "A text that comes while the overview is open." });
    await page.waitForFunction((before) => document.querySelector("#state").dataset.updated && document.querySelector(".figure dd").innerText !== before, before, { timeout: 20000 });
    await closed(page);
  },

  async "keyboard only, from the skip link to a result"() {
    const page = await opened();
    await page.goto(at("overview"));
    await page.keyboard.press("Tab");
    assert.equal(await page.evaluate(() => document.activeElement.textContent), "Skip to the content");
    await page.keyboard.press("Enter");
    assert.equal(await page.evaluate(() => document.activeElement.id), "main");
    await page.keyboard.press("/");
    await page.waitForURL(/search/);
    await page.keyboard.press("/");
    await page.keyboard.type("certificate");
    await page.keyboard.press("Enter");
    await page.locator(".result").first().waitFor();
    for (let n = 0; n < 60; n += 1) {
      await page.keyboard.press("Tab");
      const box = await page.evaluate(() => { const { outlineStyle } = getComputedStyle(document.activeElement); return { outlineStyle, isResult: !!document.activeElement.closest(".result h2") }; });
      assert.notEqual(box.outlineStyle, "none", "what has the focus shows it");
      if (box.isResult) break;
    }
    await page.keyboard.press("Enter");
    await page.waitForURL(/memory\/art_/);
    await closed(page);
  },

  async "every page in both themes, without a violation"() {
    const entity = (await (await fetch(at("graph/data"))).json().catch(() => ({ nodes: [] }))).nodes[0];
    const page = await opened();
    await page.goto(at("entities"));
    const own = entity ? `entities/${entity.id.slice(1)}` : (await page.locator("tbody th a").first().getAttribute("href")).replace("/ui/n/default/", "");
    const pages = {
      overview: "overview", search: "search", found: "search?q=what+did+we+decide+about+the+booking+service+last+month", browse: "browse",
      text: `memory/${ids["Harbour relaunch, planning"]}`, forget: `memory/${ids["Harbour relaunch, planning"]}/forget`, import: "import",
      timeline: "timeline", commitments: "commitments", decisions: "decisions", entities: "entities", merges: "entities/merges", entity: own,
      graph: "graph", jobs: "jobs", namespaces: "namespaces", audit: "audit", keys: "keys", settings: "settings", missing: "memory/art_000000000000",
    };
    const violations = [];
    for (const theme of ["light", "dark"]) {
      await page.emulateMedia({ colorScheme: theme, reducedMotion: "reduce" });
      for (const [name, path] of Object.entries(pages)) {
        await page.goto(at(path));
        if (name === "graph") await page.locator("canvas[data-drawn]").waitFor();
        if (name === "overview") await page.locator(".chart[data-drawn]").waitFor();
        await keep(page, `${name}-${theme}`, name !== "browse" && name !== "jobs");
        violations.push(...await violationsOf(page, `${name}, ${theme}`));
      }
    }
    assert.deepEqual(violations, []);
    await closed(page);
  },

  async "small screens: nothing is wider than the screen, and the menu opens"() {
    const page = await opened();
    await page.setViewportSize({ width: 390, height: 800 });
    for (const path of ["overview", "search?q=booking", "browse", `memory/${ids["Harbour relaunch, planning"]}`, "timeline", "graph", "jobs"]) {
      await page.goto(at(path));
      await fits(page, path);
    }
    await page.getByRole("button", { name: "Menu" }).click();
    await page.getByRole("link", { name: "Overview" }).click();
    await page.waitForURL(/overview/);
    await keep(page, "overview-small");
    await checked(page, "overview, small");
    await closed(page);
  },

  async "the theme that is chosen stays"() {
    const page = await opened();
    await page.goto(at("overview"));
    await page.getByRole("button", { name: "Dark" }).click();
    await page.waitForFunction(() => document.documentElement.dataset.theme === "dark");
    await page.goto(at("jobs"));
    assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), "dark");
    await page.getByRole("button", { name: "Auto" }).click();
    await page.waitForFunction(() => document.documentElement.dataset.theme === "system");
    await closed(page);
  },

  async "an empty memory says what to do first"() {
    const page = await opened();
    await page.goto(at("overview", "nothing-yet"));
    await page.getByText("Nothing is remembered yet").waitFor();
    await keep(page, "empty-light", true);
    for (const path of ["search", "browse", "timeline", "commitments", "decisions", "entities", "entities/merges", "graph", "jobs", "namespaces"]) {
      await page.goto(at(path, "nothing-yet"));
      assert.ok(await page.locator(".empty, .verdict.good, .table-wrap").count() > 0, `${path} says that there is nothing`);
    }
    await checked(page, "namespaces, of nothing");
    await page.goto(at("overview", "nothing-yet"));
    await page.getByRole("link", { name: "write a note or drop some files" }).click();
    await page.getByLabel("Text", { exact: true }).fill("The first note.");
    await page.getByRole("button", { name: "Remember" }).click();
    await notice(page).getByText("Remembered.").waitFor();
    await page.goto(at("overview", "nothing-yet"));
    assert.equal(await page.getByText("Nothing is remembered yet").count(), 0);
    await closed(page);
  },

  async "all of a namespace is forgotten after its name is typed, and comes back from its archive"() {
    await call(url, "remember", { content: "A lantern hangs at the gate." }, "trial");
    const page = await opened();
    await page.goto(at("namespaces", "trial"));
    const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("link", { name: "Export" }).click()]);
    const archive = await readFile(await download.path());
    const button = page.getByRole("button", { name: "Forget all texts" });
    assert.equal(await button.isDisabled(), true);
    await page.getByLabel("Its name, to be sure").fill("trail");
    assert.equal(await button.isDisabled(), true);
    await page.getByLabel("Its name, to be sure").fill("trial");
    await button.click();
    await notice(page).getByText("All texts of trial are forgotten.").waitFor();
    await page.goto(at("browse", "trial"));
    await page.getByText("Nothing is remembered yet").waitFor();
    await page.goto(at("namespaces", "trial"));
    await page.locator("#archive-file").setInputFiles({ name: "trial.jsonl", mimeType: "application/jsonl", buffer: archive });
    await page.locator(".files .ok", { hasText: "1 text" }).waitFor();
    await page.goto(at("browse", "trial"));
    await page.getByRole("link", { name: /A lantern hangs/ }).waitFor();
    await closed(page);
  },

  async "who asks for less motion sees the graph at once, and nothing moves"() {
    const page = await opened();
    await page.emulateMedia({ reducedMotion: "reduce" });
    await page.goto(at("graph"));
    await page.locator("canvas[data-drawn]").waitFor();
    const moving = await page.evaluate(() => [...document.querySelectorAll("*")].filter((one) => {
      const { transitionDuration, animationName } = getComputedStyle(one);
      return transitionDuration !== "0s" || animationName !== "none";
    }).length);
    assert.equal(moving, 0);
    await closed(page);
  },

  ...atScale,

  // From here on there are keys: everybody signs in.
  async "make a key, sign in and out; a reader sees no button that it may not press"() {
    const page = await opened();
    await page.goto(at("keys"));
    const made = async (name, role) => {
      await page.getByLabel("Name", { exact: true }).fill(name);
      await page.getByLabel("Role").selectOption(role);
      await page.getByRole("button", { name: "Make it" }).click();
      return page.locator("code.secret").innerText();
    };
    const writer = await made("writer of the tests", "writer");
    // With the first key this page asks for one.
    await page.goto(at("keys"));
    await page.waitForURL(/login/);
    await checked(page, "login");
    await keep(page, "login-light");
    await page.getByLabel("Access key, or the password").fill("rem_0123456789ab_" + "ab".repeat(32));
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByText("That opens nothing").waitFor();
    const { stdout } = await run(process.env.BINARY, ["keys", "create", "reader of the tests", "--role", "reader", "--json"], { env: process.env });
    const reader = JSON.parse(stdout).key;
    for (const [key, mayWrite] of [[writer, true], [reader, false]]) {
      await page.goto(at(`memory/${ids.Retrospective}`));
      await page.getByLabel("Access key, or the password").fill(key);
      await page.getByRole("button", { name: "Sign in" }).click();
      await page.getByRole("heading", { name: "Retrospective" }).waitFor();
      assert.equal(await page.getByRole("link", { name: "Forget…" }).count(), Number(mayWrite));
      await page.goto(at("browse"));
      assert.equal(await page.getByRole("button", { name: "Forget…" }).count(), Number(mayWrite));
      assert.equal(await page.getByRole("link", { name: "Add texts" }).count(), Number(mayWrite));
      await page.goto(at("jobs"));
      assert.equal(await page.getByRole("button", { name: /Retry|Cancel/ }).count() > 0 && !mayWrite, false);
      await page.goto(at("entities/merges"));
      assert.equal(await page.getByRole("button", { name: /The same/ }).count() > 0, mayWrite);
      assert.equal(await page.getByRole("link", { name: "Keys" }).count(), 0);
      await page.getByRole("button", { name: "Sign out" }).click();
      await page.waitForURL(/login/);
    }
    await page.goto(at("overview"));
    await page.waitForURL(/login/);
    await closed(page);
  },
};

process.exit(await travel(journeys, process.argv.slice(3)) ? 1 : 0);
