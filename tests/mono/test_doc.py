# SPDX-License-Identifier: MIT
"""README.md and doc/*.md say what is so: their commands run, what they show is printed."""
from documents import *


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


if __name__ == "__main__":
    main(jobs=2)
