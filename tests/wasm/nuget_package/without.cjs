// SPDX-License-Identifier: MIT
// The Blazor sample as it starts where it was built without heapshot: all of it works, and one file is missing.
"use strict";
const { inChromium } = require("../page.cjs");
const { press } = require("../blazor/sample.cjs");

inChromium(async ({ job, open }) => {
  const page = await open(job.origin + "/");
  await page.waitForFunction(() => document.getElementById("clocks"), { timeout: 120000 });
  await press(page, "clocks");
  // A module that is missing is told of twice.
  const missing = page.wrong.filter((line) => /^(status: 404|request:) .*heapshot/.test(line));
  return {
    done: await page.$eval("#done", (output) => output.textContent),
    isStock: await page.evaluate(() => getDotnetRuntime(0).Module._heapshot_take === undefined),
    missing: [...new Set(missing.map((line) => new URL(/http\S+/.exec(line)[0]).pathname))],
    wrong: page.wrong.filter((line) => !missing.includes(line)),
  };
});
