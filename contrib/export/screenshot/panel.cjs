// SPDX-License-Identifier: MIT
// A picture of a file in the Memory panel of DevTools, which runs in a headless
// Chromium.  The job has "file", "type" (of the object to be chosen), "holder"
// (that stands among its retainers) and "picture".
"use strict";
const path = require("node:path");
const { with_browser } = require(path.join(__dirname, "..", "..", "..", "tests", "node-tools", "browser.cjs"));

const ROW = ">>> tr.data-grid-data-grid-node";

/** In DevTools' page: shows the panel and loads the file of the page's input. */
async function load() {
  const base = "devtools://devtools/bundled/";
  const { ViewManager } = await import(base + "ui/legacy/legacy.js");
  await ViewManager.ViewManager.instance().showView("heap-profiler");
  const { HeapProfilerPanel } = await import(base + "panels/profiler/profiler.js");
  await HeapProfilerPanel.HeapProfilerPanel.instance().loadFromFile(document.querySelector("#file").files[0]);
}

/** The first row whose text is like PATTERN, once there is one. */
async function find_row(page, pattern) {
  for (let round = 0; round < 300; round++) {
    for (const row of await page.$$(ROW))
      if (pattern.test(await row.evaluate((element) => element.textContent)))
        return row;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error("no row like " + pattern);
}

with_browser(async (browser, job) => {
  const page = await browser.newPage();
  await page.setViewport({ width: 1040, height: 620 });
  await page.goto("devtools://devtools/bundled/devtools_app.html");
  await page.evaluate(() => {
    const input = document.createElement("input");
    Object.assign(input, { type: "file", id: "file" });
    input.style.display = "none";
    document.body.append(input);
  });
  await (await page.$("#file")).uploadFile(job.file);
  await page.evaluate(load);
  await page.locator(">>> .heap-snapshot-sidebar-tree-item").click();
  // Its class, the first object of it, and what holds that.
  const name = job.type.replace(/[^\w]/g, "\\$&");
  await (await find_row(page, new RegExp(`^${name}(\u00d7|\\d)`))).click();
  await page.keyboard.press("ArrowRight");
  await (await find_row(page, new RegExp(`^${name} ?@`))).click();
  await find_row(page, new RegExp(job.holder.replace(/[^\w]/g, "\\$&")));
  await page.screenshot({ path: job.picture });
  return { version: await browser.version() };
});
