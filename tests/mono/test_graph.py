# SPDX-License-Identifier: MIT
"""The recorded graph is exact and whole: judged by tests/mono/reach.c, which
marks from the recorded roots by itself."""
import os

from harness import *

REACH = os.path.join(BUILD, "tests", "mono", "reach")
# Programs, and the least number of snapshots that each gives.
PROGRAMS = (
    ("Lists.exe chain 500000", 2), ("Lists.exe shared 1000", 2), ("Arrays.exe lengths", 2),
    ("Arrays.exe refs 300000", 2), ("Arrays.exe holes 1000", 2), ("Strings.exe distinct 100000", 2),
    ("Roots.exe statics", 1), ("Roots.exe workers 8", 2), ("Handles.exe kinds 1000", 1), ("Handles.exe null 100", 1),
    ("Finalizers.exe queue 1000", 2), ("Finalizers.exe revived 1000", 2), ("Weak.exe alive 1000", 1),
    ("Ephemerons.exe live 1000", 1), ("Ephemerons.exe links 200", 1), ("Ephemerons.exe dead 1000", 1),
    ("Domains.exe unload 5 1000", 2), ("Domains.exe alive 3 1000", 1), ("Dynamic.exe collectible 50", 1),
    ("Generics.exe several", 1), ("Threads.exe allocate 8", 22), ("Threads.exe come-and-go 20", 22),
    ("ThreadStatics.exe many 4", 2), ("ThreadStatics.exe few 8", 2), ("Events.exe leak 5000", 1),
    ("Garbage.exe replace 3", 3), ("Processes.exe spawn", 2),
)
ZERO = ("twice", "orphans", "overlapping", "dangling", "bad_slots", "roots_without_object", "loose_ephemerons")


def not_reached(path, lines):
    """Address, size and type of some objects of the first snapshot that lacks some."""
    number = next(line["id"] for line in lines if line["reached"] != line["objects"])
    return "\n".join(run([REACH, path, str(number)]).err.splitlines()[:20])


def judge(path, least, n_attaching=0):
    result = run([REACH, path])
    assert result.status == 0, result.err
    lines = [json.loads(line) for line in result.out.splitlines()]
    assert len(lines) >= least, "%d snapshots" % len(lines)
    for line in lines:
        wrong = {name: line[name] for name in ZERO if line[name]}
        assert not wrong, "snapshot %d: %s" % (line["id"], wrong)
        assert line["objects"] == line["stated_objects"] and line["references"] == line["stated_references"], line
    whole = sum(line["reached"] == line["objects"] for line in lines)
    assert whole == len(lines), "%d of %d snapshots are whole\n%s" % (
        whole, len(lines), not_reached(path, lines))
    for line in lines:
        # A thread that just attaches may be scanned before its stack is announced.
        allowed = max(line["roots"] / 10000, 2 * n_attaching)
        assert line["unknown_roots"] <= allowed, "snapshot %d: %d of %d roots are unknown" % (
            line["id"], line["unknown_roots"], line["roots"])
    return lines


def check_program(directory, args, least, env=None):
    path = os.path.join(directory, "a.hs")
    recorded = mono(args, "output=%s,snapshot=gc,quiet" % path, env=env, cwd=directory)
    assert recorded.status == 0 and recorded.err == "", recorded.err
    return judge(path, least, n_attaching=8 if args == "Threads.exe allocate 8" else 0)


for program_args, snapshots_least in PROGRAMS:
    test("every object once and reached, no reference to nothing: " + program_args)(
        lambda directory, args=program_args, least=snapshots_least: check_program(directory, args, least))


@test("the same with other collectors")
def other_collectors(directory):
    for parameters in ("major=marksweep", "major=marksweep-conc-par", "minor=split", "minor=simple-par",
                       "mode=throughput"):
        for args in ("Garbage.exe replace 1", "Ephemerons.exe links 200", "Threads.exe come-and-go 10"):
            path = os.path.join(directory, "a.hs")
            if os.path.exists(path):
                os.remove(path)
            check_program(directory, args, 1, env={"MONO_GC_PARAMS": parameters})


@test("the same for snapshots on request, at the end, and by time")
def other_triggers(directory):
    path = os.path.join(directory, "a.hs")
    recorded = mono("Threads.exe allocate 8", "output=%s,snapshot=shutdown+100ms,quiet" % path, cwd=directory)
    assert recorded.status == 0
    judge(path, 2, n_attaching=8)


@test("the same where threads are slow to suspend themselves")
def late_threads(directory):
    library = os.path.join(MODULES, "liblate.so")
    for args, least in (("Threads.exe allocate 4", 20), ("Finalizers.exe revived 1000", 2)):
        check_program(directory, args, least, env={"LD_PRELOAD": library})
        os.remove(os.path.join(directory, "a.hs"))


# Programs, and kinds of roots that alone hold some of their objects, by number.
KINDS_NEEDED = (
    ("Roots.exe workers 8", {"stack": 2}), ("Finalizers.exe queue 1000", {"finalizer_queue": 3}),
    ("Lists.exe chain 1000", {"static": 4, "domain": 10}), ("ThreadStatics.exe few 8", {"thread_static": 5}),
    ("Handles.exe kinds 1000", {"gc_handle": 7}),
)


@test("objects are missed where the roots of a kind are")
def kinds_needed(directory):
    path = os.path.join(directory, "a.hs")
    for args, kinds in KINDS_NEEDED:
        check_program(directory, args, 1)
        for kind, number in kinds.items():
            lines = [json.loads(line) for line in run([REACH, path, "0", str(number)]).out.splitlines()]
            assert any(line["reached"] < line["objects"] for line in lines), "%s: %s" % (args, kind)
        os.remove(path)


@test("ephemerons are edges from key to value")
def ephemerons(directory):
    lines = check_program(directory, "Ephemerons.exe live 1000", 1)
    assert lines[-1]["ephemerons"] >= 1000, lines[-1]


main(jobs=2)
