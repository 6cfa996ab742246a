# SPDX-License-Identifier: MIT
"""Commands that write recordings: extract and recompress."""
import os
import resource
import shutil
import signal
import struct
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from cli import *  # noqa: E402,F403
import cli  # noqa: E402

SANITIZED = os.environ.get("HEAPSHOT_SANITIZERS", "no") not in ("no", "")
READER = os.path.join(cli.SOURCE, "tests/format/heapshot_reader.py")
METADATA, EVENTS, BEGIN, BODY, END_OF_SNAPSHOT, END = range(1, 7)
PART = 2


class Frame:
    def __init__(self, data, at):
        magic, length = struct.unpack_from("<II", data, at)
        assert magic == 0x184D2A5B
        (self.kind, self.flags, _, self.snapshot, self.seq, _, compressed, self.raw) = \
            struct.unpack_from("<BHIIQQII", data, at + 13)
        self.body_at = at + 8 + length
        self.end = self.body_at + compressed
        self.body = data[self.body_at:self.end]


def frames(data):
    found, at = [], 0
    while at < len(data):
        found.append(Frame(data, at))
        at = found[-1].end
    return found


def content(path):
    return subprocess.run(["lz4", "-dc", path], stdout=subprocess.PIPE, check=True).stdout


def is_sound(path, is_text=True):
    """Everything that can be asked of a whole recording."""
    assert run("verify", path).out.endswith("\nok\n")
    subprocess.run(["lz4", "-tq", path], check=True)
    if is_text and shutil.which("protoc"):
        text = subprocess.run(["protoc", "--decode=heapshot.Stream", "-I", os.path.join(cli.SOURCE, "schema"),
                               "heapshot.proto"], input=content(path), stdout=subprocess.PIPE, check=True).stdout
        assert text.count(b"frame_start {") == len(frames(read(path)))


def by_python(path, number):
    done = subprocess.run([sys.executable, READER, "top", path, str(number)], stdout=subprocess.PIPE)
    return done.returncode, done.stdout


def extracted(name, number, status=OK, **options):
    """The extract, and what the command said of it."""
    path = os.path.join(cli.folder, "part.hs")
    said = run("extract", "%s@%d" % (name, number), "-o", path, "--overwrite", "--json", status=status, **options)
    return path, json.loads(said.out)


@test
def extract_is_the_snapshot():
    for variant, numbers in (("good", (1, 2, 3)), ("killed", (1, 2)), ("varied", (1, 2)), ("stats", (1,)),
                             ("hostile-names", (1,)), ("huge", (1,)), ("unknown", (1,))):
        whole = recording(variant)
        for number in numbers:
            path, said = extracted(whole, number)
            is_sound(path, is_text=variant != "hostile-names")
            for command in ("top", "roots"):
                assert run(command, path, "--json").out == run(command, whole + "@%d" % number, "--json").out
                assert run(command, path + "@%d" % number, "--json").out == run(command, path, "--json").out
            rows = [row for row in run_json("list", whole)["snapshots"] if row["id"] == number]
            assert run_json("list", path)["snapshots"] == rows
            assert by_python(path, number) == by_python(whole, number)
            assert run("dump", path + "@%d" % number, "--objects").out == \
                run("dump", whole + "@%d" % number, "--objects").out
            assert said["snapshot"] == number and said["bytes"] == os.path.getsize(path)
            assert said["frames"] == len(frames(read(path)))


@test
def extract_copies_frames():
    before = frames(read(recording("good")))
    for number in (1, 2, 3):
        path, _ = extracted(recording("good"), number)
        after = frames(read(path))
        wanted = [f for f in before if f.kind == METADATA or (f.kind in (BEGIN, BODY, END_OF_SNAPSHOT)
                                                              and f.snapshot == number)]
        assert [f.body for f in after[:-1]] == [f.body for f in wanted]
        assert [(f.kind, f.seq, f.snapshot) for f in after[:-1]] == [(f.kind, f.seq, f.snapshot) for f in wanted]
        assert after[-1].kind == END and after[-1].seq == after[-2].seq + 1
        # What is missing is told from what was lost.
        gaps = [(a, b) for a, b in zip(after, after[1:]) if b.seq != a.seq + 1]
        assert gaps and all(b.flags == PART for _, b in gaps)
        assert [f.flags for f in after].count(PART) == len(gaps)
        missing = sum(b.seq - a.seq - 1 for a, b in gaps)
        assert run_json("list", path)["left_out_frames"] == missing
        assert "%d frames of it were left out" % missing in run("list", path).out
        records = [json.loads(line)["record"] for line in run("dump", path).out.splitlines()]
        assert "gc_event" not in records and records.count("snapshot_begin") == 1
        assert records[-1] == "end" and json.loads(run("dump", path).out.splitlines()[-1])["reason"] == "extracted"
    # Of a part of a part nothing more is missing.
    again = os.path.join(cli.folder, "again.hs")
    run("extract", path, "-o", again)
    assert read(again) == read(path)
    # Methods and their code stay behind; there is no snapshot in this one.
    run("extract", recording("methods"), "-o", "no.hs", status=NOT_FOUND)
    run("extract", recording("good") + "@7", "-o", "no.hs", status=NOT_FOUND)
    assert not os.path.exists(os.path.join(cli.folder, "no.hs"))


@test
def names_as_long_as_the_system_allows():
    whole = recording("good")
    for length in (247, 250, 255):
        name = "n" * (length - 3) + ".hs"
        run("extract", whole + "@1", "-o", name)
        run("verify", name)
        run("export", "--format=gcdump", whole + "@1", "-o", name, "--overwrite")
        os.unlink(os.path.join(cli.folder, name))
    result = run("extract", whole + "@1", "-o", "n" * 256, status=IO)
    assert result.err.count("\n") == 1 and "too long" in result.err, result.err


@test
def extract_of_what_is_not_whole():
    for variant, number in (("killed", 3), ("differs", 1), ("abandoned", 2)):
        whole = recording(variant)
        path, _ = extracted(whole, number, status=INCOMPLETE)
        assert run("top", path, "--json", status=INCOMPLETE).out == \
            run("top", whole + "@%d" % number, "--json", status=INCOMPLETE).out
        run("verify", path, status=INCOMPLETE)


def flipped(data, frame):
    changed = bytearray(data)
    changed[(frame.body_at + frame.end) // 2] ^= 0x10
    return write("flipped.hs", bytes(changed))


@test
def damage_stays_visible():
    good = read(recording("good"))
    parts = frames(good)
    for lost in parts[1:]:
        damaged = flipped(good, lost)
        # recompress: all others are there, and the gap is no secret.
        result = run("recompress", damaged, "-o", "copy.hs", "--overwrite", status=DAMAGED)
        copy = os.path.join(cli.folder, "copy.hs")
        assert [f.seq for f in frames(read(copy))] == [f.seq for f in parts if f is not lost]
        assert "frame %d" % lost.seq in result.err and all(f.flags == 0 for f in frames(read(copy)))
        assert [issue["kind"] for issue in run_json("verify", copy, status=INCOMPLETE)["issues"]] == \
            ["no_end" if lost.kind == END else "gap"]
        for number in (1, 2, 3):
            is_needed = lost.kind == METADATA or lost.snapshot == number
            is_seen = is_needed or lost.kind in (BEGIN, END_OF_SNAPSHOT, END)
            whole = subprocess.run([cli.HEAPSHOT, "top", damaged + "@%d" % number], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE).returncode
            if whole == NOT_FOUND:
                run("extract", damaged + "@%d" % number, "-o", "part.hs", "--overwrite", status=NOT_FOUND)
                continue
            path, _ = extracted(damaged, number, status=DAMAGED if is_seen else OK)
            if is_needed:
                run("verify", path, status=INCOMPLETE)
            else:
                is_sound(path)
    # Numbers that were missing before are missing after, though others were left out with them.
    event = next(f for f in parts if f.kind == EVENTS and f.seq > 5)
    hole = write("hole.hs", good[:parts[event.seq - 1].end] + good[event.end:])
    path, _ = extracted(hole, 3)
    assert [issue["kind"] for issue in run_json("verify", path, status=INCOMPLETE)["issues"]] == ["gap"]


@test
def recompress_keeps_all():
    for variant in subprocess.run([cli.MAKE], stdout=subprocess.PIPE, text=True, check=True).stdout.split():
        if variant in ("version", "two"):
            continue
        whole, path = recording(variant), os.path.join(cli.folder, "small.hs")
        said = json.loads(run("recompress", whole, "-o", path, "--overwrite", "--json").out)
        assert content(path) == content(whole), variant
        for flags in ([], ["--objects"]):
            assert run("dump", path, *flags).out == run("dump", whole, *flags).out
        assert [(f.kind, f.flags, f.seq, f.snapshot, f.raw) for f in frames(read(path))] == \
            [(f.kind, f.flags, f.seq, f.snapshot, f.raw) for f in frames(read(whole))]
        checks = [subprocess.run([cli.HEAPSHOT, "verify", name], stdout=subprocess.PIPE).returncode
                  for name in (path, whole)]
        assert checks[0] == checks[1], variant
        subprocess.run(["lz4", "-tq", path], check=True)
        assert said["bytes"] == os.path.getsize(path) <= said["bytes_before"] == os.path.getsize(whole)
    assert run("recompress", recording("killed"), "-o", path, "--overwrite").err.count("\n") == 1
    # The first of two recordings; the other is not mixed in.
    run("recompress", recording("two"), "-o", path, "--overwrite")
    assert content(path) == content(recording("small"))
    run("recompress", recording("version"), "-o", path, "--overwrite", status=NOT_RECORDING)


@test
def recompress_is_smaller():
    whole = recording("varied")
    said = run_json("recompress", whole, "-o", os.path.join(cli.folder, "smaller.hs"))
    assert said["bytes"] < said["bytes_before"], said
    # What cannot be made smaller stays as it is.
    again = os.path.join(cli.folder, "again.hs")
    run("recompress", os.path.join(cli.folder, "smaller.hs"), "-o", again, "--overwrite")
    assert read(again) == read(os.path.join(cli.folder, "smaller.hs"))


@test
def later_versions_are_kept():
    said = run_json("recompress", recording("unknown"), "-o", os.path.join(cli.folder, "later.hs"))
    assert (said["unknown_frames"], said["unknown_records"], said["unknown_fields"]) == (1, 2, 1)
    path, said = extracted(recording("unknown"), 1)
    assert (said["unknown_frames"], said["unknown_records"], said["unknown_fields"]) == (1, 1, 1)
    assert "of a later version, kept: 1 frames, 1 records, 1 fields" in \
        run("extract", recording("unknown"), "-o", path, "--overwrite").out
    # A tag of a later version is longer, and keeps what it has.
    data = read(recording("small"))
    first = frames(data)[1]
    at = frames(data)[0].end
    tag = bytearray(data[at:first.body_at]) + b"more"
    tag[12] = 2
    struct.pack_into("<I", tag, 4, 52)
    import zlib
    struct.pack_into("<I", tag, 52, zlib.crc32(bytes(tag[8:52])))
    longer = write("longer.hs", data[:at] + bytes(tag) + data[first.body_at:])
    run("verify", longer)
    run("recompress", longer, "-o", path, "--overwrite")
    run("verify", path)
    assert b"more" in read(path) and content(path) == content(longer)


@test
def names_of_files():
    good = recording("small")
    for command in ("extract", "recompress"):
        for arguments in ([], ["-o", ""], ["-o", "-", "--json"]):
            result = run(command, good, *arguments, status=USAGE)
            assert result.out == "" and result.err.count("\n") == 1, result.err
        there = write("there", b"something")
        for out, words in ((there, "exists"), ("/dev/null", "no regular file"), (cli.folder, "no regular file"),
                           ("none/x", "No such file"), (good, "exists")):
            result = run(command, good, "-o", out, status=IO)
            assert words in result.err and result.err.count("\n") == 1 and result.out == "", result.err
        assert read(there) == b"something"
        run(command, good, "-o", "/dev/null", "--overwrite", status=IO)
        # Through a pipe, in and out.
        with open(good, "rb") as file:
            piped = subprocess.run("cat | '%s' %s - -o - | cat" % (cli.HEAPSHOT, command), shell=True, stdin=file,
                                   stdout=subprocess.PIPE, check=True)
        run(command, good, "-o", "new.hs")
        new = os.path.join(cli.folder, "new.hs")
        assert piped.stdout == read(new), command
        assert os.stat(new).st_mode & 0o777 == 0o600
        # A link stays one, and what it leads to is replaced.
        os.symlink("new.hs", os.path.join(cli.folder, "link.hs"))
        write("new.hs", b"old")
        run(command, good, "-o", "link.hs", "--overwrite")
        assert os.path.islink(os.path.join(cli.folder, "link.hs")) and read(new) == piped.stdout
        # In place.
        mine = write("mine.hs", read(good))
        run(command, mine, "-o", mine, "--overwrite")
        assert read(mine) == piped.stdout
        for name in ("new.hs", "link.hs"):
            os.unlink(os.path.join(cli.folder, name))
    assert not [name for name in os.listdir(cli.folder) if name.count(".") > 1], os.listdir(cli.folder)


def run_output(arguments, **options):
    return subprocess.run([cli.HEAPSHOT, *arguments], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE,
                          stdout=subprocess.PIPE, timeout=60, cwd=cli.folder, **options)


@test
def a_full_disk_leaves_nothing():
    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
    before = os.listdir(cli.folder)
    recording("varied")
    before = os.listdir(cli.folder)
    for command in ("extract", "recompress"):
        for _ in range(2):
            result = run(command, recording("varied"), "-o", "full.hs", status=IO, preexec_fn=limit)
            assert "full.hs" in result.err and result.err.count("\n") == 1, result.err
            assert os.listdir(cli.folder) == before
        with open("/dev/full", "wb") as full:
            done = subprocess.run([cli.HEAPSHOT, command, recording("varied"), "-o", "-"], stdin=subprocess.DEVNULL,
                                  stdout=full, stderr=subprocess.PIPE, timeout=60)
        assert done.returncode == IO and done.stderr.count(b"\n") == 1, done


@test
def a_signal_leaves_nothing():
    place = os.path.join(cli.folder, "signals")
    os.mkdir(place)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        process = subprocess.Popen([cli.HEAPSHOT, "recompress", "-", "-o", os.path.join(place, "x.hs")],
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   preexec_fn=lambda: [signal.signal(n, signal.SIG_DFL)
                                                       for n in (signal.SIGINT, signal.SIGHUP)])
        # It waits for its input; the file is begun before.
        limit = time.monotonic() + 60
        while not os.listdir(place):
            assert time.monotonic() < limit and process.poll() is None
            time.sleep(0.01)
        # The handler is set right behind.
        while not any(int(line.split()[1], 16) >> (number - 1) & 1
                      for line in open("/proc/%d/status" % process.pid) if line.startswith("SigCgt")):
            assert time.monotonic() < limit
        process.send_signal(number)
        process.communicate(timeout=60)
        assert process.returncode == -number and not os.listdir(place), (process.returncode, os.listdir(place))


@test
def memory_is_bounded():
    if SANITIZED:
        return "sanitizers need address space"
    path = recording("many", "3000000")
    for command in ("extract", "recompress"):
        run(command, path, "-o", "many.hs", "--overwrite",
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (48 << 20, 48 << 20)))
        is_whole = run_json("verify", os.path.join(cli.folder, "many.hs"))
        assert is_whole["ok"] and is_whole["snapshots"][0]["objects"] > 3000000
    os.unlink(path)


sys.exit(main())
