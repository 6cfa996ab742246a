# SPDX-License-Identifier: MIT
"""Names of types: generic, nested, arrays, pointers, made at run time, and those
that were there before the runtime was."""
import os

from harness import *

EXPECTED = {
    "T.Plain": 3, "T.Outer.Inner": 4, "T.Outer.Value": 5, "T.Outer.Colour": 6, "T.Of<System.Int32>": 7,
    "T.Of.In<T.Plain,System.String>": 8, "T.Of.In.Deep<T.Of<System.Object>,T.Plain[]>": 9,
    "T.Plain[,]": 10, "T.Plain[][]": 11, "T.Pair<System.Int32,T.Plain>[]": 13,
    "T.Outer.Number*[]": 14, "NoNamespace": 15, "T.\u00dcber": 16, "T.Change<T.Plain>": 17,
    "System.Collections.Generic.Dictionary<T.Plain,T.Outer.Inner>": 18,
    "T.Of<T.Pair<System.Int64,T.Outer.Colour>>": 19, "T.Of<System.Nullable<System.Int32>>": 20,
    "T.Made.AtRunTime": 21, "T.Made.AtRunTime[]": 22,
}
# Loaded before the runtime says that it is initialised.
EARLY = ("System.String", "System.Object", "System.RuntimeType", "System.AppDomain", "System.Threading.Thread",
         "System.OutOfMemoryException", "System.Object[]", "System.Byte[]", "System.Int32[]")


def recording(directory):
    path = os.path.join(directory, "a.hs")
    result = run(["mono", "--profile=heapshot:output=%s,snapshot=gc,quiet" % path, compiled("Names")], cwd=directory)
    assert result.status == 0 and result.err == "", result.err
    check_file(path)
    return path


@test("names of generic, nested, array, pointer and dynamic types")
def exact_names(directory):
    types = top(recording(directory))
    seen = {}
    for row in types:
        seen[plain_name(row["type"])] = seen.get(plain_name(row["type"]), 0) + row["count"]
    wrong = ["%s: %s, not %d" % (name, seen.get(name), count) for name, count in EXPECTED.items()
             if seen.get(name) != count]
    assert not wrong, "\n".join(wrong) + "\nseen: " + "\n".join(sorted(
        name for name in seen if name.startswith("T."))) 
    jagged = [name for name, count in seen.items() if count == 12 and name.startswith("T.Plain[")]
    assert jagged, "T.Plain[,,][,] is not there"


@test("every type has a name and an assembly, those loaded early too")
def no_type_without_name(directory):
    path = recording(directory)
    rows = top(path)
    names = {row["type"] for row in rows}
    for name in EARLY:
        assert name in names, "%s is not there" % name
    for row in rows:
        assert row["type"] and "?" not in row["type"] and not row["type"].startswith(("#", "<")), row
        assert row["assembly"], row
    assembly = {row["type"]: row["assembly"] for row in rows}
    assert assembly["System.String"] == "mscorlib" and assembly["T.Plain"] == "Names"
    assert len(names) == len({(row["type"], row["assembly"]) for row in rows})


@test("roots of static fields carry the field's name, others that of the runtime")
def root_names(directory):
    path = recording(directory)
    held = {(row["kind"], row["name"], row["type"]) for row in roots(path)}
    assert any(kind == "static" and name == "T.Pub.All" for kind, name, _ in held), sorted(held)[:40]
    for kind, name, type_name in held:
        assert kind and type_name, (kind, name, type_name)
        if kind in ("static", "domain", "thread_static", "gc_handle", "stack"):
            assert name, (kind, name, type_name)


main()
