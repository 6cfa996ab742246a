# SPDX-License-Identifier: MIT
"""Memory of the module: what it adds to the peak of a program, measured on small
and large heaps.  doc/performance.md has a run of it."""
import os
import statistics
import subprocess

from harness import *

# The bound: buffers (option `memory`, touched as they are used), code, libraries, stacks of
# two threads.  Tables of types and roots are in it, those of a small program.
BOUND_KB = 3 << 10
# How much more it may be on the largest heap than on the smallest; runs of the
# same program differ by 0.3 MB.
GROWTH_KB = 1 << 10
RUNS = 5
WAYS = (("in process", "fork=never"), ("by fork", "fork=always"), ("in process, ring=1m", "fork=never,ring=1m"))


def peak_kb(directory, objects, options):
    """Peak of resident memory.  The collector runs alike with and without the module."""
    command = mono_command("Lists.exe ring %d" % objects,
                           options and "output=a.hs,snapshot=gc,overwrite,quiet,control=off," + options)
    process = subprocess.Popen(command, env=environment({"MONO_GC_PARAMS": "major=marksweep,no-concurrent-sweep"}),
                               cwd=directory, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    err = process.stderr.read().decode()
    process.stderr.close()
    assert process.returncode == 0 and err == "", err
    if options:
        taken = complete_snapshots(os.path.join(directory, "a.hs"))
        assert taken and taken[-1]["objects"] >= objects, taken
    return usage.ru_maxrss


def measure(directory, sizes):
    extra = {}
    for objects in sizes:
        plain = statistics.median(peak_kb(directory, objects, None) for _ in range(RUNS))
        for name, options in WAYS:
            peak = statistics.median(peak_kb(directory, objects, options) for _ in range(RUNS))
            extra[name, objects] = peak - plain
            print("# {:>10,} objects: {:>9,.0f} KB alone, {:+,.0f} KB with snapshots {}".format(
                objects, plain, peak - plain, name), flush=True)
    for (name, objects), more in extra.items():
        assert more < BOUND_KB, "%d objects, %s: %d KB more" % (objects, name, more)
    for name, _ in WAYS:
        growth = extra[name, sizes[-1]] - extra[name, sizes[0]]
        assert growth < GROWTH_KB, "%s: %d KB more on the larger heap" % (name, growth)


@test("peak memory with the module: bounded, on 10 k and 1 M objects")
def small_and_middle(directory):
    measure(directory, (10000, 1000000))


@test("peak memory with the module: bounded, on 10 k, 1 M and 10 M objects")
def large(directory):
    long_only()
    measure(directory, (10000, 1000000, 10000000))


main()
