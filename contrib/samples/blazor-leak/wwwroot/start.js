// SPDX-License-Identifier: MIT
// Starts the program with heapshot, where the runtime has it.
import * as heapshot from './_content/Heapshot.WebAssembly/heapshot.mjs';

heapshot.prepare();
await Blazor.start({
    configureRuntime: dotnet => dotnet.withRuntimeOptions(['--profile=heapshot:snapshot=none,at=75%']),
});
const hs = await heapshot.attach(getDotnetRuntime(0), { expose: true });
hs.enableDiagnosticChannel({ title: document.title });
