# SPDX-License-Identifier: MIT
"""The package Heapshot.WebAssembly, packed once for all tests, and programs restored from it:
from a local source, into a folder of packages of their own."""
import contextlib
import functools
import glob
import re
import subprocess
import threading

from blazor import publish_sample  # noqa: F401
from wasm import *

NUGET = os.path.join(SCRIPTS, "nuget")
VERSION = "1.2.3-test"


def of_package():
    found = glob.glob(os.path.join(NUGET, "**"), recursive=True)
    found += glob.glob(os.path.join(SOURCE, "contrib", "browser", "**"), recursive=True)
    found += [os.path.join(SOURCE, "contrib", "managed", "Heapshot.cs")]
    return sorted(path for path in found if os.path.isfile(path))


@functools.lru_cache(None)
def packed():
    """A folder with the package, which is a source."""
    with Made("nuget", archive() + hash_of(*of_package()) + version("10.0") + version("9.0")) as made:
        if not made.is_whole:
            make_targets("nuget", "NUGET_OPTIONS=--fast", "NUGET_VERSION=" + VERSION, timeout=1800)
            for path in glob.glob(os.path.join(BUILD, "nuget", "*.nupkg")):
                shutil.copy(path, made.path)
        return made.path


def own_packages(directory):
    return os.path.join(directory, "packages")


def installed(directory):
    """The package as NuGet unpacked it."""
    return os.path.join(own_packages(directory), "heapshot.webassembly", VERSION)


def from_package(directory):
    """Properties by which a project is restored from the package, into a folder of its own; what is not
    ours is taken from where other tests have it."""
    return ("HeapshotPackage=" + VERSION, "RestoreAdditionalProjectSources=" + packed(),
            "RestorePackagesPath=" + own_packages(directory), "RestoreFallbackFolders=" + PACKS)


@contextlib.contextmanager
def running(project, *options):
    """The origin at which `dotnet run` serves PROJECT, which is built."""
    env = dict(os.environ, NUGET_PACKAGES=PACKS, ASPNETCORE_URLS="http://127.0.0.1:0")
    # A group of its own: the server is a child.
    process = subprocess.Popen(["dotnet", "run", "--no-build", "--no-launch-profile", "--project", project, *options], env=env,
                               start_new_session=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, text=True)

    def end():
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    watchdog = threading.Timer(300, end)
    watchdog.start()
    try:
        said, origin = "", None
        while origin is None:
            line = process.stdout.readline()
            assert line, said
            said += line
            origin = re.search(r"Now listening on: (http://[^/\s]+)", line)
        # What it says from now on must not fill the pipe.
        threading.Thread(target=process.stdout.read, daemon=True).start()
        watchdog.cancel()
        yield origin.group(1)
    finally:
        watchdog.cancel()
        end()
        process.wait()
