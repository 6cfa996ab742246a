// SPDX-License-Identifier: MIT
// Opens files in speedscope's offline page, as a person would by its Browse
// button, and answers with what it shows and with what it has read: the profile
// that it saves by Ctrl+S.  The job has "page" and "files".
"use strict";
const path = require("node:path");
const { with_browser } = require(path.join(__dirname, "..", "node-tools", "browser.cjs"));

async function open(browser, url, file) {
  const page = await browser.newPage();
  const wrong = [];
  page.on("pageerror", (error) => wrong.push(error.message));
  page.on("request", (request) => {
    if (!/^(file|data|blob):/.test(request.url())) wrong.push("request: " + request.url());
  });
  await page.evaluateOnNewDocument(() => {
    const make = URL.createObjectURL;
    URL.createObjectURL = (blob) => {
      window.saved = blob;
      return make.call(URL, blob);
    };
  });
  await page.goto(url);
  const input = await page.waitForSelector("input[type=file]");
  await input.uploadFile(file);
  await page.waitForFunction(() => document.title.endsWith("speedscope") && document.title !== "speedscope" &&
                                   document.querySelector("canvas"));
  const title = await page.title();
  await page.keyboard.down("Control");
  await page.keyboard.press("s");
  await page.keyboard.up("Control");
  await page.waitForFunction(() => window.saved !== undefined);
  const saved = await page.evaluate(() => window.saved.text());
  // The table of frames.
  await page.keyboard.press("3");
  await page.waitForSelector("table tr td");
  const rows = await page.$$eval("table tr", (list) => list.map((row) =>
    Array.from(row.querySelectorAll("td"), (cell) => cell.textContent)).filter((row) => row.length > 0));
  await page.close();
  return { title, saved: JSON.parse(saved), rows, wrong };
}

with_browser(async (browser, job) => {
  const answers = [];
  for (const file of job.files)
    answers.push(await open(browser, "file://" + job.page, file));
  return answers;
});
