# SPDX-License-Identifier: MIT
"""What reaches the output while the program runs, when the output is slow, and
however the program ends."""
import fcntl
import os
import re
import signal

from harness import *


def records_of(path):
    """The records of what is there so far."""
    if not os.path.exists(path) or os.path.getsize(path) == 0:
        return []
    result = heapshot("dump", path)
    assert result.status in (OK, INCOMPLETE), result.err
    return [json.loads(line) for line in result.out.splitlines()]


def ask(process, line):
    process.stdin.write(line.encode() + b"\n")
    process.stdin.flush()
    return process.stdout.readline().decode()


@test("without a snapshot, what happened is in the file while the program waits")
def flushed_by_time(directory):
    path = os.path.join(directory, "a.hs")
    process = start("Leak.exe serve", "output=%s,snapshot=none,quiet,events=gc+threads" % path, cwd=directory)
    try:
        assert ask(process, "leak") == "ok 10\n"

        def ends():
            return sum(record["record"] == "gc_event" and record["phase"] == "post_start_world"
                       for record in records_of(path))
        for n in range(1, 4):
            # Far too little to fill a frame, and nobody asks for a flush.
            assert ask(process, "collect") == "ok 10\n"
            wait_for("collection %d in the file" % n, lambda: ends() >= n)
            assert process.poll() is None
        assert os.path.getsize(path) < 100 << 10
        assert sum(record["record"] == "thread" for record in records_of(path)) > 0
        assert snapshots(path, status=(OK, INCOMPLETE)) == []
        process.communicate(b"quit\n", timeout=60)
        assert process.returncode == 0
    finally:
        if process.poll() is None:
            end(process)


PHASES = ["pre_stop_world", "pre_stop_world_locked", "post_stop_world", "start", "end", "pre_start_world",
          "post_start_world", "post_start_world_unlocked"]


def full_phases(path):
    """Of the first full collection in the file, as far as it came; and the times of its records."""
    found = [record for record in records_of(path) if record["record"] in ("gc_event", "gc_resize")]
    full = next((i for i, record in enumerate(found)
                 if record.get("phase") == "pre_stop_world" and record["generation"] == 1), len(found))
    found = found[full:]
    ends = [i for i, record in enumerate(found) if record.get("phase") == PHASES[-1]]
    found = found[:ends[0] + 1] if ends else found
    return ([record["phase"] for record in found if record["record"] == "gc_event"],
            [record["time_ns"] for record in found])


def held(directory, path, options=""):
    """A program in a collection that stands still behind its end."""
    module = "libmono-profiler-held.so"
    if not os.path.exists(os.path.join(MODULES, module)):
        skip("%s is not built (make check)" % module)
    gate = os.path.join(directory, "gate")
    process = subprocess.Popen(
        ["mono", "--profile=held", "--profile=heapshot:output=%s,snapshot=none,quiet,events=gc%s" % (path, options),
         program("Leak.exe"), "serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env=environment({"HELD": gate}), cwd=directory)
    assert ask(process, "leak") == "ok 10\n"
    process.stdin.write(b"collect\n")
    process.stdin.flush()
    return process, gate


@test("a collection that goes on and on is in the file as far as it came, and each of its steps once when it has ended")
def long_collection(directory):
    path = os.path.join(directory, "a.hs")
    process, gate = held(directory, path)
    try:
        wait_for("its steps so far", lambda: full_phases(path)[0] == PHASES[:5])
        open(gate, "w").close()
        assert process.stdout.readline() == b"ok 10\n"
        wait_for("the rest", lambda: full_phases(path)[0] == PHASES)
        times = full_phases(path)[1]
        assert times == sorted(times), times
        process.communicate(b"quit\n", timeout=60)
        assert process.returncode == 0
    finally:
        if process.poll() is None:
            end(process)
    check_file(path)


@test("killed in a collection that goes on and on: the ring has it as far as it came")
def killed_in_collection(directory):
    path = os.path.join(directory, "a.hs")
    process, _ = held(directory, path, ",ring=1m")
    try:
        wait_for("its steps so far", lambda: full_phases(path + ".ring")[0] == PHASES[:5])
    finally:
        end(process)
    assert full_phases(path + ".ring")[0] == PHASES[:5]


@test("a reader that stands still: events that found no room are counted in the file, and the program goes on")
def reader_stands_still(directory):
    fifo, path = os.path.join(directory, "fifo"), os.path.join(directory, "a.hs")
    os.mkfifo(fifo)
    reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    n = 200000
    process = subprocess.Popen(
        ["mono", "--profile=heapshot:output=%s,snapshot=shutdown,events=handles,memory=2m,quiet" % fifo,
         compiled("Known"), "handles", str(n)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, env=environment(), cwd=directory)
    try:
        # It has done all its work before the first byte is read.
        assert process.stdout.readline() == b"made %d\n" % n
        fcntl.fcntl(reader, fcntl.F_SETFL, 0)
        read = threading.Thread(target=copy, args=(reader, path))
        read.start()
        out, err = process.communicate(b"\n", timeout=60)
        read.join(60)
        assert process.returncode == 0 and out == b"done\n" and err == b"", (process.returncode, out, err)
    finally:
        if process.poll() is None:
            end(process)
    check_file(path)
    records = records_of(path)
    handles = sum(record["record"] == "gc_handle" for record in records)
    lost = {}
    for record in records:
        if record["record"] == "loss":
            assert "the log was full" in record["reason"], record
            lost[record["kind"]] = lost.get(record["kind"], 0) + record["count"]
    # Nothing but handles was asked for; the runtime makes some itself.
    assert lost["events"] > n and 2 * n <= handles + lost["events"] <= 2 * n + 500, (handles, lost)
    verify = read_json("verify", path)
    assert verify["lost"] == sum(lost.values()) and verify["ok"], verify
    assert "lost: %s records" % format(verify["lost"], ",") in heapshot("verify", path).out
    assert read_json("events", path)["summary"]["lost"] == verify["lost"]
    # The snapshot behind it is whole, and its types have names although the log had no room for them.
    assert [snapshot["trigger"] for snapshot in complete_snapshots(path)] == ["shutdown"]
    assert {"System.String", "System.Byte[]"} <= {row["type"] for row in top(path)}


def copy(reader, path):
    with os.fdopen(reader, "rb") as source, open(path, "wb") as file:
        shutil.copyfileobj(source, file)


# Endings of which the runtime writes a report, beside those in cases/expected.tsv: the status
# that a shell shows, and whether it is the report of a crash, with addresses in it.
ENDINGS = (
    ("throw", 1, False), ("throw-in-thread", 1, False), ("null", 1, False), ("stack-overflow", 1, False),
    ("fail-fast", 134, True), ("abort", 134, True), ("signal 11", 134, True),
)


def report(text):
    """What a crash report says on every run: its titles, what was got, and the managed stack."""
    return [line.strip() for line in text.splitlines()
            if re.match(r"\t?(CLR: |Got a |a fatal error|used by your|\t?Native |\t?Managed |\t?Basic |"
                        r"\t?Telemetry |\t  at Exits:)", line)]


def check_ending(directory, args, status, is_crash):
    path = os.path.join(directory, "a.hs")
    plain = mono("Exits.exe " + args, cwd=directory, timeout=60)
    recorded = mono("Exits.exe " + args, "output=%s,snapshot=gc,quiet" % path, cwd=directory, timeout=60)
    assert recorded.status == plain.status == status, (recorded.status, plain.status)
    if is_crash:
        assert report(recorded.out) == report(plain.out), (report(recorded.out), report(plain.out))
        assert len(report(plain.out)) >= 6, report(plain.out)
    else:
        assert recorded.out == plain.out and recorded.err == plain.err, (recorded.err, plain.err)
    check_file(path, (OK, INCOMPLETE))
    listed = snapshots(path, status=(OK, INCOMPLETE))
    assert listed and all(snapshot["complete"] for snapshot in listed), listed
    for snapshot in listed:
        assert count_of(path, "T.Tgt", snapshot["id"]) == 1
        assert [root["name"] for root in of_type(roots(path, snapshot["id"]), "T.Tgt")
                if root["kind"] == "static"] == ["T.Pub.Root"]


for ending in ENDINGS:
    test("ended by %s: as without the module, and what was taken reads" % ending[0])(
        lambda directory, ending=ending: check_ending(directory, *ending))


main(jobs=2)
