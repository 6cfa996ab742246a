// SPDX-License-Identifier: MIT
// A heap of so many MB that is written to, and replaced, all over, again and
// again: while the child of a snapshot reads its own copy of it.
using System;

namespace T
{
    class Page { public long[] Words; public Page Other; }
    static class Pub { public static Page[] Pages; }
}

class Written
{
    const int WordsOfPage = 500;

    static void Build(int count)
    {
        var pages = new T.Page[count];
        for (int i = 0; i < count; i++) pages[i] = new T.Page { Words = new long[WordsOfPage] };
        for (int i = 0; i < count; i++) pages[i].Other = pages[(i * 7919L + 1) % count];
        T.Pub.Pages = pages;
    }

    static long Write(int round)
    {
        T.Page[] pages = T.Pub.Pages;
        long sum = 0;
        for (int i = 0; i < pages.Length; i++)
        {
            T.Page page = pages[i];
            // New arrays in place of old ones, and other neighbours, so that every address that can change does.
            if (i % 5 == round % 5) page.Words = new long[WordsOfPage];
            page.Other = pages[(i * 104729L + round) % pages.Length];
            for (int word = 0; word < WordsOfPage; word += 50) page.Words[word] += round + i;
            sum += page.Words[(round % 10) * 50];
        }
        return sum;
    }

    static int Main(string[] args)
    {
        int pages = Case.Number(args, 0, 50) * 250, rounds = Case.Number(args, 1, 3);
        long sum = 0;

        Case.OnEndedThread(() => Build(pages));
        for (int round = 1; round <= rounds; round++)
        {
            GC.Collect();
            int now = round;
            Case.OnEndedThread(() => { for (int i = 0; i < 3; i++) sum += Write(now * 10 + i); });
        }
        Console.WriteLine("sum " + sum);
        return Case.Done();
    }
}
