# SPDX-License-Identifier: MIT
"""What the tests of the heapshot command share: running it, recordings made on
demand, and TAP."""
import atexit
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile

BUILD = os.path.abspath(os.environ.get("top_builddir", "."))
SOURCE = os.path.abspath(os.environ.get("top_srcdir") or os.path.join(
    os.path.dirname(os.path.abspath(__file__)), "../.."))
HEAPSHOT = os.path.join(BUILD, "heapshot")
MAKE = os.path.join(BUILD, "tests/data/make_recording")

OK, CHECK_FAILED, USAGE, DAMAGED, INCOMPLETE, NOT_FOUND, IO, NOT_RECORDING = range(8)

folder = tempfile.mkdtemp(prefix="heapshot-cli-")
atexit.register(shutil.rmtree, folder, ignore_errors=True)
# Whoever ends a test that takes too long: the folder goes all the same.
signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
tests = []


def test(function):
    tests.append(function)
    return function


def recording(variant, *arguments):
    """Path of a synthetic recording, made once."""
    path = os.path.join(folder, "-".join((variant,) + arguments) + ".hs")
    if not os.path.exists(path):
        subprocess.run([MAKE, variant, path, *arguments], check=True)
    return path


def write(name, data):
    path = os.path.join(folder, name)
    with open(path, "wb") as out:
        out.write(data)
    return path


def read(path):
    with open(path, "rb") as file:
        return file.read()


def run(*arguments, status=OK, **options):
    """Runs heapshot; its exit status must be STATUS (None: any)."""
    options.setdefault("stdout", subprocess.PIPE)
    options.setdefault("stderr", subprocess.PIPE)
    options.setdefault("stdin", subprocess.DEVNULL)
    options.setdefault("timeout", 60)
    options.setdefault("cwd", folder)
    result = subprocess.run([HEAPSHOT, *arguments], **options)
    result.out = (result.stdout or b"").decode("utf-8", "strict")
    result.err = (result.stderr or b"").decode("utf-8", "replace")
    assert status in (None, result.returncode), "%s: status %d, not %d\n%s%s" % (
        " ".join(arguments), result.returncode, status, result.out[-2000:], result.err)
    return result


def run_json(*arguments, **options):
    return json.loads(run(*arguments, "--json", **options).out)


def main():
    print("1..%d" % len(tests))
    failed = 0
    for number, function in enumerate(tests, 1):
        name = function.__name__
        try:
            skipped = function()
        except Exception as error:  # told as a failed test
            failed += 1
            line = error.__traceback__.tb_next and error.__traceback__.tb_next.tb_lineno
            print("not ok %d - %s" % (number, name))
            for text in ("line %s: %s: %s" % (line, type(error).__name__, error)).splitlines():
                print("# " + text)
        else:
            print("ok %d - %s%s" % (number, name, " # SKIP " + skipped if skipped else ""))
        sys.stdout.flush()
    return 1 if failed else 0
