// A real browser without a window: Debian's Chromium, or the one that CHROMIUM names.

import { accessSync, constants, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";

import { chromium } from "playwright-core";

const NAMES = ["chromium", "chromium-browser", "google-chrome"];

function program() {
  if (process.env.CHROMIUM) return process.env.CHROMIUM;
  for (const folder of (process.env.PATH ?? "").split(delimiter)) {
    for (const name of NAMES) {
      const path = join(folder, name);
      try {
        accessSync(path, constants.X_OK);
        return path;
      } catch {
        // The next one.
      }
    }
  }
  throw new Error("no Chromium: install the package chromium, or name it in CHROMIUM");
}

/** Does something with a page of a browser that knows nothing yet. What its console complains of is an error. */
export async function withPage(work) {
  const profile = mkdtempSync(join(tmpdir(), "chromium-"));
  const args = ["--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"];
  args.push("--disable-component-update", "--disable-sync");
  // Its sandbox does not work for root.
  if (process.getuid?.() === 0) args.push("--no-sandbox");
  const context = await chromium.launchPersistentContext(profile, { executablePath: program(), headless: true, args });
  try {
    const page = context.pages()[0] ?? (await context.newPage());
    const complaints = [];
    page.on("console", (message) => {
      // A page with another status than 200 is no complaint.
      if (message.type() === "error" && !message.text().startsWith("Failed to load resource")) complaints.push(message.text());
    });
    page.on("pageerror", (error) => complaints.push(String(error)));
    page.setDefaultTimeout(60_000);
    const done = await work(page);
    if (complaints.length > 0) throw new Error(`the browser complains: ${complaints.join("; ")}`);
    return done;
  } finally {
    await context.close();
    rmSync(profile, { recursive: true, force: true });
  }
}
