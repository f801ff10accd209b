"""Plants that the attribution was not chosen with: some written before it was settled, `FRESH` after it."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from itertools import pairwise

import numpy as np

from glassbench import localise as planted
from glassbench.localise import Domain, Plant, Random, Record, degrees_of, edge_like, joined, made, new_node, region_of

Pairs = list[tuple[int, int]]

GROUPS = {
    "trimethylstannyl": "[Sn](C)(C)C",
    "peroxy acid": "C(=O)OO",
    "hypochlorite": "OCl",
    "trifluoroborate": "[B-](F)(F)F",
    "phosphonium": "[P+](C)(C)C",
    "allene": "C=C=C",
    "butadiynyl": "C#CC#C",
    "dimethylphosphine": "P(C)C",
    "nonafluorobutyl": "C(F)(F)C(F)(F)C(F)(F)C(F)(F)F",
    "isocyanide": "[N+]#[C-]",
    "thiosulfonate": "S(=O)(=O)SC",
    "polyether chain": "COCOCOCOC",
    "methyltelluride": "[Te]C",
    "cubyl": "C12C3C4C1C5C2C3C45",
    "dimethoxyiodanyl": "I(OC)OC",
    "polysulfide": "SSSSC",
    "trinitromethyl": "C([N+](=O)[O-])([N+](=O)[O-])[N+](=O)[O-]",
}


def _paid(source: int, target: int, amount: float) -> Record:
    return {"source": source, "target": target, "attributes": {"amount": round(float(amount), 2)}}


def _hub(record: Record) -> int:
    return int(degrees_of(record).argmax())


def _negative(random: Random, record: Record) -> tuple[Record, list[int]]:
    edge = record["edges"][random.integers(len(record["edges"]))]
    edge["attributes"]["amount"] *= -1
    return record, [edge["source"], edge["target"]]


def _among_people(random: Random, record: Record) -> tuple[Record, list[int]]:
    """Three new people, each of whom pays both others."""
    new = [new_node(record, "person") for _ in range(3)]
    pairs = [(one, two) for one in new for two in new if one != two]
    record["edges"] += [_paid(*pair, 60 * random.lognormal(0, 0.3)) for pair in pairs]
    record["edges"].append(_paid(_hub(record), new[0], 60))
    return record, new


def _partners(label: str, count: int, amount: float, spread: float) -> Plant:
    """New partners of one kind; all of that kind are planted."""

    def plant(random: Random, record: Record) -> tuple[Record, list[int]]:
        hub = _hub(record)
        for node in [new_node(record, label) for _ in range(count)]:
            record["edges"].append(_paid(hub, node, amount * random.lognormal(0, spread)))
        return record, [place for place, node in enumerate(record["nodes"]) if node["label"] == label]

    return plant


def _salary_from_a_shop(random: Random, record: Record) -> tuple[Record, list[int]]:
    hub, shops = _hub(record), [place for place, node in enumerate(record["nodes"]) if node["label"] == "shop"]
    shop = int(random.choice(shops))
    record["edges"].append(_paid(shop, hub, 2500))
    return record, [shop, hub]


def _relabelled(label: str) -> Plant:
    def plant(random: Random, record: Record) -> tuple[Record, list[int]]:
        hub = _hub(record)
        node = int(random.choice([i for i, n in enumerate(record["nodes"]) if i != hub and n["label"] != label]))
        record["nodes"][node]["label"] = label
        return record, [node]

    return plant


def _chain_of_one_event(random: Random, record: Record) -> tuple[Record, list[int]]:
    """Five more events of one known kind in a row."""
    last = int(random.integers(len(record["nodes"])))
    new = [new_node(record, record["nodes"][last]["label"]) for _ in range(5)]
    record["edges"] += [edge_like(one, two, record["edges"][0]) for one, two in pairwise([last, *new])]
    return record, new


def _new_edge(random: Random, record: Record) -> tuple[Record, list[int]]:
    places = range(len(record["nodes"]))
    pairs = [(one, two) for one in places for two in places if one != two and not joined(record, one, two)]
    if not pairs:
        raise LookupError
    one, two = pairs[random.integers(len(pairs))]
    record["edges"].append(edge_like(one, two, record["edges"][0]))
    return record, [one, two]


def _hung_on(count: int, pairs: Pairs) -> Plant:
    """New nodes joined by these pairs, the first of them to one node of the graph."""

    def plant(random: Random, record: Record) -> tuple[Record, list[int]]:
        at, first = int(random.integers(len(record["nodes"]))), len(record["nodes"])
        record["nodes"] += [{"id": str(10**6 + first + i)} for i in range(count)]
        record["edges"] += [edge_like(first + one, first + two, record["edges"][0]) for one, two in pairs]
        record["edges"].append(edge_like(at, first, record["edges"][0]))
        return record, list(range(first, first + count))

    return plant


def _fan(random: Random, record: Record) -> tuple[Record, list[int]]:
    """Four nodes, each joined to the same three others."""
    nodes = random.choice(len(record["nodes"]), 7, replace=False).tolist()
    pairs = [(one, two) for one in nodes[:4] for two in nodes[4:] if not joined(record, one, two)]
    record["edges"] += [edge_like(one, two, record["edges"][0]) for one, two in pairs]
    return record, nodes


def _lost_edges(random: Random, record: Record) -> tuple[Record, list[int]]:
    """A region without the edges inside it."""
    region = region_of(random, record, 6)
    record["edges"] = [edge for edge in record["edges"] if not {edge["source"], edge["target"]} <= set(region)]
    return record, region


def _changed(name: str, value: float | str, size: int = 1) -> Plant:
    """A region with another label, or with another value of an attribute."""

    def plant(random: Random, record: Record) -> tuple[Record, list[int]]:
        places = len(record["nodes"])
        region = region_of(random, record, size) if size > 1 else [int(random.integers(places))]
        for node in region:
            (record["nodes"][node] if name == "label" else record["nodes"][node]["attributes"])[name] = value
        return record, region

    return plant


def _clique_of_halls(random: Random, record: Record) -> tuple[Record, list[int]]:
    nodes = random.choice(len(record["nodes"]), 5, replace=False).tolist()
    for place, one in enumerate(nodes):
        record["nodes"][one]["label"] = "hall"
        new = [two for two in nodes[:place] if not joined(record, one, two)]
        record["edges"] += [edge_like(one, two, record["edges"][0]) for two in new]
    return record, nodes


def _communities(random: Random, name: str) -> Record:
    """Three groups, dense inside."""
    group = np.repeat(np.arange(3), random.integers(7, 12, 3))
    pairs = [(one, two) for two in range(len(group)) for one in range(two)]
    drawn = [pair for pair in pairs if random.random() < (0.5 if group[pair[0]] == group[pair[1]] else 0.03)]
    return _unlabelled(name, len(group), drawn or [(0, 1)])


def _preferential(random: Random, name: str) -> Record:
    """Nodes that join two others, by their degrees."""
    size, ends, pairs = int(random.integers(25, 45)), [0, 1], [(0, 1)]
    for node in range(2, size):
        for other in {int(random.choice(ends)) for _ in range(2)}:
            pairs.append((other, node))
            ends += [other, node]
    return _unlabelled(name, size, pairs)


def _unlabelled(name: str, size: int, pairs: Pairs) -> Record:
    edges = [{"source": one, "target": two} for one, two in pairs]
    return {"id": name, "nodes": [{"id": str(i)} for i in range(size)], "edges": edges}


def _sensors(random: Random, name: str) -> Record:
    """Sensors joined to those near them; temperature and load change smoothly in space."""
    size = int(random.integers(15, 30))
    at = random.random((size, 2))
    gaps = np.linalg.norm(at[:, None] - at[None], axis=2)
    pairs = sorted({(min(one, two), max(one, two)) for two in range(1, size) for one in np.argsort(gaps[two])[1:4]})
    labels = random.choice(["door", "room", "hall"], size)
    nodes = [
        {
            "id": f"s{i}",
            "label": str(labels[i]),
            "attributes": {
                "temperature": round(20 + 4 * x + random.normal(0, 0.3), 2),
                "load": int(random.poisson(20 + 20 * y)),
            },
        }
        for i, (x, y) in enumerate(at)
    ]
    return {"id": name, "nodes": nodes, "edges": [{"source": int(one), "target": int(two)} for one, two in pairs]}


STAR = _hung_on(9, [(0, i) for i in range(1, 9)])
RING = _hung_on(11, [(i, (i + 1) % 11) for i in range(11)])
WHEEL = _hung_on(8, [(0, i) for i in range(1, 8)] + [(i, i % 7 + 1) for i in range(1, 8)])
BIPARTITE = _hung_on(6, [(one, two) for one in range(3) for two in range(3, 6)])
LADDER = _hung_on(8, [(i, i + 2) for i in range(6)] + [(i, i + 1) for i in range(0, 8, 2)])
TRIANGLES = _hung_on(7, [(i, i + 1) for i in range(6)] + [(i, i + 2) for i in range(0, 5, 2)])

HELD_OUT: Mapping[str, Domain] = {
    "molecules": (planted.DOMAINS["molecules"][0], {name: planted.with_group(text) for name, text in GROUPS.items()}),
    "payments": (
        planted.DOMAINS["payments"][0],
        {
            "negative amount": _negative,
            "people pay each other": _among_people,
            "three casinos": _partners("casino", 3, 70, 0.4),
            "six landlords": _partners("landlord", 5, 900, 0.3),
            "salary from a shop": _salary_from_a_shop,
            "relabelled as savings": _relabelled("savings"),
        },
    ),
    "sessions": (
        planted.DOMAINS["sessions"][0],
        {"chain of one event": _chain_of_one_event, "new edge": _new_edge},
    ),
    "trees": (
        planted.DOMAINS["trees"][0],
        {"bipartite": BIPARTITE, "wheel": WHEEL, "ladder": LADDER, "triangles": TRIANGLES, "fan": _fan},
    ),
    "lattices": (
        planted.DOMAINS["lattices"][0],
        {"star": STAR, "ring": RING, "fan": _fan, "lost edges": _lost_edges, "triangles": TRIANGLES},
    ),
    "communities": (
        made(_communities, 4),
        {"ring": RING, "bipartite": BIPARTITE, "clique": planted.clique, "ladder": LADDER, "lost edges": _lost_edges},
    ),
    "preferential": (
        made(_preferential, 5),
        {
            "clique": planted.clique,
            "tail": planted.tail,
            "hub": planted.hub,
            "star": STAR,
            "wheel": WHEEL,
            "ring": RING,
        },
    ),
    "sensors": (
        made(_sensors, 6),
        {
            "one hot sensor": _changed("temperature", 60.0),
            "load of one": _changed("load", 400),
            "stuck region": _changed("load", 0, 6),
            "attics": _changed("label", "attic", 4),
            "clique of halls": _clique_of_halls,
        },
    ),
}


# Written after the attribution was settled; nothing was changed once they were measured.

FRESH_GROUPS = {
    "trimethylgermyl": "[Ge](C)(C)C",
    "nitramine": "N[N+](=O)[O-]",
    "ketene": "C=C=O",
    "thiirane": "C1CS1",
    "iminophosphorane": "N=P(C)(C)C",
    "sulfonyl azide": "S(=O)(=O)N=[N+]=[N-]",
    "orthoester": "C(OC)(OC)OC",
    "chain of five nitrogens": "N=NN=NN",
}


def _passed_on(random: Random, record: Record) -> tuple[Record, list[int]]:
    """Money that four new firms pass on, one after another."""
    chain = [new_node(record, "utility") for _ in range(4)]
    record["edges"] += [
        _paid(one, two, 500 * random.lognormal(0, 0.1)) for one, two in pairwise([_hub(record), *chain])
    ]
    return record, chain


def _small_change(random: Random, record: Record) -> tuple[Record, list[int]]:
    """Payments of a cent to three new people."""
    people = [new_node(record, "person") for _ in range(3)]
    record["edges"] += [_paid(_hub(record), person, 0.01) for person in people]
    return record, people


def _second_account(random: Random, record: Record) -> tuple[Record, list[int]]:
    """A second account that the first pays into and that pays a shop."""
    hub, account = _hub(record), new_node(record, "account")
    record["edges"] += [_paid(hub, account, 700), _paid(account, new_node(record, "shop"), 60)]
    return record, [account, account + 1]


def _fork(random: Random, record: Record) -> tuple[Record, list[int]]:
    """Three events follow one at once."""
    last, like = int(random.integers(len(record["nodes"]))), record["edges"][0]
    new = [new_node(record, record["nodes"][int(random.integers(len(record["nodes"])))]["label"]) for _ in range(3)]
    record["edges"] += [edge_like(last, node, like) for node in new]
    return record, [last, *new]


def _shortcuts(random: Random, record: Record) -> tuple[Record, list[int]]:
    """Three new edges between nodes far apart in the order in which they were made."""
    size = len(record["nodes"])
    pairs = [(int(random.integers(size // 3)), int(random.integers(2 * size // 3, size))) for _ in range(3)]
    record["edges"] += [edge_like(one, two, record["edges"][0]) for one, two in pairs if not joined(record, one, two)]
    return record, sorted({end for pair in pairs for end in pair})


def _stray(random: Random, record: Record) -> tuple[Record, list[int]]:
    """Five new nodes joined to nothing."""
    first = len(record["nodes"])
    record["nodes"] += [deepcopy(record["nodes"][0]) | {"id": str(10**6 + first + i)} for i in range(5)]
    return record, list(range(first, first + 5))


BROOM = _hung_on(10, [(0, 1), (1, 2), *((2, i) for i in range(3, 10))])
SQUARES = _hung_on(9, [(i, i + 3) for i in range(6)] + [(i, i + 1) for i in range(9) if i % 3 != 2])

FRESH: Mapping[str, Domain] = {
    "molecules": (HELD_OUT["molecules"][0], {name: planted.with_group(text) for name, text in FRESH_GROUPS.items()}),
    "payments": (
        HELD_OUT["payments"][0],
        {"money passed on": _passed_on, "small change": _small_change, "second account": _second_account},
    ),
    "sessions": (HELD_OUT["sessions"][0], {"fork": _fork}),
    "trees": (HELD_OUT["trees"][0], {"broom": BROOM, "shortcuts": _shortcuts, "stray nodes": _stray}),
    "lattices": (HELD_OUT["lattices"][0], {"broom": BROOM, "shortcuts": _shortcuts, "stray nodes": _stray}),
    "communities": (HELD_OUT["communities"][0], {"broom": BROOM, "squares": SQUARES}),
    "preferential": (HELD_OUT["preferential"][0], {"broom": BROOM, "squares": SQUARES, "stray nodes": _stray}),
    "sensors": (
        HELD_OUT["sensors"][0],
        {"cold region": _changed("temperature", 16.0, 4), "shortcuts": _shortcuts, "stray nodes": _stray},
    ),
}
