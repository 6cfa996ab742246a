# SPDX-License-Identifier: MIT
"""Snapshots of the wasm module at the limit of linear memory: filled with large arrays,
which ends in an OutOfMemoryException, and with small objects, which ends the runtime."""
from wasm import *
from browser import page
from checks import of_node

MB = 1 << 20
SIZES = (64, 128)
# Takes minutes.
LARGEST = 2048


def link_of(megabytes):
    return ("--fast", "--memory", str(megabytes * MB))


def fill(directory, runtime, megabytes, what, options, play):
    """Fills memory; returns what the scenario told, and the snapshots in the recording."""
    # A short name: Chromium makes a socket below it.
    place = os.path.join(directory, str(len(os.listdir(directory))))
    os.mkdir(place)
    result = play(place, "fill", runtime, what, options + ",quiet", status=None, link=link_of(megabytes))
    path = os.path.join(place, "a.hs")
    # The program goes on, or is dead: the recording has no end.
    check_file(path, verify=(INCOMPLETE, OK))
    taken = snapshots(path, status=(OK, INCOMPLETE))
    assert all(each["complete"] for each in taken), taken
    # At each frame of a snapshot: its kind, sbrk(0), the size of the memory, what malloc gave.
    with open(os.path.join(place, "seen")) as file:
        seen = [json.loads(line) for line in file]
    begins = [at for at, frame in enumerate(seen) if frame[0] == 3]
    assert len(begins) == len(taken), (seen, taken)
    for first, last in zip(begins, begins[1:] + [len(seen)]):
        assert last - first >= 3 and len({tuple(frame[1:]) for frame in seen[first:last]}) == 1, seen[first:last]
    return result, path, taken, seen[begins[0]][1] / (megabytes * MB) if begins else 0


def generations(path):
    """Of the collections that the snapshots stand on."""
    return [line["generation"] for line in map(json.loads, heapshot("dump", path).out.splitlines())
            if line["record"] == "snapshot_begin"]


def is_said_to_be_minor(path, number=1):
    """By the list for people, which is what tells them that dead objects may be among the living."""
    return "snapshot %d: of a minor collection: old objects may be in it that nothing holds" % number in heapshot("list", path).out


def large(directory, runtime, megabytes, play=node):
    # Large arrays may pass the share without a collection; there may be a snapshot at it, and there is one at the end.
    for block, options in ((MB, "snapshot=oom"), (MB, "snapshot=oom,at=75%"), (16 * MB, "snapshot=oom")):
        result, path, taken, share = fill(directory, runtime, megabytes, block, options, play)
        triggers = [each["trigger"] for each in taken]
        assert triggers == ["oom"] or (triggers == ["at", "oom"] and "at" in options), taken
        # The snapshot comes first: afterwards the interpreter of 9.0 may lack memory for the program's handler.
        n = result.get("n", 1)
        assert n >= 1, result
        blocks = sum(row["bytes"] for row in top(path) if row["type"] == "System.Byte[]")
        assert blocks >= n * block, (blocks, result)
        line = graph(path)[-1]
        # What the collector finds on the stack is pinned, and not reported as a root.
        assert line["roots"] > 0 and line["objects"] - line["reached"] <= 16, line
        assert generations(path)[-1] == 1 and not is_said_to_be_minor(path, len(taken))
        note("%d MB, arrays of %d MB: %d arrays, %s at %.0f %% of memory" % (
            megabytes, block // MB, n, " and ".join(triggers), 100 * share))


def small(directory, runtime, megabytes, play=node):
    result, path, taken, share = fill(directory, runtime, megabytes, "small", "snapshot=oom,at=75%", play)
    # No exception comes; without `at` there would be nothing.
    assert [each["trigger"] for each in taken] == ["at"], (taken, result)
    # The chain itself makes most of the heap: a node, its string, its array.
    n = count_of(path, "T.Node")
    assert n * 3 > 0.9 * taken[0]["objects"], (n, taken)
    line, = graph(path)
    # Minor collections report roots as well, and they lead to all but what died since the last full one.
    assert line["roots"] >= 100 and line["reached"] > 0.99 * line["objects"], line
    generation, = generations(path)
    assert is_said_to_be_minor(path) == (generation == 0), generation
    assert 0.75 <= share < 0.97, share
    note("%d MB, small objects: %d objects, %.2f %% reached, %d roots, %s collection, at %.0f %% of memory" % (
        megabytes, line["objects"], 100 * line["reached"] / line["objects"], line["roots"],
        "full" if generation else "minor", 100 * share))


def goes_on(directory, runtime, play=node):
    """After the exception, with memory still full; asked for from JavaScript."""
    block = MB
    result = play(directory, "full", runtime, block, link=link_of(64))
    assert result["n"] >= 5 and result["length"] == 64 * MB, result
    assert result["taken"] == [2, 3, 4, 5] and result["said"] == [], result
    path = os.path.join(directory, "a.hs")
    check_file(path)
    of_blocks = [sum(row["bytes"] for row in top(path, number) if row["type"] == "System.Byte[]") for number in (2, 3, 4)]
    assert of_blocks[0] == of_blocks[1] > result["n"] * block, of_blocks
    assert of_blocks[2] < MB, of_blocks
    of_node(path, 5, 1000)
    all_reached(path)


LARGE = "%d MB full of large arrays: an OutOfMemoryException is thrown, and snapshot=oom takes one then"
SMALL = "%d MB full of small objects: the runtime ends, and at=75%% has taken one before"
for megabytes in SIZES + (LARGEST,):
    for title, check in ((LARGE, large), (SMALL, small)):
        @on_each(title % megabytes)
        def in_node(directory, runtime, check=check, megabytes=megabytes):
            if megabytes == LARGEST:
                long_only()
            check(directory, runtime, megabytes)


# One of each kind, and of each runtime.
@test("in Chromium, " + LARGE % 64 + " (.NET 10.0)")
def large_in_chromium(directory):
    large(directory, "10.0", 64, page)


@test("in Chromium, " + SMALL % 128 + " (.NET 9.0)")
def small_in_chromium(directory):
    small(directory, "9.0", 128, page)


# The interpreter of 9.0 finds no memory there for the methods that it goes on with, and ends.
@test("the program goes on after an OutOfMemoryException, and snapshots are taken while memory is full (.NET 10.0)")
def full(directory):
    goes_on(directory, "10.0")


main()
