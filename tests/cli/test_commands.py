# SPDX-License-Identifier: MIT
"""Every command on good recordings: tables, JSON keys, options, exit statuses."""
import os
import pty
import re
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from cli import *  # noqa: E402,F403
import cli  # noqa: E402


@test
def help_and_version():
    assert re.match(r"heapshot \d+\.\d+\.\d+\n$", run("--version").out)
    text = run("--help").out
    for command in "overview leaks list top find show diff path retained report dominators roots events jit dump verify extract recompress anonymize export doctor record take watch flush tui help".split():
        assert re.search(r"^  %s " % command, text, re.M), command
        page = run("help", command).out
        assert page == run(command, "--help").out or command == "help"
        assert page.startswith("heapshot " + command)
    assert "--limit" in run("help", "top").out
    assert run(status=USAGE).out == ""


@test
def mistakes_of_newcomers():
    file = recording("small")
    for words, status, said in (
            (["path", file], USAGE, "path: TYPE|ADDRESS is missing"),
            (["path"], USAGE, "path: FILE[@N] TYPE|ADDRESS is missing"),
            (["diff", file], USAGE, "diff: a second FILE[@N] is missing, as in: heapshot diff %s@1 %s@2" % (file, file)),
            ([file, "leaks"], USAGE, "'leaks' is too much; try: heapshot leaks " + file),
            ([file, "laeks"], USAGE, "'laeks' is too much (try"),
            (["show", file, "T.Node"], USAGE, "'heapshot find' shows those of a type"),
            (["top", file, "--filter", "node"], NOT_FOUND, "--filter node (upper and lower case count)\n"),
            (["top", file, "--filter", "NODE"], NOT_FOUND, "--filter NODE\n"),
            (["top", file, "--assembly", "nothing"], NOT_FOUND, "--assembly nothing\n"),
            (["roots", file, "--filter", "t.n*"], NOT_FOUND, "(upper and lower case count)\n"),
            (["retained", file, "--type", "t.node"], NOT_FOUND, "(upper and lower case count)\n"),
            (["diff", file, file, "--filter", "t.node"], NOT_FOUND, "(upper and lower case count)\n"),
            (["path", file, "t.node"], NOT_FOUND, "no object of type 't.node' (upper and lower case count)\n")):
        err = run(*words, status=status).err
        assert said in err and err.count("\n") == 1, err


@test
def top_sorts_by_either_word():
    file = recording("small")
    assert run("top", file, "--sort", "count").out == run("top", file, "--by=count").out
    assert "wrong value 'name' of --sort" in run("top", file, "--sort=name", status=USAGE).err
    assert "meets all conditions" in run("find", file, "--type", "T.None", status=NOT_FOUND).err


def complete(*words):
    """What bash offers for the last of WORDS."""
    script = write("completion", run("help", "--completion").out.encode())
    quoted = " ".join("'%s'" % word for word in words)
    out = subprocess.run(
        ["bash", "-c", ". '%s'; COMP_WORDS=(%s); COMP_CWORD=%d; _heapshot; "
         "printf '%%s\\n' \"${COMPREPLY[@]}\"" % (script, quoted, len(words) - 1)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=cli.folder)
    assert out.returncode == 0 and out.stderr == b"", out
    return out.stdout.decode().split()


@test
def completion():
    assert complete("heapshot", "t") == ["top", "tui", "take"]
    assert "--by=" in complete("heapshot", "top", "--")
    assert "--by=" not in complete("heapshot", "list", "--")
    assert complete("heapshot", "top", "--by", "=", "c") == ["count"]
    assert complete("heapshot", "top", "--by", "=") == ["bytes", "count"]
    assert "shutdown" in complete("heapshot", "record", "--snapshot", "=")
    assert "--strict" in complete("heapshot", "record", "--st")
    assert "heapshot-cli-no" not in complete("heapshot", "record", "--", "ba")
    assert "bash" in complete("heapshot", "record", "--", "bas")
    assert complete("heapshot", "help", "ver") == ["verify"]
    assert complete("heapshot", "jit", "--sort", "=") == ["size", "time"]
    assert complete("heapshot", "diff", "--sort", "=") == ["bytes", "count", "retained"]
    assert "--fail-if=" in complete("heapshot", "diff", "--f") and "--live" in complete("heapshot", "find", "--l")
    assert complete("heapshot", "jit", "--perf") == ["--perf-map"]
    # Only processes that are there.
    sockets = os.path.join(cli.folder, "run/heapshot")
    os.makedirs(sockets)
    for pid in (os.getpid(), 999999999):
        open(os.path.join(sockets, "%d.sock" % pid), "w").close()
    os.environ["XDG_RUNTIME_DIR"] = os.path.dirname(sockets)
    offered = complete("heapshot", "take", "")
    assert str(os.getpid()) in complete("heapshot", "watch", "")
    del os.environ["XDG_RUNTIME_DIR"]
    assert str(os.getpid()) in offered and "999999999" not in offered, offered
    recording("good")
    assert complete("heapshot", "top", "go") == ["good.hs"]


@test
def usage_is_2_in_one_line():
    good = recording("good")
    for arguments in (["nonsense"], ["--nonsense"], ["top"], ["top", good, good],
                      ["top", "--nonsense", good], ["top", "-Z", good], ["top", good, "--limit"],
                      ["top", good, "--limit", "x"], ["top", good, "--limit=-1"],
                      ["top", good, "--limit=99999999999999999999"], ["top", good, "--by=age"],
                      ["top", good, "--json=1"], ["top", good + "@"], ["top", good + "@x"],
                      ["top", good + "@1x"], ["top", good + "@-0"], ["top", good + "@--1"],
                      ["top", good + "@99999999999999999999"], ["list", good + "@1"],
                      ["top", good + "@1", "--snapshot=1"], ["verify", good, "--memory=5x"],
                      ["verify", good, "--memory=1"], ["take", "x"], ["take", "-1"],
                      ["take", "0"], ["take", "1", "--label", "a\nb"],
                      ["take", "1", "--label", "x" * 1001], ["record"], ["record", "--"],
                      ["record", "-o"], ["record", "-x", "--", "true"],
                      ["export", good], ["export", good, "-o", "x"], ["export", good, "--format=sqlite"],
                      ["export", good, "--format=nonsense", "-o", "x"],
                      ["report", good], ["report", good, "--json", "-o", "x"], ["report", good, "-o", "x", "--max-size=1k"],
                      ["record", "-o", "|cat", "--", "true"], ["help", "nonsense"]):
        result = run(*arguments, status=USAGE)
        assert result.out == ""
        assert result.err.startswith("heapshot: ") and result.err.count("\n") == 1, result.err
    for arguments, meant in ((["topp"], "'top'"), (["help", "docter"], "'doctor'"),
                             (["top", good, "--limt=3"], "'--limit'")):
        assert "did you mean " + meant in run(*arguments, status=USAGE).err
    # A file instead of a command is an overview, and says what to type next.
    assert "heapshot leaks " + good in run(good).out


@test
def list_json():
    data = run_json("list", recording("good"))
    assert list(data) == ["snapshots", "ring", "dropped_frames", "unkept_name_frames", "left_out_frames"]
    assert not data["ring"] and data["dropped_frames"] == data["unkept_name_frames"] == data["left_out_frames"] == 0
    assert [list(s) for s in data["snapshots"]] == [[
        "id", "label", "trigger", "time_ns", "objects", "references", "bytes", "roots",
        "complete", "pause_ns", "fork", "fork_ns", "child_cpu_ns", "copied_bytes", "note", "memory"]] * 3
    first = data["snapshots"][0]
    assert first["id"] == 1 and first["label"] == "start" and first["trigger"] == "gc"
    assert first["objects"] == 3303 and first["references"] == 4300 and first["bytes"] == 134796
    assert first["roots"] == 20 and first["complete"] is True and first["pause_ns"] == 12345678
    assert len(run_json("list", recording("good"), "--limit=2")["snapshots"]) == 2
    killed = run_json("list", recording("killed"))["snapshots"]
    assert [s["complete"] for s in killed] == [True, True, False]
    assert killed[2]["objects"] is None
    assert run_json("list", recording("none"))["snapshots"] == []
    assert "no full collection happened" in run("list", recording("none")).out


@test
def list_table():
    out = run("list", recording("good")).out
    assert "pid 4711" in out and "Mono 6.8.0.105" in out
    assert re.search(r"^ *2 .* 6,603 .* complete +api +after login$", out, re.M), out
    assert "... and 2 more" in run("list", recording("good"), "-n1").out
    assert "INCOMPLETE" in run("list", recording("killed")).out


@test
def top_json():
    data = run_json("top", recording("good") + "@1")
    assert list(data) == ["snapshot", "types"] and data["snapshot"] == 1
    assert [list(t) for t in data["types"]] == [["type", "assembly", "count", "bytes", "edges"]] * 5
    # T.Node of both domains is one row; continuation rows add edges, no objects.
    assert data["types"] == sorted(data["types"], key=lambda t: (-t["bytes"], t["type"]))
    by_name = {t["type"]: t for t in data["types"]}
    assert by_name["T.Node"] == {"type": "T.Node", "assembly": "app", "count": 3000,
                                 "bytes": 96000, "edges": 3999}
    assert by_name["System.Object[]"]["count"] == 1
    assert by_name["System.Object[]"]["bytes"] == 32 + 8 * 300
    assert by_name["System.Object[]"]["edges"] == 300
    assert by_name["T.Late"]["count"] == 1
    end = run_json("list", recording("good"))["snapshots"][0]
    assert sum(t["bytes"] for t in data["types"]) == end["bytes"]
    assert sum(t["count"] for t in data["types"]) == end["objects"]
    assert sum(t["edges"] for t in data["types"]) == end["references"]


@test
def top_options():
    good = recording("good")
    assert [t["type"] for t in run_json("top", good, "--by=count", "-n2")["types"]] == [
        "T.Node", "System.String"]
    assert {t["type"] for t in run_json("top", good, "--assembly=mscorlib")["types"]} == {
        "System.String", "System.Object[]"}
    assert [t["type"] for t in run_json("top", good, "--filter=T.N")["types"]] == ["T.Node"]
    assert {t["type"] for t in run_json("top", good, "--filter=T.*")["types"]} == {
        "T.Node", "T.Pub", "T.Late"}
    assert [t["type"] for t in run_json("top", good, "--filter=*[]")["types"]] == [
        "System.Object[]"]
    assert "... and 4 more types" in run("top", good, "-n", "1").out
    assert "more types" not in run("top", good, "--limit", "0").out
    assert re.search(r"^384,000 +12,000 +15,999 +app +T.Node$", run("top", good).out, re.M)
    assert "snapshot 3, trigger shutdown" in run("top", good).out
    # Options after the file too, and the file after "--".
    assert run("top", good, "--by", "count").out == run("top", "--by", "count", "--", good).out


@test
def snapshots_by_name():
    good = recording("good")

    def number(*arguments):
        return run_json("top", *arguments)["snapshot"]
    assert number(good) == 3 and number(good + "@last") == 3 and number(good + "@-1") == 3
    assert number(good + "@2") == 2 and number(good, "--snapshot", "2") == 2
    assert number(good + "@-2") == 2 and number(good, "-s", "-3") == 1
    # A file of that very name wins.
    os.symlink(recording("small"), good + "@1")
    try:
        assert number(good + "@1") == 2
    finally:
        os.unlink(good + "@1")
    for name in ("@4", "@0", "@-4", "@18446744073709551615"):
        err = run("top", good + name, status=NOT_FOUND).err
        assert "no snapshot " + name[1:] in err, err
    # last means last complete.
    assert number(recording("killed")) == 2
    assert "INCOMPLETE" in run("top", recording("killed") + "@3", status=INCOMPLETE).out


@test
def types_that_do_not_exist():
    for option in ("--filter=Nowhere", "--assembly=nowhere"):
        err = run("top", recording("good"), option, status=NOT_FOUND).err
        assert "matches" in err and "owhere" in err
    assert "no snapshot in it: no full collection happened" in run(
        "top", recording("none"), status=NOT_FOUND).err


@test
def roots_json_and_table():
    data = run_json("roots", recording("good"))
    assert list(data) == ["snapshot", "roots"] and data["snapshot"] == 3
    assert all(list(r) == ["kind", "name", "type", "count"] for r in data["roots"])
    kinds = {r["kind"] for r in data["roots"]}
    assert {"static", "thread_static", "gc_handle", "finalizer_queue", "stack", "unknown",
            "marshal cache"} <= kinds and len(kinds) == 19
    assert sum(r["count"] for r in data["roots"]) == 20
    assert {"kind": "static", "name": "T.Pub.Root", "type": "System.Object[]",
            "count": 1} in data["roots"]
    assert len(run_json("roots", recording("good"), "--limit=3")["roots"]) == 3
    out = run("roots", recording("good")).out
    assert re.search(r"^ +1 +static +System.Object\[\] +T.Pub.Root$", out, re.M), out
    # An address at which no object starts.
    assert run_json("roots", recording("inconsistent"))["roots"][0]["type"] is None
    assert "(no object)" in run("roots", recording("inconsistent")).out
    none = run("roots", recording("good"), "--filter=Nobody", status=NOT_FOUND)
    assert none.out == "" and "--filter Nobody" in none.err
    assert "no roots" in run("roots", recording("stats")).err


@test
def events_json_and_table():
    data = run_json("events", recording("good"))
    assert list(data) == ["collections", "summary"] and len(data["collections"]) == 6
    assert data["collections"][1] == {
        "number": 2, "time_ns": 23000000, "generation": 1, "serial": True, "kind": "full",
        "pause_ns": 4000000, "heap_bytes": 8 << 20}
    summary = data["summary"]
    assert summary["collections"] == 6 and summary["minor"] == 3 and summary["major"] == 3
    assert summary["pause_ns"] == 24000000 and summary["max_heap_bytes"] == 8 << 20
    assert summary["lost"] == 21 and summary["markers"] == 3 and summary["counter_samples"] == 3
    out = run("events", recording("good"), "-n1").out
    assert "major" not in out.split("\n")[3] and "5 more collections" in out
    assert "largest heap 8,388,608 bytes" in out and "lost: 21 records" in out


@test
def dump_is_lines_of_json():
    good = recording("good")
    lines = [json.loads(line) for line in run("dump", good).out.splitlines()]
    names = {line["record"] for line in lines}
    assert names == {
        "header", "image", "type", "domain", "thread", "gc_event", "gc_resize", "counter",
        "counter_sample", "marker", "loss", "gc_moves", "jit_chunk", "gc_handle",
        "snapshot_begin", "snapshot_end", "object_batch", "root_batch", "ephemeron_batch", "end"}
    assert all("time_ns" in line for line in lines)
    batch = [line for line in lines if line["record"] == "object_batch"][0]
    assert batch["objects"] == 3303 and batch["continuations"] == 2 and batch["references"] == 4300
    assert [l["phase"] for l in lines if l["record"] == "gc_event"][2] == "post_stop_world"
    assert [l["label"] for l in lines if l["record"] == "marker"][0] == 'phase "two"'
    assert len(run("dump", good, "--limit=7").out.splitlines()) == 7
    assert run("dump", good, "--json").out == run("dump", good).out


@test
def dump_objects_row_by_row():
    lines = [json.loads(line)
             for line in run("dump", recording("good") + "@1", "--objects").out.splitlines()]
    assert {l["snapshot"] for l in lines if "snapshot" in l} == {1}
    rows = [l for l in lines if l["record"] == "object"]
    assert len(rows) == 3305
    array = [l for l in rows if l["type"] == "System.Object[]"]
    assert [l["continuation"] for l in array] == [False, True, True]
    assert [len(l["references"]) for l in array] == [128, 128, 44]
    assert array[1]["references"][0]["offset"] == 32 + 8 * 128
    assert sum(l["record"] == "root" for l in lines) == 20
    assert sum(l["record"] == "ephemeron" for l in lines) == 2
    assert len(run("dump", recording("good"), "--objects", "-n100").out.splitlines()) == 100


@test
def verify_json():
    data = run_json("verify", recording("good"))
    assert list(data) == ["snapshots", "issues", "issues_met", "frames", "dropped_frames", "unknown_frames",
                          "unknown_records", "unknown_fields", "lost", "status", "ok"]
    assert data["ok"] and data["status"] == 0 and data["issues"] == [] and data["lost"] == 21
    assert list(data["snapshots"][0]) == ["id", "objects", "references", "bytes", "roots",
                                          "complete", "references_checked", "problems"]
    assert all(s["references_checked"] and s["problems"] == [] for s in data["snapshots"])
    assert run("verify", recording("good")).out.endswith(
        "\nlost: 21 records, for which the recorder had no room\nok\n")
    assert run("verify", recording("stats")).out.endswith("\nok\n")


@test
def reads_standard_input_and_fifos():
    with open(recording("good"), "rb") as file:
        assert run("top", "-", stdin=file).out.split("\n")[1:] == \
            run("top", recording("good")).out.split("\n")[1:]
    with open(recording("good"), "rb") as file:
        cat = subprocess.Popen(["cat"], stdin=file, stdout=subprocess.PIPE)
        assert json.loads(run("top", "--json", "--", "-@1", stdin=cat.stdout).out)["snapshot"] == 1
        cat.wait()
        cat.stdout.close()
    fifo = os.path.join(cli.folder, "fifo")
    os.mkfifo(fifo)
    cat = subprocess.Popen("cat %s > %s" % (recording("good"), fifo), shell=True)
    assert len(run_json("list", fifo)["snapshots"]) == 3
    cat.wait()
    assert "not a heapshot recording" in run("top", "/dev/zero", status=NOT_RECORDING).err


@test
def names_are_masked():
    path = recording("hostile-names")
    for command in ("list", "top", "roots"):
        for line in run(command, path).out.split("\n"):
            assert line.isprintable(), repr(line)
    assert "T.Esc?[31m????<\"\\>" in run("top", path).out
    name = run_json("top", path)["types"][0]["type"]
    assert name.startswith("T.Esc\x1b[31m\n\ufffd\ufffd\u202e") and name.endswith('<"\\>'), repr(name)
    raw = run("top", path, "--json").out
    assert "\x1b" not in raw and "\u202e" not in raw and "\\u001b" in raw
    assert run_json("list", path)["snapshots"][0]["label"] == "label\x1b]0;x\x07"
    json_lines = run("dump", path).out.splitlines()
    assert all(json.loads(line) for line in json_lines)
    # File names too.
    err = run("top", "\x1b[31mx", status=IO).err
    assert "\x1b" not in err


def on_terminal(*arguments, **variables):
    """What is written when standard output and error are a terminal."""
    here, there = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", **variables}
    result = subprocess.run([cli.HEAPSHOT, *arguments], stdin=subprocess.DEVNULL, stdout=there,
                            stderr=there, env=environment, timeout=60)
    os.close(there)
    data = b""
    while True:
        try:
            chunk = os.read(here, 65536)
        except OSError:
            break
        if not chunk:
            break
        data += chunk
    os.close(here)
    assert result.returncode == 0
    return data


@test
def colour_on_terminals_only():
    good = recording("good")
    assert "\x1b" not in run("top", good).out
    assert b"\x1b[1m" in on_terminal("top", good)
    assert b"\x1b" not in on_terminal("top", good, NO_COLOR="1")
    assert b"\x1b" not in on_terminal("top", good, TERM="dumb")
    assert b"\x1b" not in on_terminal("top", good, "--json")


@test
def output_that_cannot_be_written():
    good = recording("good")
    for command in ("list", "top", "roots", "events", "dump", "verify", "diff", "help"):
        with open("/dev/full", "w") as full:
            arguments = [command] + [good] * {"help": 0, "diff": 2}.get(command, 1)
            err = run(*arguments, stdout=full, status=IO).err
            assert err == "heapshot: cannot write the output: No space left on device\n", err
    closed = subprocess.run("'%s' top '%s' >&-" % (cli.HEAPSHOT, good), shell=True,
                            stderr=subprocess.PIPE)
    assert closed.returncode == IO and b"cannot write" in closed.stderr
    head = subprocess.run("'%s' dump '%s' --objects | head -1" % (cli.HEAPSHOT, good), shell=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert head.returncode == 0 and head.stderr == b"" and head.stdout.count(b"\n") == 1


@test
def large_numbers():
    data = run_json("top", recording("huge"))
    assert data["types"][0] == {"type": "T.Huge", "assembly": "app", "count": 3,
                                "bytes": 3 << 62, "edges": 0}
    assert data["types"][1]["bytes"] == (1 << 31) + 8
    assert "13,835,058,055,282,163,712" in run("top", recording("huge")).out
    err = run("top", recording("overflow"), status=DAMAGED).err
    assert "passes 2^64; refused" in err


sys.exit(main())
