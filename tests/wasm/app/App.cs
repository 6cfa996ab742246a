// SPDX-License-Identifier: MIT
// A heap of known content in .NET's browser-wasm runtime, driven from JavaScript.
using System;
using System.Collections.Generic;
using System.Runtime.InteropServices;
using System.Runtime.InteropServices.JavaScript;
using System.Text;

namespace T
{
    public class Node
    {
        public Node Next;
        public string Name;
        public byte[] Data;
    }

    public class Held
    {
        public object What;
    }

    // Listens and is forgotten: what the event of App holds.
    public class Listener
    {
        readonly byte[] page = new byte[1000];

        public void OnChanged(object sender, EventArgs args)
        {
            page[0]++;
        }
    }

    public partial class App
    {
        static event EventHandler Changed;
        static Node first;
        static readonly List<byte[]> blocks = new List<byte[]>();
        static GCHandle handle;
        static Bench.Mix mix;

        public static void Main()
        {
        }

        [JSExport]
        internal static string Version()
        {
            return Environment.Version.ToString();
        }

        // N of each: T.Node, a string, a byte[24], in one chain that a static field holds.
        [JSExport]
        internal static void Build(int n)
        {
            for (int i = 0; i < n; i++)
                first = new Node { Next = first, Name = "node " + i, Data = new byte[24] };
        }

        // Of contrib/bench/Heap.cs: what programs have.
        [JSExport]
        internal static void BuildMix(int objects)
        {
            mix = new Bench.Mix(1);
            mix.Fill(objects);
        }

        [JSExport]
        internal static void Clear()
        {
            first = null;
            blocks.Clear();
        }

        [JSExport]
        internal static void Hold()
        {
            handle = GCHandle.Alloc(new Held { What = new int[3] });
        }

        // N objects that the event App.Changed holds.
        [JSExport]
        internal static void Listen(int n)
        {
            for (int i = 0; i < n; i++)
                Changed += new Listener().OnChanged;
        }

        // Until none is to be had; how many.
        [JSExport]
        internal static int Fill(int bytes)
        {
            int n = 0;
            try
            {
                for (;; n++)
                    blocks.Add(new byte[bytes]);
            }
            catch (OutOfMemoryException)
            {
                return n;
            }
        }

        [JSExport]
        internal static int Take(string label)
        {
            return (int)heapshot_take(Encoding.UTF8.GetBytes(label + "\0"));
        }

        [JSExport]
        internal static bool IsRecording()
        {
            return heapshot_is_recording() != 0;
        }

        // All of contrib/managed/Heapshot.cs, the same file that programs on Mono have.
        [JSExport]
        internal static string Managed()
        {
            var text = new StringBuilder();
            text.Append(Heapshot.IsRecording).Append(' ').Append(Heapshot.Take("managed \u00e4"));
            text.Append(' ').Append(Heapshot.TakeStats("managed statistics")).Append(' ').Append(Heapshot.Mark("managed mark"));
            text.Append(' ').Append(Heapshot.Flush()).Append(' ').Append(Heapshot.FlushRing("a.hs"));
            return text.Append(": ").Append(Heapshot.Error).ToString();
        }

        [DllImport("heapshot")] static extern long heapshot_take(byte[] label);
        [DllImport("heapshot")] static extern int heapshot_is_recording();
    }
}
