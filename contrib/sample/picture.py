#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Draws text of a terminal as SVG: doc/picture.svg is the output of

    contrib/quickstart 2>&1 | contrib/sample/picture.py > doc/picture.svg

Lines that begin with `$` are commands; lines before the first are left out.
"""
import sys
from xml.sax.saxutils import escape

CHARACTER, LINE, MARGIN = 8.43, 19, 18


def lines_of(text):
    lines = [line.rstrip().expandtabs(8) for line in text.splitlines()]
    start = next((number for number, line in enumerate(lines) if line.startswith("$ ")), 0)
    end = next((number for number, line in enumerate(lines) if line.startswith("Next commands")), len(lines))
    lines = lines[start:end]
    while lines and not lines[-1]:
        lines.pop()
    return lines


def draw(lines):
    width = max(map(len, lines)) * CHARACTER + 2 * MARGIN
    height = len(lines) * LINE + 2 * MARGIN
    yield ('<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d">'
           % (width, height, width, height))
    yield '<rect width="100%" height="100%" rx="8" fill="#1d2230"/>'
    yield '<g font-family="DejaVu Sans Mono,Menlo,Consolas,monospace" font-size="14" fill="#d8dee9" xml:space="preserve">'
    for number, line in enumerate(lines):
        if line:
            colour = ' fill="#8fd18f" font-weight="bold"' if line.startswith("$ ") else ""
            # Each line has its length stated, so that columns stay columns in any font.
            yield '<text x="%d" y="%d" textLength="%.1f"%s>%s</text>' % (
                MARGIN, MARGIN + LINE * (number + 1) - 6, len(line) * CHARACTER, colour,
                escape(line).replace(" ", "\u00a0"))
    yield "</g>\n</svg>"


print("\n".join(draw(lines_of(sys.stdin.read()))))
