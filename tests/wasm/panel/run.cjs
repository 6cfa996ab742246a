// SPDX-License-Identifier: MIT
// Runs checks of the panel in real tabs, each in a context of its own; job: {root: the published
// program, panel: build/panel, out: a folder, files, checks: [names]}.  The answer has for each
// { error: null or why, result, ms }.
"use strict";
const assert = require("node:assert");
const fs = require("node:fs");
const path = require("node:path");
const { inChromium } = require("../page.cjs");
const pages = require("./pages.cjs");

const CHECKS = {
  ...require("./views.cjs"),
  ...require("./ends.cjs"),
  ...require("./looks.cjs"),
};

async function run(tools, name) {
  const { browser, job, serve } = tools;
  const server = await serve({ "/": job.root, "/heapshot/": job.panel, "/test/": __dirname }, { texts: pages.TEXTS });
  const context = await browser.createBrowserContext();
  const folder = path.join(job.out, name);
  fs.mkdirSync(folder);
  const own = { ...tools, assert, server, context, folder, pages: [], axe: require.resolve("axe-core/axe.min.js") };
  try {
    own.downloads = await pages.downloadTo(browser, context, folder);
    const result = await CHECKS[name](own);
    for (const page of own.pages) assert.deepStrictEqual(page.wrong, [], page.url());
    // Nothing but what is served from the page's own origin.
    for (const page of own.pages) assert.deepStrictEqual(page.said.filter((line) => !/^(log|debug|info):/.test(line)), [], page.url());
    return result ?? null;
  } catch (error) {
    // What the pages said is most often why.
    for (const page of own.pages) error.stack += `\n${page.url()}: ${JSON.stringify([...page.wrong, ...page.said])}`;
    throw error;
  } finally {
    await context.close();
  }
}

inChromium(async (tools) => {
  const answers = {};
  for (const name of tools.job.checks) {
    const begun = Date.now();
    try {
      answers[name] = { error: null, result: await run(tools, name) };
    } catch (error) {
      answers[name] = { error: String(error.stack || error) };
    }
    answers[name].ms = Date.now() - begun;
  }
  return answers;
});
