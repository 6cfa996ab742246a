// SPDX-License-Identifier: MIT
// The program of the panel's tests, in a tab of its own: window.app has what a test works with.
// ?title=, ?channel= and ?token= are of its channel; without ?channel it has one by the usual name.
import { dotnet } from "/_framework/dotnet.js";
import * as heapshot from "/heapshot/heapshot.mjs";

const query = new URLSearchParams(location.search);
document.title = query.get("title") || "Leaky";
heapshot.prepare();
// From the start on, so that roots have their names.
const runtime = await dotnet
  .withConfig({ disableIntegrityCheck: true })
  .withRuntimeOptions(["--profile=heapshot:snapshot=none,quiet"])
  .create();
const exports = await runtime.getAssemblyExports("app.dll");
await runtime.runMain("app.dll", []);
const hs = await heapshot.attach(runtime, { title: document.title });
const channel = await hs.enableDiagnosticChannel({
  name: query.get("channel") || undefined,
  token: query.get("token") || undefined,
});
window.app = { hs, channel, cs: exports.T.App, interop: exports.T.Interop, kept: [] };
