// SPDX-License-Identifier: MIT
// Starts the program, with heapshot where it was built with it: a build without HeapshotEnabled has no heapshot.mjs.
const heapshot = await import('./_content/Heapshot.WebAssembly/heapshot.mjs').catch(() => null);
heapshot?.prepare();
await Blazor.start({
    configureRuntime: dotnet => { if (heapshot) dotnet.withRuntimeOptions(['--profile=heapshot:snapshot=none,at=75%']); },
});
const hs = await heapshot?.attach(getDotnetRuntime(0), { expose: true });
hs?.enableDiagnosticChannel({ title: document.title });
