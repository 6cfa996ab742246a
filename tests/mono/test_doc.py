# SPDX-License-Identifier: MIT
"""README.md and doc/*.md say what is so: their commands run, what they show is printed."""
from documents import *
from messages import FORMAT, calls, is_sentence, literals, matcher


# What a document may need beside heapshot and Mono; without it its test is skipped.
TOOLS = ["mcs", "cc", "sqlite3", "jq", "lz4", "protoc", "pkg-config"]


def check_document(name, directory):
    text = "".join(block.text for block in blocks(name) if block.is_run)
    for tool in TOOLS:
        if re.search(r"(^|[ |(])%s " % tool, text, re.M) and shutil.which(tool) is None:
            skip(tool + " is missing")
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

@test("doc/root-kinds.md tells all kinds of roots")
def root_kinds(directory):
    names = re.search(r"names\[LAST \+ 1\] = \{(.*?)\};", read_text("schema/root_kind.c"), re.S).group(1)
    told = re.findall(r"^\| (`.*?) \|", read_text("doc/root-kinds.md"), re.M)
    told = re.findall(r"`(\w+)`", " ".join(told))
    assert sorted(told) == sorted(re.findall(r'"(\w+)"', names)), told


# ---- doc/troubleshooting.md ---------------------------------------------------

TROUBLES = "doc/troubleshooting.md"

# Literals of the module that are no messages, and what only programs with mistakes of their own meet.
NO_MESSAGES = {"a line of the cache", "ok %lld\\n", "ok ring %s\\n", "ok %llu %llu %s\\n",
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
    missing = [text for text in sorted(messages) if not any(matcher(text).search(one) for one in told)]
    assert not missing, "%s does not tell of:\n%s" % (TROUBLES, "\n".join(missing))


@test("doc/troubleshooting.md tells all messages of the module")
def module_messages(directory):
    found = [text for pattern in ("profiler/*.c", "emit/*.c") for path, text in literals(pattern)
             if not path.endswith("/options.c")]
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
