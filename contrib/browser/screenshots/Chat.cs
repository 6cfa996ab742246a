// SPDX-License-Identifier: MIT
// A chat server that forgets to say goodbye: a feed listens to the lobby as long
// as its session lasts, and longer.  The screenshots of `heapshot report` show it.
using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;
using System.Text;
using System.Threading;

namespace Chat
{
    class Message
    {
        public User From;
        public string Text;
        public DateTime At;
    }

    class User
    {
        public string Name;
        public Dictionary<string, string> Settings = new Dictionary<string, string>();
    }

    class Room
    {
        public string Name;
        public List<User> Members = new List<User>();
        public Queue<Message> History = new Queue<Message>();

        public void Post(Message message)
        {
            History.Enqueue(message);
            if (History.Count > 400) History.Dequeue();
            Lobby.Tell(message);
        }
    }

    // Shows a user what was said since the last look.
    class Feed
    {
        public readonly User User;
        public readonly byte[] Page = new byte[1500];
        readonly List<Message> unread = new List<Message>();

        public Feed(User user)
        {
            User = user;
            Lobby.Posted += OnPosted; // and never taken off
        }

        void OnPosted(object sender, EventArgs args)
        {
            if (unread.Count < 8) unread.Add((Message)sender);
        }
    }

    static class Lobby
    {
        public static event EventHandler Posted;
        public static readonly Dictionary<string, Room> Rooms = new Dictionary<string, Room>();

        public static void Tell(Message message)
        {
            if (Posted != null) Posted(message, EventArgs.Empty);
        }
    }

    class Session : IDisposable
    {
        public User User;
        public Feed Feed;
        public static readonly ConditionalWeakTable<User, StringBuilder> Drafts =
            new ConditionalWeakTable<User, StringBuilder>();

        public void Dispose() { Feed = null; }
    }

    // Pages that were drawn: bounded, as it should be.
    static class PageCache
    {
        static readonly Dictionary<string, byte[]> pages = new Dictionary<string, byte[]>();

        public static void Draw(string name)
        {
            if (pages.Count >= 300) pages.Clear();
            pages[name] = new byte[8000];
        }
    }

    static class Program
    {
        static readonly List<Session> sessions = new List<Session>();

        static void Serve(int number, Random random)
        {
            var user = new User { Name = "user " + number };
            user.Settings["language"] = "lang-" + number % 7;
            user.Settings["theme"] = new string('x', 30 + number % 5);
            var room = Lobby.Rooms["room " + random.Next(20)];
            var session = new Session { User = user, Feed = new Feed(user) };
            sessions.Add(session);
            room.Members.Add(user);
            for (int i = 0; i < 3; i++)
                room.Post(new Message { From = user, Text = "message " + number + "." + i + new string('.', random.Next(60)), At = DateTime.Now });
            Session.Drafts.GetOrCreateValue(user).Append("draft of " + user.Name);
            PageCache.Draw("page " + random.Next(2000));
            if (sessions.Count > 120)
            {
                var old = sessions[0];
                sessions.RemoveAt(0);
                foreach (var one in Lobby.Rooms.Values) one.Members.Remove(old.User);
                old.Dispose();
            }
        }

        static void Main(string[] arguments)
        {
            var random = new Random(7);
            for (int i = 0; i < 20; i++) Lobby.Rooms["room " + i] = new Room { Name = "room " + i };
            int number = 0;
            for (int phase = 1; phase <= 6; phase++)
            {
                for (; number < phase * 500; number++) Serve(number, random);
                Thread.Sleep(100);
                Heapshot.Take("after " + number + " sessions");
            }
            Console.WriteLine("served " + number + " sessions");
        }
    }
}
