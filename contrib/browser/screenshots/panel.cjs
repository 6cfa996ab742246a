// SPDX-License-Identifier: MIT
// node panel.cjs ROOT PANEL FOLDER: pictures of the panel, as they stand in doc/panel.md.  ROOT is
// the published sample contrib/samples/blazor-leak, PANEL is build/panel.
"use strict";
const path = require("node:path");
const puppeteer = require("puppeteer-core");
const { open, serve } = require(path.join(__dirname, "..", "..", "..", "tests", "wasm", "page.cjs"));

const [, , root, panelFolder, folder] = process.argv;
const WIDE = { width: 1120, height: 640 };
const LONG = { timeout: 120000, polling: 100 };

async function press(app, id) {
  const before = await app.$eval("#done", (output) => output.textContent);
  await app.evaluate((id) => document.getElementById(id).click(), id);
  await app.waitForFunction((before) => document.getElementById("done").textContent !== before, LONG, before);
}

async function take(panel, label) {
  await panel.evaluate(() => document.querySelector("button[data-id]").click());
  await panel.waitForSelector("#take", LONG);
  await panel.type("#label", label);
  await panel.click("#take");
  await panel.waitForFunction((label) => document.querySelector('.item-open[aria-current="true"] .name')?.textContent === label && document.querySelector("#app")?.getAttribute("aria-busy") === "false", LONG, label);
}

async function shoot(panel, name, scheme = "light") {
  await panel.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
  // A pointer and a focus would be in the way.
  await panel.evaluate(() => document.activeElement && document.activeElement.blur());
  await panel.mouse.move(0, 0);
  await new Promise((done) => setTimeout(done, 400));
  await panel.screenshot({ path: path.join(folder, `panel-${name}.png`) });
}

async function view(panel, name) {
  await panel.click("#tab-" + name);
  await panel.waitForSelector(`#app[data-ready="${name}"][aria-busy="false"]`, LONG);
}

async function pictures(browser, server) {
  const app = await open(browser, server.url("/"));
  await app.waitForFunction(() => document.getElementById("clocks") && globalThis.getDotnetRuntime?.(0)?.takeSnapshot, LONG);
  const panel = await open(browser, server.url("/_content/Heapshot.WebAssembly/panel/index.html"), WIDE);
  await panel.waitForSelector("button[data-id]", LONG);
  await take(panel, "after start");
  for (const id of ["clocks", "draw", "listen"]) await press(app, id);
  await take(panel, "three leaks later");
  await view(panel, "summary");
  await shoot(panel, "summary");
  await view(panel, "handles");
  await shoot(panel, "handles", "dark");
  for (let i = 0; i < 3; i++) await press(app, "fill");
  await take(panel, "notes");
  await view(panel, "treemap");
  await shoot(panel, "treemap");
  await view(panel, "counters");
  await shoot(panel, "counters");
  await panel.evaluate(() => document.querySelector("button[data-id]").click());
  await panel.click("#read-once");
  await panel.waitForFunction(() => document.querySelectorAll(".live-table tbody tr").length > 10, LONG);
  await press(app, "fill");
  await panel.evaluate(() => document.querySelectorAll(".live-table tbody tr").forEach((row) => (row.dataset.old = "")));
  await panel.click("#read-once");
  await panel.waitForFunction(() => document.querySelectorAll(".live-table tbody tr:not([data-old])").length > 10, LONG);
  await shoot(panel, "runtime", "dark");
}

async function main() {
  const server = await serve({ "/": root, "/_content/Heapshot.WebAssembly/": panelFolder });
  const browser = await puppeteer.launch({ executablePath: process.env.CHROMIUM, headless: true, args: process.env.CHROMIUM_FLAGS.split(" ") });
  try {
    await pictures(browser, server);
  } finally {
    await browser.close();
    await server.close();
  }
}

main().catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
