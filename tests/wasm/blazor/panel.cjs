// SPDX-License-Identifier: MIT
// The Blazor sample near its limit of memory, as it starts by itself, and the panel in a second tab:
// snapshots of it are taken there, the panel's summary and views name what leaks, and one is saved.
"use strict";
const { inChromium } = require("../page.cjs");
const { openPanel, listed, choose, take, view, rows, wait, downloadTo } = require("../panel/pages.cjs");
const { press } = require("./sample.cjs");

const TITLE = "Three leaks";
const CONTENT = "/_content/Heapshot.WebAssembly/";

const findings = (panel) =>
  panel.$$eval("#panel .finding", (list) =>
    list.map((item) => ({ table: item.dataset.table || null, text: item.innerText.replace(/\s+/g, " ") })),
  );

/** The text of each row of the table NAME among the handles; none where the panel has no such table. */
async function handles(panel, name) {
  const option = `#panel .choice[data-table="${name}"]`;
  await view(panel, "handles");
  if ((await panel.$(option)) === null) return [];
  await panel.click(option);
  await panel.waitForSelector(option + '[aria-selected="true"]');
  return (await rows(panel)).map((row) => row.map((cell) => cell.text).join(" | "));
}

inChromium(async (tools) => {
  const { browser, job, serve, open } = tools;
  const server = await serve({ "/": job.root, [CONTENT]: job.panel, "/heapshot/": job.panel });
  const context = await browser.createBrowserContext();
  const own = { ...tools, server, context, pages: [] };
  const downloads = await downloadTo(browser, context, job.out);
  const app = await open(server.url("/"), { from: context });
  await wait(app, () => globalThis.getDotnetRuntime?.(0)?.takeSnapshot && document.getElementById("clocks"));
  const panel = await openPanel(own);
  await listed(panel, 1);
  await choose(panel, TITLE);
  await take(panel, "before");

  for (const id of ["clocks", "draw", "listen"]) await press(app, id);
  const share = () => app.evaluate((most) => getDotnetRuntime(0).Module._sbrk(0) / most, job.memory);
  while ((await share()) < 0.8) await press(app, "fill");
  const result = { share: await share() };
  await choose(panel, TITLE);
  await take(panel, "near the limit");
  await view(panel, "summary");
  result.findings = await findings(panel);
  result.tables = {};
  for (const name of job.tables) result.tables[name] = await handles(panel, name);
  await panel.click('[data-format="hs"]');
  result.saved = await downloads.file("near-the-limit.hs");

  // The program goes on; what is disposed is gone from the next one.
  await press(app, "dispose");
  await choose(panel, TITLE);
  await take(panel, "disposed");
  result.disposed = {};
  for (const name of job.tables) result.disposed[name] = await handles(panel, name);
  return { ...result, wrong: [...app.wrong, ...panel.wrong], said: app.said };
});
