# SPDX-License-Identifier: MIT
"""Rows M1 to M3 and M6 to M9 of cases/faults.md: memory, time, processes."""
import os
import resource
import signal
import socket
import subprocess
import threading
import time

from harness import *

BIG = "Lists.exe chain 5000000"
MANY = "Snapshots.exe many 200 100000"
# What the module may add to the peak of a program's memory: its fixed buffers,
# its code and libraries, and the tables of types and roots.
EXTRA_BYTES = 12 << 20


# Address space beside what the program needs: buffers, stacks, libraries.
SPARE_MB = (16, 32, 64)


def address_space(size):
    return lambda: resource.setrlimit(resource.RLIMIT_AS, (size, size))


@test("M1 little memory: the program never dies of the module")
def little_memory(directory):
    check_little_memory(directory, "", SPARE_MB)


@test("M1 little memory, without counters")
def little_memory_without_counters(directory):
    check_little_memory(directory, ",events=gc+types", SPARE_MB)


def check_little_memory(directory, options, spare):
    # The least in which the program alone runs, to 16 MB.  How much the collector
    # needs depends on when it runs: what counts is what suffices each time.
    low, high = 64, 4096
    while high - low > 16:
        middle = (low + high) // 2
        good = all(mono(BIG, preexec=address_space(middle << 20), cwd=directory).status == 0
                   for _ in range(3))
        low, high = (low, middle) if good else (middle, high)
    taken = 0
    for more in spare:
        path = os.path.join(directory, "a%d.hs" % more)
        recorded = mono(BIG, "output=%s,snapshot=gc,quiet%s" % (path, options), cwd=directory,
                        preexec=address_space((high + more) << 20))
        assert recorded.status == 0 and recorded.out == "done\n", "%d + %d MB: status %d\n%s" % (
            high, more, recorded.status, recorded.err)
        if os.path.exists(path):
            taken += len(complete_snapshots(path))
        if not os.path.exists(path) or not complete_snapshots(path):
            assert "heapshot" in recorded.err, "no snapshot and nothing said"
    assert taken, "no snapshot at all"


@test("M2 heap limit: the exception reaches the program, `oom` takes one snapshot")
def heap_limit(directory):
    path = os.path.join(directory, "a.hs")
    env = {"MONO_GC_PARAMS": "max-heap-size=128m,major=marksweep"}
    for name in ("caught", "recovered"):
        recorded = mono("OutOfMemory.exe " + name, "output=%s,snapshot=oom,overwrite,quiet" % path, env=env,
                        cwd=directory)
        assert recorded.status == 0, recorded.err
        check_file(path)
        triggers = [snapshot["trigger"] for snapshot in complete_snapshots(path)]
        assert triggers == ["oom"], triggers


def peak_bytes(command, env, cwd):
    process = subprocess.Popen(command, env=environment(env), cwd=cwd, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    return usage.ru_maxrss << 10


@test("M3 memory used: the difference stays below a constant")
def memory_used(directory):
    for args in (BIG, "Strings.exe distinct 2000000", "Arrays.exe refs 1000000"):
        plain, recorded = [], []
        for _ in range(2):
            plain.append(peak_bytes(mono_command(args), None, directory))
            recorded.append(peak_bytes(mono_command(args, "output=a.hs,snapshot=gc,overwrite,quiet"),
                                       None, directory))
        extra = min(recorded) - max(plain)
        assert extra < EXTRA_BYTES, "%s: %d KB more" % (args, extra >> 10)


def control_socket(env, pid):
    return os.path.join(env["XDG_RUNTIME_DIR"], "heapshot", "%d.sock" % pid)


def ask(path, text, timeout=60):
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(timeout)
        client.connect(path)
        client.sendall(text.encode())
        answer = b""
        while True:
            part = client.recv(4096)
            if not part:
                return answer.decode()
            answer += part


def started(directory, args, options):
    env = {"XDG_RUNTIME_DIR": directory}
    process = start(args, options, env=env, cwd=directory)
    path = control_socket(env, process.pid)
    wait_for("the control socket", lambda: os.path.exists(path) or process.poll() is not None)
    return process, path


@test("M6 requests at the same time: each gets a clear answer")
def requests_at_once(directory):
    process, path = started(directory, "Leak.exe forever 1", "output=a.hs,snapshot=none,quiet")
    answers = []
    try:
        process.stdout.readline()
        threads = [threading.Thread(target=lambda n=n: answers.append(ask(path, "take label %d\n" % n)))
                   for n in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        end(process, signal.SIGTERM)
    assert len(answers) == 8
    for answer in answers:
        assert answer.startswith(("ok ", "error ")) and answer.endswith("\n"), repr(answer)
    good = [answer for answer in answers if answer.startswith("ok ")]
    assert len(good) >= 2, answers
    recorded = complete_snapshots(os.path.join(directory, "a.hs"))
    numbers = {snapshot["id"] for snapshot in recorded}
    assert {int(answer.split()[1]) for answer in good} <= numbers, (answers, numbers)


@test("M7 a request very early, and requests until the very end")
def early_and_late(directory):
    for round_number in range(5):
        path = os.path.join(directory, "a.hs")
        env = {"XDG_RUNTIME_DIR": directory}
        process = start("Snapshots.exe many 20 50000", "output=%s,snapshot=none,quiet,overwrite" % path,
                        env=env, cwd=directory)
        where = control_socket(env, process.pid)
        wait_for("the control socket", lambda: os.path.exists(where) or process.poll() is not None)
        answers = []
        while process.poll() is None:
            try:
                answers.append(ask(where, "take\n"))
            except OSError:
                # Bound and not listening yet, or closed already.
                time.sleep(0.005)
        out, err = process.communicate(timeout=60)
        assert process.returncode == 0 and out == b"done\n", (process.returncode, err)
        for answer in answers:
            assert answer == "" or answer.startswith(("ok ", "error ")), repr(answer)
        check_file(path)
        good = sum(answer.startswith("ok ") for answer in answers)
        assert good and len(complete_snapshots(path)) >= good, (answers, snapshots(path))
        assert not os.path.exists(where), "the socket was left behind"


@test("M7 a signal before the runtime is up")
def signal_early(directory):
    for delay in (0.002, 0.01, 0.03, 0.06):
        path = os.path.join(directory, "a.hs")
        process = start("Snapshots.exe idle 1 1000", "output=%s,snapshot=none,signal=USR2,overwrite" % path,
                        cwd=directory)
        # The line is said when all is set up, and before the runtime is.
        assert b"recording to" in process.stderr.readline()
        time.sleep(delay)
        process.send_signal(signal.SIGUSR2)
        out, err = process.communicate(timeout=60)
        assert process.returncode == 0 and out == b"ready\ndone\n", (process.returncode, err)
        triggers = [snapshot["trigger"] for snapshot in complete_snapshots(path)]
        assert triggers == ["signal"], triggers
        os.remove(path)


@test("M8 a blocked finalizer thread does not block a request")
def blocked_finalizer(directory):
    env = {"XDG_RUNTIME_DIR": directory}
    file = os.path.join(directory, "a.hs")
    process = subprocess.Popen(["mono", "--profile=heapshot:output=%s,snapshot=none,quiet" % file,
                                compiled("Blocked")], env=environment(env), stdout=subprocess.PIPE)
    try:
        assert process.stdout.readline() == b"blocked\n"
        for label in ("first", "second"):
            before = time.monotonic()
            answer = ask(control_socket(env, process.pid), "take %s\n" % label)
            assert time.monotonic() - before < 10, "the answer took %d s" % (time.monotonic() - before)
            assert answer.startswith("ok "), repr(answer)
        assert [snapshot["label"] for snapshot in complete_snapshots(file)] == ["first", "second"]
        assert process.poll() is None, "the program ended meanwhile"
    finally:
        end(process)


@test("M8 the same while the runtime shuts down: refused with a reason")
def blocked_finalizer_at_the_end(directory):
    process, path = started(directory, "Finalizers.exe slow 5000", "output=a.hs,snapshot=none,quiet")
    try:
        time.sleep(1.5)
        before = time.monotonic()
        answer = ask(path, "take while blocked\n")
        assert time.monotonic() - before < 10, "the answer took %d s" % (time.monotonic() - before)
        assert answer.startswith("error "), repr(answer)
    finally:
        end(process)


@test("M9 SIGSTOP, SIGCONT, SIGCHLD, SIGWINCH, SIGPROF while recording")
def signals(directory):
    path = os.path.join(directory, "a.hs")
    process = start(MANY, "output=%s,snapshot=gc,quiet" % path, cwd=directory,
                    preexec_fn=lambda: signal.signal(signal.SIGPROF, signal.SIG_IGN))
    while process.poll() is None:
        for number in (signal.SIGSTOP, signal.SIGCONT, signal.SIGCHLD, signal.SIGWINCH, signal.SIGPROF):
            if process.poll() is None:
                process.send_signal(number)
            time.sleep(0.005)
    out, err = process.communicate()
    assert process.returncode == 0 and out == b"done\n" and err == b"", (process.returncode, err)
    check_file(path)
    assert len(complete_snapshots(path)) >= 200


main()
