# SPDX-License-Identifier: MIT
"""Snapshots by fork: the same content as in the process, a host that notices
nothing, and a child that may be refused, hang, or end at any moment."""
import errno
import os
import random
import resource
import signal
import threading
import time

import cases
from harness import *

REACH = os.path.join(BUILD, "tests", "mono", "reach")
FORK = ",snapshot=gc,fork=always,quiet"
IN_PROCESS = {"never", "output", "small", "last", "unsafe", "refused", "after_failure"}


def forks(path, status=(OK, INCOMPLETE)):
    return [snapshot["fork"] for snapshot in snapshots(path, status=status)]


# ---- processes --------------------------------------------------------------

def children(pid):
    """Process ids, states and names of the children of PID, from /proc."""
    found = []
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open("/proc/%s/stat" % name) as file:
                text = file.read()
        except OSError:
            continue
        state, parent = text[text.rindex(")") + 2:].split()[:2]
        if int(parent) == pid:
            found.append((int(name), state, text[text.index("(") + 1:text.rindex(")")]))
    return found


def writing_child(pid):
    """The child that writes a snapshot, or None."""
    for child, state, name in children(pid):
        if name == "heapshot-child" and state != "Z":
            return child
    return None


def wait_for_child(process, seconds=30):
    found = []

    def look():
        found[:] = [child for child in [writing_child(process.pid)] if child]
        assert found or process.poll() is None, "the program ended without a child"
        return found

    limit = time.monotonic() + seconds
    while not look():
        assert time.monotonic() < limit, "no child came"
        time.sleep(0.001)
    return found[0]


def descriptors(pid):
    return sorted(os.listdir("/proc/%d/fd" % pid), key=int)


def assert_no_children(pid):
    assert children(pid) == [], children(pid)


# ---- the same as in the process ---------------------------------------------

def case_by_fork(name, rows, directory):
    recording = cases.run_case(name, rows, directory, FORK)
    wanted = forks(recording.path)
    assert wanted and set(wanted) == {"child"}, wanted


for case_name, case_rows in cases.read_cases().items():
    test("case by fork: " + case_name)(
        lambda directory, name=case_name, rows=case_rows: case_by_fork(name, rows, directory))


def judge(path):
    """Marks from the roots: nothing twice, nothing missing, nothing dangling; all reached."""
    result = run([REACH, path])
    assert result.status == 0, result.err
    lines = [json.loads(line) for line in result.out.splitlines()]
    for line in lines:
        for name in ("twice", "orphans", "overlapping", "dangling", "bad_slots", "roots_without_object"):
            assert line[name] == 0, line
        assert line["objects"] == line["stated_objects"] and line["references"] == line["stated_references"], line
    return lines


def run_hard(directory, args, least, env=None, is_compiled=False, timeout=200):
    """With and without the module: the same output; all snapshots by a child, and whole."""
    path = os.path.join(directory, "a.hs")
    words = args.split()
    exe = compiled(words[0]) if is_compiled else program(words[0])
    command = ["mono", exe] + words[1:]
    plain = run(command, env=env, cwd=directory, timeout=timeout)
    command.insert(1, "--profile=heapshot:output=%s,overwrite%s" % (path, FORK))
    recorded = run(command, env=env, cwd=directory, timeout=timeout)
    assert_same(recorded, plain)
    assert recorded.err == plain.err, recorded.err
    check_file(path)
    found = snapshots(path)
    assert len(found) >= least, "%d snapshots" % len(found)
    for snapshot in found:
        assert snapshot["complete"] and snapshot["fork"] == "child", snapshot
        assert 0 < snapshot["fork_ns"] <= snapshot["pause_ns"] and snapshot["child_cpu_ns"] > 0, snapshot
        if os.path.exists("/proc/self/smaps_rollup"):
            assert snapshot["copied_bytes"] > 0, snapshot
    return judge(path)


def all_reached(lines):
    for line in lines:
        assert line["reached"] == line["objects"], line


@test("100 snapshots in a row")
def hundred(directory):
    all_reached(run_hard(directory, "Snapshots.exe many 100 20000", 100))
    assert count_of(os.path.join(directory, "a.hs"), "T.Item") == 20000


@test("much garbage")
def garbage(directory):
    all_reached(run_hard(directory, "Garbage.exe replace %d" % (30 if IS_LONG else 4), 5))


@test("malloc hammered from 4 threads, one arena")
def hammer(directory):
    run_hard(directory, "MallocHammer.exe hammer %d" % (300 if IS_LONG else 60), 60, {"MALLOC_ARENA_MAX": "1"})


@test("8 threads allocate")
def allocate(directory):
    run_hard(directory, "Threads.exe allocate 8", 20)


@test("AppDomains are unloaded")
def domains(directory):
    all_reached(run_hard(directory, "Domains.exe unload %d 1000" % (100 if IS_LONG else 8), 8))


@test("finalizers")
def finalizers(directory):
    for name in ("queue", "revived", "critical"):
        all_reached(run_hard(directory, "Finalizers.exe %s 1000" % name, 2))


@test("other collectors")
def collectors(directory):
    for parameters in ("major=marksweep", "major=marksweep-conc-par", "minor=split", "minor=simple-par",
                       "mode=throughput"):
        all_reached(run_hard(directory, "Garbage.exe replace 1", 2, {"MONO_GC_PARAMS": parameters}))


@test("a heap that is written to while the child reads it")
def written(directory):
    megabytes = 500 if IS_LONG else 60
    lines = run_hard(directory, "Written %d 3" % megabytes, 3, is_compiled=True, timeout=590)
    all_reached(lines)
    # The collector may come by itself while the heap is built.
    counts = [count_of(os.path.join(directory, "a.hs"), "T.Page", line["id"]) for line in lines]
    assert counts == sorted(counts) and counts[-3:] == [megabytes * 250] * 3, counts


@test("no hang in 200 runs")
def no_hang(directory):
    long_only()
    for number in range(200):
        args = ("Garbage.exe replace 1", "MallocHammer.exe hammer 20", "Threads.exe come-and-go 5",
                "Threads.exe allocate 8")[number % 4]
        path = os.path.join(directory, "a.hs")
        recorded = mono(args, "output=%s,overwrite%s" % (path, FORK), cwd=directory, timeout=90,
                        env={"MALLOC_ARENA_MAX": "1"} if number % 8 >= 4 else None)
        assert recorded.status == 0 and recorded.out.endswith("done\n") and recorded.err == "", (
            number, args, recorded.status, recorded.err)
        assert set(forks(path, (OK,))) == {"child"}
        for name in os.listdir(directory):
            os.remove(os.path.join(directory, name))


# ---- what is decided, and stated --------------------------------------------

@test("auto: a file and a large heap, but not at the end")
def automatic(directory):
    path = os.path.join(directory, "a.hs")
    for args, options, wanted in (
            ("Lists.exe ring 1000000", "output=%s,snapshot=gc", {"child"}),
            ("Lists.exe ring 1000", "output=%s,snapshot=gc", {"small"}),
            ("Lists.exe ring 1000000", "output=%s,snapshot=shutdown", {"last"}),
            ("Lists.exe ring 1000000", "output=%s,snapshot=gc,fork=never", {"never"}),
            ("Lists.exe ring 1000000", "output=|cat >%s,snapshot=gc", {"output"}),
            ("Lists.exe ring 1000", "output=|cat >%s,snapshot=gc,fork=always", {"child"})):
        recorded = mono(args, options % path + ",overwrite,quiet", cwd=directory)
        assert recorded.status == 0 and recorded.out == "done\n" and recorded.err == "", recorded.err
        check_file(path)
        found = forks(path)
        # The first snapshot may come early, when the heap is small still.
        assert found and set(found[-1:] if wanted == {"child"} else found) == wanted, (options, found)
        os.remove(path)


@test("MONO_GC_PARAMS is what it was, here and in child processes")
def parameters(directory):
    exe = compiled("Parameters")
    path = os.path.join(directory, "a.hs")
    for value in (None, "nursery-size=8m", "major=marksweep,nursery-size=8m", "no-concurrent-sweep",
                  "concurrent-sweep", "nursery-size=8m,concurrent-sweep"):
        env = {} if value is None else {"MONO_GC_PARAMS": value}
        plain = run(["mono", exe], env=env, cwd=directory)
        recorded = run(["mono", "--profile=heapshot:output=%s,overwrite%s" % (path, FORK), exe], env=env,
                       cwd=directory)
        assert_same(recorded, plain)
        assert recorded.out.count(value or "unset") == 4, recorded.out
        # Who asks for the concurrent sweep has it, and is told what that means.
        is_safe = not (value or "").endswith(("=8m,concurrent-sweep", "concurrent-sweep")) or \
            value == "no-concurrent-sweep"
        assert set(forks(path)) == {"child" if is_safe else "unsafe"}, (value, forks(path))
        assert_lines(recorded.err, 0 if is_safe else 1, *(() if is_safe else ("fork=always", "concurrent-sweep")))


@test("a snapshot of statistics by fork, and labels")
def statistics(directory):
    path = os.path.join(directory, "a.hs")
    process = start("Snapshots.exe idle 60 1000", "output=%s,snapshot=none,fork=always,quiet" % path, cwd=directory,
                    env={"XDG_RUNTIME_DIR": directory})
    try:
        assert process.stdout.readline() == b"ready\n"
        for more in (["--label", "one"], ["--label", "two", "--stats"], ["--label", "three"]):
            result = heapshot("take", str(process.pid), *more, env={"XDG_RUNTIME_DIR": directory})
            assert result.status == 0, result.err
        assert_no_children(process.pid)
    finally:
        end(process)
    found = snapshots(path)
    assert [(one["label"], one["complete"], one["fork"]) for one in found] == [
        (label, True, "child") for label in ("one", "two", "three")], found
    for snapshot in found:
        assert count_of(path, "T.Item", snapshot["id"]) == 1000


# ---- the host notices nothing -----------------------------------------------

@test("no child for the program's own wait, and no SIGCHLD")
def waits(directory):
    library = os.path.join(MODULES, "libwaits.so")
    path = os.path.join(directory, "a.hs")
    recorded = mono("Snapshots.exe many 30 50000", "output=%s%s" % (path, FORK), cwd=directory,
                    env={"LD_PRELOAD": library})
    assert recorded.status == 0 and recorded.out == "done\n", recorded.err
    assert set(forks(path)) == {"child"} and len(forks(path)) >= 30
    words = recorded.err.split()
    assert words[0] == "waits:" and int(words[1]) > 10, recorded.err
    assert words[3] == "0" and words[5] == "0", recorded.err


@test("no zombie and no descriptor is left")
def nothing_left(directory):
    path = os.path.join(directory, "a.hs")
    process = start("Leak.exe serve", "output=%s%s" % (path, FORK), cwd=directory)

    def say(word):
        process.stdin.write(word + b"\n")
        process.stdin.flush()
        assert process.stdout.readline().startswith(b"ok")

    try:
        say(b"leak")
        say(b"collect")
        wait_for("the end of the first child", lambda: not children(process.pid))
        before = descriptors(process.pid)
        for _ in range(20):
            say(b"leak")
            say(b"collect")
        wait_for("the end of the last child", lambda: not children(process.pid))
        assert descriptors(process.pid) == before, (before, descriptors(process.pid))
    finally:
        process.stdin.close()
        process.stdin = None
        done = end(process, signal.SIGCONT)
    assert done.status == 0, done.err
    check_file(path)
    assert len(forks(path)) >= 21 and set(forks(path)) == {"child"}


@test("the child outlives a killed program, and finishes its snapshot")
def orphan(directory):
    path = os.path.join(directory, "a.hs")
    process = start("Snapshots.exe idle 60 2000000", "output=%s%s" % (path, FORK), cwd=directory)
    child = wait_for_child(process)
    end(process)
    wait_for("the end of the child", lambda: not os.path.exists("/proc/%d" % child), 60)
    assert run(["lz4", "-t", path]).status == 0
    found = snapshots(path)
    assert found[-1]["complete"] and found[-1]["fork"] == "child", found


# ---- faults -----------------------------------------------------------------

def check_stopped_child(process, child, path):
    names = descriptors(child)
    assert len(names) == 1, names
    assert os.path.realpath("/proc/%d/fd/%s" % (child, names[0])) == os.path.realpath(path)
    with open("/proc/%d/oom_score_adj" % child) as file:
        assert int(file.read()) == 1000
    with open("/proc/%d/status" % child) as file:
        status = dict(line.split(":", 1) for line in file.read().splitlines())
    assert status["Threads"].strip() == "1"
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGTSTP):
        assert int(status["SigBlk"], 16) & 1 << number - 1, status["SigBlk"]
    assert int(status["SigCgt"], 16) == 0, status["SigCgt"]


@test("M5 the child hangs: ended after the limit, requests wait, the next in the process")
def hanging(directory):
    path = os.path.join(directory, "a.hs")
    env = {"XDG_RUNTIME_DIR": directory}
    process = start("Snapshots.exe idle 300 1000000", "output=%s%s" % (path, FORK), cwd=directory, env=env)
    try:
        child = wait_for_child(process)
        os.kill(child, signal.SIGSTOP)
        check_stopped_child(process, child, path)
        # The program is not held up.
        assert process.stdout.readline() == b"ready\n"
        first = heapshot("take", str(process.pid), "--label", "waited", env=env)
        assert first.status == 0, first.err
        assert not os.path.exists("/proc/%d" % child)
        assert heapshot("take", str(process.pid), "--label", "later", env=env).status == 0
        wait_for("the end of the child", lambda: not children(process.pid))
    finally:
        done = end(process)
    assert_lines(done.err, 1, "snapshot", "got nowhere")
    found = snapshots(path, (OK, INCOMPLETE))
    assert [(one["label"], one["complete"], one["fork"]) for one in found[-3:]] == [
        ("", False, "child"), ("waited", True, "after_failure"), ("later", True, "child")], found
    assert "got nowhere" in found[-3]["note"]
    assert run(["lz4", "-t", path]).status == 0


@test("M5 the child hangs when the program ends")
def hanging_at_the_end(directory):
    path = os.path.join(directory, "a.hs")
    process = start("Snapshots.exe many 1 1000000", "output=%s%s" % (path, FORK), cwd=directory)
    child = wait_for_child(process)
    os.kill(child, signal.SIGSTOP)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0 and out == b"done\n", (process.returncode, err)
    assert err.count(b"got nowhere") == 1, err
    assert not os.path.exists("/proc/%d" % child)
    check_file(path, (INCOMPLETE,))
    assert run(["lz4", "-t", path]).status == 0
    assert record_kinds(path)["end"] == 1
    assert [one["complete"] for one in snapshots(path, (OK, INCOMPLETE))][-1:] == [False]


@test("the child is killed at any moment")
def killed(directory):
    randoms = random.Random(20)
    path = os.path.join(directory, "a.hs")
    n_killed = 0
    for number in range(200 if IS_LONG else 12):
        process = start("Snapshots.exe many 5 100000", "output=%s,overwrite%s" % (path, FORK), cwd=directory)
        sent = 0
        while process.poll() is None:
            child = writing_child(process.pid)
            if child and randoms.random() < 0.6:
                # At once now and then: a child of a quiet machine is short-lived.
                time.sleep(randoms.random() * 0.04 if number % 3 else 0)
                try:
                    os.kill(child, signal.SIGKILL)
                    sent += 1
                except ProcessLookupError:
                    pass
            elif child:
                wait_for("its end", lambda: not os.path.exists("/proc/%d" % child))
            time.sleep(0.002)
        out, err = process.communicate(timeout=60)
        assert process.returncode == 0 and out == b"done\n", (number, process.returncode, err)
        assert run(["lz4", "-t", path]).status == 0, number
        check_file(path, (OK, INCOMPLETE))
        found = snapshots(path, (OK, INCOMPLETE))
        failed = [one for one in found if not one["complete"]]
        assert len(found) >= 5 and len(failed) <= sent, found
        assert_lines(err.decode(), 1 if failed else 0, *(("was killed",) if failed else ()))
        for one, after in zip(found, found[1:] + [None]):
            assert one["complete"] or (one["fork"] == "child" and "killed" in one["note"]), one
            assert one["complete"] or after is None or after["fork"] == "after_failure", found
        n_killed += len(failed)
    assert n_killed, "no child was hit"


def unprivileged():
    """What makes a process that the limit of processes holds for."""
    if os.geteuid() != 0:
        return lambda: None
    user = 50000 + os.getpid() % 10000

    def become():
        os.setgroups([])
        os.setgid(user)
        os.setuid(user)
    become.user = user
    return become


@test("M4 no child is to be had: in the process, and said once")
def refused(directory):
    become = unprivileged()
    if hasattr(become, "user"):
        os.chmod(directory, 0o777)
        if run(["test", "-r", os.path.join(MODULES, "libmono-profiler-heapshot.so")], preexec=become).status:
            skip("the build tree is closed to other users")
    path = os.path.join(directory, "a.hs")
    # A socket would stand in a folder of that user, and the folder would stay.
    process = start("Leak.exe serve", "output=%s,control=off%s" % (path, FORK), cwd=directory, preexec_fn=become)

    def say(word):
        process.stdin.write(word + b"\n")
        process.stdin.flush()
        assert process.stdout.readline().startswith(b"ok")

    def limit(number):
        """As the process's own user: another one may not be allowed to."""
        def set_limit():
            become()
            hard = resource.prlimit(process.pid, resource.RLIMIT_NPROC)[1]
            resource.prlimit(process.pid, resource.RLIMIT_NPROC, (hard if number < 0 else number, hard))
        assert run(["true"], preexec=set_limit).status == 0

    try:
        say(b"leak")
        limit(1)
        say(b"collect")
        say(b"collect")
        limit(-1)
        say(b"collect")
    finally:
        process.stdin.close()
        process.stdin = None
        done = end(process, signal.SIGCONT)
    assert done.status == 0
    assert_lines(done.err, 1, "no child", "Resource temporarily unavailable")
    check_file(path)
    assert forks(path)[:3] == ["refused", "refused", "child"], forks(path)


@test("M4 the same for want of memory, and where it is forbidden")
def injected(directory):
    path = os.path.join(directory, "a.hs")
    library = os.path.join(MODULES, "librefuse.so")
    for error in (errno.ENOMEM, errno.EPERM, errno.ENOSYS):
        recorded = mono("Snapshots.exe many 3 1000", "output=%s,overwrite%s" % (path, FORK), cwd=directory,
                        env={"LD_PRELOAD": library, "REFUSE": str(error)})
        assert recorded.status == 0 and recorded.out == "done\n", recorded.err
        assert_lines(recorded.err, 1, "no child", os.strerror(error))
        check_file(path)
        assert len(forks(path)) >= 3 and set(forks(path)) == {"refused"}, forks(path)
        assert count_of(path, "T.Item") == 1000


@test("a collection waits for a child, but not for ever; its snapshot comes later")
def collection_waits(directory):
    path = os.path.join(directory, "a.hs")
    process = start("Snapshots.exe many 3 1000000", "output=%s%s" % (path, FORK), cwd=directory,
                    env={"MONO_GC_PARAMS": "nursery-size=128m"})
    child = wait_for_child(process)
    os.kill(child, signal.SIGSTOP)
    # All three collections are over, the child is not.
    assert process.stdout.readline() == b"done\n"
    assert [(number, state) for number, state, _ in children(process.pid)] == [(child, "T")]
    os.kill(child, signal.SIGCONT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0 and err == b"", err
    check_file(path)
    assert len(forks(path)) >= 2 and set(forks(path)) == {"child"}, forks(path)


@test("the limit of snapshots counts those of children")
def limited(directory):
    path = os.path.join(directory, "a.hs")
    recorded = mono("Snapshots.exe many 6 20000", "output=%s,max-snapshots=3%s" % (path, FORK), cwd=directory)
    assert recorded.status == 0 and recorded.out == "done\n"
    assert_lines(recorded.err, 1, "max-snapshots")
    check_file(path)
    assert forks(path) == ["child"] * 3


@test("the disk is full for the child")
def file_limit(directory):
    path = os.path.join(directory, "a.hs")
    limit = 100 << 10
    recorded = mono("Snapshots.exe many 40 100000", "output=%s%s" % (path, FORK), cwd=directory,
                    preexec=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
    assert recorded.status == 0 and recorded.out == "done\n", recorded.err
    assert_lines(recorded.err, 1, "recording to", "File too large")
    assert os.path.getsize(path) <= limit
    found = snapshots(path, (OK, INCOMPLETE))
    assert [one["complete"] for one in found[:2]] == [True, True], found


@test("the reader of a pipe goes away, or is slow")
def pipes(directory):
    path = os.path.join(directory, "a.hs")
    recorded = mono("Snapshots.exe many 10 300000", "output=|head -c 5000 >/dev/null%s" % FORK, cwd=directory)
    assert recorded.status == 0 and recorded.out == "done\n", recorded.err
    assert_lines(recorded.err, 1, "recording to", "Broken pipe")
    # For longer than it is waited for: the snapshot is given up, and what follows it is read.
    ours, theirs = os.pipe()
    env = {"XDG_RUNTIME_DIR": directory}
    process = start("Snapshots.exe idle 300 3000000", "output=#%d,snapshot=none,fork=always,quiet" % theirs,
                    cwd=directory, pass_fds=(theirs,), env=env)
    os.close(theirs)
    may_read = threading.Event()
    may_read.set()

    def receive():
        with open(path, "wb") as file:
            while True:
                may_read.wait()
                part = os.read(ours, 1 << 16)
                if not part:
                    return
                file.write(part)

    reader = threading.Thread(target=receive)
    reader.start()
    try:
        assert process.stdout.readline() == b"ready\n"
        assert heapshot("take", str(process.pid), "--label", "before", env=env).status == 0
        may_read.clear()
        slow = heapshot("take", str(process.pid), "--label", "slow", env=env)
        assert slow.status != 0, slow.out
        may_read.set()
        assert heapshot("take", str(process.pid), "--label", "after", env=env).status == 0
    finally:
        may_read.set()
        done = end(process)
        reader.join()
        os.close(ours)
    assert_lines(done.err, 1, "too slow")
    found = snapshots(path, (OK, INCOMPLETE, DAMAGED))
    assert [(one["label"], one["complete"]) for one in found] == [
        ("before", True), ("slow", False), ("after", True)], found
    assert count_of(path, "T.Item", found[2]["id"]) == 3000000


@test("requests at the same time, one after the other")
def requests(directory):
    path = os.path.join(directory, "a.hs")
    env = {"XDG_RUNTIME_DIR": directory}
    process = start("Leak.exe forever 1", "output=%s,snapshot=none,fork=always,quiet" % path, env=env, cwd=directory)
    results = []
    try:
        process.stdout.readline()
        threads = [threading.Thread(target=lambda: results.append(heapshot("take", str(process.pid), env=env)))
                   for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        wait_for("the end of the last child", lambda: not children(process.pid))
    finally:
        end(process, signal.SIGTERM)
    assert [result.status for result in results] == [0] * 4, [result.err for result in results]
    check_file(path, (INCOMPLETE,))  # a program that was killed writes no end
    assert forks(path) == ["child"] * 4


main(jobs=2)
