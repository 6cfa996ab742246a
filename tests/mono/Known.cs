// SPDX-License-Identifier: MIT
// Objects, fields, roots and handles of which the program says itself what they
// are: one line a fact.
//   facts       everything below, two collections
//   handles N   N handles made and freed, then it waits for a line
//   name N      a type whose full name has N characters
using System;
using System.Collections.Generic;
using System.Reflection;
using System.Reflection.Emit;
using System.Runtime.InteropServices;
using System.Threading;

namespace K
{
    public struct Inner { public double X; public byte Y; public object Z; }
    public class Shape
    {
        public byte A; public int B; public object C; public short D; public long E; public Inner F; public string G;
        public static int Number; public static object Held;
        [ThreadStatic] public static object Mine;
        public const int NotRecorded = 3;
    }
    public class Child : Shape { public byte Last; }
    public class Of<T> { public T Value; public T[] Values; }
    [StructLayout(LayoutKind.Sequential)] public class Laid { public int A; public long B; public byte C; }
    public class Item { public long Id; }
    public class Nine { public long A, B, C, D, E, F, G, H, I; }
    public struct Three { public byte A, B, C; }
    public class Local { public long A; }
    public class Own { public long A; }
    public class Moved { public long A; }
    public class ByNormal { public long A; }
    [StructLayout(LayoutKind.Sequential)] public class ByPinned { public long A; }
    public class ByWeak { public long A; }
    public class Remote { public long A; }
    public class Far : MarshalByRefObject
    {
        static object held;
        public void Fill() { held = new Remote(); }
        public override object InitializeLifetimeService() { return null; }
    }
    public static class Pub
    {
        public static Item[] Thousand;
        public static Item[,] Plane;
        public static Nine[] Nines;
        public static List<Three[]> Threes = new List<Three[]>();
        public static List<string> Strings = new List<string>();
        public static object[] Others;
        public static Moved[] Moved;
        public static object Weakly;
        public static object Long;
        [ThreadStatic] public static object Own;
    }
}

static unsafe class Known
{
    // The second word of a typed reference of Mono points to the variable.
    static long Address(object reference)
    {
        var typed = __makeref(reference);
        return *((long**)&typed)[1];
    }

    static void Say(params object[] words) { Console.WriteLine(string.Join(" ", words)); }

    static void SayType(Type type)
    {
        Say("type", type, "token", type.MetadataToken, "parent", type.BaseType);
        const BindingFlags all = BindingFlags.Public | BindingFlags.NonPublic | BindingFlags.Instance |
                                 BindingFlags.Static | BindingFlags.DeclaredOnly;
        foreach (var field in type.GetFields(all))
        {
            if (field.IsLiteral) continue;
            string kind = !field.IsStatic ? "instance"
                : field.IsDefined(typeof(ThreadStaticAttribute), false) ? "thread_static" : "static";
            Say("field", type, field.Name, field.FieldType, kind);
        }
    }

    static void SayOffsets()
    {
        var shape = new K.Child();
        // The pointers keep the object where it is.
        fixed (byte* a = &shape.A, last = &shape.Last)
        fixed (int* b = &shape.B)
        fixed (short* d = &shape.D)
        fixed (long* e = &shape.E)
        fixed (double* x = &shape.F.X)
        fixed (byte* y = &shape.F.Y)
        {
            long start = Address(shape);
            Say("offset", "K.Shape", "A", (long)a - start);
            Say("offset", "K.Shape", "B", (long)b - start);
            Say("offset", "K.Shape", "D", (long)d - start);
            Say("offset", "K.Shape", "E", (long)e - start);
            Say("offset", "K.Shape", "F", (long)x - start);
            Say("offset", "K.Child", "Last", (long)last - start);
            // Of a struct: as if it stood behind the header of an object.
            Say("offset", "K.Inner", "Y", (long)y - (long)x + 2 * sizeof(IntPtr));
        }
        foreach (string name in new[] { "A", "B", "C" })
            Say("offset", "K.Laid", name, (long)Marshal.OffsetOf(typeof(K.Laid), name) + 2 * sizeof(IntPtr));
        Say("size", "K.Laid", Marshal.SizeOf(typeof(K.Laid)) + 2 * sizeof(IntPtr));
        K.Shape.Held = shape;
        fixed (int* number = &K.Shape.Number) Say("static", "K.Shape", "Number", (long)number);
    }

    static void MakeObjects()
    {
        K.Pub.Thousand = new K.Item[1000];
        for (int i = 0; i < 1000; i++) K.Pub.Thousand[i] = new K.Item { Id = i };
        K.Pub.Plane = new K.Item[3, 5];
        K.Pub.Nines = new K.Nine[1000];
        for (int i = 0; i < 1000; i++) K.Pub.Nines[i] = new K.Nine();
        for (int n = 0; n < 40; n += 3) K.Pub.Threes.Add(new K.Three[n]);
        for (int n = 0; n < 40; n += 3) K.Pub.Strings.Add("known " + new string('k', n));
        K.Pub.Others = new object[] { new K.Of<string> { Values = new string[2] }, new K.Laid() };
        K.Pub.Moved = new K.Moved[100];
        for (int i = 0; i < 100; i++) K.Pub.Moved[i] = new K.Moved();
        foreach (var array in K.Pub.Threes) Say("array", array.Length);
        foreach (var text in K.Pub.Strings) Say("string", text.Length);
    }

    static void SayMoved(string word)
    {
        for (int i = 0; i < K.Pub.Moved.Length; i++) Say(word, i, Address(K.Pub.Moved[i]));
    }

    static void MakeHandles()
    {
        K.Pub.Weakly = new K.ByWeak();
        for (int i = 0; i < 10; i++)
        {
            Say("handle", "normal", (long)GCHandle.ToIntPtr(GCHandle.Alloc(new K.ByNormal(), GCHandleType.Normal)));
            var pinned = GCHandle.Alloc(new K.ByPinned(), GCHandleType.Pinned);
            Say("handle", "pinned", (long)GCHandle.ToIntPtr(pinned), (long)pinned.AddrOfPinnedObject());
            Say("handle", "weak", (long)GCHandle.ToIntPtr(GCHandle.Alloc(K.Pub.Weakly, GCHandleType.Weak)));
            var freed = GCHandle.Alloc(K.Pub.Weakly, GCHandleType.Normal);
            Say("freed", "normal", (long)GCHandle.ToIntPtr(freed));
            freed.Free();
        }
    }

    static void Hold(ManualResetEvent ready, ManualResetEvent release)
    {
        var local = new K.Local();
        K.Pub.Own = new K.Own();
        ready.Set();
        release.WaitOne();
        GC.KeepAlive(local);
    }

    static void Facts()
    {
        foreach (var type in new[] { typeof(K.Shape), typeof(K.Child), typeof(K.Inner), typeof(K.Laid), typeof(K.Item) })
            SayType(type);
        SayOffsets();
        Case.OnEndedThread(MakeObjects);
        Case.OnEndedThread(MakeHandles);
        Case.OnEndedThread(() => SayMoved("before"));
        var domain = AppDomain.CreateDomain("k-second");
        ((K.Far)domain.CreateInstanceAndUnwrap(typeof(K.Far).Assembly.FullName, "K.Far")).Fill();
        var ready = new ManualResetEvent(false);
        var release = new ManualResetEvent(false);
        var thread = new Thread(() => Hold(ready, release)) { Name = "k-worker" };
        thread.Start();
        ready.WaitOne();
        Case.CollectTwice();
        Case.OnEndedThread(() => SayMoved("after"));
        release.Set();
        thread.Join();
    }

    static void Handles(int n)
    {
        var target = new object();
        for (int i = 0; i < n; i++) GCHandle.Alloc(target).Free();
        Console.WriteLine("made " + n);
        Console.ReadLine();
    }

    static void LongName(int n)
    {
        var name = new System.Text.StringBuilder("K.");
        for (int i = 0; name.Length < n; i++) name.Append('N').Append(i);
        name.Length = n;
        var assembly = AppDomain.CurrentDomain.DefineDynamicAssembly(new AssemblyName("Made"), AssemblyBuilderAccess.Run);
        var type = assembly.DefineDynamicModule("Made").DefineType(name.ToString(), TypeAttributes.Public);
        K.Pub.Long = Activator.CreateInstance(type.CreateType());
        GC.Collect();
    }

    static int Main(string[] args)
    {
        switch (Case.Name(args))
        {
            case "facts": Facts(); return Case.Done();
            case "handles": Handles(Case.Number(args, 1, 1000)); return Case.Done();
            case "name": LongName(Case.Number(args, 1, 100000)); return Case.Done();
            default: return Case.Unknown(Case.Name(args));
        }
    }
}
