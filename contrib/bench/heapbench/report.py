# SPDX-License-Identifier: MIT
"""Rows of the table, their bars, and how they are printed."""
from . import figures

# name: (what, unit, bar, beyond, whether more is better)
BARS = {
    "encode": ("encode to memory / walk with nothing done", "x", 2.4, 1.8, False),
    "compress": ("encode and LZ4, without a file / walk with nothing done", "x", None, None, False),
    "pause": ("pause, snapshot in process, wall / walk with nothing done", "x", 3.0, 2.2, False),
    "pause cpu": ("the same, CPU of the collecting thread", "x", 3.0, 2.2, False),
    "after": ("when the world runs again, collecting thread, wall / walk with nothing done", "x", None, None, False),
    "threads": ("CPU of the recorder's own threads meanwhile / walk with nothing done", "x", None, None, False),
    "cpu": ("CPU of the snapshot, all threads, to its end / walk with nothing done", "x", None, None, False),
    "fork": ("pause, snapshot by fork / walk with nothing done", "x", 0.25, 0.12, False),
    "log": ("pause of the log profiler / walk with nothing done", "x", None, None, False),
    "log/pause": ("pause of the log profiler / ours in process", "x", 2.5, 4.0, True),
    "log/fork": ("pause of the log profiler / ours by fork", "x", 40, 80, True),
    "log/bytes": ("bytes of the log profiler / ours", "x", 4.5, 6.0, True),
    "zip/bytes": ("bytes of the log profiler with zip / ours", "x", 1.8, 2.4, True),
    "bytes mcs": ("bytes an object, names included", "B", 2.3, 1.8, False),
    "bytes mix": ("bytes an object, names included", "B", 3.8, 3.0, False),
    "bytes list": ("bytes an object, names included", "B", 2.2, 1.5, False),
    "bytes nulls": ("bytes an object, names included", "B", None, None, False),
    "encode nulls": ("encode to memory / walk with nothing done", "x", 3.5, 2.5, False),
    "idle paired": ("CPU with the module / without, no snapshot, paired runs", "x", 1.01, 1.0, False),
    "idle events": ("the same by counts of callbacks and their costs", "x", 1.01, 1.001, False),
    "gc": ("event stream: cost of one collection", "us", 2.0, 0.7, False),
    "memory": ("peak memory with snapshots, less without the module", "MB", 6.0, 3.0, False),
    "mallocs": ("calls of malloc in the stopped world", "", 0, 0, False),
    "module": ("module, stripped", "KB", 200, 120, False),
    # heapshot-bench read
    "list": ("`heapshot list`, whole command", "ms", 50, 10, False),
    "top command": ("`heapshot top`, whole command", "ms", None, None, False),
    "top memory": ("peak memory of `heapshot top`", "MB", 16, 8, False),
    "mprof/top": ("mprof-report / `heapshot top`, the same heap", "x", 4, 8, True),
    "gcdump/top": ("dotnet-gcdump report / `heapshot top`, the same heap", "x", 8, 20, True),
    "totals": ("totals by type, streaming, one thread", "M objects/s", 80, 150, True),
    "decode": ("full decode, one thread", "M objects/s", 35, 60, True),
    "graph": ("graph ready", "M objects/s", 8, 15, True),
    "graph wall": ("graph ready, wall, two threads where it pays", "M objects/s", None, None, True),
    "graph/decode": ("graph ready / full decode", "x", None, None, False),
    "dominators": ("dominators, retained sizes, tree", "M objects/s", 5, 10, True),
    "sums": ("sums of retained sizes by class", "M objects/s", None, None, True),
    "graph memory": ("graph, bytes an object beside 9 a reference", "B", 60, 40, False),
    "retained": ("`heapshot retained`, whole command", "s", None, None, False),
    "retained wall": ("`heapshot retained`, whole command, wall", "s", None, None, False),
    "retained memory": ("peak memory of `heapshot retained`", "MB", None, None, False),
    "devtools/retained": ("DevTools' loader / `heapshot retained`, the same heap", "x", 15, 40, True),
    "devtools memory": ("peak memory of DevTools' loader / of `heapshot retained`", "x", 3, None, True),
    "huge memory": ("`heapshot retained`, peak memory", "GB", 16, 8, False),
}


class Row:
    def __init__(self, bar, where, values, note="", value=None):
        """VALUE is the median of VALUES unless given."""
        self.bar, self.where, self.note = bar, where, note
        self.values = list(values or [])
        self.value = figures.median(self.values) if value is None else value
        self.what, self.unit, self.limit, self.beyond, self.at_least = BARS[bar]

    def verdict(self):
        return figures.verdict(self.value, self.limit, self.beyond, self.at_least)

    def json(self):
        return {"name": self.bar, "what": self.what, "where": self.where, "unit": self.unit,
                "bar": self.limit, "beyond": self.beyond, "more_is_better": self.at_least,
                "value": self.value, "least": min(self.values) if self.values else None,
                "most": max(self.values) if self.values else None, "n": len(self.values),
                "verdict": self.verdict(), "note": self.note}


def number(value):
    if value is None:
        return "-"
    if value == int(value) and abs(value) < 1e6:
        return "%d" % value
    return "%.3f" % value if abs(value) < 1 else "%.2f" % value if abs(value) < 100 else "%.0f" % value


def limit(row, value):
    if value is None:
        return "-"
    return "%s %s" % (">=" if row.at_least else "<=", number(value))


HEADS = ("metric", "where", "bar", "beyond", "seen", "least-most", "n", "")


def cells(row):
    spread = "%s-%s" % (number(min(row.values)), number(max(row.values))) if len(row.values) > 1 else ""
    seen = number(row.value) + (" " + row.unit if row.unit and row.value is not None else "")
    return (row.what, row.where, limit(row, row.limit), limit(row, row.beyond), seen, spread,
            str(len(row.values)) if row.values else "", row.verdict() if row.value is not None else row.note)


def table(rows):
    """In Markdown, in columns."""
    lines = [HEADS] + [cells(row) for row in rows]
    widths = [max(len(line[i]) for line in lines) for i in range(len(HEADS))]
    text = ["| %s |" % " | ".join(cell.ljust(width) for cell, width in zip(line, widths)) for line in lines]
    text.insert(1, "|%s|" % "|".join("-" * (width + 2) for width in widths))
    return "\n".join(text)
