# SPDX-License-Identifier: MIT
"""heapshot watch on running programs: what it shows, in lines, in JSON and on a
terminal, and how it ends."""
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time

from harness import *


class Served:
    """Leak.exe that does what it is told."""

    def __init__(self, directory, options=""):
        self.path = os.path.join(directory, "a.hs")
        self.process = start("Leak.exe serve", "output=%s,quiet%s" % (self.path, options), cwd=directory)
        self.say("pass")

    def say(self, *commands):
        for command in commands:
            self.process.stdin.write(command.encode() + b"\n")
            answer = self.process.stdout.readline()
            assert answer.startswith(b"ok "), answer

    def __enter__(self):
        return self

    def __exit__(self, *_):
        end(self.process)


class Watching:
    """heapshot watch, read line by line."""

    def __init__(self, process, *arguments):
        self.process = subprocess.Popen(
            [HEAPSHOT, "watch", str(process), "--interval", "100ms", *arguments],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        end(self.process)

    def lines(self):
        limit = time.monotonic() + 60
        for line in self.process.stdout:
            assert time.monotonic() < limit, "what was waited for did not come"
            yield line

    def until(self, condition):
        """The first refresh for which CONDITION holds."""
        for line in self.lines():
            figures = json.loads(line)
            if condition(figures):
                return figures
        raise AssertionError("watch ended: " + self.process.stderr.read())

    def end(self, how=signal.SIGINT):
        self.process.send_signal(how)
        self.process.stdout.read()
        return self.process.wait(30), self.process.stderr.read()


def leaked(figures):
    rows = of_type(figures["types"], "T.Leaked")
    return (rows[0]["count_change"], rows[0]["bytes_change"]) if rows else (0, 0)


@test("growth of a type is exact, as diff shows it, and ^C ends with status 0")
def growth(directory):
    with Served(directory) as served, Watching(served.process.pid, "--json") as watching:
        first = watching.until(lambda figures: True)
        assert first["bytes_change"] == first["objects_change"] == 0
        assert {row["count_change"] for row in first["types"]} == {0}
        sizes = [row["bytes"] for row in first["types"]]
        assert sizes == sorted(sizes, reverse=True)
        served.say("leak", "leak", "leak")
        last = watching.until(lambda figures: leaked(figures)[0] >= 30)
        assert leaked(last) == (30, 30 * 24), leaked(last)
        changes = [row["bytes_change"] for row in last["types"]]
        assert changes == sorted(changes, reverse=True)
        assert sum(changes) == last["bytes_change"] == last["bytes"] - first["bytes"]
        assert sum(row["count"] for row in last["types"]) == last["objects"]
        assert last["heap_bytes"] >= last["bytes"] and last["process"] == str(served.process.pid)
        assert last["time_ns"] > first["time_ns"] and last["walk_ns"] > 0
        assert watching.end() == (0, "")
        # The same is in the recording.
        changed = read_json("diff", "%s@%d" % (served.path, first["snapshot"]),
                            "%s@%d" % (served.path, last["snapshot"]), status=(OK, INCOMPLETE))
        row = of_type(changed["types"], "T.Leaked")[0]
        assert (row["count"], row["bytes"]) == (30, 720)
        # The program goes on as if nothing had been.
        served.say("leak", "collect")
        served.process.stdin.write(b"quit\n")
        result = end(served.process, 0)
        assert result.status == 0, result
    check_file(served.path)


@test("collections of the program are counted apart from those of watching")
def collections(directory):
    with Served(directory) as served, Watching(served.process.pid, "--json", "--limit", "1") as watching:
        first = watching.until(lambda figures: True)
        assert len(first["types"]) == 1
        assert first["collections"] == {"minor": 0, "major": 0, "pause_ns": 0, "max_pause_ns": 0}
        served.say("collect", "collect", "collect")
        seen = watching.until(lambda figures: figures["collections"]["major"] >= 3)["collections"]
        assert seen["major"] == 3, seen
        assert seen["pause_ns"] >= seen["max_pause_ns"] > 0
        later = watching.until(lambda figures: figures["watching"]["major"] >= 5)
        assert later["collections"]["major"] == 3, later
        ours = later["watching"]
        assert ours["minor"] == 0 and ours["pause_ns"] >= ours["max_pause_ns"] > later["walk_ns"] / 100
        assert ours["major"] <= later["snapshot"] - first["snapshot"] + 1


@test("--count ends it; without a terminal there are plain lines")
def lines(directory):
    with Served(directory) as served:
        result = heapshot("watch", str(served.process.pid), "--count", "1")
        assert result.status == 0 and result.err == "", result.err
        assert_lines(result.out, 1, "+0.0 s  heap ", " live ", "objects (0)", "0 major collections; watching: ")
        result = heapshot("watch", str(served.process.pid), "-c", "3", "-i", "100ms", "--json")
        assert result.status == 0 and len([json.loads(line) for line in result.out.splitlines()]) == 3
        with Watching(served.process.pid, "--limit", "1") as watching:
            refreshes = iter(watching.lines())
            assert next(refreshes).startswith("+0.0 s")
            served.say(*["leak"] * 2000)
            title = next(line for line in refreshes if "TYPE" in line)
            assert title.split() == ["+BYTES", "+COUNT", "BYTES", "COUNT", "ASSEMBLY", "TYPE"]
            row = next(line for line in refreshes if " T.Leaked" in line and "+20,000 " in line)
            assert "\033" not in row and row.split()[:2] == ["+480,000", "+20,000"], row
            assert next(refreshes)[0] == "+" and " s  heap" in next(
                line for line in refreshes if not line.startswith("  ") and "heap" in line)
            assert watching.end(signal.SIGTERM) == (0, "")
        # A reader that has enough ends it quietly.
        result = run(["sh", "-c", '"$0" watch "$1" -i 100ms 2>err | head -n 1', HEAPSHOT,
                      str(served.process.pid)], cwd=directory)
        assert result.status == 0 and len(result.out.splitlines()) == 1
        assert open(os.path.join(directory, "err")).read() == ""


class Terminal:
    """heapshot watch in a pseudo-terminal."""

    def __init__(self, rows, columns, *arguments, env=None):
        environment = {**os.environ, "TERM": "xterm", **(env or {})}
        self.child, self.fd = pty.fork()
        if self.child == 0:
            try:
                os.execve(HEAPSHOT, [HEAPSHOT, "watch", *arguments], environment)
            finally:
                os._exit(127)
        self.data = ""
        self.resize(rows, columns)

    def resize(self, rows, columns):
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def read(self):
        """False at the end."""
        ready, _, _ = select.select([self.fd], [], [], 30)
        assert ready, "nothing more came"
        try:
            piece = os.read(self.fd, 65536)
        except OSError:
            return False
        self.data += piece.decode()
        return bool(piece)

    def until(self, condition):
        limit = time.monotonic() + 60
        while not condition():
            assert time.monotonic() < limit and self.read(), self.data[-2000:]

    def pages(self):
        """The whole screens so far, as lists of lines."""
        pages = re.split("\033\\[H", self.data)[1:-1]
        return [re.sub("\033\\[[0-9;]*[mKJ]", "", page).rstrip("\r\n").split("\r\n") for page in pages]

    def end(self):
        while self.read():
            pass
        status = os.waitstatus_to_exitcode(os.waitpid(self.child, 0)[1])
        os.close(self.fd)
        return status


@test("on a terminal it is refreshed in place, fits also when resized, and ^C leaves the last figures")
def terminal(directory):
    with Served(directory) as served:
        pid = str(served.process.pid)
        seen = Terminal(24, 80, pid, "--interval", "100ms")
        seen.until(lambda: len(seen.pages()) >= 2)
        assert seen.data.startswith("\033[?1049h\033[?25l")
        served.say(*["leak"] * 500)
        seen.until(lambda: any("+5,000" in line and "T.Leaked" in line
                               for line in (seen.pages() or [[]])[-1]))
        page = seen.pages()[-1]
        assert page[0].startswith("process %s, watched " % pid) and ": mono --profile" in page[0], page
        assert page[1].startswith("heap ") and "live" in page[1]
        assert "collections" in page[2] and page[3].startswith("watching: ")
        # The resize may come in the middle of a page.
        for rows, columns in ((10, 40), (5, 20), (2, 3), (30, 200)):
            done = len(seen.pages())
            seen.resize(rows, columns)
            seen.until(lambda: len(seen.pages()) >= done + 4)
            page = seen.pages()[-1]
            assert max(map(len, page)) <= columns and len(page) <= rows, (rows, columns, page)
        assert any("T.Leaked" in line for line in seen.pages()[-1])
        os.write(seen.fd, b"\x03")
        assert seen.end() == 0
        screen, last = seen.data.split("\033[?1049l")
        assert screen.endswith("\033[?7h\033[?25h")
        last = re.sub("\033\\[[0-9;]*m", "", last)
        assert "T.Leaked" in last and "+5,000" in last and last.startswith("process " + pid), last


@test("on a terminal: ^Z gives it back, and takes it again when it goes on")
def terminal_stops(directory):
    with Served(directory) as served:
        seen = Terminal(24, 80, str(served.process.pid), "--interval", "100ms")
        seen.until(lambda: len(seen.pages()) >= 2)
        os.write(seen.fd, b"\x1a")
        wait_for("the stop", lambda: open("/proc/%d/stat" % seen.child).read().rsplit(")", 1)[1].split()[0] == "T")
        while select.select([seen.fd], [], [], 0.1)[0]:
            seen.read()
        assert seen.data.endswith("\033[?1049l")
        done = len(seen.pages())
        os.kill(seen.child, signal.SIGCONT)
        seen.until(lambda: len(seen.pages()) >= done + 3)
        assert seen.data.count("\033[?1049h") == 2
        os.kill(seen.child, signal.SIGTERM)
        assert seen.end() == 0 and seen.data.count("\033[?1049l") == 2


@test("on a terminal: the end of the program, --limit, and a terminal that can do nothing")
def terminal_ends(directory):
    with Served(directory) as served:
        pid = str(served.process.pid)
        seen = Terminal(24, 80, pid, "--interval", "100ms", "--limit", "2")
        seen.until(lambda: len(seen.pages()) >= 2)
        assert len(seen.pages()[-1]) == 4 + 1 + 2
        end(served.process)
        assert seen.end() == 1
        # The message stands on the screen that stays.
        assert "process %s has ended" % pid in seen.data.split("\033[?1049l")[1]
    with Served(os.path.join(directory)) as served:
        pid = str(served.process.pid)
        seen = Terminal(24, 80, pid, "--count", "1", env={"TERM": "dumb"})
        assert seen.end() == 0 and "\033" not in seen.data and seen.data.startswith("+0.0 s")
        # A terminal that goes away ends it.
        seen = Terminal(24, 80, pid, "--interval", "100ms")
        seen.until(lambda: len(seen.pages()) >= 2)
        os.close(seen.fd)
        status = os.waitpid(seen.child, 0)[1]
        assert os.WIFEXITED(status) or os.WTERMSIG(status) in (signal.SIGHUP, signal.SIGPIPE), status


@test("a process that ends while it is watched: status 1 and one line")
def ends(directory):
    for how in ("quit", signal.SIGKILL, signal.SIGTERM):
        with Served(directory) as served, Watching(served.process.pid, "--json") as watching:
            watching.until(lambda figures: True)
            if how == "quit":
                served.process.stdin.write(b"quit\n")
                end(served.process, 0)
            else:
                end(served.process, how)
            watching.process.stdout.read()
            status, err = watching.process.wait(30), watching.process.stderr.read()
            assert status == 1, (how, status, err)
            assert_lines(err, 1, "process %d" % served.process.pid, "end")


@test("what cannot be watched is said in one line")
def refusals(directory):
    def refused(status, process, *words):
        result = heapshot("watch", str(process), "--count", "1", cwd=directory)
        assert result.status == status and result.out == "", (status, result)
        assert_lines(result.err, 1, *words)

    gone = subprocess.Popen(["true"])
    gone.wait()
    refused(NOT_FOUND, gone.pid, "no process %d" % gone.pid)
    refused(NOT_FOUND, os.getpid(), "seems to be no Mono program")
    refused(USAGE, "x", "'x' is no process id")
    refused(NOT_FOUND, "./none.sock", "there is no socket ./none.sock")
    bare = start("Leak.exe serve", cwd=directory)
    try:
        bare.stdin.write(b"pass\n")
        bare.stdout.readline()
        refused(NOT_FOUND, bare.pid, "runs Mono without the heapshot module", "heapshot record")
    finally:
        end(bare)
    with Served(directory, ",control=off") as served:
        # A process of that number that was killed may have left its socket.
        left = "/tmp/heapshot-%d/%d.sock" % (os.getuid(), served.process.pid)
        if os.path.exists(left):
            os.unlink(left)
        refused(NOT_FOUND, served.process.pid, "control=off or control=PATH")
    with Served(directory, ",max-snapshots=5") as served:
        refused(FAILED, served.process.pid, "max-snapshots")
        assert snapshots(served.path, (OK, INCOMPLETE)) == []
    piped = start("Leak.exe serve", "output=|cat > b.hs,quiet", cwd=directory)
    try:
        piped.stdin.write(b"pass\n")
        piped.stdout.readline()
        refused(IO, piped.pid, "does not record to a file")
    finally:
        end(piped)
    for wrong in ("0", "1ms", "99ms", "1h", "x", "-1s", "99999999999999999999s", "999999999999m"):
        result = heapshot("watch", "1", "--interval", wrong)
        assert result.status == USAGE and "at least 100ms" in result.err, (wrong, result)


@test("another user may not watch")
def other_user(directory):
    if os.getuid() != 0:
        skip("only root can be another user")
    # Others may not enter a tree that lies in root's own folder.
    os.chmod(directory, 0o755)
    command = shutil.copy(HEAPSHOT, directory)
    with Served(directory) as served:
        result = run([command, "watch", str(served.process.pid), "--count", "1"], cwd="/",
                     preexec=lambda: os.setuid(65534))
        assert result.status == IO, result
        assert_lines(result.err, 1, "belongs to another user")


@test("a socket of one's own, a file that was deleted, a ring")
def other_recordings(directory):
    with Served(directory, ",control=%s/c.sock" % directory) as served:
        result = heapshot("watch", directory + "/c.sock", "--count", "2", "-i", "100ms", "--json")
        assert result.status == 0 and len(result.out.splitlines()) == 2, result
    with Served(directory) as served:
        os.unlink(served.path)
        result = heapshot("watch", str(served.process.pid), "--count", "1", "--json")
        assert result.status == 0 and json.loads(result.out)["objects"] > 100
    with Served(directory, ",ring=1M") as served:
        result = heapshot("watch", str(served.process.pid), "--count", "2", "-i", "100ms", "--json")
        assert result.status == 0, result.err
        figures = json.loads(result.out.splitlines()[1])
        # Events are in the ring; what was counted is in the file.
        assert figures["collections"] is None and figures["watching"] is None
        assert figures["objects"] > 100


@test("what watching leaves in the recording does not stand in the way of the graph")
def afterwards(directory):
    with Served(directory) as served:
        served.say("leak")
        assert heapshot("take", str(served.process.pid)).status == 0
        assert heapshot("watch", str(served.process.pid), "-c", "3", "-i", "100ms").status == 0
        end(served.process)
        found = snapshots(served.path, (OK, INCOMPLETE))
        assert [row["label"] for row in found] == ["", "watch", "watch", "watch"]
        ours = (OK, INCOMPLETE)
        for command in ("retained", "roots", "leaks"):
            assert read_json(command, served.path, status=ours)["snapshot"] == 1, command
        assert read_json("path", served.path, "T.Leaked", status=ours)["objects"] == 10
        assert read_json("top", served.path, "--retained", status=ours)["snapshot"] == 1
        assert read_json("top", served.path, status=ours)["snapshot"] == 4
        assert heapshot("retained", served.path + "@4").status == NOT_FOUND


@test("snapshots that a child writes")
def by_child(directory):
    with Served(directory, ",fork=always") as served, Watching(served.process.pid, "--json") as watching:
        watching.until(lambda figures: True)
        served.say("leak", "leak")
        assert leaked(watching.until(lambda figures: leaked(figures)[0] >= 20)) == (20, 480)
        served.say("collect")
        watching.until(lambda figures: figures["collections"]["major"] == 1)
        assert watching.end() == (0, "")
        assert {row["fork"] for row in snapshots(served.path, (OK, INCOMPLETE))} == {"child"}


@test("a recording that is long already, with other snapshots beside those of watching")
def beside_others(directory):
    with Served(directory, ",snapshot=100ms") as served:
        wait_for("snapshots", lambda: len(snapshots(served.path, (OK, INCOMPLETE))) > 5)
        with Watching(served.process.pid, "--json") as watching:
            first = watching.until(lambda figures: True)
            served.say("leak")
            last = watching.until(lambda figures: leaked(figures)[0] > 0)
            assert leaked(last) == (10, 240)
            # Both kinds of snapshots, and their collections, are told apart.
            more = watching.until(lambda figures: figures["collections"]["major"] >= 3)
            assert more["watching"]["major"] >= 1 and more["snapshot"] > first["snapshot"] + 3
            assert watching.end()[0] == 0


main(jobs=2)
