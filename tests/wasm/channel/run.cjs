// SPDX-License-Identifier: MIT
// Runs scenarios of the channel in real tabs; job: {browser: the folder contrib/browser,
// scenarios: [names]}.  The answer has for each null, or why it failed, and what it measured.
"use strict";
const assert = require("node:assert");
const path = require("node:path");
const { inChromium } = require("../page.cjs");

const FILES = ["listed", "asked", "lost", "guarded", "malformed", "stream", "memory"];
const SCENARIOS = Object.assign({}, ...FILES.map((name) => require("./" + name + ".cjs").scenarios));
const TIMEOUT_MS = 600000;

const POLICY = `<meta http-equiv="Content-Security-Policy" content="connect-src 'self'">`;

/** A scenario has an origin of its own, where nobody else is. */
async function run({ serve, open, browser, job }, name) {
  const empty = "<!doctype html><title>page</title>";
  const texts = { "/": empty, "/panel.html": empty, "/elsewhere.html": empty, "/policy.html": POLICY + empty };
  // Pages that may not be stored are not kept for the way back.
  const headers = { "Cache-Control": "max-age=0" };
  const server = await serve({ "/": __dirname, "/browser/": job.browser }, { texts, headers });
  const pages = [];
  const page = async (name = "/panel.html") => {
    const opened = await open(server.url(name));
    pages.push(opened);
    return opened;
  };
  const tab = (act, ...words) => page().then(async (opened) => (await run_in(opened, act, words), opened));
  const tools = {
    assert,
    browser,
    job,
    server,
    page,
    /** A tab with a program, and one with a panel; options as for openChannel and PanelClient. */
    program: (title, options) => tab("program", title, options),
    panel: (options) => tab("panel", options),
    listener: (channel) => tab("listen", channel),
    /** Waits until a panel lists N. */
    listed: (opened, n) => run_in(opened, "listed", [n]),
    inPage: run_in,
  };
  try {
    const measured = await SCENARIOS[name](tools);
    for (const opened of pages) assert.deepStrictEqual(opened.wrong, []);
    for (const opened of pages) assert.deepStrictEqual(opened.said, []);
    return measured;
  } finally {
    for (const opened of pages) if (!opened.isClosed()) await opened.close().catch(() => {});
  }
}

/** Calls a function of pages.mjs in a page. */
function run_in(opened, name, words = []) {
  return opened.evaluate(
    async (name, words) => (await import("/pages.mjs"))[name](...words.map((word) => word ?? undefined)),
    name,
    words,
  );
}

function inTime(work) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error("no end after " + TIMEOUT_MS + " ms")), TIMEOUT_MS);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}

inChromium(async (tools) => {
  const answers = {};
  for (const name of tools.job.scenarios) {
    const begun = Date.now();
    try {
      answers[name] = { error: null, measured: (await inTime(run(tools, name))) ?? null };
    } catch (error) {
      answers[name] = { error: String(error.stack || error).split("\n").slice(0, 14).join("\n") };
    }
    answers[name].ms = Date.now() - begun;
  }
  return answers;
});
