// SPDX-License-Identifier: MIT
// Fills a flight recorder.
//   events N      N rounds (0: for ever) of a marker with its number, garbage and a collection
//   types N M     N types of their own, then M rounds of events
//   flush PATH    100 rounds, the ring to PATH, 10 rounds more
//   snapshots N   N snapshots with 50 rounds of events before each
using System;
using System.Reflection;
using System.Reflection.Emit;

namespace T
{
    class Piece { public Piece Next; public int Number; }
    static class Pub { public static Piece First; public static object[] Kept = new object[65536]; public static int N; }
}

static class Ring
{
    static int round;

    static void Round()
    {
        Heapshot.Mark("round " + round++);
        T.Pub.First = null;
        for (int i = 0; i < 500; i++)
            T.Pub.First = new T.Piece { Next = T.Pub.First, Number = i };
        GC.Collect(0);
    }

    static void Types(int n)
    {
        var assembly = AppDomain.CurrentDomain.DefineDynamicAssembly(new AssemblyName("Many"), AssemblyBuilderAccess.Run);
        var module = assembly.DefineDynamicModule("Many");
        for (int i = 0; i < n; i++)
        {
            var type = module.DefineType("Many.OfALongNamespace" + i % 97 + ".Type" + i, TypeAttributes.Public);
            type.DefineField("first" + i, typeof(object), FieldAttributes.Public);
            type.DefineField("second" + i, typeof(string), FieldAttributes.Public);
            T.Pub.Kept[T.Pub.N++ % T.Pub.Kept.Length] = Activator.CreateInstance(type.CreateType());
        }
    }

    static int Main(string[] args)
    {
        int n = Case.Name(args) == "flush" ? 100 : Case.Number(args, 1, 0);
        switch (Case.Name(args))
        {
            case "events":
                Console.WriteLine("ready");
                for (int i = 0; n == 0 || i < n; i++) Round();
                return Case.Done();
            case "types":
                Types(n);
                for (int i = 0; i < Case.Number(args, 2, 0); i++) Round();
                return Case.Done();
            case "flush":
                for (int i = 0; i < n; i++) Round();
                Console.WriteLine("flush " + Heapshot.Flush());
                Console.WriteLine("ring " + Heapshot.FlushRing(args[1]) + " " + Heapshot.Error);
                for (int i = 0; i < 10; i++) Round();
                return Case.Done();
            case "snapshots":
                for (int i = 0; i < n; i++)
                {
                    for (int k = 0; k < 50; k++) Round();
                    if (!Heapshot.Take("snapshot " + i)) Console.WriteLine(Heapshot.Error);
                }
                return Case.Done();
            default: return Case.Unknown(Case.Name(args));
        }
    }
}
