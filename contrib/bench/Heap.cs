// SPDX-License-Identifier: MIT
//
// Heaps to measure: `Heap.exe KIND OBJECTS SEED`.
//
//   mix    what programs have: dictionaries of lists, boxed numbers, delegates,
//          closures, strings, arrays of structs; thrown away in part and filled
//          again, so that objects lie in slots of others
//   list   a linked list, a string and an int[] a link
//   nulls  instances with 24 fields, each null or not at random
//   churn  a small heap and much garbage: collections without end of the nursery
//   idle   nothing
//
// The same arguments make the same heap.  The program answers each line of its
// input: "collect" by a full collection, an empty line by its end.
using System;
using System.Collections.Generic;
using System.Threading;

namespace Bench
{
    public struct Entry
    {
        public int Number;
        public string Name;
        public object Target;
    }

    public class Node
    {
        public Node Next, Parent;
        public object Value;
        public int Number;
    }

    public class Link
    {
        public Link Next;
        public string Text;
        public int[] Numbers;
    }

    public class Nulls
    {
        public object A0, A1, A2, A3, A4, A5, A6, A7, A8, A9, A10, A11;
        public object B0, B1, B2, B3, B4, B5, B6, B7, B8, B9, B10, B11;
    }

    public class Mix
    {
        readonly Random random;
        readonly List<Dictionary<string, List<object>>> groups = new List<Dictionary<string, List<object>>>();
        int made;

        public Mix(int seed)
        {
            random = new Random(seed);
        }

        object Value(Node parent)
        {
            made++;
            switch (random.Next(10))
            {
            case 0:
                return random.Next();
            case 1:
                return random.NextDouble();
            case 2:
                return "value " + random.Next(100000);
            case 3:
                made++;
                int captured = random.Next();
                return new Func<int>(() => captured + (parent == null ? 0 : parent.Number));
            case 4:
                return new Action(Nothing);
            case 5:
                var entries = new Entry[random.Next(1, 9)];
                for (int i = 0; i < entries.Length; i++)
                    entries[i] = new Entry { Number = i, Name = "entry", Target = parent };
                return entries;
            case 6:
                return new byte[random.Next(200)];
            default:
                return new Node { Parent = parent, Next = parent == null ? null : parent.Next, Number = made };
            }
        }

        void Nothing()
        {
        }

        Dictionary<string, List<object>> Group(int number)
        {
            var group = new Dictionary<string, List<object>>();
            var parent = new Node { Number = number };
            int n = random.Next(4, 40);

            made += 4;
            for (int i = 0; i < n; i++)
            {
                var list = new List<object>();
                int values = random.Next(0, 24);
                for (int j = 0; j < values; j++)
                {
                    object value = Value(parent);
                    list.Add(value);
                    if (value is Node && random.Next(2) == 0)
                        parent = (Node)value;
                }
                group["key " + number + "." + i] = list;
                made += 3;
            }
            return group;
        }

        public void Fill(int objects)
        {
            while (made < objects)
                groups.Add(Group(groups.Count));
            // A third goes, at random places; others come to where it was.
            for (int round = 0; round < 2; round++)
            {
                int before = made;
                for (int i = 0; i < groups.Count; i++)
                    if (random.Next(3) == 0)
                        groups[i] = null;
                GC.Collect();
                for (int i = 0; i < groups.Count; i++)
                    if (groups[i] == null)
                        groups[i] = Group(i);
                made = before;
            }
        }
    }

    public static class Program
    {
        static object root;

        static void Lists(int objects)
        {
            Link first = null;
            for (int i = 0; i < objects / 3; i++)
                first = new Link { Next = first, Text = i.ToString(), Numbers = new int[i % 8] };
            root = first;
        }

        static void Adversary(int objects, int seed)
        {
            var random = new Random(seed);
            var all = new Nulls[objects];
            var target = new object();
            for (int i = 0; i < objects; i++)
            {
                int bits = random.Next(1 << 24);
                Func<int, object> field = bit => (bits >> bit & 1) != 0 ? target : null;
                all[i] = new Nulls {
                    A0 = field(0), A1 = field(1), A2 = field(2), A3 = field(3), A4 = field(4), A5 = field(5),
                    A6 = field(6), A7 = field(7), A8 = field(8), A9 = field(9), A10 = field(10), A11 = field(11),
                    B0 = field(12), B1 = field(13), B2 = field(14), B3 = field(15), B4 = field(16), B5 = field(17),
                    B6 = field(18), B7 = field(19), B8 = field(20), B9 = field(21), B10 = field(22), B11 = field(23)
                };
            }
            root = all;
        }

        static void Churn(int objects)
        {
            var kept = new object[1000];
            for (int i = 0; i < objects; i++)
                kept[i % 1000] = new Node { Value = kept[(i + 1) % 1000] is Node ? null : kept, Number = i };
            root = kept;
        }

        static void Build(string kind, int objects, int seed)
        {
            switch (kind)
            {
            case "mix":
                var mix = new Mix(seed);
                mix.Fill(objects);
                root = mix;
                break;
            case "list":
                Lists(objects);
                break;
            case "nulls":
                Adversary(objects, seed);
                break;
            case "churn":
                Churn(objects);
                break;
            case "idle":
                break;
            default:
                throw new ArgumentException("unknown kind of heap: " + kind);
            }
        }

        public static int Main(string[] args)
        {
            // On a thread of its own, so that no stack holds parts of the heap.
            var thread = new Thread(() => Build(args[0], int.Parse(args[1]), int.Parse(args[2])), 1 << 20);
            thread.Start();
            thread.Join();
            Console.WriteLine("ready");
            for (string line = Console.ReadLine(); !string.IsNullOrEmpty(line); line = Console.ReadLine())
            {
                GC.Collect();
                Console.WriteLine("collected");
            }
            return root == null && args[0] != "idle" ? 1 : 0;
        }
    }
}
