// SPDX-License-Identifier: MIT
// Collects the nursery N times.
using System;

static class Collects
{
    static int Main(string[] args)
    {
        int n = Case.Number(args, 0, 10);
        for (int i = 0; i < n; i++) GC.Collect(0);
        return Case.Done();
    }
}
