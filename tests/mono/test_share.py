# SPDX-License-Identifier: MIT
"""Snapshots in the process that two threads write: the same as those of one."""
import os
import signal

from harness import *

SNAPSHOTS = 20
PROGRAM = "Snapshots.exe many %d 200000" % SNAPSHOTS
OPTIONS = "output=%s,snapshot=gc,fork=never,quiet"
WRITERS = os.path.join(MODULES, "libwriters.so")
REACH = os.path.join(BUILD, "tests", "mono", "reach")


def recorded_by(directory, name, before=(), preexec=None):
    """A recording, and how many frames of bodies the collecting thread and others wrote."""
    path, counts = os.path.join(directory, name + ".hs"), os.path.join(directory, name)
    result = run(mono_command(PROGRAM, OPTIONS % path), cwd=directory, preexec=preexec,
                 env={"LD_PRELOAD": WRITERS, "WRITERS": counts})
    assert_same(result, mono(PROGRAM))
    check_file(path)
    with open(counts) as file:
        return path, *map(int, file.read().split())


def figures(path):
    """What must be the same in two runs of the program."""
    types = [row for row in top(path) if row["type"].startswith("T.")]
    held = [row for row in roots(path) if row["type"].startswith("T.")]
    assert types and held
    return types, held


def ends(path):
    """What must be the same in all snapshots of an unchanged heap, and that all are whole."""
    records = map(json.loads, heapshot("dump", path).out.splitlines())
    found = [record for record in records if record["record"] == "snapshot_end"]
    assert len(found) == SNAPSHOTS and all(end["status"] == "complete" for end in found), found
    return [{name: end[name] for name in ("objects", "references", "bytes", "slot_bytes", "object_hash",
                                          "object_batches", "ephemeron_edges")} for end in found]


def judge(path):
    result = run([REACH, path])
    assert result.status == 0, result.err
    for line in map(json.loads, result.out.splitlines()):
        assert line["reached"] == line["objects"] == line["stated_objects"], line
        assert line["references"] == line["stated_references"] and line["dangling"] == 0, line


@test("with one processor and with two: the same totals")
def processors(directory):
    one = min(os.sched_getaffinity(0))
    alone, by_first, by_others = recorded_by(directory, "alone",
                                             preexec=lambda: os.sched_setaffinity(0, {one}))
    assert by_first >= SNAPSHOTS and by_others == 0, (by_first, by_others)
    judge(alone)
    if len(os.sched_getaffinity(0)) < 2:
        skip("there is one processor only")
    shared, by_first, by_others = recorded_by(directory, "shared")
    assert by_others > 0, (by_first, by_others)
    judge(shared)
    assert figures(shared) == figures(alone)


@test("one processor and two by turns, in one program: the same totals and hash")
def turns(directory):
    path = os.path.join(directory, "a.hs")
    every = os.sched_getaffinity(0)
    process = start(PROGRAM, OPTIONS % path, cwd=directory)
    try:
        n = 0
        while process.poll() is None:
            n += 1
            for thread in os.listdir("/proc/%d/task" % process.pid):
                try:
                    os.sched_setaffinity(int(thread), {min(every)} if n % 2 else every)
                except OSError:
                    pass
            time.sleep(0.01)
        assert process.returncode == 0
    finally:
        end(process)
    check_file(path)
    # Objects move to their last places in the first of them, and what a thread's stack held by chance goes.
    found = ends(path)[-10:]
    assert len(found) == 10 and all(one == found[0] for one in found), found
    judge(path)


@test("a snapshot is in the file when its collection has returned, whatever comes then")
def killed_behind(directory):
    for collections in range(1, 9):
        path = os.path.join(directory, "%d.hs" % collections)
        process = start("Leak.exe serve", OPTIONS % path, cwd=directory)
        for _ in range(collections):
            process.stdin.write(b"leak\ncollect\n")
            process.stdin.flush()
            assert process.stdout.readline().startswith(b"ok ")
            assert process.stdout.readline().startswith(b"ok ")
        assert end(process, signal.SIGKILL).status == 137
        found = snapshots(path)
        assert len(found) >= collections and all(one["complete"] for one in found), found


main(jobs=1)
