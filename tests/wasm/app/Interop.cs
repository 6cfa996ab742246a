// SPDX-License-Identifier: MIT
// What C# and JavaScript hold of each other, for the tables of heapshot.mjs.
using System;
using System.Collections.Generic;
using System.Runtime.InteropServices.JavaScript;
using System.Threading.Tasks;

namespace T
{
    public class Payload
    {
        public int Number;
    }

    public class Linked
    {
        public Linked Other;
    }

    public partial class Interop
    {
        static Linked[] linked;
        static readonly List<JSObject> held = new List<JSObject>();
        static readonly List<Task> awaited = new List<Task>();
        static readonly List<TaskCompletionSource<int>> pending = new List<TaskCompletionSource<int>>();
        static byte[] bytes = new byte[64];
        static int called;

        // C# objects that JavaScript gets.

        [JSExport]
        [return: JSMarshalAs<JSType.Any>]
        internal static object GiveObject(int number)
        {
            return new Payload { Number = number };
        }

        [JSExport]
        internal static int TakeObject([JSMarshalAs<JSType.Any>] object payload)
        {
            return ((Payload)payload).Number;
        }

        [JSExport]
        [return: JSMarshalAs<JSType.Function>]
        internal static Action GiveAction()
        {
            return () => called++;
        }

        [JSExport]
        [return: JSMarshalAs<JSType.Function<JSType.Number, JSType.Number>>]
        internal static Func<int, int> GiveFunc(int summand)
        {
            return number => number + summand;
        }

        [JSExport]
        internal static int Called()
        {
            return called;
        }

        [JSExport]
        [return: JSMarshalAs<JSType.MemoryView>]
        internal static ArraySegment<byte> GiveBytes()
        {
            return new ArraySegment<byte>(bytes);
        }

        [JSExport]
        internal static int SumOfBytes()
        {
            int sum = 0;
            foreach (byte value in bytes)
                sum += value;
            return sum;
        }

        [JSExport]
        internal static Task<int> GiveTask()
        {
            var source = new TaskCompletionSource<int>();
            pending.Add(source);
            return source.Task;
        }

        [JSExport]
        internal static void Settle(int value)
        {
            foreach (var source in pending)
                source.SetResult(value);
            pending.Clear();
        }

        [JSExport]
        internal static void Fail(string why)
        {
            throw new InvalidOperationException(why);
        }

        // JavaScript objects that C# gets.

        [JSExport]
        internal static void Hold(JSObject what)
        {
            held.Add(what);
        }

        // Whether the last two that are held are one object.
        [JSExport]
        internal static bool AreSame()
        {
            return ReferenceEquals(held[held.Count - 1], held[held.Count - 2]);
        }

        [JSExport]
        internal static JSObject GiveBack(JSObject what)
        {
            return what;
        }

        [JSExport]
        internal static JSObject GiveHeld(int index)
        {
            return held[index];
        }

        [JSExport]
        internal static void DisposeAll()
        {
            foreach (var what in held)
                what.Dispose();
            held.Clear();
        }

        [JSExport]
        internal static void DisposeLast()
        {
            held[held.Count - 1].Dispose();
            held.RemoveAt(held.Count - 1);
        }

        [JSExport]
        internal static void Drop()
        {
            held.Clear();
        }

        [JSExport]
        internal static string UseDisposed(JSObject what)
        {
            what.Dispose();
            try
            {
                return what.GetPropertyAsString("name");
            }
            catch (ObjectDisposedException)
            {
                return "disposed";
            }
        }

        // Passes through, and disposes: for what a round costs.
        [JSExport]
        internal static void CreateAndDispose(JSObject what)
        {
            what.Dispose();
        }

        [JSExport]
        internal static int Increment(JSObject what)
        {
            what.SetProperty("number", what.GetPropertyAsInt32("number") + 1);
            return what.GetPropertyAsInt32("number");
        }

        [JSExport]
        internal static string GlobalType()
        {
            return JSHost.GlobalThis.GetTypeOfProperty("setTimeout");
        }

        [JSExport]
        internal static void Await(Task<int> promise)
        {
            awaited.Add(promise);
        }

        [JSExport]
        internal static async Task<int> AwaitAndAdd(Task<int> promise, int summand)
        {
            return await promise + summand;
        }

        [JSExport]
        internal static async Task<string> AwaitFailure(Task<int> promise)
        {
            try
            {
                await promise;
                return "no failure";
            }
            catch (JSException error)
            {
                return error.Message;
            }
        }

        // A heap whose recording does not get small: each of N refers to any of them.
        [JSExport]
        internal static void Mix(int n)
        {
            uint random = 1;
            linked = new Linked[n];
            for (int i = 0; i < n; i++)
                linked[i] = new Linked();
            foreach (var each in linked)
            {
                random = random * 1664525 + 1013904223;
                each.Other = linked[(int)(random >> 2) % n];
            }
        }

        [JSExport]
        internal static void Collect()
        {
            for (int i = 0; i < 3; i++)
            {
                GC.Collect();
                GC.WaitForPendingFinalizers();
            }
        }
    }
}
