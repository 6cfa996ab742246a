// SPDX-License-Identifier: MIT
// Tabs with the program and with the panel, used as a person uses them.
"use strict";
const fs = require("node:fs");
const path = require("node:path");

// By the clock: a tab behind another draws no frames.
const TIMEOUT = { timeout: 120000, polling: 50 };
const APP = '<!doctype html><html lang="en"><link rel="icon" href="data:,"><script type="module" src="/test/app.mjs"></script>';

exports.TEXTS = { "/": APP };
exports.number = (text) => Number(text.replace(/,/g, "").replace("−", "-").replace("+", ""));
/** "12,345 bytes" in a title. */
exports.exact = (text) => exports.number(/(−?[+\d,]+) bytes/.exec(text)[1]);
const wait = (exports.wait = (page, condition, ...values) => page.waitForFunction(condition, TIMEOUT, ...values));

/** A tab with the program; QUERY as app.mjs has it. */
exports.openApp = async (tools, query = "") => {
  const page = await tools.open(tools.server.url("/" + query), { from: tools.context });
  tools.pages.push(page);
  await wait(page, () => window.app !== undefined);
  page.do = (act, ...values) => page.evaluate(act, ...values);
  return page;
};

/** A tab with the panel; what it saves goes to its folder of downloads. */
exports.openPanel = async (tools, { query = "", ...options } = {}) => {
  const page = await tools.open(tools.server.url("/heapshot/panel/" + query), { from: tools.context, ...options });
  tools.pages.push(page);
  await page.waitForSelector(".bar-top", TIMEOUT);
  return page;
};

/** Waits until N runtimes are listed; their titles. */
exports.listed = async (page, n) => {
  await wait(page, (n) => document.querySelectorAll("button[data-id]").length === n, n);
  return page.$$eval("button[data-id] .name", (list) => list.map((name) => name.textContent));
};

/** Chooses the runtime of the title. */
exports.choose = async (page, title) => {
  await wait(page, (title) => [...document.querySelectorAll("button[data-id]")].some((button) => button.querySelector(".name").textContent === title), title);
  await page.evaluate((title) => [...document.querySelectorAll("button[data-id]")].find((button) => button.querySelector(".name").textContent === title).click(), title);
  await page.waitForSelector("#take");
};

/** Takes a snapshot of the chosen runtime and waits until it is shown. */
exports.take = async (page, label) => {
  await page.type("#label", label);
  await page.click("#take");
  await exports.shown(page, label);
};

/** Waits until the entry NAME of the list is shown. */
exports.shown = async (page, name) => {
  await wait(
    page,
    (name) => {
      const chosen = document.querySelector('.item-open[aria-current="true"] .name');
      const error = document.querySelector(".error:not([hidden]) span");
      if (error) throw new Error("the panel says: " + error.textContent);
      const app = document.querySelector("#app");
      return chosen && chosen.textContent === name && app && app.getAttribute("aria-busy") === "false" && app.dataset.ready;
    },
    name
  );
};

/** Opens a view. */
exports.view = async (page, name) => {
  await page.click("#tab-" + name);
  await page.waitForSelector(`#app[data-ready="${name}"][aria-busy="false"]`, TIMEOUT);
};

/** Rows of the view's table: text and title of each cell. */
exports.rows = (page) =>
  page.$$eval("#panel .table tbody tr", (list) => list.map((row) => [...row.children].map((cell) => ({ text: cell.textContent, title: cell.title }))));

/** What is said as an error; waits for one. */
exports.error = async (page) => {
  await page.waitForSelector(".error:not([hidden])", TIMEOUT);
  return page.$eval(".error span", (text) => text.textContent);
};

/** What is said politely; waits until it is as PATTERN. */
exports.said = (page, pattern) => wait(page, (pattern) => new RegExp(pattern).test(document.querySelector(".status").textContent), pattern);

/** Gives files to the panel. */
exports.openFiles = async (page, ...files) => {
  const input = await page.$("#file");
  await input.uploadFile(...files);
};

/** Where downloads of CONTEXT go. */
exports.downloadTo = async (browser, context, folder) => {
  const client = await browser.target().createCDPSession();
  await client.send("Browser.setDownloadBehavior", { behavior: "allow", downloadPath: folder, browserContextId: context.id, eventsEnabled: true });
  const done = new Map();
  const names = new Map();
  client.on("Browser.downloadWillBegin", ({ guid, suggestedFilename }) => names.set(guid, suggestedFilename));
  client.on("Browser.downloadProgress", ({ guid, state }) => {
    if (state === "completed") done.set(names.get(guid), path.join(folder, names.get(guid)));
  });
  return {
    /** Waits for the file NAME. */
    async file(name) {
      const end = Date.now() + TIMEOUT.timeout;
      while (!done.has(name)) {
        if (Date.now() > end) throw new Error(`${name} was not saved; there is ${fs.readdirSync(folder)}`);
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
      return done.get(name);
    },
  };
};
