# SPDX-License-Identifier: MIT
"""Rows O1 to O9 of cases/faults.md: what may happen to the output."""
import errno
import fcntl
import os
import random
import resource
import shutil
import signal
import subprocess
import time

from harness import *

BIG = "Lists.exe chain 5000000"
MANY = "Snapshots.exe many 200 100000"
SMALL = "Lists.exe ring 1000"
QUICK = "Snapshots.exe many 20 10000"


def words(number):
    return os.strerror(number)


def file_limit(size):
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


def check_cut(path, type_name=None, count=None):
    """A file that ends too early: all complete snapshots are there and right."""
    complete = complete_snapshots(path)
    for snapshot in complete[-3:]:
        if type_name:
            assert count_of(path, type_name, snapshot["id"]) == count
    return complete


@test("O1 device full at once: one line, program unchanged")
def device_full(directory):
    recorded = mono(BIG, "output=/dev/full,snapshot=gc,quiet", cwd=directory)
    assert_same(recorded, mono(BIG))
    assert_lines(recorded.err, 1, "heapshot", words(errno.ENOSPC))


@test("O2 disk fills up: complete snapshots read, the cut is stated")
def disk_fills(directory):
    if os.geteuid() != 0:
        skip("mounting a tmpfs needs root")
    disk = os.path.join(directory, "disk")
    os.mkdir(disk)
    mounted = run(["mount", "-t", "tmpfs", "-o", "size=1m", "none", disk])
    if mounted.status != 0:
        skip("a tmpfs cannot be mounted here: " + mounted.err.strip())
    try:
        path = os.path.join(disk, "many.hs")
        recorded = mono(MANY, "output=%s,snapshot=gc,quiet" % path)
        assert_same(recorded, mono(MANY))
        assert_lines(recorded.err, 1, "heapshot", words(errno.ENOSPC))
        complete = check_cut(path, "T.Item", 100000)
        assert complete, "no snapshot fits into 1 MiB"
        result = heapshot("verify", path)
        assert result.status == INCOMPLETE, "verify: %d %s" % (result.status, result.out)
    finally:
        run(["umount", disk])


@test("O3 file size limit: SIGXFSZ does not end the program")
def size_limit(directory):
    path = os.path.join(directory, "big.hs")
    # The runtime's own shared memory would be the first to pass the limit.
    how = {"preexec": file_limit(1024), "env": {"MONO_DISABLE_SHARED_AREA": "1"}}
    recorded = mono(BIG, "output=%s,snapshot=gc,quiet" % path, **how)
    plain = mono(BIG, **how)
    assert plain.status == 0
    assert_same(recorded, plain)
    assert_lines(recorded.err, 1, "heapshot", words(errno.EFBIG))
    assert heapshot("list", path).status in (OK, INCOMPLETE)


@test("O3 file size limit in the middle: complete snapshots read")
def size_limit_later(directory):
    path = os.path.join(directory, "many.hs")
    recorded = mono(MANY, "output=%s,snapshot=gc,quiet" % path, preexec=file_limit(512 << 10))
    assert_same(recorded, mono(MANY))
    assert_lines(recorded.err, 1, "heapshot", words(errno.EFBIG))
    assert check_cut(path, "T.Item", 100000)
    assert heapshot("verify", path).status == INCOMPLETE


def check_refused(options, number, **how):
    plain = mono(SMALL, **how)
    recorded = mono(SMALL, options, **how)
    assert_same(recorded, plain)
    assert_lines(recorded.err, 1, "heapshot", words(number))
    strict = mono(SMALL, options + ",strict", **how)
    assert strict.status == 2, "strict: status %d" % strict.status
    assert strict.out == "", "strict: the program ran"
    assert_lines(strict.err, 1, words(number))


@test("O4 directory missing: one line, or status 2 when strict")
def directory_missing(directory):
    check_refused("output=/nonexistent/x,snapshot=gc", errno.ENOENT)


@test("O4 path is a directory")
def path_is_directory(directory):
    check_refused("output=/,snapshot=gc", errno.EISDIR)


@test("O4 no permission, not as root")
def no_permission(directory):
    before = []
    if os.geteuid() == 0:
        if shutil.which("setpriv") is None:
            skip("setpriv is missing")
        before = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    os.chmod(directory, 0o555)
    env = {"HOME": "/nonexistent"}
    if mono(SMALL, before=before, env=env).status != 0:
        skip("another user cannot read the build tree")
    check_refused("output=%s/x.hs,snapshot=gc" % directory, errno.EACCES, before=before, env=env)


@test("O5 a finished recording of that name becomes NAME.old")
def recording_exists(directory):
    path = os.path.join(directory, "a.hs")
    mono(SMALL, "output=%s,snapshot=gc" % path)
    with open(path, "rb") as file:
        first = file.read()
    mono("Lists.exe tree 6", "output=%s,snapshot=gc" % path)
    with open(path + ".old", "rb") as file:
        assert file.read() == first, "the older recording was changed"
    check_file(path)
    assert count_of(path, "T.Tree") == 63 and count_of(path, "T.Ring") == 0


@test("O5 a recording of that name stays where it is when there is no room for another")
def recording_exists_and_no_room(directory):
    path = os.path.join(directory, "a.hs")
    mono(SMALL, "output=%s,snapshot=gc" % path)
    before = os.stat(path).st_ino
    # Not even the first frame has room.
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    recorded = mono("Lists.exe tree 6", "output=%s,control=off" % path, preexec=limit)
    assert_same(recorded, mono("Lists.exe tree 6", preexec=limit))
    assert_lines(recorded.err, 1, "File too large", "Nothing is recorded")
    assert os.listdir(directory) == ["a.hs"] and os.stat(path).st_ino == before
    check_file(path)


@test("O5 another file is refused and left alone, unless `overwrite`")
def other_file_exists(directory):
    path = os.path.join(directory, "notes.txt")
    link = os.path.join(directory, "link.hs")
    os.symlink(path, link)
    for name in (path, link):
        with open(path, "w") as file:
            file.write("notes that nobody else has\n")
        recorded = mono(SMALL, "output=%s,snapshot=gc" % name)
        assert recorded.status == 0
        assert_lines(recorded.err, 1, "heapshot", "overwrite")
        with open(path) as file:
            assert file.read() == "notes that nobody else has\n"
    recorded = mono(SMALL, "output=%s,snapshot=gc,overwrite" % path)
    assert recorded.status == 0
    check_file(path)


@test("O5 an empty file is used")
def empty_file_exists(directory):
    path = os.path.join(directory, "a.hs")
    open(path, "w").close()
    mono(SMALL, "output=%s,snapshot=gc" % path)
    check_file(path)


@test("O5 a recording that a live process holds leads to NAME.PID")
def recording_held(directory):
    path = os.path.join(directory, "a.hs")
    first = start("Leak.exe serve", "output=%s,snapshot=gc" % path, cwd=directory)
    try:
        first.stdin.write(b"leak\ncollect\n")
        first.stdin.flush()
        assert first.stdout.readline() and first.stdout.readline()
        second = mono(SMALL, "output=%s,snapshot=gc" % path, cwd=directory)
        assert second.status == 0
        check_file("%s.%d" % (path, second.pid))
        assert count_of("%s.%d" % (path, second.pid), "T.Ring") == 1000
        first.stdin.write(b"quit\n")
        first.stdin.flush()
        assert first.wait(60) == 0
    finally:
        end(first)
    check_file(path)
    assert count_of(path, "T.Leaked") == 10


def descriptors(limit):
    return lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))


@test("O6 no descriptors left: one line at most, never a crash")
def no_descriptors(directory):
    path = os.path.join(directory, "a.hs")
    ran = 0
    for limit in list(range(3, 24, 2)) + [64]:
        plain = mono(SMALL, preexec=descriptors(limit), cwd=directory)
        recorded = mono(SMALL, "output=%s,snapshot=gc,overwrite,quiet" % path,
                        preexec=descriptors(limit), cwd=directory)
        assert recorded.status < 128, "limit %d: status %d\n%s" % (
            limit, recorded.status, recorded.err)
        if plain.status != 0:
            assert recorded.status == plain.status, "limit %d: status %d, not %d" % (
                limit, recorded.status, plain.status)
        ran += recorded.status == 0
    assert ran and recorded.out == plain.out
    check_file(path)


@test("O6 the output cannot be opened for want of descriptors: as O4")
def no_descriptor_for_output(directory):
    # Descriptors 3 to 5 are enough to load the module, not to keep a file.
    path = os.path.join(directory, "a.hs")
    seen = False
    for limit in range(4, 12):
        recorded = mono(SMALL, "output=%s,snapshot=gc,quiet,overwrite" % path, preexec=descriptors(limit))
        if words(errno.EMFILE) in recorded.err and "heapshot" in recorded.err:
            lines = [line for line in recorded.err.splitlines() if "heapshot" in line]
            assert len(lines) == 1, recorded.err
            seen = True
    if not seen:
        skip("mono itself fails first at every limit")


@test("O6 the program closes the recorder's descriptors: said, and its own files stay its own")
def descriptors_closed(directory):
    exe = compiled("Closes")
    env = {"XDG_RUNTIME_DIR": directory}
    plain = run(["mono", exe], cwd=directory, env=env)
    assert plain.out == "closed 0, changed 0\n", plain.out + plain.err
    # A snapshot on each collection wakes both threads of the recorder again and again.
    recorded = run(["mono", "--profile=heapshot:output=a.hs,snapshot=gc+20ms,signal=USR2,quiet", exe],
                   cwd=directory, env=env)
    assert recorded.status == 0 and recorded.out == "closed 4, changed 0\n", recorded.out + recorded.err
    assert "heapshot: recording to a.hs ended: " + words(errno.EBADF) in recorded.err, recorded.err
    assert heapshot("list", os.path.join(directory, "a.hs")).status in (OK, INCOMPLETE)


def check_killed(directory, number, delay):
    path = os.path.join(directory, "many.hs")
    if os.path.exists(path):
        os.remove(path)
    process = start(MANY, "output=%s,snapshot=gc,quiet" % path, cwd=directory)
    # Until its header is written the file is empty, and no recording.
    wait_for("the recording", lambda: process.poll() is not None or
             (os.path.exists(path) and os.path.getsize(path) > 0))
    time.sleep(delay)
    result = end(process, number)
    if result.status == 0:
        check_file(path)
        return 0
    assert result.status == 128 + number, "status %d\n%s" % (result.status, result.err)
    complete = check_cut(path, "T.Item", 100000)
    listed = snapshots(path, status=(OK, INCOMPLETE))
    for snapshot in listed[:-1]:
        assert snapshot["complete"], "snapshot %d is not whole, and not the last" % snapshot["id"]
    shown = heapshot("top", path)
    if complete:
        assert shown.status == OK, "top: status %d" % shown.status
    verify = heapshot("verify", path)
    assert verify.status == INCOMPLETE or (number == signal.SIGTERM and verify.status == OK), \
        "verify: status %d\n%s%s" % (verify.status, verify.out, verify.err)
    return 1


@test("O7 SIGKILL at 20 random moments")
def killed(directory):
    seed = int(os.environ.get("SEED") or time.time())
    note("seed %d (SEED=%d repeats it)" % (seed, seed))
    generator = random.Random(seed)
    rounds = sum(check_killed(directory, signal.SIGKILL, generator.uniform(0, 0.6))
                 for _ in range(20))
    assert rounds >= 5, "only %d of 20 were killed while they ran" % rounds


@test("O7 SIGTERM, SIGHUP and SIGINT")
def ended_by_signals(directory):
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        for delay in (0.05, 0.3):
            check_killed(directory, number, delay)


@test("O8 standard error closed")
def stderr_closed(directory):
    path = os.path.join(directory, "a.hs")
    for options in ("output=%s,snapshot=gc,overwrite" % path, "output=/nonexistent/x", "outptu=x"):
        for args in (SMALL, "Exits.exe throw"):
            close = lambda: os.close(2)
            recorded = mono(args, options, preexec=close, cwd=directory)
            assert_same(recorded, mono(args, preexec=close, cwd=directory))
            if "snapshot" in options:
                # What the program says must not land in the recording.
                check_file(path, (OK, INCOMPLETE) if "throw" in args else (OK,))


@test("O8 standard error is a pipe that nobody reads")
def stderr_stuck(directory):
    for options in ("output=%s/a.hs,snapshot=gc,overwrite" % directory, "output=/nonexistent/x",
                    "outptu=x"):
        for is_open in (True, False):
            reader, writer = os.pipe()
            try:
                fcntl.fcntl(writer, fcntl.F_SETFL, os.O_NONBLOCK)
                try:
                    while True:
                        os.write(writer, b"x" * 4096)
                except BlockingIOError:
                    pass
                fcntl.fcntl(writer, fcntl.F_SETFL, 0)
                if not is_open:
                    os.close(reader)
                recorded = mono(SMALL, options, stderr=writer, timeout=60)
                assert_same(recorded, mono(SMALL))
            finally:
                os.close(writer)
                if is_open:
                    os.close(reader)


@test("O8 standard error is a file that may not grow")
def stderr_limited(directory):
    path = os.path.join(directory, "stderr")
    with open(path, "wb") as file:
        file.write(b"x" * 1024)
    results = []
    for options in (None, "output=%s/a.hs,snapshot=gc" % directory, "output=/nonexistent/x"):
        with open(path, "ab") as file:
            results.append(mono(SMALL, options, stderr=file, preexec=file_limit(1024),
                                env={"MONO_DISABLE_SHARED_AREA": "1"}))
    assert results[0].status == 0
    for recorded in results[1:]:
        assert_same(recorded, results[0])
    assert os.path.getsize(path) == 1024


@test("O9 file removed while recording: the program is unchanged, and no other file comes")
def file_removed(directory):
    path = os.path.join(directory, "a.hs")
    recorded = run_with_step(directory, path, lambda: os.remove(path))
    assert (recorded.status, recorded.err) == (0, ""), recorded.err
    assert recorded.out == "ok 10\n" * 4 + "done\n", recorded.out
    assert os.listdir(directory) == [], os.listdir(directory)


@test("O9 file truncated while recording: damaged, and the snapshots taken later read")
def file_truncated(directory):
    path = os.path.join(directory, "a.hs")
    recorded = run_with_step(directory, path, lambda: os.truncate(path, 0))
    assert (recorded.status, recorded.err) == (0, ""), recorded.err
    assert recorded.out == "ok 10\n" * 4 + "done\n", recorded.out
    for command in ("list", "top", "roots", "events", "verify", "dump"):
        result = heapshot(command, path)
        assert result.status == DAMAGED, "%s: status %d" % (command, result.status)
        assert "hold no frame" in result.err + result.out, result.err
    # One of three collections came before.
    listed = snapshots(path, status=(DAMAGED,))
    assert listed[-1]["complete"] and {snapshot["id"] for snapshot in listed} >= {2, 3}, listed


def run_with_step(directory, path, step):
    process = start("Leak.exe serve", "output=%s,snapshot=gc,quiet" % path, cwd=directory)
    try:
        lines = []
        for text in (b"leak\n", b"collect\n", b"collect\n", b"collect\n"):
            if text == b"collect\n" and len(lines) == 2:
                step()
            process.stdin.write(text)
            process.stdin.flush()
            lines.append(process.stdout.readline().decode())
        out, err = process.communicate(b"quit\n", timeout=60)
        return types.SimpleNamespace(status=shell_status(process.returncode),
                                     out="".join(lines) + out.decode(), err=err.decode())
    finally:
        if process.poll() is None:
            end(process)


main(jobs=2)
