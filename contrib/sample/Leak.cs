// SPDX-License-Identifier: MIT
// A shop that forgets to forget: every order served stays in a cache that only
// grows.  `contrib/quickstart` records it and finds the cache.
using System;
using System.Collections.Generic;

namespace Shop
{
    class Customer
    {
        public string Name;
        public List<Order> Orders = new List<Order>();
    }

    class Order
    {
        public int Number;
        public Customer Customer;
        public byte[] Receipt = new byte[400];
    }

    static class Cache
    {
        // Orders are kept "for a moment"; nothing ever takes them out.
        static Order[] entries = new Order[16];
        static int count;

        public static void Add(Order order)
        {
            if (count == entries.Length) Array.Resize(ref entries, 2 * count);
            entries[count++] = order;
        }
    }

    static class Program
    {
        static void Serve(int number)
        {
            var customer = new Customer { Name = "customer " + number };
            var order = new Order { Number = number, Customer = customer };
            customer.Orders.Add(order);
            Cache.Add(order);
        }

        static void Main()
        {
            for (int number = 0; number < 50000; number++) Serve(number);
            Console.WriteLine("served 50000 orders");
        }
    }
}
