// SPDX-License-Identifier: MIT
// The causes that doc/my-program-grows.md lists, one of each.
using System;
using System.Collections.Generic;
using System.Reflection;
using System.Threading;

namespace C
{
    class Polled { public byte[] Data = new byte[1000]; public void Tick(object state) { } }
    class Node { public Node Next; public byte[] Data = new byte[100]; }
    class Listener { public byte[] Data = new byte[1000]; public void On(object sender, EventArgs e) { } }
    class PerThread { public byte[] Data = new byte[1000]; }

    static class Causes
    {
        [ThreadStatic] static PerThread mine;
        static event EventHandler Changed;
        static object alsoHeld;     // the list of handlers, as a word on a stack holds it by chance
        static Node chain;
        static object[] sparse;
        static readonly List<object> empty = new List<object>();
        static readonly List<string> equal = new List<string>();

        static void Make()
        {
            for (int i = 0; i < 5; i++) new Timer(new Polled().Tick, null, 1000000, 1000000);
            for (int i = 0; i < 2000; i++) chain = new Node { Next = chain };
            for (int i = 0; i < 2000; i++) empty.Add(new object[0]);
            for (int i = 0; i < 1000; i++) equal.Add(new string('x', 50));
            for (int i = 0; i < 1000; i++) String.Intern("interned " + i);
            for (int i = 0; i < 200; i++) Changed += new Listener().On;
            var list = typeof(MulticastDelegate).GetField("delegates", BindingFlags.Instance | BindingFlags.NonPublic);
            alsoHeld = list.GetValue(Changed);
            sparse = new object[50000];
            sparse[1] = "alone";
        }

        static void Main()
        {
            var maker = new Thread(Make);
            maker.Start();
            maker.Join();
            var isThere = new ManualResetEvent(false);
            var keeper = new Thread(() =>
            {
                mine = new PerThread();
                isThere.Set();
                Thread.Sleep(Timeout.Infinite);
            });
            keeper.Name = "Keeper";
            keeper.IsBackground = true;
            keeper.Start();
            isThere.WaitOne();
            // A stack holds the list's array too, by a shorter way than the field does.
            var items = typeof(List<object>).GetField("_items", BindingFlags.Instance | BindingFlags.NonPublic).GetValue(empty);
            GC.Collect();
            GC.KeepAlive(items);
            Case.Done();
        }
    }
}
