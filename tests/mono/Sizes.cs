// SPDX-License-Identifier: MIT
//
// Objects of every way to have a size: arrays of one and several dimensions, of
// other lower bounds, of structs, empty before filled, and strings of all lengths.
using System;
using System.Collections.Generic;
using System.Runtime.InteropServices;

namespace T
{
    public struct Odd
    {
        public byte A, B, C;
    }

    public struct Mixed
    {
        public object Target;
        public short Number;
    }

    public static class Sizes
    {
        static readonly List<object> kept = new List<object>();

        static void Keep<X>(int n)
        {
            for (int i = 0; i < n; i++)
            {
                kept.Add(new X[i]);
                kept.Add(new X[i, 3]);
                kept.Add(new X[2, i, 1]);
                kept.Add(new X[i][]);
                kept.Add(Array.CreateInstance(typeof(X), new[] { i }, new[] { 5 }));
                kept.Add(Array.CreateInstance(typeof(X), new[] { i, 2 }, new[] { 1, -1 }));
            }
        }

        public static int Main()
        {
            Keep<byte>(40);
            Keep<char>(20);
            Keep<int>(20);
            Keep<double>(20);
            Keep<decimal>(20);
            Keep<Odd>(20);
            Keep<Mixed>(20);
            Keep<object>(200);
            Keep<string>(20);
            Keep<KeyValuePair<string, Odd>>(20);
            for (int i = 0; i < 300; i++)
                kept.Add(new string('x', i));
            kept.Add(new byte[5000000]);
            kept.Add(new string('y', 100000));
            kept.Add(new Odd());
            kept.Add(new Mixed { Target = kept });
            GC.Collect();
            Console.WriteLine("done");
            return 0;
        }
    }
}
