// SPDX-License-Identifier: MIT
// The Blazor sample in Chromium: fills its memory until a snapshot has come by itself.
"use strict";
const fs = require("node:fs");
const path = require("node:path");
const { inChromium } = require("../page.cjs");
const { ready, press, keep } = require("./sample.cjs");

// Kinds of frames, at byte 13 of each.
const BEGIN = 3;
const END = 5;

inChromium(async ({ job, serve, open }) => {
  const texts = { "/start.js": fs.readFileSync(path.join(__dirname, "start.js"), "utf8") };
  const server = await serve({ "/": job.root }, { texts, out: job.out });
  const page = await open(server.url("/?heapshot=" + encodeURIComponent(job.options)));
  await ready(page);
  const kinds = () =>
    page.evaluate(() =>
      Promise.all(heapshotFrames.map(async (frame) => new Uint8Array(await frame.slice(13, 14).arrayBuffer())[0])),
    );
  const share = () =>
    page.evaluate(() => getDotnetRuntime(0).Module._sbrk(0));
  let presses = 0;
  while (!(await kinds()).includes(END)) {
    if (++presses > 100) throw new Error("no snapshot after " + presses + " times");
    await press(page, "fill");
  }
  const all = await kinds();
  const frames = all.slice(all.indexOf(BEGIN), all.indexOf(END) + 1).length;
  await keep(page, "a.hs");
  // The program goes on.
  await press(page, "clocks");
  return { presses, frames, taken: await share(), wrong: page.wrong, said: page.said };
});
