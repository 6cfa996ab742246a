# SPDX-License-Identifier: MIT
"""What the tests of `heapshot export` share: recordings of programs with known
heaps, made once, and what the other commands say of them."""
import atexit
import os
import resource
import shutil
import sys
import tempfile

for place in ("mono", "node-tools"):
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", place))
from harness import *  # noqa: E402,F401,F403
import harness  # noqa: E402

MAKE = os.path.join(BUILD, "tests", "data", "make_recording")
PROGRAMS = ("Events.exe leak 500", "Lists.exe shared 1000", "Arrays.exe holes 1000", "Roots.exe statics",
            "Handles.exe kinds 100", "Finalizers.exe queue 100", "Weak.exe alive 100", "Ephemerons.exe links 50",
            "Domains.exe alive 2 100", "Generics.exe several", "ThreadStatics.exe few 4", "Strings.exe distinct 1000",
            "Garbage.exe replace 1")

FOLDER = tempfile.mkdtemp(prefix="hs-export.")
atexit.register(shutil.rmtree, FOLDER, ignore_errors=True)


def recorded(args, options=""):
    """A recording of a program, made when first wanted."""
    path = os.path.join(FOLDER, re.sub(r"\W+", "-", args + options) + ".hs")
    if not os.path.exists(path):
        result = mono(args, "output=%s,snapshot=gc,quiet%s" % (path, options), cwd=FOLDER, timeout=60)
        assert result.status == 0 and result.err == "", result.err
    return path


def synthetic(variant, *arguments):
    path = os.path.join(FOLDER, "-".join((variant,) + arguments) + ".hs")
    if not os.path.exists(path):
        result = run([MAKE, variant, path, *arguments])
        assert result.status == 0, result.err
    return path


def export(directory, form, source, *options, status=OK, **how):
    """Writes SOURCE as FORM; returns the new file's path."""
    out = os.path.join(directory, "out." + form)
    how.setdefault("timeout", 120)
    result = heapshot("export", "--format", form, "-o", out, "--overwrite", source, *options, **how)
    assert result.status == status, "status %d: %s%s" % (result.status, result.out, result.err)
    return out


def recorded_strings(source):
    """{address: (length, recorded text)} of the last snapshot's strings, without the character zero."""
    number = snapshots(source)[-1]["id"]
    rows = [json.loads(line) for line in heapshot("dump", "%s@%d" % (source, number)).out.splitlines()]
    return {string["object"]: (string["length"], string["text"].replace("\0", "\ufffd"))
            for row in rows if row["record"] == "string_batch" and row["snapshot"] == number for string in row["string"]}


def assert_streams(directory, form, source):
    """Standard output gets the same bytes as a file, and nothing else is said."""
    with open(export(directory, form, source), "rb") as file:
        expected = file.read()
    result = subprocess.run([HEAPSHOT, "export", "--format", form, "-o", "-", source], stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, timeout=60)
    assert result.returncode == OK and result.stdout == expected and result.stderr == b"", result.stderr
    return expected


def add_counts(rows, key, *values):
    """Sums of VALUES of rows by KEY."""
    sums = {}
    for row in rows:
        known = sums.setdefault(row[key], [0] * len(values))
        for i, value in enumerate(values):
            known[i] += row[value]
    return {name: tuple(sums[name]) for name in sums}


def check_refusals(form, can_stream, options=()):
    """What any format does with files that are there, folders that are not, and full disks."""
    @test("%s: a file that is there stays, without --overwrite; nothing is left of a failure" % form)
    def keeps_files(directory):
        source = synthetic("small")
        out = os.path.join(directory, "out")
        with open(out, "w") as file:
            file.write("mine")
        result = heapshot("export", "--format", form, *options, "-o", out, source)
        assert result.status == IO, result.status
        assert_lines(result.err, 1, "exists", "--overwrite")
        assert open(out).read() == "mine"
        result = heapshot("export", "--format", form, *options, "-o", out, source, "--overwrite", "--json")
        assert result.status == OK, result.err
        report = json.loads(result.out)
        assert list(report) == ["output", "format", "snapshot", "objects", "references", "roots", "bytes"]
        assert report["bytes"] == os.path.getsize(out) and report["format"] == form, report
        assert os.stat(out).st_mode & 0o777 == 0o600
        result = heapshot("export", "--format", form, *options, "-o", directory + "/no/out", source)
        assert result.status == IO
        assert_lines(result.err, 1, "cannot write", "No such file")
        result = heapshot("export", "--format", form, *options, "-o", "-", source, stderr=subprocess.PIPE)
        assert result.status == (OK if can_stream else USAGE), result.err
        result = heapshot("export", "--format", form, *options, "-o", out + "2", source + "@77")
        assert result.status == NOT_FOUND
        assert_lines(result.err, 1, "no snapshot 77")
        assert os.listdir(directory) == ["out"], os.listdir(directory)

    @test("%s: a disk that is full is said in one line, and no file stays" % form)
    def full_disk(directory):
        def limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (20, 20))
        source = synthetic("many", "20000")
        command = [HEAPSHOT, "export", "--format", form, *options, "-o", directory + "/out", source]
        result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=limit,
                                restore_signals=False, universal_newlines=True, timeout=60)
        assert result.returncode == IO, (result.returncode, result.stderr)
        assert_lines(result.stderr, 1, "cannot write", "out")
        assert os.listdir(directory) == [], os.listdir(directory)

    @test("%s: what is incomplete or damaged is written as far as it is there, and said" % form)
    def incomplete(directory):
        result = heapshot("export", "--format", form, *options, "-o", directory + "/a", synthetic("killed") + "@3")
        assert result.status == INCOMPLETE, result.err
        assert "incomplete" in result.err and os.path.exists(directory + "/a"), result.err
        result = heapshot("export", "--format", form, *options, "-o", directory + "/b", synthetic("stats"))
        assert result.status == NOT_FOUND and not os.path.exists(directory + "/b"), result.err
        assert_lines(result.err, 1, "no graph")
