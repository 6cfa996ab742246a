// SPDX-License-Identifier: MIT
// The tables of Blazor's own references, while the sample leaks them, and after it disposed
// of them; with heapshot.mjs prepared before blazor.webassembly.js, or behind it.
"use strict";
const fs = require("node:fs");
const path = require("node:path");
const { inChromium } = require("../page.cjs");
const { ready, press } = require("./sample.cjs");

const START = `
import * as heapshot from "/heapshot/heapshot.mjs";
globalThis.hooks ??= heapshot.prepare();
await Blazor.start({ configureRuntime: dotnet => dotnet.withRuntimeOptions(["--profile=heapshot:snapshot=none,quiet"]) });
globalThis.hs = await heapshot.attach(getDotnetRuntime(0));
globalThis.take = async (name) => {
  const body = await hs.takeSnapshot({ label: name });
  await (await fetch("/out/" + name + ".hs", { method: "POST", body })).text();
};
`;

// Modules run behind scripts; so the page's own scripts wait for this one.
const EARLY = `
import * as heapshot from "/heapshot/heapshot.mjs";
globalThis.hadDotNet = "DotNet" in globalThis;
globalThis.stock = Object.getOwnPropertyDescriptor(globalThis, "DotNet");
globalThis.hooks = heapshot.prepare({ blazor: true });
for (const source of globalThis.sources) {
  const script = Object.assign(document.createElement("script"), source);
  script.async = false;
  if (source.autostart) script.setAttribute("autostart", source.autostart);
  document.body.append(script);
}
`;

/** The sample's page, its scripts put off until prepare() was called. */
function early(root) {
  const page = fs.readFileSync(path.join(root, "index.html"), "utf8");
  const sources = [];
  const body = page.replace(/<script ([^>]*)src="([^"]*)"([^>]*)><\/script>/g, (_, before, src, after) => {
    const words = before + after;
    const autostart = /autostart="(\w+)"/.exec(words)?.[1];
    sources.push({ src, autostart, type: /type="(\w+)"/.exec(words)?.[1] || "" });
    return "";
  });
  const scripts = `<script>globalThis.sources = ${JSON.stringify(sources)}</script><script type="module" src="/early.js"></script>`;
  return body.replace("</body>", scripts + "</body>");
}

// What is counted of each table; runs in the page.
const look = () =>
  hooks.tables().map(({ name, entries, released, escaped, note }) => ({
    name,
    released,
    escaped: escaped || 0,
    note: note || "",
    handles: entries.map((entry) => entry.handle),
    counts: entries.reduce((all, { type, name }) => ({ ...all, [type + " " + name]: (all[type + " " + name] || 0) + 1 }), {}),
  }));

inChromium(async ({ job, serve, open }) => {
  const texts = { "/start.js": START, "/early.js": EARLY };
  if (job.isEarly) texts["/early.html"] = early(job.root);
  const server = await serve({ "/": job.root, "/heapshot/": job.browserFolder }, { texts, out: job.out, isApp: true });
  const page = await open(server.url(job.isEarly ? "/early.html" : "/"));
  await ready(page);
  const seen = { before: await page.evaluate(look) };
  for (const id of ["draw", "listen"]) await press(page, id);
  seen.leaked = await page.evaluate(look);
  await page.evaluate(() => take("leaked"));
  await press(page, "dispose");
  seen.disposed = await page.evaluate(look);
  await page.evaluate(() => take("disposed"));
  for (const id of ["draw", "listen"]) await press(page, id);
  seen.again = await page.evaluate(look);
  const left = await page.evaluate(() => {
    const attach = DotNet.attachDispatcher;
    const dispose = DotNet.DotNetObject.prototype.dispose;
    hooks.remove();
    return {
      isStock: DotNet.attachDispatcher !== attach && DotNet.DotNetObject.prototype.dispose !== dispose,
      kind: JSON.stringify(Object.getOwnPropertyDescriptor(globalThis, "DotNet"), (key, value) => (key === "value" ? 0 : value)),
      hadDotNet: globalThis.hadDotNet,
      notes: hooks.notes,
    };
  });
  // The program goes on.
  for (const id of ["dispose", "draw", "listen"]) await press(page, id);
  return { seen, left, wrong: page.wrong, said: page.said };
});
