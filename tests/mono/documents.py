# SPDX-License-Identifier: MIT
"""Documents as tests: what stands in README.md and doc/*.md is run as it stands.

A block of ```sh is run; a block of ```text right behind it is what it prints,
where numbers may differ and a line ... stands for any lines. A block of another
language is a file, named by the last `NAME` of the line above it. A block whose
first line has the words NOT_RUN is left alone, and a test knows all of these.
"""
import os
import re
import types

from harness import *

NOT_RUN = "not run by the tests"
SOURCES = {"csharp": ".cs", "c": ".c", "bash": ".sh"}


class Block(types.SimpleNamespace):
    """language, text, line (of the fence), above (the line of text before it)"""

    @property
    def is_run(self):
        return self.language == "sh" and NOT_RUN not in self.text.splitlines()[0]


def path_of(name):
    return os.path.join(SOURCE, name)


def read_text(name):
    with open(path_of(name), encoding="utf-8") as file:
        return file.read()


def documents():
    return ["README.md"] + ["doc/" + name for name in sorted(os.listdir(path_of("doc")))
                            if name.endswith(".md")]


def blocks(name):
    found, block, above = [], None, ""
    for number, line in enumerate(read_text(name).splitlines(), 1):
        fence = re.fullmatch(r"```(\w*)", line)
        if block is not None and fence:
            block.text = "".join(text + "\n" for text in block.lines)
            found.append(block)
            block, above = None, ""
        elif block is not None:
            block.lines.append(line)
        elif fence:
            block = Block(language=fence.group(1), line=number, above=above, lines=[])
        elif line.strip():
            above = line
    assert block is None, "%s: the block of line %d has no end" % (name, block.line)
    return found


PROGRAMS = r"(heapshot|mono|lz4|man|pkg-config|sqlite3|contrib/\w+|go|npx) |--profile="


def rows_of_commands(name):
    """[(line, [command])]: what stands in `...` in the column "type" and is a command."""
    found, is_table = [], False
    for number, line in enumerate(read_text(name).splitlines(), 1):
        is_table = line.startswith("|") and (is_table or line == "| to | type |")
        if not is_table:
            continue
        cell = re.split(r"(?<!\\)\|", line.rstrip().rstrip("|"))[-1]
        codes = [code.replace("\\|", "|") for code in re.findall(r"`([^`]+)`", cell)]
        found.append((number, [code for code in codes if re.match(PROGRAMS, code)]))
    return [(number, codes) for number, codes in found if codes]


def commands_in_text(name):
    """[(line, command)]: `heapshot ...` wherever it stands in the text, options and all; not in blocks."""
    found, is_text = [], True
    for number, line in enumerate(read_text(name).splitlines(), 1):
        if line.startswith("```"):
            is_text = not is_text
        elif is_text:
            found += [(number, code.replace("\\|", "|")) for code in re.findall(r"`(heapshot [^`]+)`", line)]
    return found


def links(name):
    """What the document points to in the tree, without its #place."""
    return [link.split("#") for link in re.findall(r"\]\(([^)]+)\)", read_text(name)) if "://" not in link]


# ---- running ----------------------------------------------------------------

def environment_of(directory):
    """As if heapshot was installed: PATH, module, header and pkg-config."""
    tools = os.path.join(directory, ".tools")
    os.makedirs(os.path.join(tools, "home"), exist_ok=True)
    env = environment()
    env.update({
        "PATH": BUILD + ":" + env["PATH"], "HOME": os.path.join(tools, "home"), "NO_COLOR": "1", "LC_ALL": "C.UTF-8",
        "PKG_CONFIG_PATH": installed_packages(tools), "XDG_RUNTIME_DIR": tools,
    })
    return env


def installed_packages(tools):
    """pkg-config files that name the tree in place of where it will be installed."""
    with open(os.path.join(tools, "heapshot.pc"), "w") as file:
        file.write("Name: heapshot\nDescription: in the build tree\nVersion: 1\n"
                   "Cflags: -I%s\nLibs: -L%s -l:libmono-profiler-heapshot.so\n" % (
                       path_of("profiler"), MODULES))
    return tools


PRELUDE = """
begin() { exec > "$PWD/.block-$1.out" 2>&1; block=$PWD/.block-$1; }
# A program that was begun has said that it is ready, as it has where one types by hand.
begun() {
	while kill -0 $! && ! { [ -S "$XDG_RUNTIME_DIR/heapshot/$!.sock" ] && grep -qv "^heapshot: " "$block.out"; }; do
		sleep 0.05
	done
} 2> /dev/null
trap 'echo "$BASH_COMMAND" >> "$block.failed"' ERR
"""


def run_document(name, directory, env=None):
    """Runs the blocks in one shell; returns [(block, output, [commands that failed])]."""
    script, ran = [PRELUDE], []
    link_tree(directory)
    # Programs first: they may stand behind the commands that use them.
    for block in sorted(blocks(name), key=lambda block: block.language not in SOURCES):
        if block.language in SOURCES:
            file = re.findall(r"`([\w.-]+)`", block.above)
            assert file and file[-1].endswith(SOURCES[block.language]), "%s, line %d: no file is named above" % (
                name, block.line)
            script.append("cat > %s <<'end of the file'\n%send of the file" % (file[-1], block.text))
        elif block.is_run:
            script.append("begin %d\n%s: > \"$block.done\"" % (block.line, block.text))
            if block.text.rstrip().endswith("&"):
                script.append("begun")
            ran.append(block)
    error = run_shell("\n".join(script) + "\n", directory, env or environment_of(directory))
    return [read_block(name, block, directory, error) for block in ran]


def link_tree(directory):
    """Commands name files of the tree as they stand in it."""
    for folder in ("contrib", "schema"):
        os.symlink(path_of(folder), os.path.join(directory, folder))


def run_shell(script, directory, env):
    """What it began and did not end is ended; returns what it says on standard error."""
    with open(os.path.join(directory, ".script"), "w") as file:
        file.write(script)
    process = subprocess.Popen(["bash", ".script"], env=env, cwd=directory, stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)
    try:
        return process.communicate(timeout=120)[0].decode("utf-8", "replace")
    except subprocess.TimeoutExpired:
        return "no end after 120 s"
    finally:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait()


def read_block(name, block, directory, error):
    at = os.path.join(directory, ".block-%d" % block.line)
    assert os.path.exists(at + ".out"), "%s, line %d: not reached\n%s" % (name, block.line, error)
    with open(at + ".out", encoding="utf-8", errors="replace") as file:
        # The shell says when it pleases that a program was killed.
        output = re.sub(r"(?m)^\.script: line \d+: +\d+ (Killed|Terminated)\b.*\n", "", file.read())
    assert os.path.exists(at + ".done"), "%s, line %d: the shell ended there\n%s%s" % (
        name, block.line, output, error)
    failed = []
    if os.path.exists(at + ".failed"):
        with open(at + ".failed") as file:
            failed = file.read().splitlines()
    return block, output, failed


# ---- comparing --------------------------------------------------------------

def plain(line):
    """A line without what differs from run to run: numbers, units of time, widths."""
    line = re.sub(r"0x[0-9a-f]+", "0x#", line)
    line = re.sub(r"[-+]?\d[\d,.]*( ?(ns|us|ms|s|min)\b)?", "#", line)
    return " ".join(line.split())


def pattern(line):
    return re.escape(plain(line)).replace(r"\.\.\.", ".*").replace("\u2026", ".*")


def differs(expected, output):
    """None where OUTPUT is as EXPECTED says, else the first line that is not found in it."""
    lines = [plain(line) for line in output.rstrip("\n").splitlines()]
    # Numbers of lines of OUTPUT that may be what was expected so far.
    reached, wanted = {0}, ""
    for wanted in expected.rstrip("\n").splitlines():
        if wanted.strip() == "...":
            reached = set(range(min(reached), len(lines) + 1))
            continue
        matches = re.compile(pattern(wanted)).fullmatch
        before = max(reached)
        reached = {at + 1 for at in reached if at < len(lines) and matches(lines[at])}
        if not reached:
            return "expected: %s\nfound: %s" % (wanted, lines[before] if before < len(lines) else "the end")
    if len(lines) not in reached:
        return "not expected: " + lines[max(reached)]
    return None
