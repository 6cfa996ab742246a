# SPDX-License-Identifier: MIT
"""A reader of .heapsnapshot files that demands what DevTools' loader does: the
order of keys, exact counts, numbers of 32 bits, nothing but digits."""
import json
import re
from collections import namedtuple

ORDER = ["snapshot", "nodes", "edges", "trace_function_infos", "trace_tree", "samples", "locations", "strings"]
Node = namedtuple("Node", "type name id size edges")
Edge = namedtuple("Edge", "type name target")


def parse(text):
    pairs = json.loads(text, object_pairs_hook=lambda pairs: pairs)
    assert [key for key, _ in pairs] == ORDER, [key for key, _ in pairs]
    data = json.loads(text)
    head, meta = data["snapshot"], data["snapshot"]["meta"]
    assert head["trace_function_count"] == 0 and not any(data[key] for key in ORDER[3:7])
    assert meta["node_fields"] == ["type", "name", "id", "self_size", "edge_count", "trace_node_id", "detachedness"]
    assert meta["edge_fields"] == ["type", "name_or_index", "to_node"]
    for name, width in (("nodes", 7), ("edges", 3)):
        digits = re.search(r'"%s":\[([^\]]*)\]' % name, text).group(1)
        assert re.fullmatch(r"[0-9,\s]*", digits), name
        assert len(data[name]) == head[name[:-1] + "_count"] * width, name
        assert all(value < 1 << 32 for value in data[name]), name
    node_types, edge_types, strings = meta["node_types"][0], meta["edge_types"][0], data["strings"]
    flat, edges = data["nodes"], data["edges"]
    nodes, at = [], 0
    for i in range(0, len(flat), 7):
        kind, name, number, size, count, trace, detached = flat[i:i + 7]
        assert trace == detached == 0
        out = []
        for j in range(at, at + 3 * count, 3):
            edge_kind, word, target = edges[j:j + 3]
            edge_kind = edge_types[edge_kind]
            assert target % 7 == 0 and target < len(flat), target
            out.append(Edge(edge_kind, word if edge_kind in ("element", "hidden") else strings[word], target // 7))
        at += 3 * count
        nodes.append(Node(node_types[kind], strings[name], number, size, out))
    assert at == len(edges), "edges are left"
    assert len({node.id for node in nodes}) == len(nodes), "an id is there twice"
    assert nodes[0].type == "synthetic" and nodes[0].name == ""
    # Else DevTools counts distances from elsewhere, and moves sizes about.
    for edge in nodes[0].edges:
        assert nodes[edge.target].type == "synthetic" and edge.type == "element", edge
    for node in nodes:
        if node.type != "string":  # whose names are what they say
            assert node.name not in ("Object", "Array") and not node.name.startswith(("<", "Detached ")), node.name
        assert node.type in ("synthetic", "object", "string"), node.type
        assert not any(edge.type == "shortcut" for edge in node.edges)
    assert len(set(strings)) == len(strings)
    return nodes


def reach(nodes, without=None):
    """What is reached over edges that are not weak, when a node is not there."""
    known, queue = {0}, [0]
    while queue:
        for edge in nodes[queue.pop()].edges:
            if edge.type != "weak" and edge.target != without and edge.target not in known:
                known.add(edge.target)
                queue.append(edge.target)
    return known
