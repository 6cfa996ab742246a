// SPDX-License-Identifier: MIT
namespace BlazorLeak;

/// <summary>Tells who wants to know that time goes on; it lives as long as the program.</summary>
public static class Ticker
{
    public static event Action<DateTime>? Tick;

    public static void Advance() => Tick?.Invoke(DateTime.Now);
}
