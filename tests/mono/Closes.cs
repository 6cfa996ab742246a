// SPDX-License-Identifier: MIT
// Closes all descriptors that it did not open, as daemons do, and goes on with
// files, a pipe and a listening socket of its own under the same numbers.  What
// is in those at the end must be its own.
using System;
using System.Runtime.InteropServices;
using System.Text;
using System.Threading;

static class Closes
{
    const int FirstDescriptor = 3, N = 8, WriteCreate = 0x241;

    [DllImport("libc")] static extern int close(int descriptor);
    [DllImport("libc")] static extern int open(string path, int flags, int mode);
    [DllImport("libc")] static extern IntPtr readlink(string path, byte[] text, IntPtr size);
    [DllImport("libc")] static extern long lseek(int descriptor, long offset, int whence);

    // Those of the recorder; the runtime does not survive without its own.
    static bool IsForeign(int descriptor)
    {
        var text = new byte[512];
        int n = (int)readlink("/proc/self/fd/" + descriptor, text, (IntPtr)text.Length);
        string name = n > 0 ? Encoding.UTF8.GetString(text, 0, n) : "";
        return name.EndsWith(".hs") || name.Contains("eventfd") || name.StartsWith("socket:");
    }

    static int Main(string[] args)
    {
        int closed = 0;
        for (int descriptor = FirstDescriptor; descriptor < 64; descriptor++)
            if (IsForeign(descriptor) && close(descriptor) == 0) closed++;
        var files = new int[N];
        for (int i = 0; i < N; i++) files[i] = open("own" + i, WriteCreate, 0x180);
        for (int i = 0; i < 20; i++)
        {
            GC.Collect();
            Thread.Sleep(50);
        }
        int changed = 0;
        foreach (int file in files)
            if (lseek(file, 0, 2) != 0) changed++;
        Console.WriteLine("closed {0}, changed {1}", closed, changed);
        return 0;
    }
}
