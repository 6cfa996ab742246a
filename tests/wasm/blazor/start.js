// SPDX-License-Identifier: MIT
// In place of the sample's own: the runtime's option alone, and frames as they come.
const frames = [];
globalThis.heapshotFrames = frames;
await Blazor.start({
    configureRuntime: dotnet => dotnet
        .withModuleConfig({ heapshot: { write: frame => { frames.push(new Blob([frame])); } } })
        .withRuntimeOptions(['--profile=heapshot:' + (new URLSearchParams(location.search).get('heapshot') ?? 'snapshot=none')]),
});
globalThis.take = label => Number(getDotnetRuntime(0).Module.ccall('heapshot_take', 'number', ['string'], [label]));
