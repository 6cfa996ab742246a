# SPDX-License-Identifier: MIT
"""Rows R1 to R7 of cases/faults.md, what comes at random: clients and commands
that die, odd option texts, programs that start without their descriptors.  SEED
repeats a run, HEAPSHOT_LONG=1 makes it longer."""
import os
import random
import resource
import signal
import socket
import string
import struct
import subprocess
import time

from harness import *

SEED = int(os.environ.get("SEED") or random.randrange(1 << 32))
SMALL = "Lists.exe ring 1000"


def rounds(short, long):
    return long if IS_LONG else short


def seeded(name):
    note("SEED=%d repeats it" % SEED)
    return random.Random("%d %s" % (SEED, name))


class Recorded:
    """A program that runs until it is told to end, recorded on demand."""

    def __init__(self, directory):
        self.env = {"XDG_RUNTIME_DIR": directory}
        self.path = os.path.join(directory, "a.hs")
        self.process = start("Leak.exe forever 1", "output=%s,snapshot=term,quiet" % self.path,
                             env=self.env, cwd=directory)
        self.socket = os.path.join(directory, "heapshot", "%d.sock" % self.process.pid)
        self.process.stdout.readline()
        self.take()
        self.descriptors = self.count()

    def count(self):
        return len(os.listdir("/proc/%d/fd" % self.process.pid))

    def take(self):
        result = heapshot("take", str(self.process.pid), env=self.env, timeout=60)
        assert result.status == OK, "take: status %d: %s" % (result.status, result.err)

    def check(self):
        """It answers, it has no more descriptors than before, and its recording is good."""
        self.take()
        wait_for("the descriptors of clients to be closed", lambda: self.count() <= self.descriptors)
        ended = end(self.process, signal.SIGTERM)
        assert ended.status == 143 and not ended.err, (ended.status, ended.err)
        check_file(self.path)

    def stop(self):
        end(self.process)


@test("R1 `heapshot take` killed at random moments: the next one is answered")
def take_killed(directory):
    chance = seeded("take")
    recorded = Recorded(directory)
    try:
        for _ in range(rounds(30, 300)):
            take = subprocess.Popen([HEAPSHOT, "take", str(recorded.process.pid)], stdin=subprocess.DEVNULL,
                                    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                    env=environment(recorded.env))
            time.sleep(chance.random() * 0.03)
            take.kill()
            take.wait()
        recorded.check()
    finally:
        recorded.stop()


@test("R2 clients of the socket that send anything and leave at any moment")
def clients(directory):
    chance = seeded("clients")
    recorded = Recorded(directory)
    try:
        for _ in range(rounds(60, 600)):
            text = chance.choice((
                b"take", b"take \xff\xfe\n", b"stats", b"status\n", b"flush\n", b"\n", b"take x\ntake y\n", b"\0\n",
                bytes(chance.randrange(256) for _ in range(chance.randrange(3000)))))
            client = socket.socket(socket.AF_UNIX)
            client.connect(recorded.socket)
            try:
                client.sendall(text)
                # Half of them with an answer that nobody reads, and a reset connection.
                if chance.random() < 0.5:
                    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                else:
                    client.shutdown(socket.SHUT_WR)
            except BrokenPipeError:
                pass
            client.close()
        recorded.check()
    finally:
        recorded.stop()


@test("R3 `heapshot record` killed at random moments: the program goes on, its recording is good")
def record_killed(directory):
    chance = seeded("record")
    path = os.path.join(directory, "a.hs")
    for _ in range(rounds(5, 50)):
        record = subprocess.Popen(
            [HEAPSHOT, "record", "-o", path, "--snapshot=gc", "--quiet", "--"] +
            mono_command("Snapshots.exe many 10 20000"), stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(), cwd=directory)
        # Its first descendant is the program; later than here there may be none.
        wait_for("the program", lambda: children(record.pid) or record.poll() is not None)
        time.sleep(chance.random() * 0.5)
        record.kill()
        # The pipe ends when the program does.
        out, err = record.communicate(timeout=60)
        assert out in (b"done\n", b"done\n" * 2) or record.returncode == 0, (record.returncode, out, err)
        assert out == b"done\n", out
        check_file(path)
        os.remove(path)


def children(pid):
    try:
        with open("/proc/%d/task/%d/children" % (pid, pid)) as file:
            return file.read().split()
    except FileNotFoundError:
        return []


NAMES = ["output", "snapshot", "at", "signal", "control", "events", "memory", "max-snapshots", "max-size",
         "strings", "fork", "ring", "methods", "quiet", "overwrite", "nonsense", ""]
VALUES = ["a.hs", "%p.hs", "%t%%.hs", "#2", "#99", "shutdown", "gc+term", "1gc", "5ms", "none", "oom+none", "500m",
          "0", "1", "-1", "4k", "99999999999999999999", "3MB", "USR2", "KILL", "RTMIN+1", "off", "auto", "gc+jit",
          "methods", "code", "never", "always", "", "=", "+", "\\", "\\,", "a b", "\u00e4\u20ac", "'\"", "\n", "x" * 5000]


def option_text(chance):
    options = []
    for _ in range(chance.randrange(6)):
        option = chance.choice(NAMES)
        if chance.random() < 0.8:
            option += "=" + chance.choice(VALUES)
        options.append(option)
    text = list(",".join(options))
    # Now and then a character more, or less.  No slash and no bar: nothing is to be written
    # elsewhere, nor run.
    while text and chance.random() < 0.3:
        at = chance.randrange(len(text))
        if chance.random() < 0.5:
            del text[at]
        else:
            text.insert(at, chance.choice(string.ascii_letters + string.digits + ",=+\\%#-. \t\x7f\x01"))
    return "".join(text)


@test("R4 option texts at random: the program runs unchanged, and what is wrong is said in one line")
def options_at_random(directory):
    chance = seeded("options")
    plain = mono(SMALL)
    for number in range(rounds(40, 1000)):
        cwd = os.path.join(directory, str(number))
        os.mkdir(cwd)
        text = option_text(chance)
        recorded = mono(SMALL, text, cwd=cwd, timeout=60)
        try:
            # A recording to standard error is no text.
            assert_same(recorded, plain)
            lines = recorded.err.splitlines()
            if "output=#" not in text:
                assert all(line.startswith("heapshot: ") for line in lines), recorded.err
                assert len(lines) <= 3, recorded.err
            for name in os.listdir(cwd):
                if name.endswith(".hs"):
                    check_file(os.path.join(cwd, name))
        except AssertionError as error:
            raise AssertionError("with %r: %s" % (text, error))


@test("R5 standard descriptors closed at the start, each and all: unchanged, and never written into")
def closed_descriptors(directory):
    for closed in ((0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2)):
        def close(descriptors=closed):
            for descriptor in descriptors:
                os.close(descriptor)
        for options in ("output=a.hs,snapshot=gc,overwrite", "output=a.hs,snapshot=gc,overwrite,control=off"):
            plain = mono(SMALL, preexec=close)
            recorded = mono(SMALL, options, cwd=directory, preexec=close)
            assert_same(recorded, plain)
            path = os.path.join(directory, "a.hs")
            check_file(path)
            assert count_of(path, "T.Ring") == 1000, closed


@test("R6 small limits of stack, locked memory and queued signals")
def limits(directory):
    plain = mono(SMALL)
    for name, value in (("RLIMIT_STACK", 256 << 10), ("RLIMIT_MEMLOCK", 0), ("RLIMIT_SIGPENDING", 0),
                        ("RLIMIT_CORE", 0), ("RLIMIT_MSGQUEUE", 0)):
        number = getattr(resource, name, None)
        if number is None:
            continue

        def limit():
            resource.setrlimit(number, (value, value))
        path = os.path.join(directory, "a.hs")
        without = mono(SMALL, preexec=limit)
        recorded = mono(SMALL, "output=a.hs,snapshot=gc,overwrite,quiet", cwd=directory, preexec=limit)
        assert_same(recorded, without)
        if without.status == plain.status:
            check_file(path)
            assert count_of(path, "T.Ring") == 1000, name


@test("R7 no inode left on the disk of the output: one line")
def no_inode(directory):
    if os.geteuid() != 0:
        skip("mounting a tmpfs needs root")
    disk = os.path.join(directory, "disk")
    os.mkdir(disk)
    mounted = run(["mount", "-t", "tmpfs", "-o", "size=1m,nr_inodes=1", "none", disk])
    if mounted.status != 0:
        skip("a tmpfs cannot be mounted here: " + mounted.err.strip())
    try:
        recorded = mono(SMALL, "output=%s/a.hs" % disk, cwd=directory)
        assert_same(recorded, mono(SMALL))
        assert_lines(recorded.err, 1, "heapshot", "No space left on device")
    finally:
        run(["umount", disk])


main()
