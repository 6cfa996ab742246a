# SPDX-License-Identifier: MIT
"""The wasm module in .NET's browser-wasm runtimes in headless Chromium: what
test_node.py has in node, and what is recorded there is exported."""
import checks
from wasm import *
from browser import page

sys.path.insert(0, os.path.join(HERE, "..", "export"))
import gcdump  # noqa: E402
import heapsnapshot  # noqa: E402
import mono_heap  # noqa: E402


def exported(directory, path, form):
    out = os.path.join(directory, "out." + form)
    result = heapshot("export", "--format", form, "-o", out, "--overwrite", path)
    assert result.status == OK, result.err
    with open(out, "rb") as file:
        return file.read()


def sums(rows):
    """{type: (objects, bytes)} of (type, bytes) for each object."""
    found = {}
    for name, size in rows:
        count, total = found.get(name, (0, 0))
        found[name] = count + 1, total + size
    return found


def exports(directory, runtime, play):
    result = play(directory, "three", runtime, 5000)
    assert result["taken"] == [1, 2, 3], result
    path = os.path.join(directory, "a.hs")
    expected = {}
    for row in top(path, 3):
        count, total = expected.get(row["type"], (0, 0))
        expected[row["type"]] = count + row["count"], total + row["bytes"]
    assert expected["T.Node"] == (15000, 15000 * NODE_BYTES), expected["T.Node"]
    assert sums((node.name, node.size) for node in heapsnapshot.parse(exported(directory, path, "heapsnapshot").decode())
                if node.type != "synthetic") == expected
    dump = gcdump.parse(exported(directory, path, "gcdump"))
    assert sums((dump.types[node.type][0], node.size) for node in dump.nodes if node.address) == expected
    heap = mono_heap.parse(exported(directory, path, "mono-heap"))
    found = sums((mono_heap.full_name(heap, heap.classes[kind]), size) for kind, size in heap.objects.values())
    assert found["T.Node"] == expected["T.Node"], found["T.Node"]
    assert [sum(column) for column in zip(*found.values())] == [sum(column) for column in zip(*expected.values())]


# The other way round than test_node.py, which runs beside: so what each needs first is made by both at once.
for runtime in RUNTIMES[::-1]:
    for title, check in checks.ANYWHERE + (("what was recorded is read by the formats' checkers when exported", exports),):
        test("%s (.NET %s)" % (title, runtime))(
            lambda directory, check=check, runtime=runtime: check(directory, runtime, page))


main()
