// SPDX-License-Identifier: MIT
// Keeps objects of types with names of every sort; each type occurs a number
// of times of its own.
using System;
using System.Collections.Generic;
using System.Reflection;
using System.Reflection.Emit;

namespace T
{
    class Plain { public object A; }
    class Outer { public class Inner { public long A; } public struct Value { public object A; } public struct Number { public int A; } public enum Colour { Red } }
    class Of<X> { public X A; public class In<Y> { public X B; public Y C; public class Deep { public X D; } } }
    struct Pair<X, Y> { public X A; public Y B; }
    class \u00dcber { public long A; }
    delegate void Change<X>(X what);
    static class Pub { public static readonly List<object> All = new List<object>(); }
}

class NoNamespace { public long A; }

static class Names
{
    static void Keep(int times, Func<object> make)
    {
        for (int i = 0; i < times; i++) T.Pub.All.Add(make());
    }

    static unsafe object MakePointers() { return new T.Outer.Number*[3]; }

    static void Build()
    {
        Keep(3, () => new T.Plain());
        Keep(4, () => new T.Outer.Inner());
        Keep(5, () => new T.Outer.Value());
        Keep(6, () => T.Outer.Colour.Red);
        Keep(7, () => new T.Of<int>());
        Keep(8, () => new T.Of<T.Plain>.In<string>());
        Keep(9, () => new T.Of<T.Of<object>>.In<T.Plain[]>.Deep());
        Keep(10, () => new T.Plain[2, 3]);
        Keep(11, () => new T.Plain[2][]);
        Keep(12, () => new T.Plain[1, 1, 1][,]);
        Keep(13, () => new T.Pair<int, T.Plain>[4]);
        Keep(14, MakePointers);
        Keep(15, () => new NoNamespace());
        Keep(16, () => new T.\u00dcber());
        Keep(17, () => { var kept = new object(); return new T.Change<T.Plain>(x => kept = x); });
        Keep(18, () => new Dictionary<T.Plain, T.Outer.Inner>());
        Keep(19, () => new T.Of<T.Pair<long, T.Outer.Colour>>());
        Keep(20, () => new T.Of<int?>());

        var name = new AssemblyName("Made");
        var module = AppDomain.CurrentDomain.DefineDynamicAssembly(name, AssemblyBuilderAccess.RunAndCollect)
            .DefineDynamicModule("Made");
        var type = module.DefineType("T.Made.AtRunTime", TypeAttributes.Public).CreateType();
        Keep(21, () => Activator.CreateInstance(type));
        Keep(22, () => Array.CreateInstance(type, 1));
    }

    static int Main(string[] args)
    {
        Case.OnEndedThread(Build);
        GC.Collect();
        GC.Collect();
        return Case.Done();
    }
}
