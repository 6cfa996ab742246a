// SPDX-License-Identifier: MIT
// What the tests of the interop tables do in the program, as mjs_scenarios.mjs says.
import { difference, listen, start, traces } from "./mjs_scenarios.mjs";

/** Answers of the program to many ways across, which hooks must not change. */
async function suite({ runtime, interop }) {
  const found = {};
  const failed = (work) => {
    try {
      return work();
    } catch (error) {
      return `${error.constructor.name}: ${error.message.split("\n")[0]}`;
    }
  };
  const objects = {
    plain: { name: "plain" },
    instance: new (class Own {})(),
    array: [1],
    map: new Map(),
    error: new Error("an error"),
    proxy: new Proxy({}, {}),
    arrow: () => 1,
    asynchronous: async () => 1,
    bound: (() => 1).bind(null),
    named: function named() {},
    type: class Type {},
    bare: Object.create(null),
    frozen: Object.freeze({}),
    sealed: Object.seal({}),
  };
  for (const [name, object] of Object.entries(objects)) {
    interop.Hold(object);
    interop.Hold(object);
    found[name] = [interop.AreSame(), interop.GiveBack(object) === object, interop.GiveHeld(0) === object];
    interop.DisposeAll();
    // The same again after it was let go.
    interop.Hold(object);
    found[name].push(interop.GiveHeld(0) === object);
    interop.DisposeAll();
  }
  const original = { name: "original" };
  interop.Hold(original);
  const copy = { ...original };
  found.copy = interop.GiveBack(copy) === copy;
  interop.DisposeAll();
  const payload = interop.GiveObject(7);
  found.object = [interop.TakeObject(payload), payload.isDisposed, payload.constructor.name];
  payload.dispose();
  found.disposed = [payload.isDisposed, failed(() => interop.TakeObject(payload))];
  const action = interop.GiveAction();
  const called = interop.Called();
  action();
  found.action = interop.Called() - called;
  found.func = interop.GiveFunc(3)(4);
  const view = interop.GiveBytes();
  view.set(new Uint8Array(64).fill(2));
  found.bytes = [view.length, view.slice()[0], interop.SumOfBytes()];
  view.dispose();
  found.viewDisposed = failed(() => view.slice()) !== undefined;
  const task = interop.GiveTask();
  interop.Settle(5);
  found.task = await task;
  found.promise = await interop.AwaitAndAdd(Promise.resolve(2), 3);
  found.rejected = await interop.AwaitFailure(Promise.reject(new Error("it was refused")));
  found.thrown = failed(() => interop.Fail("C# failed"));
  found.increment = [interop.Increment({ number: 3 }), interop.UseDisposed({ name: "x" })];
  found.global = interop.GlobalType();
  found.build = runtime.runtimeBuildInfo.productVersion;
  return found;
}

/** Entries of a table, counted by type and name; the runtime's own promises apart. */
function counted(tables, name) {
  const counts = {};
  for (const entry of tables.find((table) => table.name === name).entries) {
    const what = `${entry.type} ${entry.name}`;
    if (!Number.isInteger(entry.handle)) throw new Error("a handle is " + entry.handle);
    counts[what] = (counts[what] || 0) + 1;
  }
  return counts;
}

const numbers = ({ escaped, released, collected, note }) => ({ escaped, released, collected, note });

/** Both tables as they are now. */
function look(hooks) {
  const tables = hooks.tables();
  const of = (name) => ({ counts: counted(tables, name), ...numbers(tables.find((table) => table.name === name)) });
  return { proxies: of("js_proxy"), objects: of("js_object") };
}

/** JavaScript's own collection, and what it leads to. */
async function collect(interop) {
  const { setFlagsFromString } = await import("node:v8");
  const { runInNewContext } = await import("node:vm");
  setFlagsFromString("--expose-gc");
  const gc = runInNewContext("gc");
  for (let i = 0; i < 4; i++) {
    await new Promise((resolve) => setTimeout(resolve, 10));
    gc();
    interop.Collect();
  }
}

export const scenarios = {
  // The answers without the hooks, or with them, or after they were taken away.
  async suite(place, how) {
    const { prepare } = await import(place.heapshot);
    const hooks = how === "stock" ? null : prepare();
    const program = await start(place);
    const found = [await suite(program)];
    if (how === "removed") {
      hooks.remove();
      found.push(await suite(program));
    }
    return { found, notes: hooks?.notes };
  },

  // Undisposed references of all sorts, then disposed, then dropped.
  async leak(place, n) {
    const { prepare, attach } = await import(place.heapshot);
    const hooks = prepare();
    const { runtime, interop } = await start(place);
    const hs = await attach(runtime, { options: "quiet" });
    const seen = { before: look(hooks) };
    class Foo {
      name = "a Foo";
    }
    let kept = [];
    const make = () => {
      for (let i = 0; i < Number(n); i++) {
        kept.push(interop.GiveObject(i));
        if (i % 2 === 0) kept.push(interop.GiveAction());
        interop.Hold(new Foo());
      }
    };
    make();
    seen.leaked = look(hooks);
    await place.save("leaked.hs", await hs.takeSnapshot({ label: "leaked" }));
    for (const proxy of kept) proxy.dispose();
    interop.DisposeAll();
    seen.disposed = look(hooks);
    await place.save("disposed.hs", await hs.takeSnapshot({ label: "disposed" }));
    kept = [];
    if (place.where === "node") {
      make();
      seen.again = look(hooks);
      kept = [];
      interop.Drop();
      await collect(interop);
      seen.dropped = look(hooks);
    }
    const tasks = Array.from({ length: 10 }, () => interop.GiveTask());
    const resolvers = [];
    for (let i = 0; i < 10; i++) interop.Await(new Promise((resolve) => resolvers.push(resolve)));
    seen.pending = look(hooks);
    interop.Settle(1);
    for (const resolve of resolvers) resolve(1);
    await Promise.all(tasks);
    await new Promise((resolve) => setTimeout(resolve, 10));
    seen.settled = look(hooks);
    return { seen, notes: hooks.notes, error: hs.snapshots.map((each) => each.isComplete) };
  },

  // Ten of each sort that cannot be marked, and of some that can.
  async escapes(place) {
    const { prepare } = await import(place.heapshot);
    const hooks = prepare();
    const { interop } = await start(place);
    const sorts = {
      frozen: () => Object.freeze({}),
      sealed: () => Object.seal({}),
      fixed: () => Object.preventExtensions({}),
      named: () => function named() {},
      type: () => class Type {},
      bare: () => Object.create(null),
      arrow: () => () => 1,
      proxy: () => new Proxy({}, {}),
      error: () => Object.freeze(new Error("frozen")),
    };
    const start0 = look(hooks).objects;
    const found = {};
    for (const [sort, make] of Object.entries(sorts)) {
      const made = Array.from({ length: 10 }, make);
      for (const each of made) interop.Hold(each);
      // What the program asks is none of ours.
      for (const each of made) Object.isExtensible(each);
      Object.isExtensible(make());
      const held = look(hooks).objects;
      for (let i = 0; i < 4; i++) interop.DisposeLast();
      const six = look(hooks).objects;
      interop.Hold(made[9]);
      interop.Hold(made[9]);
      const more = look(hooks).objects;
      interop.DisposeAll();
      const none = look(hooks).objects;
      found[sort] = { held, six, more, none };
    }
    return { start: start0, found };
  },

  // Nothing is left of the hooks, and objects have the runtime's own marks.
  async removed(place) {
    const before = traces();
    const { prepare } = await import(place.heapshot);
    const hooks = prepare();
    const isOne = prepare() === hooks;
    const between = difference(before, traces());
    const { interop } = await start(place);
    const known = { name: "known" };
    interop.Hold(known);
    const payload = interop.GiveObject(3);
    const started = difference(before, traces());
    const ownBefore = Object.getOwnPropertySymbols(known).length;
    // The program's own class is what it was.
    const registry = new FinalizationRegistry(() => {});
    const isRegistry = [registry instanceof FinalizationRegistry, registry.constructor.name];
    hooks.remove();
    const left = difference(before, traces());
    const own = Object.getOwnPropertySymbols(known).map(String);
    interop.Hold(known);
    const isSame = interop.AreSame();
    interop.DisposeAll();
    interop.Hold(known);
    const isBack = interop.GiveHeld(0) === known;
    const number = interop.TakeObject(payload);
    payload.dispose();
    hooks.remove();
    const anew = prepare();
    const isAnother = anew !== hooks;
    anew.remove();
    const end = difference(before, traces());
    return { isOne, between, started, ownBefore, isRegistry, left, own, isSame, isBack, number, isAnother, end };
  },

  // The program's page is locked: what cannot be seen is said, and all works.
  async frozen(place, what) {
    if (what === "prototype") Object.freeze(Object.prototype);
    else if (what === "object") Object.freeze(Object);
    else Object.defineProperty(globalThis, "FinalizationRegistry", { writable: false, configurable: false });
    const said = listen();
    const { prepare, attach } = await import(place.heapshot);
    const hooks = prepare();
    const program = await start(place);
    const hs = await attach(program.runtime, { options: "quiet" });
    const found = await suite(program);
    class Foo {}
    const kept = [];
    for (let i = 0; i < 10; i++) {
      program.interop.Hold(new Foo());
      kept.push(program.interop.GiveObject(i));
    }
    const seen = look(hooks);
    await place.save("a.hs", await hs.takeSnapshot());
    program.interop.DisposeAll();
    const after = look(hooks);
    hooks.remove();
    return { notes: hooks.notes, said, found, seen, after };
  },

  // Microseconds of one operation, the median of five warm rounds, and bytes of JavaScript's
  // heap for one that lives, where node tells: for interop_bench.py.
  async cost(place, how) {
    const { prepare } = await import(place.heapshot);
    if (how === "prepared") prepare();
    const { interop } = await start(place);
    const n = 20000;
    const object = { name: "held" };
    interop.Hold(object);
    let kept = [];
    const operations = {
      "JSObject to C# and back": () => interop.GiveBack(object),
      "JSObject made and disposed of": () => interop.CreateAndDispose({}),
      "C# object to JavaScript": (i) => kept.push(interop.GiveObject(i)),
      "its dispose()": () => kept.pop().dispose(),
    };
    const rounds = Object.fromEntries(Object.keys(operations).map((name) => [name, []]));
    for (let round = 0; round < 7; round++) {
      for (const [name, work] of Object.entries(operations)) {
        const begin = performance.now();
        for (let i = 0; i < n; i++) work(i);
        if (round >= 2) rounds[name].push(((performance.now() - begin) * 1000) / n);
      }
    }
    const costs = Object.fromEntries(Object.entries(rounds).map(([name, all]) => [name, all.sort((a, b) => a - b)[2]]));
    if (place.where !== "node") return { costs };
    kept = [];
    await collect(interop);
    const before = process.memoryUsage().heapUsed;
    const held = Array.from({ length: 5 * n }, () => ({}));
    await collect(interop);
    const plain = process.memoryUsage().heapUsed;
    for (const each of held) interop.Hold(each);
    await collect(interop);
    return { costs, bytes: (process.memoryUsage().heapUsed - plain) / held.length, without: (plain - before) / held.length };
  },

  // Blazor's proxies that C# disposed of and JavaScript dropped, while nobody reads the tables.
  async forgotten(place, n) {
    let revive;
    class DotNetObject {
      constructor(id) {
        this._id = id;
      }
      dispose() {}
    }
    globalThis.DotNet = { DotNetObject, attachDispatcher() {}, attachReviver: (reviver) => (revive = reviver) };
    const { prepare } = await import(place.heapshot);
    const stock = globalThis.WeakRef;
    let live = 0;
    const registry = new FinalizationRegistry(() => live--);
    globalThis.WeakRef = class WeakRef extends stock {
      constructor(target) {
        super(target);
        registry.register(this);
        live++;
      }
    };
    const hooks = prepare();
    for (let id = 1; id <= Number(n); id++) {
      revive("", new DotNetObject(id));
      if (id % 1000 === 0) await collect({ Collect() {} });
    }
    const kept = live;
    globalThis.WeakRef = stock;
    hooks.remove();
    return { kept };
  },

  // Too late.
  async late(place) {
    const { prepare } = await import(place.heapshot);
    await start(place);
    const said = listen();
    const hooks = prepare();
    return { notes: hooks.notes, said };
  },
};
