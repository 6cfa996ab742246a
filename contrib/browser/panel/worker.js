// SPDX-License-Identifier: MIT
// The worker in which recordings are read: it gets files once, and then calls of ReaderData's
// methods by name (worker_data.js).  Blobs are read where the reader wants them, never whole.
import { Reader } from "./reader.js";
import { ReaderData } from "./reader_data.js";

/** Progress is told so often at most, in milliseconds. */
const EVERY = 100;

let data;

/** A source of the reader on a Blob. */
function sourceOf({ name, blob }) {
  const files = new FileReaderSync();
  return { name, size: blob.size, read: (offset, bytes) => new Uint8Array(files.readAsArrayBuffer(blob.slice(offset, offset + bytes))) };
}

async function compile(url) {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url} cannot be loaded: ${response.status} ${response.statusText}`);
  // Not every server names the type that compileStreaming wants.
  return WebAssembly.compile(await response.arrayBuffer());
}

let next = 0; // when progress is told again

function tell(isReading, done, all) {
  const now = performance.now();
  if (now < next) return;
  next = now + EVERY;
  postMessage({ progress: { step: isReading ? "reading" : "writing", done: Math.min(done, all), all } });
}

async function open(files) {
  const module = await compile(new URL("./reader.wasm", import.meta.url));
  data = new ReaderData(await Reader.make(module, files.map(sourceOf), tell));
}

onmessage = async ({ data: { id, method, values } }) => {
  next = 0;
  try {
    const result = method === "open" ? await open(...values) : await data[method](...values);
    postMessage({ id, result, memoryBytes: data.reader.memoryBytes });
  } catch (error) {
    postMessage({ id, error: { name: error.name, message: error.message, lines: error.lines } });
  }
};
