# SPDX-License-Identifier: MIT
"""The module in the host: no lock and no malloc while the world is stopped,
nothing from a forked child, nothing lost when threads and domains come and go."""
import os
import re

from harness import *


def record(directory, args, env=None, options="snapshot=gc", timeout=120):
    path = os.path.join(directory, "a.hs")
    recorded = mono(args, "output=%s,overwrite,quiet,%s" % (path, options), env=env, cwd=directory, timeout=timeout)
    assert recorded.status == 0 and recorded.out.endswith("done\n"), "status %d\n%s%s" % (
        recorded.status, recorded.out, recorded.err)
    assert recorded.err == "", recorded.err
    check_file(path)
    return path


@test("malloc hammered from 4 threads, one arena, 300 collections")
def malloc_hammer(directory):
    path = record(directory, "MallocHammer.exe hammer 300", env={"MALLOC_ARENA_MAX": "1"})
    assert len(complete_snapshots(path)) >= 300
    assert count_of(path, "T.Kept") == 1000


@test("threads come and go during collections, 200 rounds")
def threads_come_and_go(directory):
    path = record(directory, "Threads.exe come-and-go 200")
    assert len(complete_snapshots(path)) >= 200
    assert count_of(path, "T.Kept") == 1000
    for snapshot in complete_snapshots(path)[:: 20]:
        unknown = sum(row["count"] for row in roots(path, snapshot["id"]) if row["kind"] == "unknown")
        assert unknown <= snapshot["roots"] / 10000, "%d of %d roots are unknown" % (unknown, snapshot["roots"])


@test("8 threads allocate while snapshots run, on request and by time")
def threads_allocate(directory):
    path = record(directory, "Threads.exe allocate 8", options="snapshot=gc+50ms")
    assert len(complete_snapshots(path)) >= 22
    assert count_of(path, "T.Kept") == 1000


@test("AppDomains are unloaded again and again")
def domains(directory):
    rounds = 200 if IS_LONG else 30
    path = record(directory, "Domains.exe unload %d 10" % rounds, timeout=400)
    assert count_of(path, "T.Item") == 0
    for row in roots(path):
        assert row["kind"] != "unknown", row


@test("a fork of the host writes nothing")
def host_fork(directory):
    for end in ("fork-exit", "fork-_exit"):
        for output in ("", "|cat >"):
            path = os.path.join(directory, "a.hs")
            if os.path.exists(path):
                os.remove(path)
            recorded = mono("Processes.exe " + end, "output=%s%s,snapshot=gc+shutdown,quiet" % (output, path),
                            cwd=directory)
            assert recorded.status == 0 and recorded.out == "done\n" and recorded.err == "", recorded.err
            check_file(path)
            assert record_kinds(path)["end"] == 1
            triggers = [snapshot["trigger"] for snapshot in complete_snapshots(path)]
            assert triggers.count("gc") in (2, 3) and triggers.count("shutdown") == 1, triggers
            assert len(os.listdir(directory)) == 1, os.listdir(directory)


@test("0 calls of malloc and its kin while the world is stopped")
def no_malloc(directory):
    counter = os.path.join(MODULES, "libmono-profiler-stopcount.so")
    assert os.path.exists(counter), counter + " is not built"
    env = {"LD_PRELOAD": counter}
    tried = mono("Lists.exe ring 1000", None, ["--profile=stopcount:selftest"], env=env)
    assert re.search(r" [1-9]\d* calls", tried.err), "the counter does not count: " + tried.err
    for args in ("Lists.exe ring 300000", "Garbage.exe replace 3", "Domains.exe unload 10 100",
                 "Threads.exe come-and-go 20", "Ephemerons.exe live 5000", "Generics.exe several",
                 "Dynamic.exe collectible 50", "Strings.exe distinct 100000"):
        for options in (None, "output=a.hs,overwrite,snapshot=gc,strings=8,events=gc+types+jit+moves+counters+threads,quiet",
                        "output=|cat >/dev/null,snapshot=gc,quiet",
                        "output=a.hs,overwrite,snapshot=gc,fork=always,quiet"):
            # The module that counts is asked first, and last.
            for order in (("stopcount", "heapshot"), ("heapshot", "stopcount")):
                modules = ["--profile=stopcount" if name == "stopcount" else "--profile=heapshot:" + (options or "")
                           for name in order if options or name == "stopcount"]
                result = mono(args, None, modules, env=env, cwd=directory)
                assert result.status == 0, result.err
                found = re.search(r"stopcount: (\d+) stops, (\d+) calls(.*)", result.err)
                assert found, "the counter says nothing: " + result.err
                assert int(found.group(1)) > 0
                assert int(found.group(2)) == 0, "%s, %s, %s: %s" % (args, options, order, found.group(0))


main(jobs=2)
