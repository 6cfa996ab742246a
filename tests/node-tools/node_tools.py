# SPDX-License-Identifier: MIT
"""The npm packages and the browser that tests open exports and reports with.
contrib/node-tools installs the packages into node-tools of the build."""
import json
import os
import shutil
import signal
import subprocess
import tempfile

BUILD = os.path.abspath(os.environ.get("top_builddir", "."))
TOOLS = os.path.abspath(os.environ.get("HEAPSHOT_NODE_TOOLS") or os.path.join(BUILD, "node-tools"))
MODULES = os.path.join(TOOLS, "node_modules")

# A browser that neither asks the network nor keeps anything; a test adds
# --user-data-dir with a new folder.
CHROMIUM_FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
                  "--disable-background-networking", "--disable-component-update", "--disable-sync"]


def missing(*packages, browser=False):
    """Why a test that needs them cannot run, or None."""
    if shutil.which("node") is None:
        return "node is missing"
    for package in packages:
        if not os.path.isdir(os.path.join(MODULES, package)):
            return "the npm package %s is missing (contrib/node-tools installs it)" % package
    if browser and chromium() is None:
        return "chromium is missing"
    return None


def chromium():
    return os.environ.get("CHROMIUM") or shutil.which("chromium")


def environment(directory):
    """What `node` needs in its environment to find the packages, and scripts to find the browser; packages and
    browser leave their temporary files in DIRECTORY."""
    return {"NODE_PATH": MODULES, "CHROMIUM": chromium() or "", "CHROMIUM_FLAGS": " ".join(CHROMIUM_FLAGS),
            "TMPDIR": directory}


def in_browser(script, directory, timeout=240, **job):
    """What SCRIPT, a file that calls with_browser of browser.cjs, answers to JOB.
    The browser has a profile of its own and ends with the call, by its pid."""
    folder = tempfile.mkdtemp(prefix="browser.", dir=directory)
    paths = {name: os.path.join(folder, name) for name in ("job", "answer", "pid", "profile")}
    with open(paths["job"], "w") as file:
        json.dump(dict(job, pid=paths["pid"], profile=paths["profile"]), file)
    try:
        done = subprocess.run(["node", script, paths["job"], paths["answer"]], env={**os.environ, **environment(directory)},
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=timeout)
    finally:
        end_browser(paths["pid"], folder)
    assert done.returncode == 0, done.stdout.decode(errors="replace")[-3000:]
    with open(paths["answer"], encoding="utf-8") as file:
        return json.load(file)


def end_browser(path, folder):
    """Ends the browser whose pid stands in PATH, should it be there still; its processes are a group."""
    try:
        with open(path) as file:
            pid = int(file.read())
        with open("/proc/%d/cmdline" % pid) as file:
            if folder in file.read():
                os.killpg(pid, signal.SIGKILL)
    except OSError:
        pass
