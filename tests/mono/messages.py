# SPDX-License-Identifier: MIT
"""The messages in the sources, for the document that explains them."""
import glob
import re

from documents import path_of

STRING = r'"(?:[^"\\\n]|\\.)*"'
CHAIN = re.compile(r"(?:%s|PRI[a-z]+[0-9]+)(?:\s*(?:%s|PRI[a-z]+[0-9]+))*" % (STRING, STRING))
FORMAT = re.compile(r"%[-0-9.*]*(?:ll|l|z|j)?[a-zA-Z]")


def literals(pattern):
    """[(file, text)]: string literals of the sources, adjacent ones joined; numbers of PRIu64 are %u."""
    found = []
    for path in sorted(glob.glob(path_of(pattern))):
        with open(path, encoding="utf-8") as file:
            text = re.sub(r"/\*.*?\*/", "", file.read(), flags=re.S)
        text = re.sub(r"(?m)^#.*$", "", text)
        for chain in CHAIN.finditer(text):
            parts = re.findall(STRING + r"|PRI[a-z]+[0-9]+", chain.group())
            joined = "".join(part[1:-1] if part[0] == '"' else part[3] for part in parts)
            found.append((path, joined.replace('\\"', '"').replace("\\\\", "\\")))
    return found


def calls(pattern, names):
    """[(file, name, text)]: the literals that are arguments of calls of NAMES."""
    found = []
    for path in sorted(glob.glob(path_of(pattern))):
        with open(path, encoding="utf-8") as file:
            text = re.sub(r"/\*.*?\*/", "", file.read(), flags=re.S)
        for call in re.finditer(r"(?<!\w)(%s)\((.*?)\);" % "|".join(names), text, re.S):
            for chain in CHAIN.finditer(call.group(2)):
                parts = re.findall(STRING + r"|PRI[a-z]+[0-9]+", chain.group())
                joined = "".join(part[1:-1] if part[0] == '"' else part[3] for part in parts)
                found.append((path, call.group(1), joined))
    return found


def is_sentence(text):
    """Three words or more: what is said to people."""
    return len(re.findall(r"[a-z]{2,}|%", text)) >= 3 and " " in text.strip()


def matcher(text):
    """A regular expression for what is printed by the format TEXT."""
    pieces = [re.escape(piece.replace("%%", "%")) for piece in FORMAT.split(text.replace("\\n", ""))]
    return re.compile(".*".join(pieces))
