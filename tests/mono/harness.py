# SPDX-License-Identifier: MIT
"""What the tests on real Mono share: running mono with the module of the build
tree, reading recordings through `heapshot --json`, and printing TAP.

A test is a function decorated with @test("name"); it gets an empty directory,
fails by AssertionError and is skipped by skip("why").
"""
import concurrent.futures
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import types

SOURCE = os.environ.get("top_srcdir") or os.path.abspath(
    os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
BUILD = os.environ.get("top_builddir") or os.getcwd()
CASES = os.path.join(BUILD, "tests", "mono", "bin")
MODULES = os.path.join(BUILD, ".libs")
HEAPSHOT = os.path.join(BUILD, "heapshot")
IS_LONG = os.environ.get("HEAPSHOT_LONG") == "1"

# Exit codes of the heapshot command.
OK, FAILED, USAGE, DAMAGED, INCOMPLETE, NOT_FOUND, IO, NOT_RECORDING = range(8)


# A shell or nohup may have it ignored, and programs would inherit that.
signal.signal(signal.SIGHUP, signal.SIG_DFL)


class Skipped(Exception):
    pass


def skip(why):
    raise Skipped(why)


def long_only():
    if not IS_LONG:
        skip("long: make check-long")


# ---- running ----------------------------------------------------------------

def environment(env=None):
    result = dict(os.environ)
    for name in ("HEAPSHOT_OPTIONS", "MONO_GC_PARAMS", "MALLOC_ARENA_MAX"):
        result.pop(name, None)
    result["LD_LIBRARY_PATH"] = MODULES + (
        ":" + os.environ["LD_LIBRARY_PATH"] if os.environ.get("LD_LIBRARY_PATH") else "")
    result.update(env or {})
    return result


def run(command, env=None, stdin="", cwd=None, timeout=300, before=(), stderr=subprocess.PIPE,
        pass_fds=(), preexec=None):
    """Runs COMMAND to its end; the status is the one that a shell shows."""
    start = time.monotonic()
    process = subprocess.Popen(list(before) + list(command), env=environment(env), cwd=cwd,
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr,
                               pass_fds=pass_fds, preexec_fn=preexec, start_new_session=True)
    try:
        out, err = process.communicate(stdin if isinstance(stdin, bytes) else stdin.encode(), timeout)
    except subprocess.TimeoutExpired:
        # A child that it left would keep the pipes open.
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        raise AssertionError("no end after %d s: %s" % (timeout, " ".join(command)))
    return types.SimpleNamespace(
        status=shell_status(process.returncode), out=out.decode("utf-8", "replace"),
        err=(err or b"").decode("utf-8", "replace"), seconds=time.monotonic() - start,
        pid=process.pid)


def shell_status(code):
    return 128 - code if code < 0 else code


def program(name):
    path = os.path.join(CASES, name if name.endswith(".exe") else name + ".exe")
    if not os.path.exists(path):
        skip("%s is not built (mcs is missing)" % os.path.basename(path))
    return path


COMPILER = threading.Lock()
EXTRA_SOURCES = {"Api": ["contrib/managed/Heapshot.cs"], "Ring": ["contrib/managed/Heapshot.cs"]}


def compiled(name):
    """A program of tests/mono that is no case, compiled when first wanted."""
    with COMPILER:
        exe = os.path.join(CASES, name + ".exe")
        sources = ["tests/mono/%s.cs" % name, "tests/mono/cases/Case.cs"] + EXTRA_SOURCES.get(name, [])
        sources = [os.path.join(SOURCE, source) for source in sources]
        newest = max(os.path.getmtime(source) for source in sources)
        if not os.path.exists(exe) or os.path.getmtime(exe) < newest:
            if shutil.which("mcs") is None:
                skip("mcs is missing")
            os.makedirs(CASES, exist_ok=True)
            result = run(["mcs", "-nologo", "-unsafe", "-langversion:7", "-nowarn:169,414,649,219",
                          "-debug-", "-out:" + exe] + sources)
            assert result.status == 0, result.out + result.err
        return exe


def mono_command(args, options=None, mono_options=()):
    """The words of a command line; ARGS is "Program.exe case 1 2" or a list."""
    words = args.split() if isinstance(args, str) else list(args)
    command = ["mono"] + list(mono_options)
    if options is not None:
        command.append("--profile=heapshot" + (":" + options if options else ""))
    return command + [program(words[0])] + words[1:]


def mono(args, options=None, mono_options=(), **how):
    return run(mono_command(args, options, mono_options), **how)


def start(args, options=None, env=None, cwd=None, **how):
    """Starts a program that goes on; the caller ends it."""
    how.setdefault("stdin", subprocess.PIPE)
    how.setdefault("stdout", subprocess.PIPE)
    how.setdefault("stderr", subprocess.PIPE)
    # Unbuffered: communicate() does not see what a readline() before it has read ahead.
    how.setdefault("bufsize", 0)
    return subprocess.Popen(mono_command(args, options), env=environment(env), cwd=cwd, **how)


def end(process, how=signal.SIGKILL):
    if process.poll() is None:
        process.send_signal(how)
    out, err = process.communicate(timeout=60)
    return types.SimpleNamespace(status=shell_status(process.returncode),
                                 out=(out or b"").decode("utf-8", "replace"),
                                 err=(err or b"").decode("utf-8", "replace"))


def wait_for(what, condition, seconds=20):
    limit = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < limit, "%s did not come in %d s" % (what, seconds)
        time.sleep(0.02)


# ---- recordings -------------------------------------------------------------

def heapshot(*args, **how):
    return run([HEAPSHOT] + list(args), **how)


def read_json(*args, status=(OK,)):
    result = heapshot(*args, "--json")
    assert result.status in status, "heapshot %s: status %d: %s" % (
        " ".join(args), result.status, result.err.strip())
    return json.loads(result.out)


def snapshots(path, status=(OK,)):
    return read_json("list", path, status=status)["snapshots"]


def complete_snapshots(path, status=(OK, INCOMPLETE)):
    return [s for s in snapshots(path, status=status) if s["complete"]]


def top(path, snapshot="last"):
    return read_json("top", path, "--snapshot", str(snapshot))["types"]


def roots(path, snapshot="last"):
    return read_json("roots", path, "--snapshot", str(snapshot))["roots"]


def retained(path, snapshot="last"):
    return read_json("retained", path, "--part", "types", "--snapshot", str(snapshot))["types"]


def plain_name(name):
    """A type's name without what may differ between styles of writing it."""
    return re.sub(r"`[0-9]+|\s", "", name or "").replace("+", ".").replace("/", ".")


def of_type(rows, name):
    if name.endswith("*"):
        return [row for row in rows if plain_name(row["type"]).startswith(name[:-1])]
    return [row for row in rows if plain_name(row["type"]) == name]


def count_of(path, name, snapshot="last"):
    return sum(row["count"] for row in of_type(top(path, snapshot), name))


def record_kinds(path):
    """How many records of each kind `heapshot dump` writes."""
    result = heapshot("dump", path)
    assert result.status in (OK, INCOMPLETE), result.err
    kinds = [json.loads(line)["record"] for line in result.out.splitlines()]
    return {kind: kinds.count(kind) for kind in set(kinds)}


def check_file(path, verify=(OK,)):
    """The recording as a whole: our own checks, and lz4's."""
    result = heapshot("verify", path)
    assert result.status in verify, "verify: status %d\n%s%s" % (
        result.status, result.out, result.err)
    if OK in verify and len(verify) == 1:
        lz4 = run(["lz4", "-t", path])
        assert lz4.status == 0, "lz4 -t: " + lz4.err
    return result


def assert_lines(text, count, *words):
    """TEXT is COUNT lines long and says all WORDS."""
    lines = text.splitlines()
    assert len(lines) == count, "%d lines expected, %d seen:\n%s" % (count, len(lines), text)
    for word in words:
        assert word in text, "%r is not in: %s" % (word, text)


def assert_same(recorded, plain):
    """A recorded run did what one without the module did."""
    assert recorded.status == plain.status, "status %d instead of %d\n%s" % (
        recorded.status, plain.status, recorded.err[-2000:])
    assert recorded.out == plain.out, "standard output differs:\n%s\n--- without:\n%s" % (
        recorded.out[-1000:], plain.out[-1000:])


# ---- TAP --------------------------------------------------------------------

TESTS = []


def test(name):
    def add(function):
        TESTS.append((name, function))
        return function
    return add


def say(line):
    # One write: print() makes two, and tests run side by side.
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def note(text):
    """A line of the test's log that is no result."""
    for line in text.splitlines():
        say("# " + line)


def outcome(name, function):
    # Not in the build tree: the path of a socket has at most 107 bytes.
    directory = tempfile.mkdtemp(prefix="hs-" + re.sub(r"\W+", "-", name)[:20] + ".")
    try:
        function(directory)
        return "ok", name, ""
    except Skipped as why:
        return "ok", "%s # SKIP %s" % (name, why), ""
    except AssertionError as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        where = next((frame for frame in reversed(traceback.extract_tb(error.__traceback__))
                      if not frame.filename.endswith("harness.py")), where)
        return "not ok", name, "%s (line %d: %s)" % (error, where.lineno, where.line)
    except Exception:
        return "not ok", name, traceback.format_exc()
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def main(jobs=1):
    if shutil.which("mono") is None:
        say("1..0 # SKIP mono is not installed")
        return
    wanted = [(name, function) for name, function in TESTS
              if not sys.argv[1:] or any(word in name for word in sys.argv[1:])]
    say("1..%d" % len(wanted))
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for number, (result, name, detail) in enumerate(
                pool.map(lambda item: outcome(*item), wanted), 1):
            say("%s %d - %s" % (result, number, name))
            note(detail)
