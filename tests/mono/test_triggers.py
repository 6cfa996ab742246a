# SPDX-License-Identifier: MIT
"""Everything that leads to a snapshot: options, signals, requests, the C# API."""
import os
import signal
import socket
import stat
import time

from harness import *


def triggers(path):
    return [snapshot["trigger"] for snapshot in complete_snapshots(path)]


def recorded(directory, args, options, **how):
    path = os.path.join(directory, "a.hs")
    result = mono(args, "output=%s,overwrite,quiet,%s" % (path, options), cwd=directory, **how)
    check_file(path)
    return path, result


@test("snapshot=shutdown: one at the end, and it is the default")
def at_shutdown(directory):
    for options in ("snapshot=shutdown", "events=gc"):
        path, result = recorded(directory, "Lists.exe ring 1000", options)
        assert result.status == 0 and triggers(path) == ["shutdown"], triggers(path)
        assert count_of(path, "T.Ring") == 1000
    for args, status in (("Exits.exe return 5", 5), ("Exits.exe exit 3", 3),
                         ("Exits.exe exit-from-thread 6", 6), ("Exits.exe background-thread 0", 0)):
        path, result = recorded(directory, args, "snapshot=shutdown")
        assert result.status == status and triggers(path) == ["shutdown"], (args, triggers(path))
        assert count_of(path, "T.Tgt") == 1


@test("snapshot=term: SIGTERM takes one, then ends the program with status 143")
def at_term(directory):
    for options in ("snapshot=term", "events=gc"):
        path = os.path.join(directory, "a.hs")
        process = start("Leak.exe forever 5", "output=%s,overwrite,quiet,%s" % (path, options), cwd=directory)
        process.stdout.readline()
        time.sleep(0.3)
        result = end(process, signal.SIGTERM)
        assert result.status == 143, result.status
        assert triggers(path) == ["term"], triggers(path)
        assert count_of(path, "T.Leaked") >= 10
        assert heapshot("top", path).status == OK
        check_file(path, (OK, INCOMPLETE))


@test("snapshot=term: SIGINT too, unless it is ignored")
def at_int(directory):
    path = os.path.join(directory, "a.hs")
    for handler, status in ((signal.SIG_DFL, 130), (signal.SIG_IGN, 143)):
        process = start("Leak.exe forever 5", "output=%s,overwrite,quiet" % path, cwd=directory,
                        preexec_fn=lambda: signal.signal(signal.SIGINT, handler))
        process.stdout.readline()
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        if status == 143:
            time.sleep(0.3)
            assert process.poll() is None
        else:
            process.wait(30)
        assert end(process, signal.SIGTERM).status == status
        assert triggers(path) == ["term"], triggers(path)
        check_file(path, (OK, INCOMPLETE))


@test("snapshot=term: a blocked program ends all the same")
def at_term_blocked(directory):
    path = os.path.join(directory, "a.hs")
    process = start("Finalizers.exe slow 15000", "output=%s,snapshot=term,quiet" % path, cwd=directory)
    time.sleep(1.5)
    before = time.monotonic()
    result = end(process, signal.SIGTERM)
    assert result.status == 143 and time.monotonic() - before < 12, result.status


@test("snapshot=gc, Ngc")
def at_collections(directory):
    path, _ = recorded(directory, "Snapshots.exe many 12 1000", "snapshot=gc")
    assert set(triggers(path)) == {"gc"} and 12 <= len(triggers(path)) <= 13, triggers(path)
    path, _ = recorded(directory, "Snapshots.exe many 12 1000", "snapshot=3gc")
    assert 3 <= len(triggers(path)) <= 12, triggers(path)
    # The collections that snapshots make do not lead to further ones.
    path, _ = recorded(directory, "Snapshots.exe idle 2 1000", "snapshot=1gc")
    assert 1 <= len(triggers(path)) <= 3, triggers(path)
    # Natural concurrent majors lead to a serial one.
    path, _ = recorded(directory, "Lists.exe chain 3000000", "snapshot=gc")
    assert triggers(path)


@test("snapshot=Nms, Ns")
def at_intervals(directory):
    path, _ = recorded(directory, "Snapshots.exe idle 2 1000", "snapshot=200ms")
    assert 4 <= len(triggers(path)) <= 12, triggers(path)
    path, _ = recorded(directory, "Snapshots.exe idle 3 1000", "snapshot=1s")
    assert 1 <= len(triggers(path)) <= 4, triggers(path)


@test("snapshot=Nms: the program gets on between two snapshots, however long they take")
def intervals_and_work(directory):
    path, _ = recorded(directory, "Snapshots.exe idle 2 300000", "snapshot=1ms,fork=never")
    listed = complete_snapshots(path)
    assert len(listed) >= 2, listed
    for one, next_one in zip(listed, listed[1:]):
        if next_one["trigger"] == "time":
            assert next_one["time_ns"] - one["time_ns"] >= 4 * one["pause_ns"], (one, next_one)


@test("snapshot=A+B, none")
def several(directory):
    path, _ = recorded(directory, "Snapshots.exe many 3 1000", "snapshot=gc+shutdown")
    assert triggers(path)[:3] == ["gc"] * 3 and triggers(path)[-1] == "shutdown", triggers(path)
    path, _ = recorded(directory, "Snapshots.exe many 3 1000", "snapshot=none")
    assert triggers(path) == []


@test("at=SIZE: one when the heap passes it, then at twice the size")
def at_size(directory):
    path, _ = recorded(directory, "Lists.exe chain 5000000", "snapshot=none,at=20M")
    assert set(triggers(path)) == {"at"} and 1 <= len(triggers(path)) <= 4, triggers(path)
    path, result = recorded(directory, "Lists.exe ring 10", "snapshot=none,at=500M")
    assert triggers(path) == []


def ask(path, line):
    """The reply to one request at a control socket; empty where nobody answers."""
    with socket.socket(socket.AF_UNIX) as client:
        try:
            client.connect(path)
        except OSError:
            return ""
        client.sendall(line.encode() + b"\n")
        return client.makefile().readline()


@test("signal=NAME: one snapshot a signal")
def on_signal(directory):
    for name, number in (("USR2", signal.SIGUSR2), ("SIGUSR1", signal.SIGUSR1)):
        path = os.path.join(directory, "a.hs")
        process = start("Leak.exe forever 5", "output=%s,overwrite,quiet,snapshot=none,signal=%s" % (path, name),
                        cwd=directory)
        try:
            process.stdout.readline()
            for count in (1, 2, 3):
                process.send_signal(number)
                wait_for("snapshot %d" % count, lambda: os.path.exists(path)
                         and len(complete_snapshots(path)) == count)
            assert process.poll() is None
        finally:
            end(process)
        assert triggers(path) == ["signal"] * 3


@test("`heapshot take PID`: label kept, two in a row, only for the same user")
def on_request(directory):
    env = {"XDG_RUNTIME_DIR": directory}
    path = os.path.join(directory, "a.hs")
    process = start("Leak.exe forever 2", "output=%s,snapshot=none,quiet" % path, env=env, cwd=directory)
    socket_path = os.path.join(directory, "heapshot", "%d.sock" % process.pid)
    try:
        process.stdout.readline()
        wait_for("the control socket", lambda: ask(socket_path, "status"))
        assert stat.S_IMODE(os.stat(os.path.dirname(socket_path)).st_mode) == 0o700

        def take(label):
            taken = heapshot("take", str(process.pid), "--label", label, env=env)
            assert taken.status == OK, "take: %d %s" % (taken.status, taken.err)
            return count_of(path, "T.Leaked")

        # The program says its number before it leaks for the first time.
        wait_for("a leaked object", lambda: take("early") > 0)
        before, after = take("after login"), take("sp\u00e4ter")
        assert 0 < before <= after
        labels = [snapshot["label"] for snapshot in complete_snapshots(path)]
        assert labels[-2:] == ["after login", "sp\u00e4ter"], labels
    finally:
        end(process)
    gone = heapshot("take", str(process.pid), env=env)
    assert gone.status not in (OK, FAILED, USAGE), gone.status


@test("requests in a row: none waits for the half second that is granted to a blocked finalizer thread")
def in_a_row(directory):
    where = os.path.join(directory, "here.sock")
    process = start("Leak.exe forever 5", "output=a.hs,snapshot=none,quiet,control=%s" % where, cwd=directory)
    try:
        process.stdout.readline()
        wait_for("an answer", lambda: ask(where, "status").startswith("ok recording"))
        before = time.monotonic()
        for _ in range(40):
            assert ask(where, "take").startswith("ok")
        assert time.monotonic() - before < 8
    finally:
        end(process)


@test("control=PATH and control=off")
def control_option(directory):
    env = {"XDG_RUNTIME_DIR": directory}
    where = os.path.join(directory, "here.sock")
    process = start("Leak.exe forever 5", "output=a.hs,snapshot=none,quiet,control=%s" % where, env=env, cwd=directory)
    try:
        process.stdout.readline()
        wait_for("the control socket", lambda: ask(where, "status"))
    finally:
        end(process)
    # SIGKILL left the socket; the next process takes its place, and nobody else's.
    assert os.path.exists(where)
    process = start("Leak.exe forever 5", "output=c.hs,snapshot=none,control=%s" % where, env=env, cwd=directory)
    try:
        process.stdout.readline()
        wait_for("an answer", lambda: ask(where, "status").startswith("ok recording"))
        second = mono("Leak.exe rounds 1", "output=d.hs,quiet,snapshot=none,control=%s" % where, cwd=directory)
        assert_lines(second.err, 2, "no control socket", "in use")
        assert ask(where, "status").startswith("ok recording")
    finally:
        end(process)
    taken = os.path.join(directory, "file")
    open(taken, "w").write("mine")
    ended = mono("Leak.exe rounds 1", "output=e.hs,control=%s" % taken, cwd=directory)
    assert "no control socket" in ended.err and open(taken).read() == "mine", ended.err
    process = start("Leak.exe forever 5", "output=b.hs,snapshot=none,quiet,control=off", env=env, cwd=directory)
    try:
        process.stdout.readline()
        time.sleep(0.3)
        assert not os.path.exists(os.path.join(directory, "heapshot", "%d.sock" % process.pid))
    finally:
        end(process)


@test("C#: Heapshot.Take is synchronous, false and harmless without the module")
def managed(directory):
    exe = compiled("Api")
    plain = run(["mono", exe, "take", "3"], cwd=directory)
    assert plain.out == "recording False\nFalse\nFalse\nFalse\ndone\n" and plain.status == 0, plain.out + plain.err
    path = os.path.join(directory, "a.hs")
    taken = run(["mono", "--profile=heapshot:output=%s,snapshot=none,quiet" % path, exe, "take", "3"], cwd=directory)
    assert taken.out == "recording True\nTrue\nTrue\nTrue\ndone\n" and taken.status == 0, taken.out + taken.err
    check_file(path)
    listed = complete_snapshots(path)
    assert [snapshot["label"] for snapshot in listed] == ["step %d \u00e4" % n for n in range(3)]
    assert [count_of(path, "T.Step", snapshot["id"]) for snapshot in listed] == [1, 2, 3]
    assert len({snapshot["trigger"] for snapshot in listed}) == 1


@test("C#: eight threads take one each")
def managed_threads(directory):
    path = os.path.join(directory, "a.hs")
    taken = run(["mono", "--profile=heapshot:output=%s,snapshot=none,quiet" % path, compiled("Api"), "threads", "8"],
                cwd=directory)
    assert taken.status == 0 and taken.out.endswith("done\n"), taken.out + taken.err
    assert taken.out == "recording True\ngood 8\ndone\n", taken.out
    check_file(path)
    listed = complete_snapshots(path)
    assert sorted(snapshot["label"] for snapshot in listed) == ["thread %d" % n for n in range(8)], listed
    assert triggers(path) == ["api"] * 8


main(jobs=2)
