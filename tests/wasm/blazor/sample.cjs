// SPDX-License-Identifier: MIT
// Working the Blazor sample.
"use strict";

/** Waits until PAGE shows the program. */
exports.ready = async (page) => {
  await page.waitForFunction(() => globalThis.take && document.getElementById("clocks"), { timeout: 120000 });
};

/** Presses the button ID, and waits until what it does is done; also in a tab behind another, which draws no frames. */
exports.press = async (page, id) => {
  const before = await page.$eval("#done", (output) => output.textContent);
  await page.evaluate((id) => document.getElementById(id).click(), id);
  await page.waitForFunction(
    (before) => document.getElementById("done").textContent !== before,
    { timeout: 120000, polling: 50 },
    before,
  );
};

/** Brings the frames so far to NAME in the folder that the server keeps things in. */
exports.keep = (page, name) =>
  page.evaluate(async (name) => {
    await fetch("/out/" + name, { method: "POST", body: new Blob(globalThis.heapshotFrames) });
  }, name);
