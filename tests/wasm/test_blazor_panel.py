# SPDX-License-Identifier: MIT
"""The Blazor sample near its limit of memory, snapshotted into the panel in a second tab: the panel names
the leaking event and the undisposed references, and what it saves is read by the native command line."""
from blazor import *
from browser import in_chromium

LEAKED = 200
EVENT = "static BlazorLeak.Ticker.Tick"
LISTENER = "Microsoft.JSInterop.DotNetObjectReference<BlazorLeak.Listener>"
REFERENCE = "Microsoft.JSInterop.WebAssembly.WebAssemblyJSObjectReference"
TABLES = {"dotnet_object_reference": LISTENER, "js_object_reference": REFERENCE}


def found_for(findings, table):
    return [finding["text"] for finding in findings if finding["table"] == table]


@on_each("near its limit the Blazor sample is snapshotted into the panel in a second tab, which names the leaks")
def near_the_limit(directory, runtime):
    result = in_chromium("blazor/panel.cjs", directory, timeout=900, root=blazor(runtime), panel=panel_folder(), out=directory,
                         memory=MEMORY_BYTES, tables=list(TABLES))
    assert result["wrong"] == [] and result["share"] >= 0.8, result
    # The panel's summary.
    events = [finding["text"] for finding in result["findings"] if "BlazorLeak.Ticker.Tick" in finding["text"]]
    assert any("BlazorLeak.Clock" in text and str(LEAKED) in text for text in events), result["findings"]
    for table in TABLES:
        assert any(str(LEAKED) in text for text in found_for(result["findings"], table)), (table, result["findings"])
    # Its tables of handles: before, and when they were disposed.
    for table, type_name in TABLES.items():
        rows = [row for row in result["tables"][table] if type_name.split(".")[-1] in row or type_name in row]
        assert len(rows) == 1 and str(LEAKED) in rows[0], (table, result["tables"][table])
        left = [row for row in result["disposed"][table] if type_name.split(".")[-1] in row or type_name in row]
        assert left == [], (table, left)

    path = result["saved"]
    check_file(path)
    taken, = snapshots(path)
    assert (taken["label"], taken["complete"]) == ("near the limit", True), taken
    all_reached(path)
    suspects = [leak["text"] for leak in read_json("leaks", path)["suspects"] if leak["kind"] == "event"]
    assert len(suspects) == 1 and "%d handlers of BlazorLeak.Clock stay subscribed to %s" % (LEAKED, EVENT) in suspects[0], suspects
    said = heapshot("handles", path)
    assert said.status == OK, said.err
    for table, type_name in TABLES.items():
        assert count_of(path, type_name) == LEAKED, type_name
        assert any(type_name in line and str(LEAKED) in line for line in said.out.splitlines()), said.out


main()
