// SPDX-License-Identifier: MIT
// The Blazor sample as it starts where it was built without heapshot: all of it works, and one file is missing.
"use strict";
const { inChromium } = require("../page.cjs");
const { press } = require("../blazor/sample.cjs");

inChromium(async ({ job, open }) => {
  const page = await open(job.origin + "/");
  await page.waitForFunction(() => document.getElementById("clocks"), { timeout: 120000 });
  await press(page, "clocks");
  const isMissing = (line) => /^status: 404 .*heapshot/.test(line);
  return {
    done: await page.$eval("#done", (output) => output.textContent),
    isStock: await page.evaluate(() => getDotnetRuntime(0).Module._heapshot_take === undefined),
    missing: page.wrong.filter(isMissing).map((line) => new URL(line.split(" ")[2]).pathname),
    wrong: page.wrong.filter((line) => !isMissing(line)),
  };
});
