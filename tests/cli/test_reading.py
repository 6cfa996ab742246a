# SPDX-License-Identifier: MIT
"""How the command reads: progress on a terminal, memory that does not grow with
the heap, and `list` without the bodies of snapshots."""
import os
import pty
import resource
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from cli import *  # noqa: E402,F403
import cli  # noqa: E402

SANITIZED = os.environ.get("HEAPSHOT_SANITIZERS", "no") not in ("no", "")
ERASED = b"\r             \r"
SHOWN = b"\rreading "


def everything(descriptor):
    data = b""
    while True:
        try:
            part = os.read(descriptor, 65536)
        except OSError:
            part = b""
        if not part:
            os.close(descriptor)
            return data
        data += part


def with_terminal(*arguments, **variables):
    """Output, what came on the terminal that standard error is, and the status."""
    here, there = pty.openpty()
    process = subprocess.Popen([cli.HEAPSHOT, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=there, env={**os.environ, "TERM": "xterm", **variables})
    os.close(there)
    out = process.stdout.read()
    process.stdout.close()
    return out.decode(), everything(here), process.wait(60)


def slow_recording():
    """A recording that takes longer to verify than the moment before progress is shown."""
    objects = 4000000
    while True:
        path = recording("many", str(objects))
        out, shown, status = with_terminal("verify", path)
        assert status == OK and out.endswith("ok\n"), (status, out[-300:])
        if SHOWN in shown:
            return path, shown
        # A fast machine: more of it.
        assert shown == b"" and objects < 1 << 28, (objects, shown)
        os.unlink(path)
        objects *= 4


@test
def progress_on_a_terminal_only():
    path, shown = slow_recording()
    # Nothing but percentages that rise, and at the end the line is empty again.
    assert shown.endswith(ERASED), shown[-40:]
    steps = shown.replace(ERASED, b"").split(SHOWN)[1:]
    assert all(step.endswith(b" %") for step in steps), shown
    assert all(0 <= int(step[:-2]) <= 100 for step in steps), steps
    assert b"\x1b" not in shown
    for variables in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        assert b"\x1b" not in with_terminal("verify", path, **variables)[1]
    # With a pipe in place of the terminal there is none, however long it takes.
    result = run("verify", path)
    assert result.err == "" and "reading" not in result.out, result.err
    os.unlink(path)


@test
def names_on_a_terminal():
    path = recording("hostile-names")
    for command in ("list", "top", "roots"):
        here, there = pty.openpty()
        process = subprocess.Popen([cli.HEAPSHOT, command, path], stdin=subprocess.DEVNULL, stdout=there, stderr=there,
                                   env={**os.environ, "TERM": "xterm", "NO_COLOR": "1"})
        os.close(there)
        text = everything(here).decode()
        assert process.wait(60) == OK and text
        assert all(line.isprintable() for line in text.split("\r\n")), (command, text)


def peak_kb(path, command):
    """Peak of memory in use; in an address space of 64 MB."""
    limit = None if SANITIZED else lambda: resource.setrlimit(resource.RLIMIT_AS, (64 << 20, 64 << 20))
    process = subprocess.Popen([cli.HEAPSHOT, command, path, "--json"], stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, preexec_fn=limit)
    err = process.stderr.read()
    process.stderr.close()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == OK and err == b"", err
    return usage.ru_maxrss


@test
def memory_by_types_not_by_objects():
    small, large = recording("many", "300000"), recording("many", "6000000")
    objects = [run_json("list", path)["snapshots"][0]["objects"] for path in (small, large)]
    assert objects[1] > 19 * objects[0] > 19 * 300000, objects
    assert {t["type"] for t in run_json("top", small)["types"]} == {t["type"] for t in run_json("top", large)["types"]}
    if SANITIZED:
        return "sanitizers keep memory of their own"
    for command in ("top", "list", "events"):
        less, more = peak_kb(small, command), peak_kb(large, command)
        # The least of it would be a bit an object: 700 KB.
        assert more - less < 512, (command, less, more)


def spoilt(data, kinds):
    """DATA with bytes changed all over the frames of KINDS, but the first frame."""
    data = bytearray(data)
    at, n = 0, 0
    while at < len(data):
        body = at + 8 + int.from_bytes(data[at + 4:at + 8], "little")
        end = body + int.from_bytes(data[at + 40:at + 44], "little")
        if data[at + 13] in kinds and at > 0:
            n += 1
            for place in range(body, end, 3):
                data[place] ^= 0x5A
        at = end
    return bytes(data), n


@test
def list_reads_tags_and_ends_only():
    for name in ("good", "varied", "killed"):
        data = read(recording(name))
        whole = run("list", recording(name), "--json")
        snapshots = json.loads(whole.out)["snapshots"]
        assert snapshots
        # Bodies alone; then events and names as well.  Kinds 3 and 5 begin and end a snapshot.
        for kinds in ((4,), (1, 2, 4)):
            changed, n = spoilt(data, kinds)
            assert n > len(snapshots) // 2, (name, n)
            path = write("spoilt.hs", changed)
            result = run("list", path, "--json")
            assert result.out == whole.out, (name, kinds)
            # They are spoilt indeed.
            assert run("verify", path, status=DAMAGED)


sys.exit(main())
