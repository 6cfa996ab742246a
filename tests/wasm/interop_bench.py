# SPDX-License-Identifier: MIT
"""What heapshot.prepare() costs (doc/in-the-browser.md): the same operations on the runtime with and
without the hooks, in node and in Chromium, three times each in turns.  Not a test; run it like one:

    top_builddir=$PWD python3 ../tests/wasm/interop_bench.py
"""
import statistics

from mjs import *

FILE = "interop_scenarios.mjs"
ROUNDS = 3


def measure(runtime):
    found = {}
    for number in range(ROUNDS):
        for how in ("stock", "prepared"):
            with tempfile.TemporaryDirectory(prefix="hs-bench.") as directory:
                in_place = in_node(FILE, directory, "cost", runtime, how)
            found.setdefault(("node", how), []).append(in_place)
            with tempfile.TemporaryDirectory(prefix="hs-bench.") as directory:
                result, = in_tabs(FILE, directory, runtime, ("cost", "page", how))
            found.setdefault(("Chromium", how), []).append(result)
    return found


def main_bench():
    for runtime in RUNTIMES:
        found = measure(runtime)
        for where in ("node", "Chromium"):
            for name in found[(where, "stock")][0]["costs"]:
                stock, prepared = (statistics.median(each["costs"][name] for each in found[(where, how)])
                                   for how in ("stock", "prepared"))
                print("%s %-8s %-30s %5.2f us, with the hooks %5.2f us" % (runtime, where, name, stock, prepared))
        for how in ("stock", "prepared"):
            print("%s node     bytes of a JSObject in JavaScript's heap, %s: %.0f" % (
                runtime, how, statistics.median(each["bytes"] for each in found[("node", how)])), flush=True)


main_bench()
