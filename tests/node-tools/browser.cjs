// SPDX-License-Identifier: MIT
// A headless Chromium for one job: node_tools.py's in_browser() starts the script
// that calls with_browser, with the names of two files: the job, and where the
// answer goes, both in JSON.
"use strict";
const fs = require("node:fs");
const puppeteer = require("puppeteer-core");

/** Calls WORK(browser, job), writes what it answers, and ends the browser. */
exports.with_browser = async (work) => {
  const job = JSON.parse(fs.readFileSync(process.argv[2], "utf8"));
  const browser = await puppeteer.launch({
    executablePath: process.env.CHROMIUM,
    args: process.env.CHROMIUM_FLAGS.split(" "),
    userDataDir: job.profile,
    protocolTimeout: 600000,
  });
  // Whoever started this ends the browser, should this end before it.
  fs.writeFileSync(job.pid, String(browser.process().pid));
  try {
    fs.writeFileSync(process.argv[3], JSON.stringify(await work(browser, job)));
  } finally {
    await browser.close();
  }
};
