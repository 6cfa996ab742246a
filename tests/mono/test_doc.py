# SPDX-License-Identifier: MIT
"""README.md and doc/*.md say what is so: their commands run, what they show is printed."""
import glob

from documents import *
from messages import FORMAT, calls, is_sentence, literals, matcher


# What a document may need beside heapshot and Mono; without it its test is skipped.
TOOLS = ["mcs", "cc", "sqlite3", "jq", "lz4", "protoc", "pkg-config"]


def is_without(command):
    """Whether this build lacks what COMMAND wants."""
    if command.startswith("heapshot tui"):
        return "ncurses was not there" in heapshot("tui", "x").err
    return "--format sqlite" in command and "in this build" in heapshot("export", "--format", "sqlite", "x").err


def check_document(name, directory):
    text = "".join(block.text for block in blocks(name) if block.is_run)
    for tool in TOOLS:
        if re.search(r"(^|[ |(])%s " % tool, text, re.M) and shutil.which(tool) is None:
            skip(tool + " is missing")
    if is_without(text):
        skip("built without libsqlite3")
    if "app." in text and not any(block.language in SOURCES for block in blocks(name)):
        Files(directory)
    for block, output, failed in run_document(name, directory):
        place = "%s, line %d" % (name, block.line)
        if "$?" not in block.text:
            assert not failed, "%s: failed: %s\n%s" % (place, "; ".join(failed), output)
        expected = output_of(name, block)
        if expected is not None:
            wrong = differs(expected, output)
            assert wrong is None, "%s: other output\n%s\n--- all of it:\n%s" % (place, wrong, output)


def output_of(name, block):
    """The text block right behind BLOCK, or None."""
    following = [other for other in blocks(name) if other.line > block.line][:1]
    if following and following[0].language == "text" and not following[0].above:
        return following[0].text
    return None


for document in documents():
    def run_it(directory, name=document):
        check_document(name, directory)
    if any(block.is_run for block in blocks(document)):
        test(document + " runs as it is written")(run_it)

# What documents show and no test runs from there: it installs, needs a network, or takes minutes.
LEFT_ALONE = {
    "README.md": ["contrib/quickstart", "contrib/check", "autoreconf -fi && ./configure --prefix=/usr && make && make install"],
    "doc/in-the-browser.md": [
        "contrib/wasm/emscripten", "make -C build nuget", "dotnet nuget add source $PWD/build/nuget --name heapshot",
        "contrib/wasm/emscripten", "make -C build wasm", "(cd build && ../contrib/wasm/link 10.0 runtime)",
        "(cd build && ../contrib/wasm/link --icu 10.0 runtime-icu)",
        "HEAPSHOT_LONG=1 make -C build check TESTS=tests/wasm/test_publish.py",
        "dotnet publish -c Release -p:HeapshotRuntime=$PWD/build/runtime-icu",
        "(cd build && top_builddir=$PWD python3 ../tests/wasm/interop_bench.py)"],
    "doc/channel.md": ["HEAPSHOT_LONG=1 make -C build check TESTS=tests/wasm/test_channel.py"],
    "doc/panel.md": ["python3 -m http.server --directory build/panel 8000"],
    "doc/README.md": ["contrib/deb && apt-get install ./build/deb/*heapshot_*.deb"],
    "doc/which-viewer.md": [
        "dotnet-gcdump report app.gcdump", "npx memlab analyze object-size --snapshot app.heapsnapshot",
        "npx speedscope app.speedscope.json", "flamegraph.pl app.folded > app.svg", "go tool pprof -top app.pb.gz"],
}


@test("what is not run is marked, and known")
def left_alone(directory):
    found = {}
    for name in documents():
        for block in blocks(name):
            if block.language == "sh" and not block.is_run:
                found.setdefault(name, []).extend(block.text.splitlines()[1:])
            assert block.language not in ("bash", "csharp", "c") or NOT_RUN not in block.text, (name, block.line)
    assert found == LEFT_ALONE, found


COMMAND_WORDS = set(re.findall(r"^  ([a-z]+) ", heapshot("--help").out, re.M))


def as_typed(command):
    """What wants a terminal gets one, in which q is pressed until it ends."""
    if not command.startswith("heapshot tui"):
        return command
    return "(while printf q; do sleep 0.2; done) | TERM=xterm script -qefc '%s' /dev/null" % command


# ---- tables of commands -------------------------------------------------------

# Places that stand for others in the tables.
OBJECT, CODE = "0x7f1c2a400010", "0x41d3bde0"


class Files:
    """What the commands of the tables speak of: app.exe, app.hs, a process that is being recorded."""

    def __init__(self, directory):
        self.directory = directory
        self.exe = os.path.join(directory, "app.exe")
        self.hs = os.path.join(directory, "app.hs")
        shutil.copy(compiled("App"), self.exe)
        self.env = environment_of(directory)
        # As a user would; and more, so that all of the tables has something to show.
        result = run(["mono", "--profile=heapshot:output=%s,quiet,strings=100,snapshot=gc,events=gc+types+methods" %
                      self.hs, self.exe], env=self.env)
        assert result.status == 0 and not result.err, result.err
        handler = read_json("find", self.hs, "--type", "MyApp.Handler")["objects"][0]["address"]
        code = [method for method in read_json("jit", self.hs)["methods"] if method["code_bytes"]][0]["code_address"]
        self.places = {OBJECT: "0x%x" % handler, CODE: "0x%x" % code}

    def folder(self):
        """A new one with the files and the tree's folders in it."""
        folder = tempfile.mkdtemp(dir=self.directory)
        link_tree(folder)
        for file in (self.exe, self.hs):
            os.link(file, os.path.join(folder, os.path.basename(file)))
        for other in ("before.hs", "after.hs"):
            os.link(self.hs, os.path.join(folder, other))
        return folder

    def run(self, row, pid):
        """Runs the commands of ROW as they stand, in a folder of their own."""
        folder = self.folder()
        for command in row[1]:
            for place, real in self.places.items():
                command = command.replace(place, real)
            command = re.sub(r"\bPID\b", str(pid), command)
            if command.startswith("--profile"):
                command = "mono %s app.exe" % command
            page = re.fullmatch(r"man (?:([0-9]) )?([\w-]+)", command)
            if page:
                assert glob.glob(path_of("doc/%s.%s.scd*" % (page.group(2), page.group(1) or 1))), command
                continue
            if is_without(command):
                continue
            command = command if "heapshot tui" in command else "set -o pipefail; " + command
            result = run(["bash", "-c", as_typed(command)], env=self.env, cwd=folder, timeout=60)
            wanted = (OK, FAILED) if "--fail-if" in command else (OK,)
            assert result.status in wanted and (result.out or result.err or " -o " in command or
                                                command.startswith("mono ")), "%s: status %d\n%s%s" % (
                command, result.status, result.out, result.err)


def check_tables(name, directory):
    for tool in ("mcs", "lz4", "protoc"):
        if shutil.which(tool) is None:
            skip(tool + " is missing")
    files, rows = Files(directory), rows_of_commands(name)
    assert len(rows) >= (10 if "README" in name else 3)
    server = subprocess.Popen(["mono", "--profile=heapshot:output=server.hs,quiet,ring=1m", files.exe, "serve"],
                              env=files.env, cwd=directory, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        server.stdout.readline()
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            list(pool.map(lambda row: files.run(row, server.pid), rows))
    finally:
        end(server)


for document in documents():
    def run_tables(directory, name=document):
        check_tables(name, directory)
    if rows_of_commands(document):
        test("commands in the tables of %s run as they are written" % document)(run_tables)


# Words that stand for others in the text.
IN_TEXT = [(r"\bFILE(?!@)", "app.hs"), (r"\bFILE@\d", "app.hs@2"), (r"\b(FILE@last|(old|new|server|live)\.hs)", "app.hs"),
           (r"app\.hs\.ring", "app.hs"), (r" \.\.\.$", ""), (r"\bCOMMAND$", "top"), (r"/run/app\.sock", "PID"),
           (r"-- mono PROGRAM", "-- mono app.exe")]


@test("commands in the text of the documents are such as there are")
def commands_of_the_text(directory):
    files, checked = Files(directory), 0
    names = [name for name in documents() if "decisions" not in name and "performance" not in name]
    for name in names:
        for number, command in commands_in_text(name):
            written = command
            for word, real in IN_TEXT + [(OBJECT, files.places[OBJECT]), (CODE, files.places[CODE])]:
                command = re.sub(word, real, command)
            command = re.sub(r"\bPID\b", str(os.getpid()), command)
            words = command.split()
            if "app." not in command and str(os.getpid()) not in command:
                page = heapshot("help", words[1]).out
                assert all(word.split("=")[0] in page for word in words[2:] if word.startswith("-")), (name, number)
            elif len(words) > 2 and not is_without(command):
                result = run(["bash", "-c", as_typed(command)], env=files.env, cwd=files.folder(), timeout=60)
                assert result.status not in (USAGE, IO), "%s, line %d: %s\n%s" % (name, number, written, result.err)
                checked += 1
            assert words[1] in COMMAND_WORDS or words[1] in ("app.hs", "--version"), (name, number, written)
    assert checked > 50, checked


@test("examples of the manual page are such as there are")
def examples_of_the_manual(directory):
    text = re.search(r"(?ms)^# EXAMPLES\n(.*?)^# ", read_text("doc/heapshot.1.scd")).group(1)
    lines = [line.replace("\\", "").strip() for line in text.replace("++\n", "\n").splitlines() if line.strip()]
    files = Files(directory)
    assert len(lines) > 15
    for line in lines:
        # Of others' tools there is the output; of a process, and of /tmp, there is none here.
        if "pgrep" in line or "/tmp/" in line or is_without(line):
            continue
        line = re.sub(r" \| (flamegraph.pl|jq) .*|; go tool .*", "", line).replace(OBJECT, files.places[OBJECT])
        result = run(["bash", "-c", line], env=files.env, cwd=files.folder(), timeout=60)
        assert result.status in (OK, FAILED, NOT_FOUND), "%s: status %d\n%s" % (line, result.status, result.err)


@test("links of the documents lead somewhere")
def links_lead_somewhere(directory):
    for name in documents():
        for link in links(name):
            path = os.path.normpath(os.path.join(os.path.dirname(name), link[0] or os.path.basename(name)))
            assert os.path.exists(path_of(path)), (name, link)
            if len(link) > 1:
                titles = [re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")
                          for title in re.findall(r"(?m)^#+ (.*)$", read_text(path))]
                assert link[1] in titles, (name, link, titles)
    index = {os.path.basename(link[0]) for link in links("doc/README.md")}
    missing = {os.path.basename(name) for name in documents() if name.startswith("doc/")} - index - {"README.md"}
    assert not missing, "doc/README.md does not list %s" % missing


# ---- documents that must be complete ------------------------------------------

@test("doc/options.md has a question for each option")
def options_asked(directory):
    names = re.findall(r'(?m)^\t\{"([\w-]+)", HS_OPTION', read_text("profiler/options.c"))
    text = read_text("doc/options.md")
    missing = [name for name in names if not re.search(r"`[^`]*\b%s\b[^`]*`" % name, text)]
    assert len(names) > 15 and not missing, missing


@test("doc/which-viewer.md and doc/README.md tell all formats of export")
def formats_told(directory):
    names = re.findall(r'(?m)^\t\{"([\w-]+)", ', read_text("contrib/export/formats.c"))
    missing = [(document, name) for document in ("doc/which-viewer.md", "doc/README.md") for name in names
               if "--format %s " % name not in read_text(document)]
    assert len(names) > 5 and not missing, missing


@test("doc/root-kinds.md tells all kinds of roots")
def root_kinds(directory):
    names = re.search(r"names\[LAST \+ 1\] = \{(.*?)\};", read_text("schema/root_kind.c"), re.S).group(1)
    told = re.findall(r"^\| (`.*?) \|", read_text("doc/root-kinds.md"), re.M)
    told = re.findall(r"`(\w+)`", " ".join(told))
    assert sorted(told) == sorted(re.findall(r'"(\w+)"', names)), told


# ---- doc/troubleshooting.md ---------------------------------------------------

TROUBLES = "doc/troubleshooting.md"

# Literals of the module that are no messages (those of wasm_counters.c are names), and what only programs with mistakes of their own meet.
NO_MESSAGES = {"a line of the cache", "JavaScript writes them", "ok %lld\\n", "ok ring %s\\n", "ok %llu %llu %s\\n",
               "ok %s to %s, %llu snapshots, %llu lost records\\n"}
MISUSE = {"no recording is open", "not an object batch", "no object batch is begun", "not an ephemeron batch",
          "not a root batch", "a reader opens one recording only", "not a frame of this recording",
          "no frame is loaded"}


def told_messages():
    """All that stands in `...` in the first column of a table or in a list of reasons."""
    text = "".join(line.split(" | ")[0] + "\n" for line in read_text(TROUBLES).splitlines()
                   if re.match(r"(\| )?`[^`]", line))
    return [code.replace("\\|", "|") for code in re.findall(r"`([^`]+)`", text) if not code.startswith("heapshot ")]


def assert_told(messages):
    told = [text.replace("'heapshot take'", "`heapshot take`") for text in told_messages()]
    # The name of the file stands before most of the reader's.
    missing = [text for text in sorted(messages) if not any(matcher(text).search(before + one) for one in told for before in ("FILE: ", "process 1: "))]
    assert not missing, "%s does not tell of:\n%s" % (TROUBLES, "\n".join(missing))


@test("doc/troubleshooting.md tells all messages of the module")
def module_messages(directory):
    found = [text for pattern in ("profiler/*.c", "emit/*.c") for path, text in literals(pattern)
             if not path.endswith(("/options.c", "/wasm_counters.c"))]
    messages = {text for text in found if is_sentence(text)} - NO_MESSAGES
    assert len(messages) > 80 and NO_MESSAGES <= set(found), len(messages)
    # "error " is the protocol's word.
    assert_told({text[6:] if text.startswith("error ") else text for text in messages})


@test("doc/troubleshooting.md tells all messages of the reader")
def reader_messages(directory):
    refusals = {text for path, name, text in calls("contrib/reader/*.c", ["hs_fail"]) if is_sentence(text)}
    assert MISUSE <= refusals
    reasons = {text for path, text in literals("contrib/reader/records.c") if is_sentence(text)}
    issues = {text for path, text in literals("contrib/cli/recording.c")
              if is_sentence(text) and ("offset" in text or text.startswith(("damaged", "a ring")))}
    assert len(refusals) > 25 and len(issues) > 10
    assert_told((refusals | reasons | issues) - MISUSE - {"issue %d at offset %u"})


# What the last paragraph of the document speaks of as a whole, and a hint that is no trouble.
NO_TROUBLES = {"%s: %s (try 'heapshot help %s')", "%s (try 'heapshot help')", "next: heapshot %s%s"}


@test("doc/troubleshooting.md tells all messages of the commands")
def command_messages(directory):
    messages = {text for pattern in ("contrib/cli/*.c", "contrib/export/*.c")
                for path, name, text in calls(pattern, ["cli_message"]) if is_sentence(text)}
    assert len(messages) > 50 and NO_TROUBLES <= messages
    assert_told(messages - NO_TROUBLES)


@test("all commands are in doc/README.md")
def commands_told(directory):
    # dominators is retained by another name, overview is `heapshot FILE`.
    missing = [word for word in sorted(COMMAND_WORDS - {"dominators", "overview", "help"})
               if "`heapshot %s" % word not in read_text("doc/README.md")]
    assert len(COMMAND_WORDS) > 20 and not missing, missing


@test("doc/troubleshooting.md tells no message that is not in the sources")
def no_invented_messages(directory):
    known = [matcher(text) for pattern in ("profiler/*.c", "emit/*.c", "contrib/reader/*.c", "contrib/cli/*.c",
                                           "contrib/export/*.c")
             for path, text in literals(pattern) if is_sentence(text) and len(FORMAT.sub("", text)) > 6]
    for told in told_messages():
        told = told.replace("'heapshot take'", "`heapshot take`")
        # Behind a message may stand a reason that is a message itself, or the system's.
        assert any(one.match(told) or one.match("FILE: " + told) or one.match("process 1: " + told) or
                   one.match("error " + told) for one in known), told


if __name__ == "__main__":
    main(jobs=2)
