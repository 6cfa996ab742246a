// SPDX-License-Identifier: MIT
// The Blazor sample, as it starts by itself with the package's files: takes a snapshot, and opens the panel
// in a second tab, which lists the program.
"use strict";
const { inChromium } = require("../page.cjs");
const { press } = require("../blazor/sample.cjs");

inChromium(async ({ job, serve, open }) => {
  const server = job.places ? await serve(job.places, { out: job.out, isApp: true }) : null;
  const origin = server ? server.origin : job.origin;
  const foreign = [];
  const watch = (page) =>
    page.on("request", (request) => {
      if (/^https?:/.test(request.url()) && !request.url().startsWith(origin + "/")) foreign.push(request.url());
    });
  const page = await open("about:blank");
  watch(page);
  await page.goto(origin + "/");
  await page.waitForFunction(() => globalThis.getDotnetRuntime?.(0)?.takeSnapshot && document.getElementById("clocks"), {
    timeout: 120000,
  });
  for (const id of ["clocks", "draw", "listen"]) await press(page, id);
  const snapshot = await page.evaluate(async () => {
    const blob = await getDotnetRuntime(0).takeSnapshot({ label: "from the package" });
    const bytes = new Uint8Array(await blob.arrayBuffer());
    let text = "";
    for (let i = 0; i < bytes.length; i += 0x8000) text += String.fromCharCode(...bytes.subarray(i, i + 0x8000));
    return btoa(text);
  });
  const panel = await open("about:blank");
  watch(panel);
  await panel.goto(origin + "/_content/Heapshot.WebAssembly/panel/index.html");
  await panel.waitForFunction((title) => document.body.innerText.includes(title), { timeout: 120000 }, "Three leaks");
  return { snapshot, foreign, wrong: [...page.wrong, ...panel.wrong] };
});
