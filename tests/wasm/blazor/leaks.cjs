// SPDX-License-Identifier: MIT
// The Blazor sample in Chromium: makes its leaks, takes a snapshot, disposes, takes another.
"use strict";
const fs = require("node:fs");
const path = require("node:path");
const { inChromium } = require("../page.cjs");
const { ready, press, keep } = require("./sample.cjs");

inChromium(async ({ job, serve, open }) => {
  const texts = { "/start.js": fs.readFileSync(path.join(__dirname, "start.js"), "utf8") };
  const server = await serve({ "/": job.root }, { texts, out: job.out });
  const page = await open(server.url("/"));
  await ready(page);
  const taken = [await page.evaluate(() => take("before"))];
  for (const id of ["clocks", "draw", "listen"]) await press(page, id);
  taken.push(await page.evaluate(() => take("leaked")));
  await press(page, "dispose");
  taken.push(await page.evaluate(() => take("disposed")));
  await page.evaluate(() => getDotnetRuntime(0).Module._heapshot_stop());
  await keep(page, "a.hs");
  return { taken, wrong: page.wrong, said: page.said, asked: server.asked };
});
