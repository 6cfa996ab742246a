# SPDX-License-Identifier: MIT
"""The causes that doc/my-program-grows.md lists look as it says (tests/mono/Causes.cs)."""
from harness import *


class Recorded:
    """A recording of the program, made once."""
    folder = path = None

    @classmethod
    def get(cls):
        if cls.path is None:
            cls.folder = tempfile.TemporaryDirectory(prefix="hs-causes.")
            path = os.path.join(cls.folder.name, "a.hs")
            result = run(["mono", "--profile=heapshot:output=%s,quiet,snapshot=gc,strings=100" % path,
                          compiled("Causes")], timeout=60)
            assert result.status == 0 and not result.err, result.err
            cls.path = path
        return cls.path


def path_to(type_name):
    paths = read_json("path", Recorded.get(), type_name, "--exclude", "stack")["paths"]
    return max(paths, key=lambda path: path["count"])["text"]


def leak(kind, type_name):
    data = read_json("leaks", Recorded.get())
    rows = [row for row in data["suspects"] + data["waste"] if row["kind"] == kind and row["type"] == type_name]
    assert len(rows) == 1, (kind, type_name, [row["text"] for row in data["suspects"] + data["waste"]])
    return rows[0]


@test("a timer that was not disposed is on the path")
def timer(directory):
    assert path_to("C.Polled").startswith("static System.Threading.Timer"), path_to("C.Polled")


@test("what a thread keeps is held by thread_static, with the thread's name")
def thread_static(directory):
    assert path_to("C.PerThread").startswith("thread_static Keeper slot "), path_to("C.PerThread")


@test("a chain is a structure")
def structure(directory):
    row = leak("structure", "C.Node")
    assert 1990 <= row["count"] <= 2000 and row["path"]["text"].startswith("static C.Causes.chain -> "), row


@test("an event whose list something else holds too has the bytes of its list")
def event(directory):
    row = leak("event", "C.Listener")
    assert row["count"] == 200 and row["bytes"] > 200 * 1000, row
    assert "static C.Causes.Changed, whose list, which something else holds too, retains " in row["text"], row


@test("sparse arrays, empty arrays, equal strings are waste, and the path is the program's")
def waste(directory):
    row = leak("sparse", "System.Object[]")
    assert row["path"]["text"] == "static C.Causes.sparse -> System.Object[]", row
    # The framework has an empty array of this type too, which is not what the program wastes; and a stack
    # holds the list's array, which explains less than the field does.
    row = leak("empty", "System.Object[]")
    assert row["count"] >= 2000 and row["path"]["text"].startswith("static C.Causes.empty -> "), row
    row = leak("strings", "System.String")
    assert "xxxxxxxx" in row["text"] and row["path"]["text"].startswith("static C.Causes.equal -> "), row


@test("interned strings are held by domain")
def interned(directory):
    found = read_json("find", Recorded.get(), "--string", "interned *", "--root-kind", "domain")
    assert found["found"] >= 1000, found["found"]


main()
