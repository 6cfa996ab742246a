# SPDX-License-Identifier: MIT
"""The npm packages and the browser that tests open exports and reports with.
contrib/node-tools installs the packages into node-tools of the build."""
import os
import shutil

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


def environment():
    """What `node` needs in its environment to find the packages, and scripts to find the browser."""
    return {"NODE_PATH": MODULES, "CHROMIUM": chromium() or "", "CHROMIUM_FLAGS": " ".join(CHROMIUM_FLAGS)}
