# SPDX-License-Identifier: MIT
"""The flight recorder: what OUTPUT.ring holds whatever ends the program, what is
written out of it, and what goes to the output meanwhile."""
import os
import random
import re
import resource
import signal
import struct
import subprocess
import time

from harness import *

EVENTS = "events=gc+types+jit+moves+counters+threads"
METADATA, EVENT, END = 1, 2, 6
PAD, TAG, HEADER, LZ4 = 0x184D2A5D, 0x184D2A5B, 0x184D2A5C, 0x184D2204


def command(args, options):
    words = args.split()
    return ["mono", "--profile=heapshot:" + options, compiled("Ring")] + words


def record(directory, args, options="", status=0, err=""):
    path = os.path.join(directory, "a.hs")
    result = run(command(args, "output=%s,overwrite,quiet,ring=1m,%s%s" % (
        path, EVENTS, "," + options if options else "")), cwd=directory, timeout=120)
    assert result.status == status, result.err
    assert err in result.err and (err or not result.err), result.err
    return path, result.out


def chain(path):
    """(seq, kind) of all frames of a ring, by hopping over its frames as any LZ4 reader does."""
    with open(path, "rb") as file:
        data = file.read()
    frames, at = [], 0
    assert struct.unpack_from("<I", data) == (HEADER,) and data[8:16] == b"HSRING\0\0"
    while at < len(data):
        magic, length = struct.unpack_from("<II", data, at)
        if magic == TAG:
            assert at % 8 == 0, "a frame at %d" % at
            seq, = struct.unpack_from("<Q", data, at + 24)
            compressed, = struct.unpack_from("<I", data, at + 40)
            frames.append((seq, data[at + 13]))
            at += 8 + length
            assert struct.unpack_from("<I", data, at) == (LZ4,), "no frame behind the tag at %d" % at
            at += compressed
        else:
            assert magic in (PAD, HEADER), "%x at %d" % (magic, at)
            at += 8 + length
    assert at == len(data), "the chain ends at %d of %d" % (at, len(data))
    return frames


def rounds(path, status=(OK, INCOMPLETE)):
    """The numbers of the program's markers, in the order in which they are read."""
    result = heapshot("dump", path)
    assert result.status in status, result.err
    return [int(record["label"].split()[1]) for record in map(json.loads, result.out.splitlines())
            if record["record"] == "marker"]


def names(path):
    result = heapshot("dump", path)
    assert result.status in (OK, INCOMPLETE), result.err
    return {record["name"] for record in map(json.loads, result.out.splitlines())
            if record["record"] == "type" and record.get("name")}


def lost_events(path):
    result = heapshot("dump", path)
    return sum(record["count"] for record in map(json.loads, result.out.splitlines())
               if record["record"] == "loss" and record["kind"] == "events")


def check_rounds(path):
    """All markers, in order; on a machine that starves the writer those that are counted as lost may be missing."""
    seen = rounds(path)
    assert seen == sorted(set(seen)), seen
    n_missing = seen[-1] + 1 - seen[0] - len(seen) if seen else 0
    assert n_missing == 0 or n_missing <= lost_events(path), (n_missing, lost_events(path), seen)


def check_ring(path, is_killed=False):
    """All that holds of a ring at any moment; gives its list."""
    lz4 = run(["lz4", "-t", path])
    assert lz4.status == 0, "lz4 -t: " + lz4.err
    frames = chain(path)
    numbers = sorted(seq for seq, _ in frames)
    lap = sorted(seq for seq, kind in frames if kind != METADATA)
    assert len(set(numbers)) == len(numbers), "a number stands twice"
    if lap:
        # From the oldest event on nothing is missing.
        assert [n for n in numbers if n >= lap[0]] == list(range(lap[0], numbers[-1] + 1)), numbers
    verified = read_json("verify", path, status=(INCOMPLETE,) if is_killed else (OK,))
    kinds = [issue["kind"] for issue in verified["issues"]]
    assert set(kinds) <= {"no_end", "dropped"} and ("no_end" in kinds) == is_killed, verified["issues"]
    assert verified["frames"] == len(frames)
    assert verified["dropped_frames"] == (numbers[-1] + 1 if numbers else 0) - len(frames)
    check_rounds(path)
    listed = read_json("list", path)
    assert listed["ring"] and listed["dropped_frames"] == verified["dropped_frames"]
    return listed


@test("R1 SIGKILL at random moments: a valid chain, and all of it in order")
def kills(directory):
    choose = random.Random(4711)
    n_dropped = n_empty = n_records = 0
    n = 200 if IS_LONG else 20
    for number in range(n):
        path = os.path.join(directory, "a.hs")
        for name in os.listdir(directory):
            os.remove(os.path.join(directory, name))
        process = subprocess.Popen(
            command("events", "output=%s,quiet,ring=1m,snapshot=none,control=off,%s" % (path, EVENTS)),
            env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=directory)
        # A part of them while the runtime starts, most while events go round.
        if number % 5:
            process.stdout.readline()
            time.sleep(choose.uniform(0, 1.5))
        else:
            time.sleep(choose.uniform(0, 0.3))
        process.kill()
        process.communicate()
        rest = set(os.listdir(directory)) - {"a.hs", "a.hs.ring"}
        assert rest <= {"a.hs.ring.%d.tmp" % process.pid}, rest
        if not os.path.exists(path + ".ring") or not chain(path + ".ring"):
            n_empty += 1
            continue
        n_dropped += check_ring(path + ".ring", is_killed=True)["dropped_frames"] > 0
        n_records += len(rounds(path + ".ring"))
    print("# %d of %d rounds: %d rings had dropped frames, %d were killed before the first one, %d markers"
          % (n, n, n_dropped, n_empty, n_records))
    assert n_empty <= n // 5 and n_dropped >= n // 10, "%d empty, %d with drops" % (n_empty, n_dropped)


@test("R2 an orderly end: events in the ring, snapshots in the output")
def orderly(directory):
    path, _ = record(directory, "snapshots 3", "snapshot=none")
    listed = check_ring(path + ".ring")
    assert not listed["snapshots"]
    check_file(path)
    assert [s["label"] for s in complete_snapshots(path)] == ["snapshot 0", "snapshot 1", "snapshot 2"]
    assert count_of(path, "T.Piece") == 500
    kinds = record_kinds(path)
    assert "its events are in %s.ring" % path in heapshot("events", path).err
    assert "gc_event" not in kinds and "marker" not in kinds and "gc_moves" not in kinds, kinds
    kinds = record_kinds(path + ".ring")
    assert kinds["gc_event"] > 100 and kinds["end"] == 1 and kinds["header"] == 1, kinds
    assert rounds(path + ".ring")[-1] == 149
    # What a ring does not hold is said with the status of something that is not there.
    assert heapshot("top", path + ".ring").status == NOT_FOUND


@test("R3 names stay, however much is dropped")
def all_names(directory):
    path, _ = record(directory, "types 3000 2000", "snapshot=none,memory=32m")
    listed = check_ring(path + ".ring")
    assert listed["dropped_frames"] > 10 and listed["unkept_name_frames"] == 0, listed
    recorded, kept = names(path), names(path + ".ring")
    assert len([name for name in recorded if name.startswith("Many.")]) == 3000
    assert kept == recorded, sorted(recorded - kept)[:5]
    kinds, of_ring = record_kinds(path), record_kinds(path + ".ring")
    for kind in ("type", "type_layout", "image", "domain", "counter"):
        assert kinds.get(kind) == of_ring.get(kind), (kind, kinds.get(kind), of_ring.get(kind))


@test("R3 more names than there is room for: counted and said")
def too_many_names(directory):
    # Room in the log for all of them, however busy the machine is.
    path, _ = record(directory, "types 20000 500", "snapshot=none,memory=128m")
    listed = check_ring(path + ".ring")
    assert listed["unkept_name_frames"] > 0 and listed["dropped_frames"] > 0, listed
    text = heapshot("list", path + ".ring").out
    assert "frames of names found no lasting place" in text, text
    assert len(names(path + ".ring")) > 3000
    # All of them are in the output.
    assert len([name for name in names(path) if name.startswith("Many.")]) == 20000


@test("R4 dropped frames are shown by list, verify and events")
def dropped(directory):
    path, _ = record(directory, "events 3000", "snapshot=none")
    ring = path + ".ring"
    n = check_ring(ring)["dropped_frames"]
    assert n > 0 and rounds(ring)[-1] == 2999 and rounds(ring)[0] > 0
    assert read_json("events", ring)["summary"]["dropped_frames"] == n
    for name in ("list", "verify", "events"):
        result = heapshot(name, ring)
        assert result.status == OK
        said = (result.out + result.err).replace(",", "")
        assert "%d older" % n in said and "dropped" in said, said


def started(directory, args, options):
    """A program with a ring, its control socket, and the file that it records to."""
    env = {"XDG_RUNTIME_DIR": directory}
    path = os.path.join(directory, "a.hs")
    process = subprocess.Popen(command(args, "output=%s,quiet,%s" % (path, options)),
                               env=environment(env), cwd=directory, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE)
    assert process.stdout.readline() == b"ready\n"
    return process, path, env


def check_flushed(path):
    check_file(path)
    seen = rounds(path, status=(OK,))
    check_rounds(path)
    kinds = record_kinds(path)
    assert kinds["header"] == 1 and kinds["end"] == 1 and kinds["type"] > 100, kinds
    return seen


@test("R5 `heapshot flush PID FILE` writes a whole recording, again and again")
def flush_by_process(directory):
    process, path, env = started(directory, "events", "ring=1m,snapshot=none," + EVENTS)
    out = os.path.join(directory, "out.hs")
    try:
        last = -1
        for number in range(8):
            wait_for("events", lambda: rounds_of(path + ".ring") > last)
            answer = json.loads(run([HEAPSHOT, "flush", str(process.pid), out, "--json"], env=env).out)
            assert answer["output"] == out and answer["frames"] > 3, answer
            seen = check_flushed(out)
            assert seen[-1] > last
            last = seen[-1]
            verified = read_json("verify", out)
            assert verified["frames"] == answer["frames"] + 1   # and the end
            assert verified["dropped_frames"] == answer["dropped_frames"]
            listed = read_json("list", out)
            assert not listed["ring"] and not listed["snapshots"]
        assert os.path.exists(out + ".old")
        # Without a name, into the folder where one is.
        result = run([HEAPSHOT, "flush", str(process.pid)], env=env, cwd=directory)
        assert result.status == OK, result.err
        check_flushed(os.path.join(directory, "%d.flush.hs" % process.pid))
        # What is none of ours is not written over.
        other = os.path.join(directory, "other")
        with open(other, "w") as file:
            file.write("text\n")
        result = run([HEAPSHOT, "flush", str(process.pid), other], env=env)
        assert result.status == FAILED and "not a recording" in result.err, result.err
        result = run([HEAPSHOT, "flush", str(process.pid), directory + "/no/where"], env=env)
        assert result.status == FAILED and "No such file" in result.err, result.err
        with open(other) as file:
            assert file.read() == "text\n"
        # The one that is being recorded goes on, and so does its ring.
        result = run([HEAPSHOT, "take", str(process.pid)], env=env)
        assert result.status == OK, result.err
    finally:
        result = end(process)
    assert result.err == "", result.err
    check_ring(path + ".ring", is_killed=True)
    assert count_of(path, "T.Piece") > 0


def rounds_of(path):
    """The last marker of a ring that is being written: it may be overwritten under our eyes."""
    seen = rounds(path, status=range(8))
    return seen[-1] if seen else -1


@test("R5 `flush` without a ring answers when all events are in the output")
def flush_without_ring(directory):
    process, path, env = started(directory, "events", "snapshot=none,events=gc")
    try:
        for _ in range(5):
            before = len(rounds(path))
            wait_for("a round", lambda: len(rounds(path)) > before)
            result = run([HEAPSHOT, "flush", str(process.pid)], env=env)
            assert result.status == OK and result.out == "all events are in the output\n", result.out + result.err
        # Frozen, what it had logged before the answer stands in the file.
        process.send_signal(signal.SIGSTOP)
        result = run([HEAPSHOT, "flush", str(process.pid), "x.hs"], env=env, cwd=directory, before=["timeout", "1"])
        assert result.status != OK and not os.path.exists(os.path.join(directory, "x.hs"))
        process.send_signal(signal.SIGCONT)
        result = run([HEAPSHOT, "flush", str(process.pid), "x.hs"], env=env, cwd=directory)
        assert result.status == FAILED and "no ring" in result.err, result.err
    finally:
        end(process)


@test("R6 Heapshot.FlushRing() from managed code")
def flush_from_managed(directory):
    out = os.path.join(directory, "out.hs")
    path, said = record(directory, "flush " + out, "snapshot=none")
    assert said == "flush True\nring True \ndone\n", said
    assert check_flushed(out) == list(range(100))
    check_ring(path + ".ring")
    assert rounds(path + ".ring")[-1] == 109
    # Without a ring, and without a recording.
    result = run(command("flush " + out, "output=%s/b.hs,quiet,snapshot=none" % directory), cwd=directory)
    assert result.out == "flush True\nring False there is no ring; see the option 'ring'\ndone\n", result.out
    result = run(["mono", compiled("Ring"), "flush", out], cwd=directory)
    assert result.out.startswith("flush False\nring False "), result.out


@test("R7 a disk without room: refused with one line, the program runs")
def no_room(directory):
    plain = run(["mono", compiled("Ring"), "events", "3"], cwd=directory)
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4 << 20, 4 << 20))
    result = run(command("events 3", "output=a.hs,ring=8m"), cwd=directory, preexec=limit)
    assert_same(result, plain)
    assert_lines(result.err, 1, "a.hs.ring", "File too large", "smaller ring", "Nothing is recorded")
    assert os.listdir(directory) == [], os.listdir(directory)
    # Recordings of that name stand where they stood.
    run(command("events 3", "output=a.hs,ring=1m,snapshot=gc,quiet"), cwd=directory)
    before = {name: os.stat(os.path.join(directory, name)).st_ino for name in os.listdir(directory)}
    assert set(before) == {"a.hs", "a.hs.ring"}, before
    result = run(command("events 3", "output=a.hs,ring=8m"), cwd=directory, preexec=limit)
    assert_lines(result.err, 1, "a.hs.ring", "File too large", "Nothing is recorded")
    after = {name: os.stat(os.path.join(directory, name)).st_ino for name in os.listdir(directory)}
    assert after == before, (before, after)


@test("R7 a small tmpfs: refused when it is full; what was allocated is written though it fills up")
def full_disk(directory):
    place = os.path.join(directory, "small")
    os.mkdir(place)
    mounted = run(["mount", "-t", "tmpfs", "-o", "size=3m", "none", place])
    if mounted.status:
        skip("no tmpfs can be mounted here")
    try:
        plain = run(["mono", compiled("Ring"), "events", "3"], cwd=directory)
        result = run(command("events 3", "output=%s/a.hs,ring=8m" % place), cwd=directory)
        assert_same(result, plain)
        assert_lines(result.err, 1, "a.hs.ring", "No space left", "smaller ring")
        assert os.listdir(place) == [], os.listdir(place)
        # All that is left is taken away while the ring goes round.
        path = os.path.join(place, "a.hs")
        process = subprocess.Popen(
            command("events 1500", "output=%s,quiet,ring=1m,snapshot=none,events=gc+moves" % path),
            env=environment(), cwd=directory, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        process.stdout.readline()
        with open(os.path.join(place, "filler"), "wb", buffering=0) as file:
            try:
                while True:
                    file.write(b"x" * 4096)
            except OSError:
                pass
        out, err = process.communicate(timeout=120)
        assert process.returncode == 0 and out == b"done\n", (process.returncode, err)
        assert len(err.splitlines()) <= 1, err
        assert run(["lz4", "-t", path + ".ring"]).status == 0
        seen = rounds(path + ".ring")
        assert seen == list(range(seen[0], seen[-1] + 1)), seen
    finally:
        run(["umount", place])


@test("R8 a ring that is taken away ends by itself: one line, snapshots go on")
def taken_away(directory):
    for how in ("cut", "remove"):
        folder = os.path.join(directory, how)
        os.mkdir(folder)
        process, path, _ = started(folder, "events 4000", "ring=1m,snapshot=shutdown,control=off," + EVENTS)
        if how == "cut":
            os.truncate(path + ".ring", 0)
        else:
            os.remove(path + ".ring")
        out, err = process.communicate(timeout=120)
        assert process.returncode == 0 and out == b"done\n", (process.returncode, err)
        if how == "cut":
            assert_lines(err.decode(), 1, "a.hs.ring ended", "snapshots go on")
        else:
            assert err == b"", err
        check_file(path)
        assert [s["trigger"] for s in complete_snapshots(path)] == ["shutdown"]


@test("R9 a fork of the host does not touch the ring")
def host_fork(directory):
    for how in ("fork-exit", "fork-_exit"):
        path = os.path.join(directory, how + ".hs")
        result = mono("Processes.exe " + how, "output=%s,snapshot=gc+shutdown,quiet,ring=1m" % path, cwd=directory)
        assert result.status == 0 and result.out == "done\n" and result.err == "", result.err
        check_file(path)
        check_ring(path + ".ring")
        assert record_kinds(path + ".ring")["end"] == 1
        assert {s["trigger"] for s in complete_snapshots(path)} == {"gc", "shutdown"}


@test("R10 outputs that have no place for a ring are refused")
def refused_outputs(directory):
    for output in ("|cat >x", "/dev/null", "#2"):
        result = run(command("events 1", "output=%s,ring=1m" % output), cwd=directory)
        assert result.status == 0 and result.out == "ready\ndone\n", result.err
        assert_lines(result.err, 1, "'ring' needs a file", "Nothing is recorded")
        assert os.listdir(directory) == []
    result = run(command("events 1", "output=a.hs,ring=1m,strict,quiet"), cwd=directory)
    assert result.status == 0 and result.err == ""
    # An earlier ring is kept; a stranger's file is not taken away.
    result = run(command("events 1", "output=a.hs,ring=1m,quiet"), cwd=directory)
    assert result.status == 0 and result.err == ""
    assert sorted(os.listdir(directory)) == ["a.hs", "a.hs.old", "a.hs.old.ring", "a.hs.ring"]
    for name in ("a.hs.ring", "a.hs.old.ring"):
        check_ring(os.path.join(directory, name))
    with open(os.path.join(directory, "b.hs.ring"), "w") as file:
        file.write("text\n")
    result = run(command("events 1", "output=b.hs,ring=1m"), cwd=directory)
    assert result.status == 0 and result.out == "ready\ndone\n"
    assert_lines(result.err, 1, "b.hs.ring exists and is no ring")
    assert not os.path.exists(os.path.join(directory, "b.hs"))
    result = run(command("events 1", "output=b.hs,ring=1m,overwrite,quiet"), cwd=directory)
    assert result.status == 0 and result.err == ""
    check_ring(os.path.join(directory, "b.hs.ring"))


@test("R11 snapshots by fork: the child does not touch the ring, events go on meanwhile")
def by_fork(directory):
    path, _ = record(directory, "snapshots 10", "snapshot=none,fork=always")
    check_file(path)
    listed = complete_snapshots(path)
    assert len(listed) == 10 and {s["fork"] for s in listed} == {"child"}, listed
    check_ring(path + ".ring")
    assert rounds(path + ".ring")[-1] == 499


@test("R11 many threads and snapshots beside a ring")
def busy(directory):
    path = os.path.join(directory, "a.hs")
    result = mono("Threads.exe allocate 8", "output=%s,ring=1m,quiet,snapshot=gc+50ms,%s" % (path, EVENTS),
                  cwd=directory)
    assert result.status == 0 and result.err == "" and result.out.endswith("done\n"), result.err
    check_file(path)
    check_ring(path + ".ring")
    assert len(complete_snapshots(path)) >= 20


@test("R12 no malloc while the world is stopped, though the log is emptied into the ring there")
def no_malloc(directory):
    counter = os.path.join(MODULES, "libmono-profiler-stopcount.so")
    for options in ("snapshot=gc,memory=2m", "snapshot=gc,fork=always"):
        for args in ("Garbage.exe replace 3", "Lists.exe ring 300000"):
            result = mono(args, "output=a.hs,overwrite,quiet,ring=1m,%s,%s" % (EVENTS, options),
                          ["--profile=stopcount"], env={"LD_PRELOAD": counter}, cwd=directory)
            assert result.status == 0, result.err
            found = re.search(r"stopcount: (\d+) stops, (\d+) calls(.*)", result.err)
            assert found and int(found.group(1)) > 0 and int(found.group(2)) == 0, result.err
            check_ring(os.path.join(directory, "a.hs.ring"))


main()
