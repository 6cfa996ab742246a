// SPDX-License-Identifier: MIT
// Opens a page of `heapshot report` in headless Chromium and uses it as a person
// would: node page.cjs FILE.json, where the file names pages, what other commands
// say of the same recordings, and the checks to run.  Prints "ok NAME" or
// "not ok NAME: why" for each.
"use strict";
const assert = require("node:assert");
const fs = require("node:fs");
const path = require("node:path");
const puppeteer = require("puppeteer-core");
const checks = { ...require(path.join(__dirname, "checks.cjs")), ...require(path.join(__dirname, "interop.cjs")) };

const job = JSON.parse(fs.readFileSync(process.argv[2], "utf8"));

// A page of its own for each check, and what went wrong on it.
async function open(browser, file, view, options = {}) {
  const page = await browser.newPage();
  const wrong = [];
  const url = "file://" + file;
  page.on("console", (message) => wrong.push("console: " + message.text()));
  page.on("pageerror", (error) => wrong.push("error: " + error.message));
  page.on("dialog", (dialog) => {
    wrong.push("dialog: " + dialog.message());
    dialog.dismiss();
  });
  await page.setRequestInterception(true);
  page.on("request", (request) => {
    if (request.url().split("#")[0] !== url) wrong.push("request: " + request.url());
    if (request.url().split("#")[0] === url) request.continue();
    else request.abort();
  });
  await page.setViewport({ width: options.width || 1280, height: options.height || 800 });
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: options.scheme || "light" }]);
  await page.goto(url + "#" + view);
  await page.waitForSelector(`#app[data-ready="${options.expect || view}"]`);
  page.wrong = wrong;
  return page;
}

async function main() {
  const browser = await puppeteer.launch({
    executablePath: process.env.CHROMIUM,
    headless: true,
    args: process.env.CHROMIUM_FLAGS.split(" "),
    userDataDir: job.profile,
  });
  // Whoever started this ends the browser, should this end before it.
  fs.writeFileSync(job.pid, String(browser.process().pid));
  for (const name of job.checks) {
    const pages = [];
    const context = {
      assert,
      job,
      axe: require.resolve("axe-core/axe.min.js"),
      open: async (file, view, options) => {
        const page = await open(browser, file, view, options);
        pages.push(page);
        return page;
      },
    };
    let result = "ok " + name;
    try {
      await checks[name](context);
      for (const page of pages) assert.deepStrictEqual(page.wrong, []);
    } catch (error) {
      result = "not ok " + name + ": " + String(error.stack || error).split("\n").slice(0, 12).join(" | ");
    }
    for (const page of pages) await page.close();
    console.log(result);
  }
  await browser.close();
}

main().catch((error) => {
  console.log("not ok all: " + error.stack.split("\n").slice(0, 6).join(" | "));
  process.exitCode = 1;
});
