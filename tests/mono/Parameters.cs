// SPDX-License-Identifier: MIT
// Says what MONO_GC_PARAMS is here and in a child process, before and after a collection.
using System;
using System.Diagnostics;

class Parameters
{
    static void Say()
    {
        var shell = new ProcessStartInfo("/bin/sh", "-c \"echo ${MONO_GC_PARAMS-unset}\"")
        {
            UseShellExecute = false, RedirectStandardOutput = true
        };
        Console.WriteLine("here: " + (Environment.GetEnvironmentVariable("MONO_GC_PARAMS") ?? "unset"));
        using (Process process = Process.Start(shell))
        {
            Console.WriteLine("child: " + process.StandardOutput.ReadToEnd().Trim());
            process.WaitForExit();
            Console.WriteLine("status: " + process.ExitCode);
        }
    }

    static int Main()
    {
        Say();
        GC.Collect();
        Say();
        return Case.Done();
    }
}
