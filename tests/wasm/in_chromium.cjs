// SPDX-License-Identifier: MIT
// Runs scenarios in pages of one browser, one after the other: each of job.scenarios is {name, root, directory, words},
// and the answer to each is what it returned, or {failure}.  Each has a server, thus a port, of its own.
"use strict";
const { inChromium } = require("./page.cjs");

inChromium(async ({ job, serve, open }) => {
  const answers = [];
  for (const { name, root, directory, words } of job.scenarios) {
    const server = await serve(
      { "/app/": root, "/tests/": __dirname },
      { out: directory, texts: { "/": "<!doctype html><title>heapshot</title>" } },
    );
    const page = await open(server.url("/"));
    const call = `import("/tests/in_page.mjs").then(page => page.run(...${JSON.stringify(["/app/", name, words.map(String)])}))`;
    try {
      answers.push({ ...(await page.evaluate(call)), wrong: page.wrong });
    } catch (error) {
      answers.push({ failure: [String(error.stack || error), ...page.wrong, ...page.said.slice(-20)].join("\n") });
    }
    await page.close();
    await server.close();
  }
  return answers;
});
