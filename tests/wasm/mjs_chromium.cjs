// SPDX-License-Identifier: MIT
// Scenarios in Chromium, each in a page of its own or in a worker of one: {root, browserFolder,
// testFolder, jobs: [{file, scenario, where, words, out}]}; answers {result, said, wrong} for each.
"use strict";
const { inChromium } = require("./page.cjs");

inChromium(async ({ job, serve, open, browser }) => {
  const answers = [];
  for (const each of job.jobs) {
    const places = { "/": job.root, "/heapshot/": job.browserFolder, "/tests/": job.testFolder };
    const server = await serve(places, { out: each.out, texts: { "/blank.html": "<!doctype html><title>blank</title>" } });
    const page = await open(server.url("/blank.html"));
    const session = await page.createCDPSession();
    await session.send("Browser.setDownloadBehavior", { behavior: "allow", downloadPath: each.out, eventsEnabled: true });
    const downloaded = [];
    session.on("Browser.downloadProgress", (event) => event.state === "completed" && downloaded.push(event.guid));
    const result = await page.evaluate(async (what) => {
      if (what.where === "page") return (await import("/tests/mjs_worker.mjs")).run(what);
      const worker = new Worker("/tests/mjs_worker.mjs", { type: "module" });
      const answer = await new Promise((resolve) => {
        worker.onmessage = ({ data }) => resolve(data);
        worker.onerror = (event) => resolve({ error: event.message || "the worker did not start" });
        worker.postMessage(what);
      });
      if (answer.error) throw new Error(answer.error);
      return answer.result;
    }, each);
    if (each.downloads)
      while (downloaded.length < each.downloads) await new Promise((resolve) => setTimeout(resolve, 50));
    answers.push({ result, said: page.said, wrong: page.wrong });
    await page.close();
  }
  return answers;
});
