// SPDX-License-Identifier: MIT
using Microsoft.JSInterop;

namespace BlazorLeak;

/// <summary>Widgets that JavaScript draws: .NET holds a reference to each, and JavaScript keeps it until that is disposed.</summary>
public sealed class Widgets(IJSRuntime js)
{
    readonly List<IJSObjectReference> drawn = [];

    public int Count => drawn.Count;

    public async Task DrawAsync(int n)
    {
        for (int i = 0; i < n; i++)
            drawn.Add(await js.InvokeAsync<IJSObjectReference>("widgets.draw", i));
    }

    public async Task DisposeAsync()
    {
        foreach (var each in drawn)
            await each.DisposeAsync();
        drawn.Clear();
    }
}
