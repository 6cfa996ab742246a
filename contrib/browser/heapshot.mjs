// SPDX-License-Identifier: MIT
// heapshot for programs on .NET's browser-wasm runtime with heapshot inside: snapshots in a
// page, in a worker, in node.  Importing this does nothing.
//
//     import * as heapshot from "./heapshot.mjs";
//     heapshot.prepare();                              // before the runtime is made
//     const runtime = await dotnet.create();
//     const hs = await heapshot.attach(runtime);
//     const blob = await hs.takeSnapshot({ label: "after login" });
//
// heapshot.d.ts has the types, doc/in-the-browser.md tells how to get there.
import { Heapshot } from "./app/attached.mjs";
import { current, prepare } from "./app/interop.mjs";

export { prepare };

const attached = new WeakMap(); // of the runtimes' Module

/**
 * Records a runtime.  One that was started with --profile=heapshot goes on with its options;
 * another begins now, with OPTIONS.
 * @param {object} [runtime]  what dotnet.create() returned, or Blazor.runtime; else getDotnetRuntime(0)
 * @param {object} [given]
 * @param {string} [given.options]   as for --profile=heapshot; "snapshot=none" comes before them
 * @param {boolean} [given.expose]   puts takeSnapshot(), downloadMemoryDump(), logMemoryStats() and
 *                                   enableDiagnosticChannel() on the runtime's object, too
 * @param {string} [given.title]     by which a person tells this program from others
 */
export async function attach(runtime = globalThis.getDotnetRuntime?.(0), given = {}) {
  const api = await runtime;
  const module = api?.Module;
  if (!module?.ccall) throw new TypeError("heapshot.attach: this is no .NET runtime");
  if (!module._heapshot_take)
    throw new Error("heapshot is not in this runtime: publish with the one that contrib/wasm/link made");
  let hs = attached.get(module);
  if (!hs || hs.isDetached) {
    if (module.heapshot?.write) throw new Error("Module.heapshot.write is set: the frames so far went there");
    const isRecording = module._heapshot_is_recording() === 1;
    hs = new Heapshot(api, { ...given, tables: current()?.tables });
    try {
      if (!isRecording) start(module, given.options);
    } catch (error) {
      hs.detach();
      throw error;
    }
    attached.set(module, hs);
  }
  if (given.expose) hs.expose();
  return hs;
}

function start(module, options) {
  const words = "heapshot:snapshot=none" + (options ? "," + options : "");
  module.ccall("mono_profiler_init_heapshot", null, ["string"], [words]);
  // It has said why on the console.
  if (module._heapshot_is_recording() !== 1) throw new Error("heapshot does not record; refused: " + words);
}
