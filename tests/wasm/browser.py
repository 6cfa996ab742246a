# SPDX-License-Identifier: MIT
"""Chromium for the tests of the wasm module: scripts that page.cjs runs."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "node-tools"))
import node_tools  # noqa: E402
from wasm import HERE, need, serve, skip, version  # noqa: E402


def need_chromium():
    need()
    why = node_tools.missing("puppeteer-core", browser=True)
    if why:
        skip(why)


def in_chromium(script, directory, timeout=600, **job):
    """What SCRIPT, a file of this folder that calls inChromium of page.cjs, answers to JOB.  All
    that the browser leaves is in DIRECTORY."""
    need_chromium()
    return node_tools.in_browser(os.path.join(HERE, script), directory, timeout=timeout, **job)


def page(directory, scenario, runtime, *words, link=("--fast",), status=0):
    """What node() of wasm.py does, in a page; there the test outlives the runtime, whatever its STATUS."""
    need_chromium()
    root = serve(directory, runtime, *link)
    result, = in_chromium("in_chromium.cjs", directory,
                          scenarios=[{"name": scenario, "root": root, "directory": directory, "words": words}])
    assert "failure" not in result, result["failure"]
    # Of one runtime in the place of another, out of a cache, all but this would look right.
    assert result.get("version", version(runtime)) == version(runtime), result
    assert status is None or result["wrong"] == [], result["wrong"]
    return result
