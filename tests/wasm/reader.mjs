// SPDX-License-Identifier: MIT
// Reads a recording in node as the panel's worker does, but for the Blob.
//
//     node reader.mjs PANEL JOB      (of JSON; answers on standard output)
//
// PANEL: a copy of build/panel that node takes for modules.  JOB: {file, name, steps, pages}; a
// step is ["report", PATH], ["export", SNAPSHOT, FORMAT, PATH], ["reported", SNAPSHOT, TYPE]: paths in the
// report, ["asked", SNAPSHOT, TYPE, MOST]: those that are made, or [METHOD, VALUE...] of ReaderData.
// PAGES: the reader's memory is limited to so many, of 64 KB, as where a browser has no more.
import fs from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";

const [panel, jobText] = process.argv.slice(2);
const load = (name) => import(pathToFileURL(path.join(panel, "panel", name)).href);
const { Reader } = await load("reader.js");
const { EmbeddedData } = await import(pathToFileURL(path.join(panel, "page", "embedded.js")).href);
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

/** The module with another maximum of its memory: section 5, one memory with both limits. */
function limited(bytes, pages) {
  const leb = (value) => [(value & 127) | 128, ((value >> 7) & 127) | 128, value >> 14];
  const number = (at) => {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      value |= (bytes[at] & 127) << shift;
      if (bytes[at++] < 128) return [value, at];
    }
  };
  for (let at = 8; at < bytes.length; ) {
    const section = bytes[at];
    const [size, start] = number(at + 1);
    if (section === 5) {
      if (bytes[start] !== 1 || bytes[start + 1] !== 1) throw new Error("not one memory with a maximum");
      const [, maximum] = number(start + 2);
      if (number(maximum)[1] - maximum !== 3) throw new Error("the maximum has not three bytes");
      bytes.set(leb(pages), maximum);
      return bytes;
    }
    at = start + size;
  }
  throw new Error("no memory");
}

const progress = { reading: 0, writing: 0 };
const answers = [];
/** Milliseconds of processor time, those of the compiler's threads among them. */
const cpu = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};
const took = [];
let error = null;
let reader;
try {
  const bytes = new Uint8Array(fs.readFileSync(path.join(panel, "panel", "reader.wasm")));
  const module = await WebAssembly.compile(job.pages ? limited(bytes, job.pages) : bytes);
  const start = cpu();
  reader = await Reader.make(module, [source], (isReading) => progress[isReading ? "reading" : "writing"]++);
  const data = new ReaderData(reader);
  took.push(["open", cpu() - start]);
  for (const [method, ...values] of job.steps) {
    const begin = cpu();
    if (method === "report") {
      fs.writeFileSync(values[0], reader.report(values[1] || REPORT_BYTES));
      answers.push(null);
    } else if (method === "export") {
      const blob = await data.exportAs(values[0], values[1]);
      fs.writeFileSync(values[2], new Uint8Array(await blob.arrayBuffer()));
      answers.push({ size: blob.size, type: blob.type });
    } else if (method === "reported") {
      answers.push(await EmbeddedData.prototype.paths.apply(data, values));
    } else if (method === "asked") {
      const { paths, names } = reader.paths(...values);
      answers.push(data.describePaths(paths, names));
    } else {
      answers.push(await data[method](...values));
    }
    took.push([method, cpu() - begin]);
  }
} catch (caught) {
  error = { name: caught.name, message: caught.message, lines: caught.lines, stack: caught.stack };
}
console.log(JSON.stringify({ answers, error, took, progress, reads, memoryBytes: reader ? reader.memoryBytes : 0 }));
