// SPDX-License-Identifier: MIT
//
// Heap snapshots from managed code. Copy this file into the program:
//
//     Heapshot.Take("after login");
//
// Where the module is absent, or nothing is being recorded, all of this does
// nothing and returns false; it never throws.
using System;
using System.Runtime.InteropServices;
using System.Text;

/// <summary>Snapshots of the managed heap, for a program run with --profile=heapshot.</summary>
public static class Heapshot
{
    /// <summary>True while this process is being recorded.</summary>
    public static bool IsRecording
    {
        get { return Call(() => Native.heapshot_is_recording()) > 0; }
    }

    /// <summary>
    /// Takes a snapshot now and returns when the world runs again; a child process may still
    /// write it then (option fork). False when it was not taken; <see cref="Error"/> says why.
    /// </summary>
    public static bool Take(string label = null)
    {
        return Call(() => Native.heapshot_take(Bytes(label))) > 0;
    }

    /// <summary>The same with types and counts only: smaller and shorter, without the graph.</summary>
    public static bool TakeStats(string label = null)
    {
        return Call(() => Native.heapshot_take_stats(Bytes(label))) > 0;
    }

    /// <summary>Puts a label into the recorded events; <c>heapshot dump</c> shows it.</summary>
    public static bool Mark(string label)
    {
        return IsRecording && Call(() => Native.heapshot_mark(Bytes(label))) == 0;
    }

    /// <summary>
    /// Brings all events so far to the recording. False when that took more than a second.
    /// </summary>
    public static bool Flush()
    {
        return IsRecording && Call(() => Native.heapshot_flush()) == 0;
    }

    /// <summary>
    /// Writes what the flight recorder (option ring) holds to a recording of its own at PATH.
    /// </summary>
    public static bool FlushRing(string path)
    {
        return Call(() => Native.heapshot_flush_ring(Bytes(path))) > 0;
    }

    /// <summary>One line about the last failure on this thread, or null.</summary>
    public static string Error
    {
        get
        {
            string text = null;
            if (Call(() => { text = Text(Native.heapshot_error()); return 0; }) < 0)
                return "the module is not there";
            return string.IsNullOrEmpty(text) ? null : text;
        }
    }

    const int Absent = -1000;

    static long Call(Func<long> function)
    {
        try { return function(); }
        catch (DllNotFoundException) { return Absent; }
        catch (EntryPointNotFoundException) { return Absent; }
        catch (BadImageFormatException) { return Absent; }
    }

    // UTF-8 with its zero byte, whatever the platform's idea of a string is.
    static byte[] Bytes(string text)
    {
        return Encoding.UTF8.GetBytes((text ?? "") + "\0");
    }

    static string Text(IntPtr text)
    {
        int length = 0;
        while (text != IntPtr.Zero && Marshal.ReadByte(text, length) != 0) length++;
        var bytes = new byte[length];
        if (length > 0) Marshal.Copy(text, bytes, 0, length);
        return Encoding.UTF8.GetString(bytes);
    }

    static class Native
    {
        const string Library = "mono-profiler-heapshot";

        [DllImport(Library)] public static extern int heapshot_is_recording();
        [DllImport(Library)] public static extern long heapshot_take(byte[] label);
        [DllImport(Library)] public static extern long heapshot_take_stats(byte[] label);
        [DllImport(Library)] public static extern int heapshot_mark(byte[] label);
        [DllImport(Library)] public static extern int heapshot_flush();
        [DllImport(Library)] public static extern long heapshot_flush_ring(byte[] path);
        [DllImport(Library)] public static extern IntPtr heapshot_error();
    }
}
