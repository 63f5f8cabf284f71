// The owner at the consent page, in a real browser.
//
// Usage: consent.mjs URL PASSWORD ROLE NAMESPACES DECISION: prints the address that the browser is sent to in the end.

import assert from "node:assert/strict";
import { createServer } from "node:http";
import { pathToFileURL } from "node:url";

import { withPage } from "./browser.mjs";

/** Gives what the client is told. The client's own address is listened at here. */
export async function consent(url, { password, role, namespaces, decision = "allow", wrong = false }) {
  const redirect = new URL(new URL(url).searchParams.get("redirect_uri"));
  let arrived;
  const told = new Promise((resolve) => (arrived = resolve));
  const server = createServer((request, response) => {
    const address = new URL(request.url, redirect);
    if (address.pathname === redirect.pathname) arrived(address);
    // The icon that a browser asks for.
    response.writeHead(address.pathname === redirect.pathname ? 200 : 204, { "content-type": "text/html" });
    response.end(address.pathname === redirect.pathname ? "<title>done</title><p>Done." : undefined);
  });
  await new Promise((resolve) => server.listen(Number(redirect.port), redirect.hostname, resolve));
  try {
    return await withPage(async (page) => {
      await page.goto(String(url));
      assert((await page.textContent("main")).includes(redirect.host), "the page does not name where the answer goes");
      if (wrong) {
        await page.fill("#password", "a wrong password of somebody");
        await page.press("#password", "Enter");
        await page.waitForSelector("[role=alert]");
      }
      await page.fill("#password", password);
      await page.click("button[type=submit]");
      await page.waitForSelector("[name=namespaces]");
      assert.equal(await page.$$eval("script", (all) => all.length), 0);
      assert((await page.textContent("main")).includes(redirect.host), "the page does not name where the answer goes");
      if (process.env.SCREENSHOT) await page.screenshot({ path: process.env.SCREENSHOT, fullPage: true });
      await page.check(`input[name=role][value=${role}]`);
      await page.fill("#namespaces", namespaces);
      await page.click(`button[value=${decision}]`);
      return await told;
    });
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const [url, password, role, namespaces, decision] = process.argv.slice(2);
  console.log(String(await consent(url, { password, role, namespaces, decision })));
}
