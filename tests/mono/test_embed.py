# SPDX-License-Identifier: MIT
"""The embedding API: the example and a program that tries the corners, linked
with the shared and with the static library."""
import os
import shutil
import subprocess
import threading

from harness import *

EXAMPLES = os.path.join(SOURCE, "contrib", "examples")
WARNINGS = ["-Wall", "-Wextra", "-Wshadow", "-Wstrict-prototypes", "-Wmissing-prototypes", "-Werror"]
BUILDING, COPYING = threading.Lock(), threading.Lock()
built = {}


def output_of(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout.decode().split()


def flags():
    if shutil.which("pkg-config") is None or subprocess.run(["pkg-config", "--exists", "mono-2"]).returncode:
        skip("mono-2.pc is missing (libmono-2.0-dev)")
    if os.environ.get("HEAPSHOT_SANITIZERS", "no") not in ("no", ""):
        skip("the library is built with sanitizers")
    return output_of("pkg-config", "--cflags", "--libs", "mono-2")


def include():
    """A folder with nothing but the header, as it is installed."""
    folder = os.path.join(CASES, "include")
    with COPYING:
        if "include" not in built:
            os.makedirs(folder, exist_ok=True)
            shutil.copy(os.path.join(SOURCE, "profiler", "heapshot.h"), folder)
            built["include"] = folder
    return "-I" + folder


def build(name, source, how):
    """The program, compiled once."""
    mono_flags = flags()
    with BUILDING:
        if (name, how) not in built:
            exe = os.path.join(CASES, "%s-%s" % (name, how))
            os.makedirs(CASES, exist_ok=True)
            command = [os.environ.get("CC", "cc"), "-std=gnu11", "-O1", "-g"] + WARNINGS + [
                include(), source, "-o", exe]
            if how == "static":
                command += [os.path.join(MODULES, "libmono-profiler-heapshot.a")] + mono_flags + [
                    "-llz4", "-lprotobuf-c", "-lpthread"]
            else:
                command += ["-L" + MODULES, "-lmono-profiler-heapshot"] + mono_flags
            result = run(command)
            assert result.status == 0 and not result.err, " ".join(command) + "\n" + result.err
            built[name, how] = exe
    return built[name, how]


def game():
    with COMPILER:
        exe = os.path.join(CASES, "Game.exe")
        if not os.path.exists(exe):
            if shutil.which("mcs") is None:
                skip("mcs is missing")
            os.makedirs(CASES, exist_ok=True)
            result = run(["mcs", "-nologo", "-out:" + exe, os.path.join(EXAMPLES, "Game.cs")])
            assert result.status == 0, result.out + result.err
        return exe


def embed(how):
    return build("embed", os.path.join(EXAMPLES, "embed.c"), how)


def case(directory, name, how="shared", err="", env=None, program="embed_late"):
    """Runs a case of a program; gives the recording's path and what was printed."""
    path = os.path.join(directory, "a.hs")
    exe = build(program, os.path.join(SOURCE, "tests", "mono", program + ".c"), how)
    result = run([exe, name, game(), path], cwd=directory, timeout=100, env=env)
    lines = result.out.splitlines()
    assert result.status == 0 and lines and lines[-1] == "done", "status %d\n%s%s" % (
        result.status, result.out, result.err)
    assert err in result.err and (err or not result.err), result.err
    return path, lines[:-1]


def header_of(path):
    for line in heapshot("dump", path).out.splitlines():
        record = json.loads(line)
        if record["record"] == "header":
            return record
    raise AssertionError("no header")


def markers(path):
    return [record["label"] for record in map(json.loads, heapshot("dump", path).out.splitlines())
            if record["record"] == "marker"]


def check_levels(path):
    check_file(path)
    listed = complete_snapshots(path)
    assert [s["label"] for s in listed] == ["level 1", "level 2"], listed
    assert {s["trigger"] for s in listed} == {"api"}
    assert [count_of(path, "Monster", number) for number in (1, 2)] == [1000, 2000]
    assert markers(path) == ["the player opens the door"]
    assert not header_of(path).get("late_start")


@test("heapshot.h is C99 without extensions, C++, and whole by itself")
def header(directory):
    source = os.path.join(directory, "header.c")
    with open(source, "w") as file:
        file.write('#include <heapshot.h>\nint main(void) { return HEAPSHOT_VERSION_MINOR; }\n')
    for compiler, language in (("cc", ["-std=c99", "-pedantic-errors"]), ("cc", ["-std=c11", "-pedantic-errors"]),
                               ("c++", ["-x", "c++", "-std=c++11", "-pedantic-errors"]),
                               ("c++", ["-x", "c++", "-std=c++20"])):
        if shutil.which(compiler) is None:
            assert compiler != "cc"
            continue
        result = run([compiler] + language + ["-Wall", "-Wextra", "-Werror", include(), "-c", source, "-o",
                                              os.path.join(directory, "header.o")])
        assert result.status == 0, "%s %s\n%s" % (compiler, language, result.err)
    with open(os.path.join(SOURCE, "profiler", "heapshot.h")) as file:
        assert len(file.readlines()) <= 250


@test("the example records itself, linked with the shared library")
def example_shared(directory):
    path = os.path.join(directory, "game.hs")
    result = run([embed("shared"), game(), path], cwd=directory)
    assert result.status == 0 and not result.err, result.err
    assert result.out == "snapshot 1: level 1\nsnapshot 2: level 2\n", result.out
    check_levels(path)


@test("the example records itself, linked with the static library")
def example_static(directory):
    exe = embed("static")
    assert "heapshot" not in run(["ldd", exe]).out
    path = os.path.join(directory, "game.hs")
    result = run([exe, game(), path], cwd=directory)
    assert result.status == 0 and not result.err, result.err
    check_levels(path)


@test("the example's callback gets the same as a file")
def example_callback(directory):
    for how in ("shared", "static"):
        path = os.path.join(directory, "callback.hs")
        result = run([embed(how), game(), path, "callback"], cwd=directory)
        assert result.status == 0 and not result.err, result.err
        assert os.listdir(directory) == ["callback.hs"]
        check_levels(path)


@test("fork=always: by a child, but not with a callback, nor after a late start")
def by_fork(directory):
    env = {"HEAPSHOT_OPTIONS": "fork=always"}
    for more, wanted in (([], "child"), (["callback"], "output")):
        path = os.path.join(directory, "a.hs")
        result = run([embed("shared"), game(), path] + more, cwd=directory, env=env)
        assert result.status == 0, result.err
        assert_lines(result.err, 0 if wanted == "child" else 1, *([] if wanted == "child" else ["fork=always"]))
        check_levels(path)
        assert [snapshot["fork"] for snapshot in snapshots(path)] == [wanted] * 2
        os.unlink(path)
    path, _ = case(directory, "late", err="fork=always", env=env)
    assert {snapshot["fork"] for snapshot in snapshots(path)} == {"unsafe"}


@test("the example goes on where it cannot record")
def example_refused(directory):
    result = run([embed("shared"), game(), os.path.join(directory, "nowhere", "a.hs")], cwd=directory)
    assert result.status == 0 and not result.out
    assert_lines(result.err, 3, "not recorded: cannot write", "no snapshot: nothing is being recorded")


@test("a late start: said in the header, types named, then stopped for good")
def late(directory):
    for how in ("shared", "static"):
        path, lines = case(directory, "late", how)
        assert lines == [
            "start 0", "recording 1",
            "second -1 a recording is under way already (%s); this one is refused" % path,
            "take 1", "flush 0", "take 2", "stop 0", "recording 0", "take -2 nothing is being recorded",
            "mark -2 nothing is being recorded", "flush -2 nothing is being recorded", "stop 0"], lines
        check_file(path)
        assert header_of(path).get("late_start") is True
        assert [s["label"] for s in complete_snapshots(path)] == ["first", "second"]
        assert [count_of(path, "Monster", number) for number in (1, 2)] == [500, 1000]
        unnamed = [row for row in top(path) if not row["type"] or row["type"].startswith("type#")]
        assert not unnamed, unnamed
        os.unlink(path)


@test("a thread that the runtime does not know takes one; statistics only")
def threads_take(directory):
    path, lines = case(directory, "threads")
    assert lines == ["start 0", "unattached 1", "stats 2", "stop 0"], lines
    check_file(path)
    assert [s["label"] for s in complete_snapshots(path)] == ["from a native thread", "numbers"]
    assert [count_of(path, "Monster", number) for number in (1, 2)] == [700, 700]
    assert roots(path, 1) and not roots(path, 2)


@test("before the runtime is up a request is deferred, after its end refused")
def early_and_late(directory):
    path, lines = case(directory, "early")
    assert lines == ["take -2 nothing is being recorded", "start 0", "take 0",
                     "take -4 too many threads wait for a snapshot already",
                     "take -2 nothing is being recorded", "stop 0"], lines
    check_file(path)
    assert [(s["label"], s["trigger"]) for s in complete_snapshots(path)] == [("early", "api")]


@test("stopped and started again and again under busy threads")
def restarted(directory):
    path, lines = case(directory, "restart")
    assert lines == ["start 0", "take 1", "take 2", "stop 0"], lines
    for name in (path, path + ".old"):
        check_file(name)
        assert header_of(name).get("late_start") is True
    assert [s["label"] for s in complete_snapshots(path)] == ["again", "last"]
    assert count_of(path, "Monster") == 50 * 21
    unnamed = [row for row in top(path) if not row["type"] or row["type"].startswith("type#")]
    assert not unnamed, unnamed


@test("a callback that fails ends the recording, the program goes on, another begins")
def failing(directory):
    path, lines = case(directory, "failing", err="recording to the callback ended")
    assert lines == ["start 0", "recording 0", "calls 3", "take -2 nothing is being recorded", "game 200",
                     "start 0", "take 1", "stop 0", "calls 3"], lines
    check_file(path)
    assert count_of(path, "Monster") == 200


@test("a snapshot given up in the middle leaves nothing to the next")
def torn(directory):
    path, lines = case(directory, "torn", err="recording to the callback ended")
    assert lines == ["start 0", "recording 0", "start 0", "take 1", "stop 0"], lines
    check_file(path)
    strings = [row for record in map(json.loads, heapshot("dump", path).out.splitlines())
               if record["record"] == "string_batch" for row in record["string"]]
    assert len(strings) == count_of(path, "System.String") > 0, len(strings)
    assert all(len(row["text"]) == min(row["length"], 10) for row in strings)


@test("two requests during a snapshot lead to one more")
def queued_once(directory):
    path, lines = case(directory, "queued", program="embed_queue")
    assert lines == ["start 0", "ended 2", "asked 2", "take 3", "stop 0"], lines
    check_file(path)
    assert [(s["trigger"], s["label"]) for s in complete_snapshots(path)] == [
        ("signal", ""), ("signal", ""), ("api", "last")], snapshots(path)


@test("a recording that is stopped without a snapshot says so, and not that the process ended")
def idle(directory):
    path, lines = case(directory, "idle", err="holds no snapshot: it was stopped before")
    assert lines == ["start 0", "stop 0"], lines
    assert snapshots(path) == []
    assert "it was stopped before" in heapshot("list", path).out


@test("the flight recorder is written out on any thread, while it records")
def ring(directory):
    path, lines = case(directory, "ring")
    refused = "-1 option 'ring' needs a file as output"
    assert lines == [
        "nothing -2 nothing is being recorded", "callback " + refused, "start 0", "flush 0", "ring 1", "unattached 1",
        "none -1 no file is named", "folder -1 cannot write no/such/folder.hs: No such file or directory",
        "take 1", "stop 0", "stopped -2 nothing is being recorded", "again 0",
        "without -1 there is no ring; see the option 'ring'", "take 1", "stop 0"], lines
    for name in (path + ".flushed", path + ".flushed.old", path + ".old", path + ".old.ring"):
        check_file(name)
    for name in (path + ".flushed", path + ".flushed.old", path + ".old.ring"):
        assert [label for label in markers(name)] == ["round %d" % n for n in range(50)], markers(name)
        assert header_of(name)["pid"] == header_of(path)["pid"]
    assert not os.path.exists(path + ".ring")
    assert [s["label"] for s in complete_snapshots(path + ".old")] == ["beside a ring"]


@test("a restart closes no file that the program opened under the recorder's numbers")
def closed(directory):
    path, lines = case(directory, "closed", err="holds no snapshot")
    assert lines == ["start 0", "own 2", "stop 0", "start 0", "lost 0", "take 1", "stop 0"], lines
    check_file(path)


@test("a forked child of the program does not keep the control socket open")
def forked(directory):
    _, lines = case(directory, "forked", err="holds no snapshot")
    assert lines == ["start 0", "parent 1", "child 0", "there 1", "stop 0"], lines


@test("mono_profiler_load(\"heapshot:...\") from a program")
def loaded(directory):
    path, _ = case(directory, "load")
    check_file(path)
    assert [s["trigger"] for s in complete_snapshots(path)] == ["shutdown"]
    assert count_of(path, "Monster") == 300


@test("mistakes are told, and nothing is recorded")
def mistakes(directory):
    path, lines = case(directory, "mistakes", err="max-snapshots")
    expected = ["version 1", "null -1 struct heapshot_start", "size -1 struct heapshot_start",
                "unknown -1 unknown option 'outptu' (did you mean 'output'?)", "help -1 option 'help'",
                "strict -1 memory=1", "take -2 nothing", "stop 0", "limit 0", "take 1", "take -6 max-snapshots"]
    assert len(lines) == len(expected), lines
    for line, text in zip(lines, expected):
        assert line.startswith(text), (line, text)
    check_file(path)
    assert len(complete_snapshots(path)) == 1


main(jobs=2)
