// SPDX-License-Identifier: MIT
using Microsoft.JSInterop;

namespace BlazorLeak;

/// <summary>
/// JavaScript calls it when the window changes.  The runtime keeps what a DotNetObjectReference stands for until
/// that is disposed, whether or not anybody holds it.
/// </summary>
public sealed class Listener
{
    readonly DotNetObjectReference<Listener> self;

    public Listener() => self = DotNetObjectReference.Create(this);

    public int Changes { get; private set; }

    public ValueTask ListenAsync(IJSRuntime js) => js.InvokeVoidAsync("widgets.listen", self);

    [JSInvokable]
    public void Changed() => Changes++;

    public void Dispose() => self.Dispose();
}
