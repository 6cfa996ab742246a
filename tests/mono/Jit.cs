// SPDX-License-Identifier: MIT
// Compiles methods of every sort and prints what reflection knows of them, one
// a line: name, token, MVID, bytes and FNV-1a hash of the IL, address of the code.
using System;
using System.Collections.Generic;
using System.Linq;
using System.Reflection;
using System.Reflection.Emit;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Threading;

namespace T
{
    class Of<X>
    {
        X kept;
        public X Keep(X what) { kept = what; return kept; }
        public static int Hash<Y>(Y what) { return what.GetHashCode(); }
    }

    class Outer
    {
        public class Inner
        {
            [MethodImpl(MethodImplOptions.NoInlining)]
            public static long Mix(long a, int b) { return a * 31 + b; }
        }
    }
}

static class Jit
{
    [DllImport("libc")]
    static extern int getpid();
    [DllImport("libc")]
    static extern int raise(int signal);

    static ulong Hash(byte[] bytes)
    {
        ulong hash = 0xcbf29ce484222325;
        foreach (byte one in bytes) hash = unchecked((hash ^ one) * 0x100000001b3);
        return hash;
    }

    static void Tell(string name, MethodBase method)
    {
        byte[] il = method.GetMethodBody().GetILAsByteArray();
        Console.WriteLine("method\t{0}\t{1}\t{2}\t{3}\t{4}\t{5}", name, method.MetadataToken,
            method.Module.ModuleVersionId.ToString().ToUpperInvariant(), il.Length, Hash(il),
            method.MethodHandle.GetFunctionPointer().ToInt64());
    }

    const BindingFlags All = BindingFlags.Static | BindingFlags.Instance | BindingFlags.Public | BindingFlags.NonPublic;

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Plain(int a, string b, ref double c) { c += a; return b.Length + a; }

    static DynamicMethod MakeDynamic(string name, int number)
    {
        var method = new DynamicMethod(name, typeof(int), new[] { typeof(int) }, typeof(Jit).Module);
        var il = method.GetILGenerator();
        il.Emit(OpCodes.Ldarg_0);
        il.Emit(OpCodes.Ldc_I4, number);
        il.Emit(OpCodes.Add);
        il.Emit(OpCodes.Ret);
        return method;
    }

    static int CallDynamic(string name, int number)
    {
        return ((Func<int, int>)MakeDynamic(name, number).CreateDelegate(typeof(Func<int, int>)))(1);
    }

    // A type of an assembly that exists in memory only, with a body of STEPS times nine bytes.
    static MethodInfo Emit(int steps)
    {
        var assembly = AppDomain.CurrentDomain.DefineDynamicAssembly(new AssemblyName("Emitted"), AssemblyBuilderAccess.Run);
        var type = assembly.DefineDynamicModule("Emitted").DefineType("E.Large", TypeAttributes.Public);
        var method = type.DefineMethod("Body", MethodAttributes.Public | MethodAttributes.Static, typeof(int), new[] { typeof(int) });
        var il = method.GetILGenerator();
        for (int i = 0; i < steps; i++)
        {
            il.Emit(OpCodes.Ldarg_0);
            il.Emit(OpCodes.Ldc_I4, i * 7919 + 1000);
            il.Emit(OpCodes.Xor);
            il.Emit(OpCodes.Starg_S, (byte)0);
        }
        il.Emit(OpCodes.Ldarg_0);
        il.Emit(OpCodes.Ret);
        return type.CreateType().GetMethod("Body");
    }

    static void Truth()
    {
        double number = 1;
        Plain(1, "a", ref number);
        T.Outer.Inner.Mix(1, 2);
        new T.Of<int>().Keep(1);
        new T.Of<string>().Keep("a");
        T.Of<string>.Hash<long>(5);
        T.Of<object>.Hash<string>("a");
        Func<int, int> lambda = x => x * 3;
        lambda(1);
        getpid();
        Tell("Jit:Plain", typeof(Jit).GetMethod("Plain", All));
        Tell("T.Outer/Inner:Mix", typeof(T.Outer.Inner).GetMethod("Mix"));
        Tell("T.Of`1<int>:Keep", typeof(T.Of<int>).GetMethod("Keep"));
        Tell("T.Of`1<string>:Keep", typeof(T.Of<string>).GetMethod("Keep"));
        Tell("T.Of`1<string>:Hash<long>", typeof(T.Of<string>).GetMethod("Hash").MakeGenericMethod(typeof(long)));
        Tell("lambda", lambda.Method);
        // The framework may be compiled ahead of time.
        Tell("System.Threading.Thread:SetStart", typeof(Thread).GetMethods(All).First(m => m.Name == "Start" && m.GetParameters().Length == 0));
        for (int i = 0; i < 3; i++) Console.WriteLine("dynamic\tmade{0}\t{1}", i, CallDynamic("made" + i, i));
        var large = Emit(6000);
        Console.WriteLine("large\t{0}", large.Invoke(null, new object[] { 1 }));
    }

    // Prints memory on request, so that what was recorded can be compared with it.
    static unsafe void Serve()
    {
        string line;
        Console.WriteLine("ready");
        while ((line = Console.ReadLine()) != null)
        {
            string[] words = line.Split(' ');
            byte* at = (byte*)long.Parse(words[0]);
            var text = new System.Text.StringBuilder();
            for (int i = 0; i < int.Parse(words[1]); i++) text.Append(at[i].ToString("x2"));
            Console.WriteLine(text);
        }
    }

    static void Threads(int threads, int methods)
    {
        var started = new List<Thread>();
        int sum = 0;
        for (int t = 0; t < threads; t++)
        {
            int number = t;
            var thread = new Thread(() =>
            {
                for (int i = 0; i < methods; i++) Interlocked.Add(ref sum, CallDynamic("of" + number + "_" + i, i));
            });
            thread.Start();
            started.Add(thread);
        }
        foreach (var thread in started) thread.Join();
        Console.WriteLine("sum {0}", sum);
    }

    public static void InDomain()
    {
        T.Outer.Inner.Mix(3, 4);
        Console.WriteLine("domain\t{0}\t{1}", AppDomain.CurrentDomain.FriendlyName,
            typeof(T.Outer.Inner).GetMethod("Mix").MethodHandle.GetFunctionPointer().ToInt64());
    }

    static void Domains(int n)
    {
        InDomain();
        for (int i = 0; i < n; i++)
        {
            var domain = AppDomain.CreateDomain("second" + i);
            domain.DoCallBack(InDomain);
            AppDomain.Unload(domain);
        }
    }

    // Signal 0 does nothing.
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Crash(int depth, int signal)
    {
        if (depth > 0) Crash(depth - 1, signal);
        else raise(signal);
        GC.KeepAlive(depth);
    }

    static int Main(string[] args)
    {
        switch (Case.Name(args))
        {
            case "truth": Truth(); break;
            case "serve": Truth(); Serve(); break;
            case "large":
                for (int i = 0; i < Case.Number(args, 1, 10); i++) Emit(6000).Invoke(null, new object[] { i });
                Console.WriteLine("ready");
                Console.ReadLine();
                break;
            case "threads": Threads(Case.Number(args, 1, 8), Case.Number(args, 2, 100)); break;
            case "domains": Domains(Case.Number(args, 1, 3)); break;
            case "crash":
                Crash(3, 0);
                Console.WriteLine("ready");
                Console.ReadLine();
                Crash(3, 6);
                break;
            default: return Case.UsageError;
        }
        return Case.Done();
    }
}
