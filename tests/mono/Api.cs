// SPDX-License-Identifier: MIT
// Takes snapshots through the managed API; prints what it answers.
//   take N        N snapshots with labels, objects appear between them
//   threads N     N threads take one each
using System;
using System.Collections.Generic;
using System.Threading;

namespace T
{
    class Step { public int Number; }
    static class Pub { public static readonly List<Step> Steps = new List<Step>(); }
}

static class Api
{
    static void Step()
    {
        Case.OnEndedThread(() => T.Pub.Steps.Add(new T.Step { Number = T.Pub.Steps.Count }));
    }

    static int Main(string[] args)
    {
        int n = Case.Number(args, 1, 3);
        Console.WriteLine("recording " + Heapshot.IsRecording);
        switch (Case.Name(args))
        {
            case "take":
                for (int i = 0; i < n; i++)
                {
                    Step();
                    Console.WriteLine(Heapshot.Take("step " + i + " \u00e4"));
                }
                return Case.Done();
            case "threads":
                int good = 0;
                var threads = new List<Thread>();
                for (int i = 0; i < n; i++)
                {
                    int number = i;
                    threads.Add(new Thread(() =>
                    {
                        if (Heapshot.Take("thread " + number)) Interlocked.Increment(ref good);
                        else Console.WriteLine("thread " + number + ": " + Heapshot.Error);
                    }));
                }
                foreach (var thread in threads) thread.Start();
                foreach (var thread in threads) thread.Join();
                Console.WriteLine("good " + good);
                return Case.Done();
            default: return Case.Unknown(Case.Name(args));
        }
    }
}
