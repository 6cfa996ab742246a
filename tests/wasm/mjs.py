# SPDX-License-Identifier: MIT
"""Scenarios of heapshot.mjs in node, in pages and in workers of Chromium."""
from wasm import *
from browser import in_chromium

BROWSER = os.path.join(SOURCE, "contrib", "browser")


def in_node(file, directory, scenario, runtime, *words, flags=(), stdout=None):
    """What SCENARIO of FILE tells; what it saves is in DIRECTORY."""
    root = serve(directory, runtime, "--fast")
    done = run(["timeout", "-k", "5", "240", "node", *flags, os.path.join(HERE, "mjs_node.mjs"), "./" + file, scenario, root,
                directory] + [str(word) for word in words], cwd=directory)
    assert done.status == 0, "%s: %d\n%s%s" % (scenario, done.status, done.out[-2000:], done.err[-3000:])
    line = [line for line in done.out.splitlines() if line.startswith("RESULT ")][-1]
    shutil.rmtree(root)
    return json.loads(line[7:])


def in_tabs(file, directory, runtime, *jobs):
    """The same for several in one Chromium: (scenario, where, words...) each; what job N saves is in
    the folder N of DIRECTORY.  Pages say nothing that is wrong."""
    root = serve(directory, runtime, "--fast")
    given = []
    for number, (scenario, where, *words) in enumerate(jobs):
        out = os.path.join(directory, str(number))
        os.mkdir(out)
        given.append({"file": file, "scenario": scenario, "where": where, "words": [str(word) for word in words], "out": out,
                      "downloads": 1 if scenario == "download" and where == "page" else 0})
    answers = in_chromium("mjs_chromium.cjs", directory, root=root, browserFolder=BROWSER, testFolder=HERE, jobs=given)
    shutil.rmtree(root)
    for job, answer in zip(given, answers):
        assert answer["wrong"] == [], (job, answer)
        answer["result"]["place"] = job["out"]
    return [answer["result"] for answer in answers]


def of_node(path, count, snapshot="last"):
    """The program's chain of COUNT nodes, and nothing of it twice or missing."""
    check_file(path)
    rows = {row["type"]: row for row in top(path, snapshot)}
    node = rows["T.Node"]
    assert (node["count"], node["bytes"]) == (count, count * NODE_BYTES), node
    assert node["edges"] == 3 * count - 1, node
    return rows


def records(path, status=OK):
    result = heapshot("dump", path)
    assert result.status == status, result.err
    return [json.loads(line) for line in result.out.splitlines()]


def is_whole(path, *labels):
    """PATH has just the snapshots LABELS, all of them complete, verifies, and has an end."""
    check_file(path)
    listed = read_json("list", path)["snapshots"]
    assert [s["label"] for s in listed] == list(labels), listed
    assert all(s["complete"] for s in listed), listed
    last = records(path)[-1]
    assert last["record"] == "end" and last["snapshots"] == len(labels), last
    return last["reason"]
