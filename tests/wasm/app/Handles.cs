// SPDX-License-Identifier: MIT
// Objects that JavaScript holds of the program's, and the other way round; each of a
// type of its own, so that a test can tell which is which.
using System;
using System.Collections.Generic;
using System.Runtime.InteropServices;
using System.Runtime.InteropServices.JavaScript;

namespace T
{
    public class Given0 { }
    public class Given1 { }
    public class Given2 { }
    public class Given3 { }
    public class Given4 { }

    // Holds an object of JavaScript's.
    public class Holder
    {
        public JSObject What;
    }
    public class Holder0 : Holder { }
    public class Holder1 : Holder { }
    public class Holder2 : Holder { }

    public partial class Handles
    {
        static readonly List<Holder> holders = new List<Holder>();
        static GCHandle beside;

        // NUMBER from 0 to 4; is_held: by a handle of the program's, too.
        [JSExport]
        [return: JSMarshalAs<JSType.Any>]
        internal static object Give(int number, bool isHeld)
        {
            object[] given = { new Given0(), new Given1(), new Given2(), new Given3(), new Given4() };
            if (isHeld)
                beside = GCHandle.Alloc(given[number]);
            return given[number];
        }

        [JSExport]
        internal static void Hold(int number, JSObject what)
        {
            Holder[] made = { new Holder0(), new Holder1(), new Holder2() };
            made[number].What = what;
            holders.Add(made[number]);
        }

        [JSExport]
        internal static void Dispose()
        {
            foreach (Holder holder in holders)
                holder.What.Dispose();
        }
    }
}
