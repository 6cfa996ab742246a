// SPDX-License-Identifier: MIT
// The program of the documents' tables: two snapshots, the second with more; then it stays if it is told to.
using System;
using System.Threading;

namespace MyApp
{
    class Handler
    {
        byte[] payload = new byte[1000];
        public void On(object sender, EventArgs e) { payload = null; }
    }

    static class Bus
    {
        public static event EventHandler Changed;
        public static void Subscribe() { Changed += new Handler().On; }
    }

    static class Program
    {
        static string text = "after login";

        static void Main(string[] arguments)
        {
            for (int round = 0; round < 2; round++)
            {
                for (int i = 0; i < 200; i++) Bus.Subscribe();
                GC.Collect();
            }
            Console.WriteLine(text);
            if (arguments.Length > 0) Thread.Sleep(Timeout.Infinite);
        }
    }
}
