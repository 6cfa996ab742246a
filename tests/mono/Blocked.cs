// SPDX-License-Identifier: MIT
// A finalizer that sleeps for a long time while the program goes on.
using System;
using System.Threading;

class Blocked
{
    static readonly ManualResetEvent begun = new ManualResetEvent(false);

    ~Blocked()
    {
        begun.Set();
        Thread.Sleep(60000);
    }

    static int Main()
    {
        Case.OnEndedThread(() => new Blocked());
        while (!begun.WaitOne(50)) GC.Collect();
        Console.WriteLine("blocked");
        Thread.Sleep(60000);
        return 0;
    }
}
