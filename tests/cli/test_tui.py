# SPDX-License-Identifier: MIT
"""heapshot tui in a real terminal: each key, what is shown, and every way out."""
import os
import re
import shutil
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from cli import *  # noqa: E402,F403
import cli  # noqa: E402

IS_LONG = os.environ.get("HEAPSHOT_LONG") == "1"


class Terminal:
    """A window of tmux, on a server of its own, in which heapshot tui runs."""
    number = 0

    def __init__(self, *arguments, columns=80, rows=24, env="", job_control=False):
        Terminal.number += 1
        self.socket = "heapshot-%d-%d" % (os.getpid(), Terminal.number)
        # Prints how it ended and whether the terminal is as before, and stays.
        script = ("a=$(stty -g); env LC_ALL=C.UTF-8 %s '%s' tui %s; s=$?; "
                  "[ \"$a\" = \"$(stty -g)\" ] && echo \"exit:$s, as before\" || echo \"exit:$s, changed\"; cat"
                  % (env, cli.HEAPSHOT, " ".join("'%s'" % word for word in arguments)))
        if job_control:
            script = ("exec bash -c 'set -m; LC_ALL=C.UTF-8 \"$0\" tui \"$1\"; echo stopped:$?; read; fg; "
                      "echo ended:$?; cat' '%s' '%s'" % (cli.HEAPSHOT, arguments[0]))
        # NO_COLOR of whoever runs the tests is not meant.
        environment = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "TMUX")}
        self.tmux("new-session", "-d", "-x", str(columns), "-y", str(rows), script, env=environment)

    def tmux(self, *words, env=None):
        return subprocess.run(["tmux", "-L", self.socket, "-f", "/dev/null", *words], check=True,
                              capture_output=True, cwd=cli.folder, env=env, timeout=30).stdout.decode()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        subprocess.run(["tmux", "-L", self.socket, "kill-server"], capture_output=True)

    def lines(self, *options):
        return self.tmux("capture-pane", "-p", *options).split("\n")[:-1]

    def wait(self, condition, what=""):
        """The lines of the screen, once CONDITION (a text, or a function of them) holds."""
        end, before = time.monotonic() + 30, None
        while True:
            lines = self.lines()
            holds = condition in "\n".join(lines) if isinstance(condition, str) else condition(lines)
            # A picture may be taken in the middle of what is drawn: the same twice is a whole one.
            if holds and lines == before:
                return lines
            before = lines if holds else None
            assert time.monotonic() < end, "%s\n%s" % (what or condition, "\n".join(lines))
            time.sleep(0.03)

    def press(self, *keys):
        self.tmux("send-keys", *keys)
        return self

    def type(self, text):
        self.tmux("send-keys", "-l", text)
        return self

    def at(self, title, *keys):
        """Presses KEYS; the lines once the view's title begins with TITLE, and nothing is under way."""
        if keys:
            self.press(*keys)
        return self.wait(lambda lines: lines[1].startswith(title) and lines[-1].startswith("?:help"),
                         "title %r" % title)

    def message(self, text, *keys):
        self.press(*keys)
        return self.wait(lambda lines: text in lines[-1], "message %r" % text)

    def end(self, status=0):
        lines = self.wait("exit:")
        found = [line for line in lines if line.startswith("exit:")]
        assert found == ["exit:%d, as before" % status], lines
        # The other screen was left, and the cursor is seen.
        assert self.tmux("display-message", "-p", "#{alternate_on} #{cursor_flag}").split() == ["0", "1"]
        return lines

    def process(self):
        """The process id of heapshot."""
        shell = self.tmux("display-message", "-p", "#{pane_pid}").strip()
        return int(subprocess.run(["pgrep", "-P", shell, "heapshot"], capture_output=True,
                                  check=True).stdout.split()[0])


def needs_terminal(function):
    def checked():
        if shutil.which("tmux") is None:
            return "tmux is missing"
        if "ncurses was not there" in subprocess.run([cli.HEAPSHOT, "tui", "x"], capture_output=True,
                                                     text=True).stderr:
            return "built without ncurses"
        return function()
    checked.__name__ = function.__name__
    return test(checked)


def names(lines, column):
    """Last words of the rows below the titles, where COLUMN is."""
    start = next(i for i, line in enumerate(lines) if column in line)
    return [line.split()[-1] for line in lines[start + 1:-1] if line.strip()]


def selected(terminal):
    """The row that is shown in reverse."""
    for line in terminal.lines("-e")[2:-1]:
        if re.match(r"\x1b\[(0;)?7m", line):
            return re.sub(r"\x1b\[[0-9;]*m|\x0e|\x0f", "", line).rstrip()
    return ""


def wait_selected(terminal, words):
    """Once the selected row has these words."""
    end = time.monotonic() + 30
    while not all(word in selected(terminal).split() for word in words.split()):
        assert time.monotonic() < end, "%r is not selected: %r\n%s" % (
            words, selected(terminal), "\n".join(terminal.lines()))
        time.sleep(0.02)


@needs_terminal
def types_are_those_of_retained():
    path = recording("held")
    with Terminal(path) as terminal:
        lines = terminal.at("Types, by retained size")
        assert lines[0].startswith('held.hs, snapshot 1 "heap": 31 objects, 1,116 bytes live')
        assert lines[2].split() == ["RETAINED", "BYTES", "COUNT", "ASSEMBLY", "TYPE"]
        rows = [line.split() for line in lines[3:-1] if line.strip()]
        expected = run_json("retained", path, "--part", "types")["types"]
        assert rows == [["{:,}".format(row["retained"]), "{:,}".format(row["bytes"]), "{:,}".format(row["count"]),
                         row["assembly"], row["type"]] for row in expected], rows
        assert lines[-1].startswith("?:help q:quit Enter <-:back /:filter t:types p:paths x:roots n:snapshots d:diff")
        terminal.press("q").end()


@needs_terminal
def keys_sort_and_filter():
    with Terminal(recording("held")) as terminal:
        assert names(terminal.at("Types, by retained"), "TYPE")[:2] == ["T.Pub", "T.Node"]
        assert names(terminal.at("Types, by bytes", "b"), "TYPE") == [
            "T.Node", "T.Huge", "T.Late", "System.Object[]", "T.Pub", "System.String"]
        assert names(terminal.at("Types, by count", "c"), "TYPE")[:3] == ["T.Node", "T.Pub", "T.Late"]
        assert names(terminal.at("Types, by retained", "r"), "TYPE")[0] == "T.Pub"
        # A prompt, in which what was typed can be taken back.
        terminal.message("show only: _", "/")
        terminal.type("Systemx")
        terminal.wait("show only: Systemx_")
        terminal.message("show only: System_", "BSpace")
        lines = terminal.at("Types, by retained size, only /System/", "Enter")
        assert names(lines, "TYPE") == ["System.Object[]", "System.String"]
        # Escape leaves the prompt without a change, and in the view shows all again.
        terminal.press("/").type("Z")
        terminal.wait("show only: Z_")
        terminal.press("Escape")
        assert names(terminal.at("Types, by retained size, only /System/"), "TYPE") == [
            "System.Object[]", "System.String"]
        terminal.press("Escape")
        terminal.wait(lambda lines: "only" not in lines[1])
        # A pattern, ^U, and nothing.
        terminal.press("/").type("zz")
        terminal.message("show only: _", "C-u")
        terminal.type("T.*e")
        lines = terminal.at("Types, by retained size, only /T.*e/", "Enter")
        assert sorted(names(lines, "TYPE")) == ["T.Huge", "T.Late", "T.Node"]
        terminal.press("/").type("nope").press("Enter")
        terminal.wait("nothing matches")
        # Without a row nothing can be opened.
        terminal.message("leads nowhere", "Enter")
        terminal.press("q").end()


@needs_terminal
def keys_move():
    with Terminal(recording("good")) as terminal:
        terminal.at("Types")
        lines = terminal.at("12,000 objects of T.Node", "Enter")
        # Of a large type those that retain most, which is said.
        assert lines[2] == "the 1,000 that retain most"
        rows = 24 - 5
        at = 1
        for key, expected in (("Down", 2), ("j", 3), ("Up", 2), ("k", 1), ("k", 1), ("NPage", 1 + rows),
                              ("PPage", 1), ("C-f", 1 + rows), ("Space", 1 + 2 * rows), ("C-b", 1 + rows),
                              ("C-u", 1 + rows - 10), ("C-d", 1 + rows), ("End", 1000), ("Home", 1),
                              ("G", 1000), ("Down", 1000), ("g", 1)):
            terminal.press(key)
            wanted = "%s/1,000" % "{:,}".format(expected)
            lines = terminal.wait(lambda lines: lines[1].endswith(" " + wanted), "%s to %s" % (key, wanted))
            at = expected
            assert len([line for line in lines[4:-1] if line.strip()]) == rows
        assert at == 1
        terminal.message("no such key; ? shows all", "Z")
        # Drawn anew, it is the same.
        before = terminal.at("12,000 objects", "j", "k")
        assert terminal.at("12,000 objects", "C-l") == before
        terminal.press("q").end()


@needs_terminal
def keys_open_and_go_back():
    path = recording("held")
    with Terminal(path) as terminal:
        terminal.at("Types", "j")
        wait_selected(terminal, "T.Node")
        lines = terminal.at("24 objects of T.Node", "Enter")
        assert lines[2].split() == ["RETAINED", "BYTES", "OBJECT", "DOMINATED", "BY"]
        assert lines[3].split() == ["640", "32", "0x7f0000000220", "T.Pub", "0x7f0000000208"]
        # One object, as show has it.
        lines = terminal.at("0x7f0000000220, T.Node", "l")
        shown = run_json("show", path, "0x7f0000000220")
        assert lines[2].startswith("32 bytes, retains 640 (57.3 % of what lives)")
        text = "\n".join(lines)
        for part in ("Fields and elements", "Dominated by", "Referred to by", "Path from a root", "static T.Pub.List"):
            assert part in text, part
        field = next(field for field in shown["fields"] if field["target"])
        wait_selected(terminal, "608 32 %s T.Node 0x%x" % (field["name"], field["target"]["address"]))
        terminal.at("0x7f0000000240, T.Node", "Right")
        # Back by four keys, each to the view before.
        terminal.at("0x7f0000000220, T.Node", "BSpace")
        terminal.at("24 objects of T.Node", "h")
        terminal.at("Types", "Left")
        wait_selected(terminal, "T.Node")
        terminal.message("this is the first view", "h")
        # The dominator, of the selected object and of the one that is shown.
        terminal.at("24 objects of T.Node", "Enter")
        terminal.at("0x7f0000000208, T.Pub", "D")
        lines = terminal.at("1 object of static T.Pub.List", "D")
        assert "0x7f0000000208" in "\n".join(lines)
        terminal.press("t")
        terminal.message("an object has a dominator", "D")
        terminal.press("q").end()


@needs_terminal
def keys_show_paths():
    path = recording("held")
    with Terminal(path) as terminal:
        terminal.at("Types", "j")
        lines = terminal.at("Paths to 24 objects of T.Node", "p")
        assert lines[2].split() == ["OBJECTS", "BYTES", "PATH"]
        merged = run_json("path", path, "T.Node")["paths"]
        for line, row in zip(lines[3:], merged):
            assert line.split()[0] == str(row["count"])
            assert row["text"].startswith(" ".join(line.split()[2:])), (line, row)
        lines = terminal.at("A shortest path to T.Node", "Enter")
        assert "static T.Pub." in lines[3], lines
        # From an object, and from the list of them.
        terminal.at("Types", "t")
        terminal.at("24 objects of T.Node", "j", "Enter")
        terminal.at("Paths to 24 objects of T.Node", "p")
        terminal.at("24 objects of T.Node", "h")
        terminal.at("0x7f0000000220, T.Node", "Enter")
        lines = terminal.at("A shortest path to T.Node 0x7f0000000220", "p")
        assert [line.split()[-2:] for line in lines[3:6]] == [
            ["static", "T.Pub.List"], ["T.Pub", "0x7f0000000208"], ["T.Node", "0x7f0000000220"]], lines
        terminal.at("0x7f0000000208, T.Pub", "j", "Enter")
        terminal.at("Roots", "x")
        terminal.message("paths lead to a type or an object", "p")
        terminal.press("q").end()


@needs_terminal
def keys_show_roots():
    path = recording("held")
    with Terminal(path) as terminal:
        terminal.at("Types")
        lines = terminal.at("Roots by kind", "x")
        kinds = run_json("retained", path, "--part", "kinds")["kinds"]
        shown = {line.split()[-1]: line.split()[0] for line in lines[3:-1] if line.strip()}
        for row in kinds:
            assert shown[row["kind"]] == "{:,}".format(row["retained"]), (row, shown)
        wait_selected(terminal, "static")
        lines = terminal.at("Roots of kind static", "Enter")
        assert "T.Pub.List" in "\n".join(lines)
        wait_selected(terminal, "664 T.Pub.List")
        terminal.at("1 object of static T.Pub.List", "Enter")
        terminal.at("0x7f0000000208, T.Pub", "Enter")
        terminal.press("q").end()


@needs_terminal
def keys_switch_snapshots():
    path = recording("good")
    with Terminal(path + "@2") as terminal:
        lines = terminal.at("Types")
        assert lines[0].startswith('good.hs, snapshot 2 "after login": '), lines[0]
        lines = terminal.at("Snapshots", "n")
        assert lines[2].split()[:5] == ["+BYTES", "+OBJECTS", "BYTES", "OBJECTS", "SNAPSHOT"]
        assert [line.split()[:5] for line in lines[3:6]] == [
            ["0", "0", "134,796", "3,303", "1"], ["+132,300", "+3,300", "267,096", "6,603", "*2"],
            ["+264,600", "+6,600", "531,696", "13,203", "3"]], lines
        wait_selected(terminal, "*2")
        # The difference to the one before: of the selected, and of the one that is shown.
        lines = terminal.at("What changed from snapshot 2 to 3, by bytes", "j", "d")
        changed = run_json("diff", path + "@2", path + "@3")["types"]
        assert [line.split()[0] for line in lines[3:5]] == ["+{:,}".format(row["bytes"]) for row in changed[:2]]
        terminal.at("What changed from snapshot 2 to 3, by count", "c")
        terminal.at("Snapshots", "h")
        lines = terminal.at("Types, by retained", "Enter")
        assert lines[0].startswith("good.hs, snapshot 3: "), lines[0]
        # By brackets; how the types are looked at stays.
        terminal.at("Types, by count", "c")
        terminal.press("/").type("Node").press("Enter")
        terminal.at("Types, by count, only /Node/")
        terminal.press("[")
        lines = terminal.wait(lambda lines: "snapshot 2" in lines[0] and lines[-1].startswith("?"))
        assert lines[1].startswith("Types, by count, only /Node/"), lines
        terminal.press("[")
        terminal.wait(lambda lines: "snapshot 1" in lines[0] and lines[-1].startswith("?"))
        terminal.message("there is no earlier snapshot", "[")
        terminal.at("Snapshot 1 is the first", "d")
        terminal.press("]")
        terminal.wait(lambda lines: "snapshot 2" in lines[0] and lines[-1].startswith("?"))
        lines = terminal.at("What changed from snapshot 1 to 2", "d")
        terminal.at("6,000 objects of T.Node", "Enter")
        terminal.press("q").end()


@needs_terminal
def help_and_history():
    with Terminal(recording("held")) as terminal:
        terminal.at("Types")
        terminal.press("?")
        lines = terminal.wait("any key goes back")
        text = "\n".join(lines)
        for key in ("q ", "up k down j", "Enter", "Backspace", "r b c", "/ ", "p ", "D ", "x ", "n ", "[ ]", "d ", "^L"):
            assert "\n" + key in text, key
        terminal.at("Types", "q")
        # It remembers so many views, and forgets the oldest.
        terminal.type("xt" * 150)
        terminal.at("Types")
        terminal.type("h" * 255)
        terminal.type("h")
        terminal.wait(lambda lines: "this is the first view" in lines[-1])
        terminal.press("q").end()


@needs_terminal
def every_size_is_drawn():
    path = recording("held")
    with Terminal(path) as terminal:
        before = terminal.at("Types", "j")
        for columns, rows in ((40, 10), (20, 5), (10, 3), (3, 2), (1, 1), (200, 50), (79, 24), (80, 24)):
            terminal.tmux("resize-window", "-x", str(columns), "-y", str(rows))
            lines = terminal.wait(lambda lines: len(lines) == rows and (
                columns < 3 or lines[0].rstrip() == (before[0].rstrip())[:columns].rstrip()))
            assert max(map(len, lines)) <= columns, (columns, rows, lines)
            if rows >= 10:
                terminal.wait(lambda lines: any(line.startswith("     904") and "T.Node" in line for line in lines))
                terminal.wait(lambda lines: lines[-1].rstrip() == before[-1][:columns].rstrip())
        assert terminal.at("Types") == before
        # All views, in a narrow one.
        terminal.tmux("resize-window", "-x", "30", "-y", "8")
        terminal.wait(lambda lines: len(lines) == 8)
        for key, title in (("Enter", "24 objects"), ("Enter", "0x7f0000000220"), ("p", "A shortest path"),
                           ("x", "Roots by kind"), ("n", "Snapshots"), ("d", "Snapshot 1 is the fir")):
            assert max(map(len, terminal.at(title, key))) <= 30
        terminal.press("?")
        terminal.wait("any key goes back")
        terminal.press("?", "q").end()


@needs_terminal
def hostile_names_stay_text():
    with Terminal(recording("hostile-names")) as terminal:
        lines = terminal.at("Types")
        assert 'snapshot 1 "label?]0;x?"' in lines[0], lines[0]
        assert "T.Esc?[31m" in "\n".join(lines)
        assert "\x1b[31m" not in "\n".join(terminal.lines("-e"))
        terminal.at("1 object of T.Esc?[31m", "Enter")
        terminal.press("q").end()


@needs_terminal
def long_names_have_their_address():
    with Terminal(recording("long-name")) as terminal:
        assert "T." + "n" * 30 in "\n".join(terminal.at("Types"))
        lines = terminal.at("1 object of T.nn", "Enter")
        assert re.search(r"32 +0x[0-9a-f]+ +static T\.Pub\.Root$", "\n".join(lines), re.M), lines
        terminal.at("0x", "Enter")
        terminal.press("q").end()


@needs_terminal
def colour_is_a_choice():
    coloured = r"\x1b\[[0-9;]*(3[0-7]|4[0-7])[;m]"
    for env, is_coloured in (("TERM=screen-256color", True), ("TERM=screen-256color NO_COLOR=1", False)):
        with Terminal(recording("held"), env=env) as terminal:
            terminal.at("Types")
            terminal.press("Enter", "Enter")
            terminal.wait("Path from a root")
            found = re.search(coloured, "\n".join(terminal.lines("-e")))
            assert bool(found) == is_coloured, found
            # What is selected is seen without colours too.
            assert selected(terminal)
            terminal.press("q").end()


@needs_terminal
def the_terminal_is_given_back():
    path = recording("held")
    for end in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, "C-c", "C-\\", "q"):
        with Terminal(path) as terminal:
            terminal.at("Types")
            if isinstance(end, str):
                terminal.press(end)
            else:
                os.kill(terminal.process(), end)
            terminal.end()
    # A terminal that goes away: nothing is left behind.
    terminal = Terminal(path)
    terminal.at("Types")
    pid = terminal.process()
    terminal.tmux("kill-server")
    limit = time.monotonic() + 30
    while os.path.exists("/proc/%d" % pid):
        assert time.monotonic() < limit
        time.sleep(0.02)


@needs_terminal
def it_can_be_stopped_and_continued():
    with Terminal(recording("held"), job_control=True) as terminal:
        terminal.at("Types, by count", "c")
        terminal.press("C-z")
        # As before it, for whoever is in front of it meanwhile.
        terminal.wait("stopped:148")
        assert terminal.tmux("display-message", "-p", "#{alternate_on}").strip() == "0"
        terminal.press("Enter")
        terminal.at("Types, by count")
        terminal.at("24 objects of T.Node", "Enter")
        terminal.press("q")
        terminal.wait("ended:0")


@needs_terminal
def what_cannot_be_shown_is_said():
    path = recording("held")
    result = run("tui", path, status=USAGE)
    assert result.err.startswith("heapshot: tui: it needs a terminal") and result.err.count("\n") == 1
    with Terminal(path, env="TERM=nonsense") as terminal:
        assert "the terminal 'nonsense' cannot be used" in "".join(terminal.end(USAGE))
    with Terminal(path, env="TERM=dumb") as terminal:
        assert "cannot be used" in "".join(terminal.end(USAGE))
    with Terminal("missing.hs") as terminal:
        assert "missing.hs" in "".join(terminal.end(IO))
    with Terminal(path + "@9") as terminal:
        assert "no snapshot 9" in "".join(terminal.end(NOT_FOUND))
    with Terminal(recording("stats")) as terminal:
        assert "types and counts only" in "".join(terminal.end(NOT_FOUND))
    # What is wrong with a recording is said behind it, on the screen that stays.
    with Terminal(recording("killed")) as terminal:
        terminal.at("Types")
        lines = terminal.press("q").end()
        assert "truncated" in "".join(lines), lines


@needs_terminal
def damaged_recordings_are_browsed():
    """Whatever the file says, each view comes or the end is one of those that are documented."""
    paths = [recording(variant) for variant in ("differs", "inconsistent", "unknown", "overflow", "two", "abandoned",
                                                "varied", "round", "killed", "huge")]
    whole = read(recording("good"))
    for at in (400, len(whole) // 2, len(whole) - 700):
        paths.append(write("flipped-%d.hs" % at, whole[:at] + bytes([whole[at] ^ 0x10]) + whole[at + 1:]))
        paths.append(write("cut-%d.hs" % at, whole[:at]))
    n_browsed = 0
    for path in paths:
        with Terminal(path) as terminal:
            lines = terminal.wait(lambda lines: lines[-1].startswith("?:help") or "exit:" in "\n".join(lines), path)
            if "exit:" not in "\n".join(lines):
                n_browsed += 1
                for key in ("Enter", "Enter", "p", "Enter", "x", "Enter", "Enter", "Enter", "D", "n", "d", "h", "]",
                            "G", "Enter", "t", "p", "c", "b"):
                    terminal.press(key)
                terminal.press("q")
            ended = [line for line in terminal.wait("exit:") if line.startswith("exit:")]
            assert re.fullmatch(r"exit:[034567], as before", ended[0]), (path, terminal.lines())
    assert n_browsed >= 10, n_browsed


@needs_terminal
def a_failure_gives_the_screen_back():
    # Enough for the graph, and not for the ways that paths need.
    path = recording("many", "300000")
    for megabytes in range(16, 64):
        result = run("retained", "--memory", "%dM" % megabytes, "--part", "types", path, status=None)
        if result.returncode == OK:
            break
    with Terminal("--memory", "%dM" % megabytes, path) as terminal:
        terminal.at("Types")
        terminal.press("p")
        lines = terminal.end(IO)
        assert "give more by --memory" in "".join(lines), lines


@needs_terminal
def without_utf8_other_characters_are_marked():
    with Terminal(recording("hostile-names"), env="LC_ALL=C") as terminal:
        text = "\n".join(terminal.at("Types"))
        assert all(ord(letter) < 128 for letter in text), text
        terminal.press("q").end()


@needs_terminal
def large_heaps_stay_usable():
    # The count of the file; with the long tests that of a large server.
    n = 5000000 if IS_LONG else 300000
    path = recording("many", str(n))
    largest = max(run_json("top", path)["types"], key=lambda row: row["count"])
    with Terminal(path) as terminal:
        end = time.monotonic() + 120
        while not terminal.lines()[1].startswith("Types"):
            assert time.monotonic() < end
            time.sleep(0.1)
        terminal.at("Types, by count", "c")
        wait_selected(terminal, largest["type"])
        lines = terminal.at("%s objects of %s" % ("{:,}".format(largest["count"]), largest["type"]), "Enter")
        assert lines[2] == "the 1,000 that retain most", lines
        terminal.press("G")
        terminal.wait(lambda lines: lines[1].endswith("1,000/1,000"))
        terminal.at("0x", "Enter")
        terminal.at("A shortest path", "p")
        terminal.at("Types", "t")
        terminal.at("Paths to ", "p")
        terminal.press("q").end()


# ---- recordings of Mono --------------------------------------------------------

def mono_recording(name, *program, options=""):
    """A recording of PROGRAM, or why there is none."""
    if shutil.which("mono") is None:
        return None, "mono is missing"
    if os.environ.get("HEAPSHOT_SANITIZERS") == "yes":
        return None, "a module with sanitizers cannot be loaded"
    path = os.path.join(cli.folder, name)
    env = dict(os.environ, LD_LIBRARY_PATH=os.path.join(BUILD, ".libs"))
    for variable in ("HEAPSHOT_OPTIONS", "MONO_GC_PARAMS"):
        env.pop(variable, None)
    subprocess.run(["mono", "--profile=heapshot:output=%s,overwrite,quiet%s" % (path, options), *program],
                   env=env, check=True, timeout=120, capture_output=True)
    return path, None


@needs_terminal
def mono_events_are_found():
    program = os.path.join(BUILD, "tests/mono/bin/Events.exe")
    if not os.path.exists(program):
        return "Events.exe is not built"
    path, why = mono_recording("events.hs", program, "leak")
    if path is None:
        return why
    with Terminal(path) as terminal:
        terminal.at("Types")
        terminal.press("/").type("T.Handler").press("Enter")
        terminal.at("Types, by retained size, only /T.Handler/")
        terminal.at("Paths to 5,000 objects of T.Handler", "p")
        terminal.wait(lambda lines: re.match(r"  5,000 +[0-9,]+  static T\.Pub\.Ev -> System\.EventHandler\.", lines[3]))
        lines = terminal.at("A shortest path to T.Handler", "Enter")
        assert lines[3].split()[-2:] == ["static", "T.Pub.Ev"], lines
        assert lines[6].split()[-2] == "System.EventHandler" and "m_target" in lines[6], lines
        assert lines[7].split()[-2] == "T.Handler", lines
        # The root leads to the event, which retains them all.
        terminal.at("1 object of static T.Pub.Ev", "Enter")
        terminal.at("0x", "Enter")
        terminal.wait("delegates")
        terminal.press("q").end()


@needs_terminal
def mono_names_are_cut_by_columns():
    if shutil.which("mcs") is None:
        return "mcs is missing"
    source = os.path.join(cli.folder, "Wide.cs")
    with open(source, "w", encoding="utf-8") as out:
        out.write("class \u5927\u304d\u306a\u540d\u524d\u306e\u578b { public string text = new string('x', 9);"
                  " public object \u6b21; }\n"
                  "class Gr\u00f6\u00dfe { static System.Collections.Generic.List<object> all ="
                  " new System.Collections.Generic.List<object>();\n"
                  "static void Main() { for (int i = 0; i < 500; i++) all.Add(new"
                  " \u5927\u304d\u306a\u540d\u524d\u306e\u578b()); all.Add(new Gr\u00f6\u00dfe()); } }\n")
    subprocess.run(["mcs", "-nologo", "-codepage:utf8", "-out:" + source[:-3] + ".exe", source], check=True)
    path, why = mono_recording("wide.hs", source[:-3] + ".exe", options=",strings=20")
    if path is None:
        return why
    name = "\u5927\u304d\u306a\u540d\u524d\u306e\u578b"
    with Terminal(path) as terminal:
        terminal.at("Types")
        terminal.press("/").type("\u5927").press("Enter")
        lines = terminal.at("Types, by retained size, only /\u5927/")
        assert lines[3].endswith(name), lines[3]
        terminal.at("500 objects of " + name, "Enter")
        lines = terminal.at("0x", "Enter")
        assert "\u6b21" in "\n".join(lines)
        # The text of a string that was recorded.
        wait_selected(terminal, "System.String")
        terminal.press("Enter")
        terminal.wait('"xxxxxxxxx"')
        terminal.press("h", "h", "h")
        terminal.at("Types")
        for columns in range(30, 60, 3):
            terminal.tmux("resize-window", "-x", str(columns), "-y", "10")
            lines = terminal.wait(lambda lines: len(lines) == 10 and lines[3].strip() and lines[-1].rstrip() == (
                "?:help q:quit Enter <-:back /:filter t:types p:paths x:roots n:snapshots d:diff"[:columns].rstrip()))
            shown = lines[3].rstrip()
            width = sum(2 if ord(letter) > 0x2000 else 1 for letter in shown)
            assert width <= columns and name.startswith(shown.split()[-1]) or shown.split()[-1] in (
                "Wide",), (columns, shown)
        terminal.press("Escape")
        terminal.press("q").end()


if __name__ == "__main__":
    sys.exit(main())
