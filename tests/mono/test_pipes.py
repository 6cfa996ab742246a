# SPDX-License-Identifier: MIT
"""Rows P1 to P5 of cases/faults.md: pipes as output."""
import errno
import fcntl
import os
import signal
import subprocess
import threading
import time

from harness import *

SMALL = "Lists.exe ring 1000"
BIG = "Lists.exe chain 5000000"
MANY = "Snapshots.exe many 200 100000"
# The end of the program waits for a command's end no longer than this; far
# above the documented bound, far below what a hang would take.
PATIENCE = 40
F_SETPIPE_SZ = 1031
# Of a tag: its magic, version and kind.
SNAPSHOT_BEGIN = b"HSTG\x01\x03"


def figures(path):
    """What must be the same in two recordings of the same program."""
    types = [row for row in top(path) if row["type"].startswith("T.")]
    held = [row for row in roots(path) if row["type"].startswith("T.")]
    return types, held


def lost_snapshots(path):
    records = map(json.loads, heapshot("dump", path).out.splitlines())
    return sum(record["count"] for record in records if record["record"] == "loss" and record["kind"] == "snapshots")


def check_given_up(listed):
    for snapshot in listed:
        if not snapshot["complete"]:
            assert snapshot["note"] == "the output was too slow", snapshot
            # As the file states it: one second for the reader, and room for a machine that is busy.
            assert 0 < snapshot["pause_ns"] < 3 * 10**9, snapshot


def zombies(parent):
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open("/proc/%s/stat" % name) as file:
                    state, ppid = file.read().rpartition(")")[2].split()[:2]
            except OSError:
                continue
            if int(ppid) == parent and state == "Z":
                found.append(name)
    return found


@test("P1 a command, a FIFO and a descriptor get the same as a file")
def ordinary_pipe(directory):
    plain = mono(SMALL)
    wanted = None
    for kind in ("file", "command", "fifo", "descriptor"):
        path = os.path.join(directory, kind + ".hs")
        reader, how = None, {}
        if kind == "file":
            output = path
        elif kind == "command":
            output = "|cat > " + path
        elif kind == "fifo":
            fifo = output = os.path.join(directory, "fifo")
            os.mkfifo(fifo)
            reader = subprocess.Popen("exec cat < '%s' > '%s'" % (fifo, path), shell=True)
            time.sleep(0.5)
        else:
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT, 0o644)
            output = "#%d" % descriptor
            how = {"pass_fds": (descriptor,)}
        recorded = mono(SMALL, "output=%s,snapshot=gc" % output, cwd=directory, **how)
        if reader:
            assert reader.wait(60) == 0
        assert_same(recorded, plain)
        check_file(path)
        wanted = wanted or figures(path)
        assert wanted[0] and figures(path) == wanted, kind


@test("P1 the end waits for a command within a bound")
def command_that_stays(directory):
    recorded = mono(SMALL, "output=|exec >/dev/null 2>&1; cat; sleep 60,snapshot=gc,quiet",
                    timeout=PATIENCE, cwd=directory)
    assert_same(recorded, mono(SMALL))


@test("P1 no zombie while the program goes on, and its own wait sees nothing foreign")
def no_zombie(directory):
    process = start("Leak.exe serve", "output=|head -c 100 >/dev/null,snapshot=gc,quiet", cwd=directory)
    try:
        for _ in range(10):
            process.stdin.write(b"leak\ncollect\n")
            process.stdin.flush()
            assert process.stdout.readline().startswith(b"ok ")
            assert process.stdout.readline().startswith(b"ok ")
        time.sleep(1)
        assert not zombies(process.pid), "a zombie is left"
        process.communicate(b"quit\n", timeout=60)
        assert process.returncode == 0
    finally:
        if process.poll() is None:
            end(process)


@test("P1 a program that starts processes sees only its own end")
def own_children(directory):
    path = os.path.join(directory, "a.hs")
    recorded = mono("Processes.exe spawn", "output=|cat > %s,snapshot=gc,quiet" % path, cwd=directory)
    assert_same(recorded, mono("Processes.exe spawn", cwd=directory))
    check_file(path)


@test("P2 reader goes away: one line, SIGPIPE ends nothing")
def reader_goes(directory):
    plain = mono(BIG)
    for disposition in (signal.SIG_DFL, signal.SIG_IGN):
        recorded = mono(BIG, "output=|head -c 100 >/dev/null,snapshot=gc,quiet", cwd=directory,
                        preexec=lambda: signal.signal(signal.SIGPIPE, disposition))
        assert_same(recorded, plain)
        assert_lines(recorded.err, 1, "heapshot", os.strerror(errno.EPIPE))


@test("P3 reader stalls: snapshots are dropped, said, and recorded as lost")
def reader_stalls(directory):
    path = os.path.join(directory, "late.hs")
    before = time.monotonic()
    recorded = mono(MANY, "output=|sleep 12; cat > %s,snapshot=gc,quiet" % path, cwd=directory,
                    timeout=120)
    assert_same(recorded, mono(MANY))
    assert time.monotonic() - before < 60, "the stalled reader held the program"
    assert "heapshot" in recorded.err and len(recorded.err.splitlines()) <= 3, recorded.err
    wait_for("the reader's end", lambda: heapshot("list", path).status in (OK, INCOMPLETE), 30)
    complete = complete_snapshots(path)
    for snapshot in complete[:3]:
        assert count_of(path, "T.Item", snapshot["id"]) == 100000
    # What was dropped is counted, whether it was begun or not; what was begun has an end that says so.
    assert lost_snapshots(path) == 200 - len(complete), (lost_snapshots(path), len(complete))
    check_given_up(snapshots(path, status=(OK, INCOMPLETE)))


@test("P3 a snapshot that a stalled reader cuts short has an end that says so")
def cut_short(directory):
    path = os.path.join(directory, "a.hs")
    ours, theirs = os.pipe()
    fcntl.fcntl(theirs, F_SETPIPE_SZ, 4096)
    # No collection of the runtime's own before the program's.
    process = start("Snapshots.exe idle 0 2000000", "output=#%d,snapshot=gc,quiet" % theirs, cwd=directory,
                    pass_fds=(theirs,), env={"MONO_GC_PARAMS": "nursery-size=512m"})
    os.close(theirs)
    try:
        with open(ours, "rb", 0) as pipe, open(path, "wb") as file:
            seen = b""
            while SNAPSHOT_BEGIN not in seen:
                piece = pipe.read(512)
                assert piece, "no snapshot was begun"
                seen += piece
            # Now the reader stalls, until the program goes on behind its collection.
            assert process.stdout.readline() == b"ready\n"
            file.write(seen)
            shutil.copyfileobj(pipe, file)
        out, err = process.communicate(timeout=60)
        assert process.returncode == 0 and out == b"done\n", err
    finally:
        if process.poll() is None:
            end(process)
    listed = snapshots(path, status=(OK, INCOMPLETE))
    assert len(listed) == 1 and not listed[0]["complete"] and lost_snapshots(path) == 1, listed
    check_given_up(listed)


@test("P4 FIFO without a reader: no endless wait, one line")
def fifo_without_reader(directory):
    fifo = os.path.join(directory, "f")
    os.mkfifo(fifo)
    recorded = mono(SMALL, "output=%s,snapshot=gc" % fifo, timeout=PATIENCE)
    assert_same(recorded, mono(SMALL))
    assert_lines(recorded.err, 1, "heapshot")


@test("P5 reader of a FIFO starts late: everything, or as P4")
def fifo_with_late_reader(directory):
    fifo, path = os.path.join(directory, "f"), os.path.join(directory, "a.hs")
    os.mkfifo(fifo)
    process = start("Snapshots.exe idle 4 1000", "output=%s,snapshot=gc" % fifo, cwd=directory)
    time.sleep(2)
    reader = subprocess.Popen("exec timeout 20 cat < '%s' > '%s'" % (fifo, path), shell=True)
    try:
        out, err = process.communicate(timeout=60)
        assert process.returncode == 0 and out == b"ready\ndone\n"
        if b"No such device" in err:
            assert_lines(err.decode(), 1, "heapshot")
        else:
            assert reader.wait(30) == 0
            check_file(path)
    finally:
        if reader.poll() is None:
            reader.kill()
        reader.wait()
        if process.poll() is None:
            end(process)


main(jobs=2)
