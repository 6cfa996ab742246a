// SPDX-License-Identifier: MIT
// Reads a recording in node as the panel's worker does, but for the Blob.
//
//     node reader.mjs PANEL JOB      (of JSON; answers on standard output)
//
// PANEL: a copy of build/panel that node takes for modules.  JOB: {file, name, steps}; a step is
// ["report", PATH], ["export", SNAPSHOT, FORMAT, PATH] or [METHOD, VALUE...] of ReaderData.
import fs from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";

const [panel, jobText] = process.argv.slice(2);
const load = (name) => import(pathToFileURL(path.join(panel, "panel", name)).href);
const { Reader } = await load("reader.js");
const { ReaderData, REPORT_BYTES } = await load("reader_data.js");
const job = JSON.parse(jobText);

const file = fs.openSync(job.file, "r");
const reads = { count: 0, bytes: 0 };
const source = {
  name: job.name || path.basename(job.file),
  size: fs.fstatSync(file).size,
  read(offset, bytes) {
    const buffer = new Uint8Array(bytes);
    reads.count++;
    reads.bytes += bytes;
    return buffer.subarray(0, fs.readSync(file, buffer, 0, bytes, offset));
  },
};

const progress = { reading: 0, writing: 0 };
const answers = [];
const took = [];
let error = null;
let reader;
try {
  const module = await WebAssembly.compile(fs.readFileSync(path.join(panel, "panel", "reader.wasm")));
  const start = performance.now();
  reader = await Reader.make(module, [source], (isReading) => progress[isReading ? "reading" : "writing"]++);
  const data = new ReaderData(reader);
  took.push(["open", performance.now() - start]);
  for (const [method, ...values] of job.steps) {
    const begin = performance.now();
    if (method === "report") {
      fs.writeFileSync(values[0], reader.report(values[1] || REPORT_BYTES));
      answers.push(null);
    } else if (method === "export") {
      const blob = await data.exportAs(values[0], values[1]);
      fs.writeFileSync(values[2], new Uint8Array(await blob.arrayBuffer()));
      answers.push({ size: blob.size, type: blob.type });
    } else {
      answers.push(await data[method](...values));
    }
    took.push([method, performance.now() - begin]);
  }
} catch (caught) {
  error = { name: caught.name, message: caught.message, lines: caught.lines, stack: caught.stack };
}
console.log(JSON.stringify({ answers, error, took, progress, reads, memoryBytes: reader ? reader.memoryBytes : 0 }));
