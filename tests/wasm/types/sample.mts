// SPDX-License-Identifier: MIT
// A program in TypeScript that uses all of heapshot.mjs; compiled, not run.
import * as heapshot from "../../../contrib/browser/heapshot.mjs";
import type { Heapshot, Prepared, Snapshot, Table, TypeStats } from "../../../contrib/browser/heapshot.mjs";
import * as other from "../../../contrib/browser/heapshot.js";

declare const runtime: { Module: { ccall(name: string): unknown }; runMain(): Promise<number> };

const hooks: Prepared = heapshot.prepare({ blazor: true });
const tables: Table[] = hooks.tables();
const handles: number[] = tables.flatMap((table) => table.entries.map((entry) => entry.handle));
const hs: Heapshot = await heapshot.attach(runtime, { options: "at=80%", expose: true, title: "sample" });
await heapshot.attach();
await other.attach(Promise.resolve(runtime));

const controller = new AbortController();
const blob: Blob = await hs.takeSnapshot({
  label: "after login",
  signal: controller.signal,
  keep: false,
  onProgress: ({ bytes, frames }) => bytes > 1e9 && frames > 0 && controller.abort(),
});
const { types, memory } = await hs.memoryStats();
const largest: TypeStats | undefined = types[0];
const share: number = memory.total / memory.maximum;
const rows: TypeStats[] = await hs.logMemoryStats(10);
const name: string = await hs.downloadMemoryDump("a.hs", { label: "x" });
const all: Blob[] = hs.snapshots.filter((each: Snapshot) => each.isComplete).map(({ id }) => hs.snapshot(id));
all.push(hs.recording(), hs.recording({ isOpen: true }), blob);
const stop: () => void = hs.onFrame((frame) => frame.byteLength);
const off = hs.on("snapshot", ({ trigger, objects }) => console.log(trigger, objects));
hs.on("end", (detail: null) => detail);
hs.addEventListener("progress", (event) => event.type);
const channel = await hs.enableDiagnosticChannel({ token: "secret" });
hs.mark(`${largest?.type} ${share} ${rows.length} ${name} ${handles.length}`);

// @ts-expect-error: there is no such event
hs.on("snapshots", () => {});
// @ts-expect-error: a runtime is needed, not a module
await heapshot.attach(runtime.Module);
// @ts-expect-error: it is a Promise
const wrong: Blob = hs.takeSnapshot();
// @ts-expect-error: it cannot be set
hs.runtimeVersion = "11.0";
// @ts-expect-error: there is no such option
await hs.takeSnapshot({ labels: ["x"] });

for (const end of [stop, off, channel.close, hs.forget.bind(hs), hs.detach.bind(hs), hooks.remove]) end();
