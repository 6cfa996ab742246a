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
    "hidden": "hidden tabs: nothing waits for a timer",
}


@functools.lru_cache(None)
def answers():
    """All wanted scenarios, in one browser."""
    why = node_tools.missing("puppeteer-core", browser=True)
    if why:
        skip(why)
    wanted = [name for name, what in SCENARIOS.items() if not sys.argv[1:] or any(word in what for word in sys.argv[1:])]
    with tempfile.TemporaryDirectory(prefix="hs-channel.") as directory:
        return node_tools.in_browser(os.path.join(HERE, "channel", "run.cjs"), directory, timeout=1800,
                                     scenarios=wanted, browser=os.path.join(SOURCE, "contrib", "browser"))


def add(name, what):
    @test(what)
    def scenario(directory):
        answer = answers()[name]
        assert answer["error"] is None, answer["error"]
        note("%d ms %s" % (answer["ms"], json.dumps(answer["measured"]) if answer["measured"] else ""))


for each in SCENARIOS.items():
    add(*each)
main()
