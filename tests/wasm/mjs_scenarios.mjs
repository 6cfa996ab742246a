// SPDX-License-Identifier: MIT
// What the tests of contrib/browser/heapshot.mjs do with the published test program: in
// node, in a page and in a worker alike.  Each scenario gets a place, which has
//
//     base       URL of the published program
//     heapshot   URL of heapshot.mjs
//     save       (name, Blob) => Promise: for the test to read
//     where      "node", "page" or "worker"
//
// and words, and returns what the test wants to know.

/** The runtime, with the program's functions; OPTIONS: of --profile=heapshot, or null. */
export async function start({ base, where }, { options = null, module = {} } = {}) {
  // Else the runtime takes a worker for a thread of its own.
  if (where === "worker") globalThis.dotnetSidecar = true;
  const { dotnet } = await import(new URL("_framework/dotnet.js", base));
  let builder = dotnet.withModuleConfig(module).withConfig({ disableIntegrityCheck: true });
  if (options !== null) builder = builder.withRuntimeOptions(["--profile=heapshot" + (options && ":" + options)]);
  const runtime = await builder.create();
  const { App, Interop } = (await runtime.getAssemblyExports("app.dll")).T;
  await runtime.runMain("app.dll", []);
  return { runtime, app: App, interop: Interop };
}

/** What the console got from now on. */
function listen() {
  const said = [];
  for (const name of ["log", "warn", "error", "table"]) {
    const stock = console[name];
    console[name] = (...words) => {
      said.push([name, ...words.map((word) => (typeof word === "object" ? JSON.stringify(word) : String(word)))]);
      if (name === "error") stock(...words);
    };
  }
  return said;
}

/** What anybody could see of a change: names of globals and of prototypes, and the values of some. */
function traces() {
  const of = (object) => Reflect.ownKeys(object).map(String).sort();
  return {
    global: of(globalThis),
    objectPrototype: of(Object.prototype),
    object: of(Object),
    registry: of(FinalizationRegistry.prototype),
    values: [Object.isExtensible, globalThis.FinalizationRegistry, globalThis.Blob, globalThis.BroadcastChannel],
    descriptors: JSON.stringify([
      Object.getOwnPropertyDescriptor(Object, "isExtensible"),
      Object.getOwnPropertyDescriptor(globalThis, "FinalizationRegistry"),
    ]),
  };
}

function difference(before, after) {
  const found = [];
  for (const name of Object.keys(before)) {
    const [one, other] = [before[name], after[name]];
    if (!Array.isArray(one)) {
      if (one !== other) found.push(`${name}: ${one} ${other}`);
      continue;
    }
    for (const each of one) if (!other.includes(each)) found.push(`${name} lost ${String(each)}`);
    for (const each of other) if (!one.includes(each)) found.push(`${name} got ${String(each)}`);
  }
  return found;
}

const failure = (promise) =>
  promise.then(
    () => null,
    (error) => ({ name: error.name, message: error.message })
  );

export const scenarios = {
  // Recording begins with attach(); two snapshots, each by itself, and all of it.
  async take(place, n) {
    const { runtime, app } = await start(place);
    const heapshot = await import(place.heapshot);
    const said = listen();
    const hs = await heapshot.attach(runtime, { options: "quiet", title: "the test" });
    const heard = [];
    const frames = [];
    const progress = [];
    hs.on("snapshot", (snapshot) => heard.push(snapshot));
    const endFrames = hs.onFrame((frame) => frames.push(frame));
    app.Build(Number(n));
    await place.save("one.hs", await hs.takeSnapshot({ label: "one", onProgress: (each) => progress.push(each) }));
    app.Build(Number(n));
    const memory = [runtime.Module.HEAPU8.length];
    const two = await hs.takeSnapshot({ label: "two" });
    memory.push(runtime.Module.HEAPU8.length);
    await place.save("two.hs", two);
    const seen = frames.length;
    endFrames();
    hs.mark("between");
    app.Take("from C#");
    await Promise.resolve();
    await place.save("all.hs", hs.recording());
    await place.save("open.hs", hs.recording({ isOpen: true }));
    await place.save("three.hs", hs.snapshot(3));
    const isSame = (await heapshot.attach(runtime)) === hs;
    hs.detach();
    const after = await failure(hs.takeSnapshot());
    await place.save("end.hs", hs.recording());
    return {
      version: app.Version(),
      runtimeVersion: hs.runtimeVersion,
      heapshotVersion: hs.heapshotVersion,
      title: hs.title,
      type: two.type,
      memory,
      heard,
      progress,
      snapshots: hs.snapshots,
      frames: [seen, frames.length],
      isSame,
      after,
      keys: Object.keys(runtime.Module.heapshot),
      said,
    };
  },

  // The runtime records from its start: what waited comes first, and its own options hold.
  async takeOver(place, n) {
    const { runtime, app } = await start(place, { options: "snapshot=none,quiet" });
    const { attach } = await import(place.heapshot);
    app.Build(Number(n));
    app.Take("before");
    const waiting = runtime.Module.heapshot.waiting.length;
    const hs = await attach(runtime);
    const taken = hs.snapshots;
    await place.save("part.hs", await hs.takeSnapshot());
    await place.save("all.hs", hs.recording());
    return { waiting, left: runtime.Module.heapshot.waiting.length, taken };
  },

  // Where what is recorded lies: no more than a piece of it is outside of Blobs.
  async blobs(place, n) {
    const made = [];
    const stock = globalThis.Blob;
    globalThis.Blob = class Blob extends stock {
      constructor(parts = [], options) {
        super(parts, options);
        const loose = parts.filter((part) => !(part instanceof stock)).map((part) => part.byteLength ?? part.length);
        made.push({ size: this.size, parts: parts.length, loose: loose.reduce((sum, each) => sum + each, 0) });
      }
    };
    const { runtime, interop } = await start(place);
    const { attach } = await import(place.heapshot);
    const hs = await attach(runtime, { options: "quiet" });
    interop.Mix(Number(n));
    await hs.takeSnapshot(); // tables grow in the first one
    made.length = 0;
    const memory = [];
    hs.on("progress", () => memory.push([runtime.Module._sbrk(0), runtime.Module.HEAPU8.length].join()));
    const blob = await hs.takeSnapshot();
    globalThis.Blob = stock;
    await place.save("a.hs", blob);
    return { made, memory, size: blob.size };
  },

  // Cancelled before it began, by a message that had arrived, in the middle, by a mistake.
  async cancel(place, n) {
    const said = listen();
    const { runtime, app } = await start(place);
    const { attach } = await import(place.heapshot);
    const hs = await attach(runtime, { options: "quiet" });
    app.Build(Number(n));
    const heard = [];
    hs.on("snapshot", (snapshot) => heard.push(snapshot.label));
    const why = {};
    const aborted = new AbortController();
    aborted.abort();
    why.before = await failure(hs.takeSnapshot({ signal: aborted.signal }));
    const late = new AbortController();
    const channel = new MessageChannel();
    channel.port1.onmessage = () => late.abort(new Error("a message said so"));
    channel.port2.postMessage(null);
    why.message = await failure(hs.takeSnapshot({ signal: late.signal }));
    channel.port1.close();
    const saidBefore = said.length;
    const middle = new AbortController();
    let called = 0;
    why.middle = await failure(
      hs.takeSnapshot({ signal: middle.signal, onProgress: ({ frames }) => ++called && frames === 3 && middle.abort() })
    );
    why.thrown = await failure(
      hs.takeSnapshot({
        onProgress: () => {
          throw new RangeError("a mistake");
        },
      })
    );
    const saidAfter = said.length;
    await place.save("part.hs", await hs.takeSnapshot({ label: "whole" }));
    await place.save("all.hs", hs.recording());
    return { why, called, said, saidBefore, saidAfter, heard, snapshots: hs.snapshots };
  },

  // Listeners that throw cost the recording nothing.
  async mistakes(place, n) {
    const { runtime, app } = await start(place);
    const { attach } = await import(place.heapshot);
    const hs = await attach(runtime, { options: "quiet" });
    const errors = [];
    hs.on("error", (error) => errors.push(error.message));
    hs.onFrame(() => {
      throw new Error("of a listener");
    });
    app.Build(Number(n));
    await place.save("a.hs", await hs.takeSnapshot());
    const isBusy = { write() {} };
    return {
      errors: new Set(errors).size,
      stock: await failure(attach({ Module: { ccall() {} } })),
      nothing: await failure(attach({})),
      taken: await failure(attach({ Module: { ccall() {}, _heapshot_take() {}, heapshot: isBusy } })),
    };
  },

  async refused(place) {
    const { runtime } = await start(place);
    const { attach } = await import(place.heapshot);
    const why = await failure(attach(runtime, { options: "nonsense=1" }));
    const keys = Object.keys(runtime);
    // What was refused is not in the way of the next; and two at once get one.
    const [one, two] = await Promise.all([attach(runtime, { options: "quiet" }), attach(runtime, { options: "quiet" })]);
    await place.save("a.hs", await two.takeSnapshot());
    return { why, keys, isSame: one === two };
  },

  // Types and memory without the graph.
  async stats(place, n) {
    const { runtime, app } = await start(place);
    const { attach } = await import(place.heapshot);
    const hs = await attach(runtime, { options: "quiet", expose: true });
    app.Build(Number(n));
    const heard = [];
    hs.on("snapshot", (snapshot) => heard.push(snapshot));
    const { types, memory } = await hs.memoryStats();
    const said = listen();
    const rows = await runtime.logMemoryStats(5);
    await place.save("a.hs", await hs.takeSnapshot({ label: "the same" }));
    await place.save("all.hs", hs.recording());
    app.Build(Number(n));
    const later = (await hs.memoryStats()).types;
    const length = runtime.Module.HEAPU8.length;
    return { types, memory, said, rows: rows.length, later, heard: heard.length, length, snapshots: hs.snapshots };
  },

  // What is dropped is gone, and the rest stays readable.
  async forget(place, n) {
    const { runtime, app } = await start(place);
    const { attach } = await import(place.heapshot);
    const hs = await attach(runtime, { options: "quiet" });
    app.Build(Number(n));
    await hs.takeSnapshot({ label: "one" });
    const before = hs.recording().size;
    hs.forget();
    const empty = hs.recording().size;
    await place.save("two.hs", await hs.takeSnapshot({ label: "two", keep: false }));
    const left = hs.snapshots.length;
    await hs.takeSnapshot({ label: "three" });
    await place.save("all.hs", hs.recording());
    return { before, empty, left };
  },

  // Begun, ended, begun again: another recording.
  async again(place, n) {
    const { runtime, app } = await start(place);
    const { attach } = await import(place.heapshot);
    app.Build(Number(n));
    const taken = [];
    for (const name of ["one.hs", "two.hs"]) {
      const hs = await attach(runtime, { options: "quiet", expose: true });
      await runtime.takeSnapshot({ label: name });
      taken.push(hs.snapshots.map((each) => each.label));
      hs.detach();
      await place.save(name, hs.recording());
    }
    return { taken, left: typeof runtime.takeSnapshot };
  },

  // Importing leaves no trace; attach() none but what was asked for.
  async quiet(place) {
    const { runtime, app } = await start(place);
    const opened = [];
    for (const name of ["BroadcastChannel", "Worker", "WebSocket", "fetch"]) {
      const stock = globalThis[name];
      if (!stock) continue;
      globalThis[name] = new Proxy(stock, {
        construct: (target, words) => opened.push(name) && Reflect.construct(target, words),
        apply: (target, self, words) => opened.push(name) && Reflect.apply(target, self, words),
      });
    }
    const said = listen();
    const before = traces();
    const keys = Object.keys(runtime);
    const { attach } = await import(place.heapshot);
    const imported = difference(before, traces());
    const module = Object.keys(runtime.Module.heapshot || {});
    const hs = await attach(runtime, { options: "quiet" });
    await hs.takeSnapshot();
    const attached = difference(before, traces());
    const own = Object.keys(runtime).filter((key) => !keys.includes(key));
    const exposed = await attach(runtime, { expose: true });
    const exposedKeys = Object.keys(runtime).filter((key) => !keys.includes(key));
    hs.detach();
    const left = Object.keys(runtime).filter((key) => !keys.includes(key));
    return { imported, module, attached, own, isSame: exposed === hs, exposedKeys, left, opened, said, app: app.Version() };
  },

  // The recording ends while a channel is being opened.
  async channel(place) {
    const { runtime } = await start(place);
    const { attach } = await import(place.heapshot);
    const hs = await attach(runtime, { options: "quiet" });
    const opening = failure(hs.enableDiagnosticChannel());
    hs.detach();
    const why = await opening;
    // Nothing is left that a panel would find; else this does not end.
    while ((await navigator.locks.query()).held.length > 0);
    return { why };
  },

  // As a person has it: a download of the page, a file of node.
  async download(place, n, name) {
    const { runtime, app } = await start(place);
    const { attach } = await import(place.heapshot);
    await attach(runtime, { options: "quiet", expose: true });
    app.Build(Number(n));
    const words = name ? [name] : [];
    return { why: await failure(runtime.downloadMemoryDump(...words)) };
  },
};

export { difference, failure, listen, traces };
