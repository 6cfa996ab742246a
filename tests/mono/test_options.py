# SPDX-License-Identifier: MIT
"""Rows N1 to N9 of cases/faults.md: options, right and wrong."""
import os
import re
import shutil

from harness import *

SMALL = "Lists.exe ring 1000"
OPTIONS = ("output", "snapshot", "at", "signal", "control", "fork", "events", "methods", "ring",
           "memory", "max-snapshots", "max-size", "strings", "strict", "quiet", "overwrite", "help")


def check_mistake(directory, options, *words):
    """One line that says WORDS, the program unchanged and unrecorded."""
    recorded = mono(SMALL, options, cwd=directory)
    assert recorded.status == 0 and recorded.out == "done\n", "%s: %d %s" % (
        options, recorded.status, recorded.err)
    assert_lines(recorded.err, 1, "heapshot", *words)
    assert not os.listdir(directory), "%s: recorded to %s" % (options[:80], os.listdir(directory))
    strict = mono(SMALL, options + ",strict", cwd=directory)
    assert strict.status == 2 and strict.out == "", "%s,strict: status %d, %r" % (
        options[:80], strict.status, strict.out)
    assert_lines(strict.err, 1, *words)
    assert not os.listdir(directory)


@test("N1 misspelt options and values are named with the nearest")
def misspelt(directory):
    check_mistake(directory, "outptu=x", "outptu", "output")
    check_mistake(directory, "snapshot=gcc", "gcc", "gc")
    check_mistake(directory, "snapshot=gc+shutdwn", "shutdwn", "shutdown")
    check_mistake(directory, "events=gc+tpyes", "tpyes", "types")
    check_mistake(directory, "strct", "strct", "strict")


@test("N1 a ring of no sane size is refused")
def ring_sizes(directory):
    for options in ("ring=1023k", "ring=2g", "ring=", "ring=much"):
        check_mistake(directory, options, "ring")


@test("N2 missing and odd values are refused")
def odd_values(directory):
    check_mistake(directory, "output=", "output")
    check_mistake(directory, "output", "output")
    check_mistake(directory, "output=a,b", "b")
    check_mistake(directory, "methods=il", "il", "code")
    check_mistake(directory, "quiet=maybe", "quiet")
    check_mistake(directory, "snapshot=", "snapshot")
    check_mistake(directory, "snapshot=gc++shutdown", "snapshot")


@test("N2 blanks, quotes, `=`, escapes and UTF-8 are literal")
def literal_values(directory):
    for text, name in (("a=b.hs", "a=b.hs"), ("'q' \"r\".hs", "'q' \"r\".hs"), ("\u00e4\u65e5.hs",) * 2,
                       ("a\\,b.hs", "a,b.hs"), ("a\\\\b.hs", "a\\b.hs"), ("a b.hs", "a b.hs")):
        recorded = mono(SMALL, "output=%s,snapshot=gc,quiet" % text, cwd=directory)
        assert recorded.status == 0 and recorded.err == "", recorded.err
        assert os.listdir(directory) == [name], "%r: %s" % (text, os.listdir(directory))
        check_file(os.path.join(directory, name))
        os.remove(os.path.join(directory, name))


@test("N3 numbers that are none are refused")
def numbers(directory):
    for option in ("memory", "max-size", "max-snapshots", "strings", "at"):
        for value in ("-1", "5x", "99999999999999999999", "5q", "x", "1.5.2", " ", "+", "0x10"):
            check_mistake(directory, "%s=%s" % (option, value), option)
    for option in ("memory=0", "at=0", "snapshot=0gc", "snapshot=0ms", "max-snapshots=0"):
        check_mistake(directory, option, option.partition("=")[0])
    for value in ("5xs", "-1gc", "99999999999999999999ms", "18446744073709551615s"):
        check_mistake(directory, "snapshot=" + value, "snapshot")
    check_mistake(directory, "signal=SIGNONE", "SIGNONE")
    check_mistake(directory, "signal=KILL", "KILL")
    check_mistake(directory, "at=150%", "at")


@test("N4 an option text of 100 KB")
def very_long(directory):
    for options in ("output=" + "x" * 100000, "x" * 100000, "snapshot=" + "gc+" * 33000 + "gc",
                    "," * 100000):
        recorded = mono(SMALL, options + ",output=a.hs", cwd=directory)
        assert recorded.status == 0 and recorded.out == "done\n"
        assert_lines(recorded.err, 1, "heapshot")
        for name in os.listdir(directory):
            check_file(os.path.join(directory, name))
            os.remove(os.path.join(directory, name))


@test("N5 the same option twice: the last one wins")
def option_twice(directory):
    recorded = mono(SMALL, "output=a.hs,snapshot=gc,output=b.hs,quiet", cwd=directory)
    assert recorded.status == 0 and recorded.err == ""
    assert os.listdir(directory) == ["b.hs"]
    check_file(os.path.join(directory, "b.hs"))


@test("N5 a second --profile=heapshot is refused with a line")
def module_twice(directory):
    recorded = mono(SMALL, "output=a.hs,snapshot=gc,quiet", cwd=directory,
                    mono_options=["--profile=heapshot:output=b.hs,snapshot=gc,quiet"])
    assert recorded.status == 0 and recorded.out == "done\n"
    assert_lines(recorded.err, 1, "heapshot")
    assert os.listdir(directory) == ["b.hs"], os.listdir(directory)
    path = os.path.join(directory, "b.hs")
    check_file(path)
    assert count_of(path, "T.Ring") == 1000


@test("N6 `help` lists every option and ends with status 0")
def help_alone(directory):
    for options in ("help", "help,output=x.hs", "snapshot=gc,help"):
        shown = mono(SMALL, options, cwd=directory)
        text = shown.out + shown.err
        assert shown.status == 0, "status %d" % shown.status
        assert "done" not in text, "the program ran"
        for name in OPTIONS:
            assert re.search(r"(?m)^\W*%s\b" % name, text), "%s is not listed" % name
    assert not os.listdir(directory)


@test("N6 the manual page has what `help` prints, option by option")
def manual_page(directory):
    page = os.path.join(BUILD, "doc", "heapshot-options.7")
    if not os.path.exists(page):
        skip("the manual pages are not built (scdoc is missing)")
    with open(page, encoding="utf-8") as file:
        text = re.sub(r"\\(f[BIRP]|&)", "", file.read()).replace("\\-", "-").replace("\\e", "\\")
        text = text.replace("\\`", "`")  # as scdoc 1.11.3 writes it
    shown = mono(SMALL, "help", cwd=directory).out
    rows = re.findall(r"(?m)^  ([a-z-]+)(=.*)?\n      (.*?)(?: \[(.*)\])?$", shown)
    assert {row[0] for row in rows} == set(OPTIONS), rows
    for name, value, help_text, default in rows:
        entry = "\n%s%s\n.RS 4\n%s.%s\n" % (name, value, help_text, " Default: %s." % default if default else "")
        assert entry in text, "%s does not stand in the page as:%s" % (name, entry)


@test("N7 module not found: doctor explains")
def module_not_found(directory):
    silent = mono(SMALL, mono_options=["--profile=heepshot:output=a.hs"], cwd=directory)
    assert silent.status == 0 and not os.listdir(directory)
    found = heapshot("doctor")
    assert found.status == OK, "doctor: %d\n%s%s" % (found.status, found.out, found.err)
    shutil.copy(os.path.join(MODULES, "libmono-profiler-heapshot.so"),
                os.path.join(directory, "libmono-profiler-heapshot.so.0"))
    lost = heapshot("doctor", env={"LD_LIBRARY_PATH": directory})
    if lost.status == OK:
        assert "/usr/" in lost.out, "doctor found a module that is not there"
        skip("a module is installed on this machine")
    assert lost.status == FAILED and "libmono-profiler-heapshot.so" in lost.out + lost.err


@test("N8 a collector that cannot be walked: one line, unchanged")
def other_collector(directory):
    if shutil.which("mono-boehm") is None:
        skip("mono-boehm is missing (Debian package mono-runtime-boehm)")
    command = [program("Lists.exe"), "ring", "1000"]
    plain = run(["mono-boehm"] + command)
    recorded = run(["mono-boehm", "--profile=heapshot:output=a.hs"] + command, cwd=directory)
    assert_same(recorded, plain)
    # That runtime has lines of its own to say at the end.
    said = "".join(line + "\n" for line in recorded.err.splitlines() if "heapshot" in line)
    assert_lines(said, 1, "heapshot")
    assert not os.listdir(directory)


@test("N9 %p, %t, %% in the name; other letters are refused")
def names_with_percent(directory):
    recorded = mono(SMALL, "output=a-%p-%%.hs,snapshot=gc,quiet", cwd=directory)
    assert os.listdir(directory) == ["a-%d-%%.hs" % recorded.pid]
    os.remove(os.path.join(directory, os.listdir(directory)[0]))
    mono(SMALL, "output=a-%t.hs,snapshot=gc,quiet", cwd=directory)
    name, = os.listdir(directory)
    assert re.fullmatch(r"a-[0-9][0-9TZ.:-]*\.hs", name), name
    os.remove(os.path.join(directory, name))
    check_mistake(directory, "output=a-%", "%")
    check_mistake(directory, "output=a-%q", "%q")


@test("HEAPSHOT_OPTIONS is read, and the command line wins")
def from_environment(directory):
    env = {"HEAPSHOT_OPTIONS": "output=env.hs,snapshot=gc,quiet"}
    mono(SMALL, "", env=env, cwd=directory)
    assert os.listdir(directory) == ["env.hs"]
    os.remove(os.path.join(directory, "env.hs"))
    mono(SMALL, "output=line.hs", env=env, cwd=directory)
    assert os.listdir(directory) == ["line.hs"]
    listed = snapshots(os.path.join(directory, "line.hs"))
    assert listed and {snapshot["trigger"] for snapshot in listed} == {"gc"}


@test("when all is well one line says where it records, unless `quiet`")
def says_where(directory):
    recorded = mono(SMALL, "output=a.hs", cwd=directory)
    assert_lines(recorded.err, 1, "heapshot", "a.hs")
    recorded = mono(SMALL, "output=b.hs,quiet", cwd=directory)
    assert recorded.err == "", recorded.err
    recorded = mono(SMALL, None, mono_options=["--profile=heapshot"], cwd=directory)
    assert os.path.exists(os.path.join(directory, "%d.hs" % recorded.pid))


@test("a recording that ends without a snapshot says why")
def without_snapshot(directory):
    recorded = mono(SMALL, "output=a.hs,snapshot=none,quiet", cwd=directory)
    assert recorded.status == 0 and "snapshot" in recorded.err
    assert snapshots(os.path.join(directory, "a.hs")) == []


@test("max-snapshots and max-size: no further snapshots, said once")
def limits(directory):
    path = os.path.join(directory, "a.hs")
    recorded = mono("Snapshots.exe many 20 10000", "output=%s,snapshot=gc,max-snapshots=5,quiet" % path)
    assert recorded.status == 0
    assert_lines(recorded.err, 1, "heapshot", "max-snapshots")
    assert len(complete_snapshots(path)) == 5
    check_file(path)
    recorded = mono("Snapshots.exe many 60 100000",
                    "output=%s,snapshot=gc,max-size=100K,quiet,overwrite" % path)
    assert recorded.status == 0
    assert_lines(recorded.err, 1, "heapshot", "max-size")
    assert 1 <= len(complete_snapshots(path)) < 60
    check_file(path)


@test("`events` chooses what is recorded; types of a snapshot come always")
def events(directory):
    path = os.path.join(directory, "a.hs")
    # A word of the list, and the body of the records that it brings.
    bodies = {"gc": "gc_event", "jit": "jit_chunk", "methods": "jit_method", "moves": "gc_moves",
              "handles": "gc_handle", "counters": "counter_sample", "threads": "thread"}
    for chosen in list(bodies) + ["types", "none"]:
        mono("Handles.exe kinds 100", "output=%s,snapshot=gc,overwrite,quiet,events=%s" % (path, chosen))
        check_file(path)
        assert count_of(path, "T.ByNormal") == 100
        kinds = record_kinds(path)
        for word, body in bodies.items():
            is_there = body in kinds
            if word == chosen:
                assert is_there, "events=%s brings no %s" % (chosen, body)
            # Packets of methods name the chunks that their code lies in.
            elif (chosen, word) != ("methods", "jit"):
                assert not is_there, "events=%s brings %s" % (chosen, body)
        # What goes with a word, and what a snapshot needs, whatever the list says.
        for word, more in (("gc", ("gc_resize", "root_range")), ("counters", ("counter",))):
            for body in more:
                assert (body in kinds) == (word == chosen), (chosen, body)
        assert {"header", "type", "type_layout", "image", "domain", "snapshot_begin", "snapshot_end", "object_batch",
                "root_batch", "end"} <= set(kinds), (chosen, kinds)


@test("`strings` records the first characters, and nothing unless asked")
def strings(directory):
    path = os.path.join(directory, "a.hs")
    mono("Strings.exe same 10", "output=%s,snapshot=gc,quiet" % path)
    assert "string_batch" not in record_kinds(path)
    mono("Strings.exe same 10", "output=%s,snapshot=gc,quiet,overwrite,strings=4" % path)
    check_file(path)
    texts = recorded_strings(path)
    assert len(texts) == count_of(path, "System.String")
    assert texts.count((6, "yyyy")) == 1 and all(len(text) == min(length, 4) for length, text in texts)
    # The most that may be asked for.
    mono("Strings.exe long 100000", "output=%s,snapshot=gc,quiet,overwrite,strings=4096" % path)
    check_file(path)
    assert (100000, "z" * 4096) in recorded_strings(path)


def recorded_strings(path):
    """Length and recorded characters of each string in the last snapshot."""
    last = complete_snapshots(path)[-1]["id"]
    records = map(json.loads, heapshot("dump", "%s@%d" % (path, last)).out.splitlines())
    return [(row["length"], row["text"]) for record in records if record["record"] == "string_batch"
            for row in record["string"]]


@test("mono --stats shows the same with the module as without")
def statistics(directory):
    def names(result):
        assert result.status == 0, result.err
        return {line.split(":")[0].strip() for line in result.out.splitlines()}

    plain = names(mono("Lists.exe ring 1000", mono_options=["--stats"]))
    recorded = names(mono("Lists.exe ring 1000", "output=a.hs,snapshot=gc,quiet", mono_options=["--stats"],
                          cwd=directory))
    assert len(plain) > 50 and recorded == plain, recorded ^ plain
    # Nor does anything appear that nobody asked for.
    assert_same(mono("Lists.exe ring 1000", "output=b.hs,snapshot=gc,quiet", cwd=directory), mono("Lists.exe ring 1000"))


main(jobs=2)
