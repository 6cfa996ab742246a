// SPDX-License-Identifier: MIT
// Pages of the tests in headless Chromium.  A script of a test is
//
//     const { inChromium } = require("./page.cjs");
//     inChromium(async ({ job, serve, open, browser }) => {
//       const server = await serve({ "/": job.root, "/heapshot/": job.browserFolder });
//       const page = await open(server.url("/index.html"));
//       return await page.evaluate(async () => 42);
//     });
//
// and is started by `in_chromium(script, directory, **job)` of browser.py, which returns
// what the function returns.  The profile is a fresh one, each server has a port of its own,
// nothing is cached, and servers, pages and browser end with the function.
"use strict";
const fs = require("node:fs");
const http = require("node:http");
const path = require("node:path");
const { pipeline } = require("node:stream");
const { with_browser } = require(path.join(__dirname, "..", "node-tools", "browser.cjs"));

const TYPES = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".mjs": "text/javascript",
  ".css": "text/css",
  ".json": "application/json",
  ".wasm": "application/wasm",
  ".svg": "image/svg+xml",
  ".png": "image/png",
};

/** The file that PLACES has for a path of a URL: the longest prefix wins. */
function fileOf(places, name) {
  const prefix = Object.keys(places)
    .filter((each) => name.startsWith(each))
    .sort((a, b) => b.length - a.length)[0];
  if (prefix === undefined) return null;
  const root = path.resolve(places[prefix]);
  const file = path.resolve(root, "." + path.posix.normalize("/" + name.slice(prefix.length)));
  if (file !== root && !file.startsWith(root + path.sep)) return null;
  return fs.statSync(file, { throwIfNoEntry: false })?.isDirectory() ? path.join(file, "index.html") : file;
}

/**
 * A server on a free port.
 * @param {Object<string, string>} places  prefixes of URLs, "/" among them, and their folders
 * @param {object} [options]
 * @param {Object<string, string>} [options.texts]  paths that are answered with a text
 * @param {string} [options.out]  folder that a POST to /out/NAME puts its body into
 * @param {boolean} [options.isApp]  paths without a dot that are no files get /index.html
 * @param {Object<string, string>} [options.headers]  sent with every answer
 * @returns {Promise<{origin: string, url: (path: string) => string, asked: string[], close: () => Promise<void>}>}
 *   asked: the paths that were asked for, in order
 */
function serve(places, { texts = {}, out, isApp = false, headers = {} } = {}) {
  const asked = [];
  const server = http.createServer((request, response) => {
    const name = decodeURIComponent(new URL(request.url, "http://localhost").pathname);
    const answer = (status, type, body) => {
      response.writeHead(status, { "Content-Type": type, "Cache-Control": "no-store", ...headers });
      response.end(body);
    };
    asked.push(name);
    if (request.method === "POST" && out && name.startsWith("/out/")) {
      const file = fs.createWriteStream(path.join(out, path.basename(name)));
      file.on("error", (error) => answer(500, "text/plain", String(error)));
      file.on("finish", () => answer(200, "text/plain", "kept"));
      request.pipe(file);
      return;
    }
    if (name in texts) {
      answer(200, TYPES[path.extname(name)] || TYPES[".html"], texts[name]);
      return;
    }
    if (name === "/favicon.ico") {
      answer(200, TYPES[".png"], "");
      return;
    }
    let file = fileOf(places, name);
    if (isApp && !path.extname(name) && !(file && fs.existsSync(file))) file = fileOf(places, "/index.html");
    if (!file || !fs.existsSync(file)) {
      answer(404, "text/plain", "no " + name);
      return;
    }
    response.writeHead(200, {
      "Content-Type": TYPES[path.extname(file)] || "application/octet-stream",
      "Content-Length": fs.statSync(file).size,
      "Cache-Control": "no-store",
      ...headers,
    });
    pipeline(fs.createReadStream(file), response, () => {});
  });
  return new Promise((resolve, reject) => {
    server.on("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const origin = "http://127.0.0.1:" + server.address().port;
      resolve({
        origin,
        asked,
        url: (name) => origin + name,
        close: () => {
          server.closeAllConnections();
          return new Promise((closed) => server.close(closed));
        },
      });
    });
  });
}

/**
 * Opens a page at URL.  Beside what puppeteer's pages have: page.said, all of its console as
 * "TYPE: TEXT", and page.wrong, errors of scripts and of the network; both go on growing.
 * @param {object} [options]
 * @param {number} [options.width], [options.height]  1280 x 800
 * @param {"light"|"dark"} [options.scheme]
 * @param {object} [options.from]  a page or a context of the browser; else the browser
 */
async function open(browser, url, { width = 1280, height = 800, scheme = "light", from = browser } = {}) {
  const page = await from.newPage();
  page.said = [];
  page.wrong = [];
  page.on("console", (message) => page.said.push(message.type() + ": " + message.text()));
  page.on("pageerror", (error) => page.wrong.push("error: " + (error.stack || error)));
  page.on("requestfailed", (request) => page.wrong.push("request: " + request.url() + " " + request.failure()?.errorText));
  page.on("response", (response) => {
    if (response.status() >= 400) page.wrong.push("status: " + response.status() + " " + response.url());
  });
  await page.setViewport({ width, height });
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
  await page.goto(url);
  return page;
}

/** Runs WORK({browser, job, serve, open}); see above. */
exports.inChromium = (work) =>
  with_browser(async (browser, job) => {
    const servers = [];
    try {
      return await work({
        browser,
        job,
        open: (url, options) => open(browser, url, options),
        serve: async (places, options) => {
          const server = await serve(places, options);
          servers.push(server);
          return server;
        },
      });
    } finally {
      for (const server of servers) await server.close();
    }
  });
exports.serve = serve;
exports.open = open;
