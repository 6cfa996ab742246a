# SPDX-License-Identifier: MIT
"""The channel between a program and a panel, in several real tabs of headless Chromium:
doc/channel.md.  What the tabs do stands in channel/*.cjs."""
from browser import *
from wasm import *

SCENARIOS = {
    "listed": "each runtime is listed once, with two panels that ask again and are loaded anew",
    "once": "a snapshot comes once, and to the panel that asked for it",
    "later": "programs that come and close later",
    "named": "another name is another room",
    "closed": "a program that did not ask for a channel has none",
    "twice": "a runtime has one channel",
    "progress": "progress is told while the page stands still",
    "cancel": "a snapshot that is cancelled",
    "still": "a snapshot is given up while the page stands still, when it is cancelled and when the panel is closed",
    "policy": "a page whose policy forbids requests for Blobs",
    "sign": "only the URL of a Blob of the same origin is asked for",
    "insecure": "without Web Locks it is said that https is needed",
    "failing": "what the program cannot do is told",
    "program_closed": "the program's tab is closed during a snapshot and a live stream",
    "program_left": "the program's tab goes elsewhere during a snapshot and a live stream",
    "program_crashed": "the program's tab crashes during a snapshot and a live stream",
    "program_killed": "the program's process is killed while it stands still",
    "panel_closed": "the panel's tab is closed during a snapshot and a live stream",
    "panel_left": "the panel's tab goes elsewhere during a snapshot and a live stream",
    "panel_crashed": "the panel's tab crashes during a snapshot and a live stream",
    "back": "tabs that come back",
    "byThemselves": "channels that are closed during a snapshot and a live stream",
    "token": "a token: without it, with another one, with the right one",
    "replay": "a hello with a proof counts once, unchanged, and soon",
    "forged": "answers in the name of a program are not believed",
    "versions": "other versions of the protocol",
    "lobby": "malformed messages to all are ignored",
    "requests": "malformed requests and answers are ignored",
    "chunks": "malformed chunks and acknowledgements are ignored",
    "burst": "a live stream has all frames in order, also those of one go",
    "window2": "a window of 2 chunks, and a slow panel",
    "window3": "a window of 3 chunks, and a slow panel",
    "window8": "a window of 8 chunks, as it is by default",
    "window64": "a window of 64 chunks, and a slow panel",
    "together": "small frames share a chunk",
    "twoPanels": "two panels have streams of their own",
    "fails": "a panel that fails at a frame ends its stream",
    "blob500": "500 MB as one snapshot, read when its maker is gone",
    "stream500": "500 MB as a live stream",
    "hidden": "hidden tabs: nothing waits for a timer",
}


# Half a minute each, on a machine that does nothing else.
LONG = ("blob500", "stream500")


@functools.lru_cache(None)
def answers():
    """All wanted scenarios, in one browser."""
    why = node_tools.missing("puppeteer-core", browser=True)
    if why:
        skip(why)
    wanted = [name for name, what in SCENARIOS.items() if IS_LONG or name not in LONG]
    wanted = [name for name in wanted if not sys.argv[1:] or any(word in SCENARIOS[name] for word in sys.argv[1:])]
    with tempfile.TemporaryDirectory(prefix="hs-channel.") as directory:
        return node_tools.in_browser(os.path.join(HERE, "channel", "run.cjs"), directory, timeout=1800,
                                     scenarios=wanted, browser=os.path.join(SOURCE, "contrib", "browser"))


def add(name, what):
    @test(what)
    def scenario(directory):
        if name in LONG:
            long_only()
        answer = answers()[name]
        assert answer["error"] is None, answer["error"]
        note("%d ms %s" % (answer["ms"], json.dumps(answer["measured"]) if answer["measured"] else ""))


for each in SCENARIOS.items():
    add(*each)

NODES = 1000
LARGE = 400000


def of_nodes(path, label, count):
    """PATH is a recording with one whole snapshot, of a chain of COUNT nodes."""
    check_file(path)
    assert [(s["label"], s["complete"]) for s in snapshots(path)] == [(label, True)], snapshots(path)
    assert count_of(path, "T.Node") == count, count_of(path, "T.Node")
    all_reached(path)


def real(directory, runtime):
    result = in_chromium(os.path.join("channel", "real.cjs"), directory, root=serve(directory, runtime, "--fast"),
                         browser=os.path.join(SOURCE, "contrib", "browser"), out=directory, nodes=NODES, large=LARGE)
    path = functools.partial(os.path.join, directory)
    about = {each["title"]: each for each in result["runtimes"]}
    assert sorted(about) == ["first", "second of two"], result
    for each in about.values():
        assert each["runtimeVersion"] == version(runtime) and each["heapshotVersion"] == "1.0", each
        assert each["url"].endswith("/program.html"), each
    # Read when the tab that made it was closed.
    assert result["first"]["bytes"] == os.path.getsize(path("first.hs")), result
    of_nodes(path("first.hs"), "from the panel", NODES)
    of_nodes(path("a.hs"), "of a", 2 * NODES)
    of_nodes(path("b.hs"), "of b", 2 * NODES)
    of_nodes(path("grown.hs"), "grown", 3 * NODES)
    for taken in (result["first"], *result["both"], result["grown"]):
        assert taken["progress"] and taken["type"] == "application/x-heapshot", taken
        assert taken["progress"][0]["bytes"] < taken["bytes"], taken
    assert result["stats"]["node"]["count"] == 3 * NODES, result["stats"]
    assert result["stats"]["node"]["bytes"] == 3 * NODES * NODE_BYTES, result["stats"]
    assert 0 < result["stats"]["memory"]["live"] <= result["stats"]["memory"]["total"], result["stats"]
    assert result["kept"]["snapshots"] == 0, result
    assert result["kept"]["bytes"] < result["grown"]["bytes"], result
    # A recording that has not ended: all snapshots that were taken meanwhile, and the statistics.
    assert result["frames"] >= 12, result
    followed = snapshots(path("followed.hs"), status=(OK, INCOMPLETE))
    assert [s["label"] for s in followed[:3]] == ["of a", "of b", "grown"], followed
    assert all(s["complete"] for s in followed), followed
    assert count_of(path("followed.hs"), "T.Node", 3) == 3 * NODES
    for name in ("followed.hs", "gap.hs"):
        check_file(path(name), verify=(INCOMPLETE,))
        issues = json.loads(heapshot("verify", path(name), "--json").out)["issues"]
        assert [issue["kind"] for issue in issues] == ["no_end"], issues
    seen = snapshots(path("gap.hs"), status=(OK, INCOMPLETE))
    assert [s["label"] for s in seen] == ["seen"], seen
    assert result["cancelled"]["error"] == "AbortError" and len(result["cancelled"]["progress"]) >= 1, result
    of_nodes(path("after.hs"), "after", 3 * NODES + LARGE)
    assert result["heard"] == 0, result
    of_nodes(path("worker.hs"), "of a worker", NODES)
    of_nodes(path("guarded.hs"), "by token", NODES)
    assert result["listed"] == ["second of two"], result
    # Of the snapshot that was given up: what the browser and the module have to say.
    words = ("ERR_FILE_NOT_FOUND", "AbortError: the panel wants it no more; a snapshot that this interrupts is given up")
    assert all(any(word in line for word in words) for line in result["said"]) and len(result["said"]) <= 2, result["said"]


for each in RUNTIMES:
    test("programs on their real runtime, and panels (.NET %s)" % each)(
        lambda directory, runtime=each: real(directory, runtime))
main()
