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
