// SPDX-License-Identifier: MIT
// The test program on its real runtime, in a page or a worker of one, with a channel: hs, app.
import { attach } from "/browser/heapshot.mjs";

export async function runtime(title, nodes, options) {
  // Else the runtime takes a worker for a thread of its own.
  if (typeof document === "undefined") globalThis.dotnetSidecar = true;
  const { dotnet } = await import("/_framework/dotnet.js");
  const api = await dotnet.withConfig({ disableIntegrityCheck: true }).create();
  const app = (await api.getAssemblyExports("app.dll")).T.App;
  await api.runMain("app.dll", []);
  const hs = await attach(api, { title, options: "quiet" });
  app.Build(nodes);
  const channel = await hs.enableDiagnosticChannel(options);
  Object.assign(globalThis, { hs, app, channel });
}

/** The same in a worker: window.worker. */
export function inWorker(title, nodes) {
  window.worker = new Worker("/real_worker.mjs", { type: "module" });
  return new Promise((resolve, reject) => {
    worker.onmessage = ({ data }) => (data === "ready" ? resolve() : reject(new Error(data)));
    worker.onerror = (event) => reject(new Error(event.message));
    worker.postMessage({ title, nodes });
  });
}

/** A panel's snapshot of the runtime TITLE, for the test to read as NAME: how it went. */
export async function take(title, name, { label = "", cancelAt = Infinity } = {}) {
  const { id } = client.runtimes.find((each) => each.title === title);
  const ended = new AbortController();
  const progress = [];
  const onProgress = (done) => {
    progress.push(done);
    if (progress.length >= cancelAt) ended.abort();
  };
  const taken = client.take(id, { label, onProgress, signal: ended.signal });
  window.blob = await taken.catch((error) => error);
  if (blob instanceof Error) return { error: blob.name, progress };
  if (name) await keep(name, blob);
  return { bytes: blob.size, type: blob.type, progress };
}

export async function keep(name, blob) {
  const response = await fetch("/out/" + name, { method: "POST", body: blob });
  if (!response.ok) throw new Error(await response.text());
}

/** Follows the runtime TITLE: window.followed, the parts of a recording. */
export function follow(title) {
  const { id } = client.runtimes.find((each) => each.title === title);
  window.followed = [];
  return new Promise((resolve) => {
    const onOpen = (recording) => {
      followed.push(recording);
      resolve();
    };
    const onFrame = (frame) => {
      followed.push(frame.slice());
      dispatchEvent(new Event("live"));
    };
    window.stream = client.live(id, { onOpen, onFrame });
  });
}
