"""Log sessions as directed graphs: events are nodes, "followed by" is an edge, the number of times is its weight.

Run it with ``python examples/log_sessions.py``. It makes sessions of a web shop and takes a few seconds.
"""

import random
from collections import Counter
from itertools import pairwise

from graphglass import GraphGlass, read_graphs

NEXT = {
    "start": ["home", "home", "search"],
    "home": ["search", "product", "login"],
    "login": ["home", "account"],
    "account": ["home", "end"],
    "search": ["product", "product", "search"],
    "product": ["cart", "search", "product", "end"],
    "cart": ["checkout", "product", "end"],
    "checkout": ["payment"],
    "payment": ["receipt"],
    "receipt": ["end"],
}


def session(generator: random.Random) -> list[str]:
    """One visitor's events, from start to end."""
    events = ["start"]
    while events[-1] != "end" and len(events) < 40:
        events.append(generator.choice(NEXT[events[-1]]))
    return events


def as_graph(name: str, events: list[str]) -> dict:
    """A node-link record: each kind of event once, each transition once, with how often it happened."""
    kinds, steps = list(dict.fromkeys(events)), Counter(pairwise(events))
    return {
        "id": name,
        "directed": True,
        "nodes": [{"id": kind, "label": kind} for kind in kinds],
        "edges": [
            {"source": a, "target": b, "attributes": {"times": times}} for (a, b), times in steps.items() if a != b
        ],
    }


generator = random.Random(0)
normal = [as_graph(f"session-{i}", session(generator)) for i in range(200)]
odd = [
    as_graph("receipt without payment", ["start", "home", "product", "cart", "receipt", "end"]),
    as_graph("backwards", ["start", "home", "receipt", "payment", "checkout", "cart", "end"]),
    as_graph("guessing passwords", ["start", *(["login", "home"] * 15), "account", "end"]),
]
new = [as_graph(f"new-{i}", session(generator)) for i in range(20)]

detector = GraphGlass().fit(read_graphs(normal))
queries = read_graphs(new + odd)
scores, p_values = detector.decision_function(queries), detector.p_values(queries)
for place in (-scores).argsort()[:5]:
    print(f"{queries.ids[place]:24} score {scores[place]:6.3f}  p-value {p_values[place]:.3f}")
    for reason in detector.explain(queries[place]).reasons[:2]:
        print(f"    {reason}")
