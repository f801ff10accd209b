"""One table of planted causes: graphs of eight domains, and changes whose nodes are known.

A plant changes a normal record in place and gives the places of the nodes that it changed or added. Three parts tell
when a plant was written: ``in-view`` of whoever chose the attribution, ``held-out`` before that was settled, ``fresh``
after it. The spread of a pattern over its radius was chosen with all of these in view; ``latest`` was written then and
measured once. Groups of molecules stand in ``plants.toml``.
"""

from __future__ import annotations

import csv
import gzip
import json
import tomllib
from collections.abc import Callable, Iterable, Mapping
from copy import deepcopy
from dataclasses import dataclass
from importlib.resources import files
from itertools import combinations, pairwise, permutations
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Random = np.random.Generator
Record = dict[str, Any]  # a node-link record whose edges name nodes by place, or under "smiles" a molecule
Plant = Callable[[Random, Record], list[int]]
Pairs = Iterable[tuple[int, int]]
PARTS = ("in-view", "held-out", "fresh", "latest")


@dataclass(frozen=True)
class Domain:
    """Normal records, read from a data root or made, and the plants of every part."""

    records: Callable[[Path], list[Record]]
    plants: Mapping[str, Mapping[str, Plant]]


# Records


def degrees_of(record: Record) -> NDArray[np.int64]:
    ends = [end for edge in record["edges"] for end in (edge["source"], edge["target"])]
    return np.bincount(np.array(ends, np.int64), minlength=len(record["nodes"]))


def hub_of(record: Record) -> int:
    """The node with most neighbours: of payments the account."""
    return int(degrees_of(record).argmax())


def drawn_node(random: Random, record: Record) -> int:
    return int(random.integers(len(record["nodes"])))


def region_of(random: Random, record: Record, size: int) -> list[int]:
    """A connected part of about this many nodes."""
    near: dict[int, set[int]] = {}
    for edge in record["edges"]:
        near.setdefault(edge["source"], set()).add(edge["target"])
        near.setdefault(edge["target"], set()).add(edge["source"])
    if not near:
        raise LookupError
    region = [int(random.choice(sorted(near)))]
    while len(region) < size:
        border = sorted(set().union(*(near[node] for node in region)) - set(region))
        if not border:
            break
        region.append(int(random.choice(border)))
    return region


def joined(record: Record, one: int, two: int) -> bool:
    return any({edge["source"], edge["target"]} == {one, two} for edge in record["edges"])


def add_edges(record: Record, pairs: Pairs, like: Record | None = None) -> None:
    """Edges that carry what another one carries, by default the first."""
    carried = record["edges"][0] if like is None else like
    record["edges"] += [deepcopy(carried) | {"source": one, "target": two} for one, two in pairs]


def join(record: Record, pairs: Pairs) -> None:
    """Edges between the pairs that have none."""
    add_edges(record, [(one, two) for one, two in pairs if not joined(record, one, two)])


def new_node(record: Record, **fields: str) -> int:
    """The place of one more node, which carries what the first one carries, or these fields."""
    record["nodes"].append(deepcopy(record["nodes"][0]) | {"id": f"new {len(record['nodes'])}", **fields})
    return len(record["nodes"]) - 1


def paid(source: int, target: int, amount: float) -> Record:
    return {"source": source, "target": target, "attributes": {"amount": round(float(amount), 2)}}


# Molecules: groups joined to an aromatic carbon that carries a hydrogen, or to any carbon that does.

GROUPS: Mapping[str, Mapping[str, str]] = tomllib.loads(files("glassbench").joinpath("plants.toml").read_text("utf-8"))


def with_group(group: str) -> Plant:
    def plant(random: Random, record: Record) -> list[int]:
        from rdkit import Chem

        base = Chem.MolFromSmiles(record["smiles"])
        sites = base.GetSubstructMatches(Chem.MolFromSmarts("[cH]")) or base.GetSubstructMatches(
            Chem.MolFromSmarts("[C;!H0]")
        )
        if not sites:
            raise LookupError
        merged = Chem.RWMol(Chem.CombineMols(base, Chem.MolFromSmiles(group)))
        first = base.GetNumAtoms()
        merged.AddBond(int(sites[random.integers(len(sites))][0]), first, Chem.BondType.SINGLE)
        new = merged.GetAtomWithIdx(first)
        if new.GetNumExplicitHs():
            new.SetNumExplicitHs(new.GetNumExplicitHs() - 1)
        whole = merged.GetMol()
        Chem.SanitizeMol(whole)
        record["smiles"] = Chem.MolToSmiles(whole)
        order = json.loads(whole.GetProp("_smilesAtomOutputOrder").replace(",]", "]"))
        return [place for place, old in enumerate(order) if old >= first]

    return plant


def _molecules(folder: Path) -> list[Record]:
    from rdkit import Chem, rdBase

    quiet = rdBase.BlockLogs()
    with (folder / "suite" / "BBBP.csv").open(newline="") as file:
        smiles = [row["smiles"] for row in csv.DictReader(file)]
    found = [(text, Chem.MolFromSmiles(text)) for text in smiles]
    del quiet
    return [
        {"id": f"molecule-{place}", "smiles": text}
        for place, (text, molecule) in enumerate(found)
        if molecule is not None and 8 <= molecule.GetNumAtoms() <= 40
    ]


# Plants in any graph


def clique(random: Random, record: Record) -> list[int]:
    nodes: list[int] = random.choice(len(record["nodes"]), min(6, len(record["nodes"])), replace=False).tolist()
    join(record, combinations(nodes, 2))
    return nodes


def rewired(random: Random, record: Record) -> list[int]:
    """The edges inside a connected region exchanged for as many at random inside it, and some more."""
    region = region_of(random, record, 8)
    inside = [edge for edge in record["edges"] if edge["source"] in region and edge["target"] in region]
    record["edges"] = [edge for edge in record["edges"] if edge not in inside]
    for edge in inside + inside[: len(inside) // 2]:
        for _ in range(20):
            one, two = (int(node) for node in random.choice(region, 2, replace=False))
            if not joined(record, one, two):
                add_edges(record, [(one, two)], edge)
                break
    return region


def hub(random: Random, record: Record) -> list[int]:
    """One node joined to half of the others; of the graph's nodes, one with few neighbours."""
    degrees = degrees_of(record)
    centre = int(random.choice(np.flatnonzero(degrees <= np.median(degrees))))
    others = random.permutation(np.delete(np.arange(len(degrees)), centre))[: max(5, len(degrees) // 2)]
    join(record, [(centre, other) for other in others.tolist()])
    return [centre]


def fan(random: Random, record: Record) -> list[int]:
    """Four nodes, each joined to the same three others."""
    nodes: list[int] = random.choice(len(record["nodes"]), 7, replace=False).tolist()
    join(record, [(one, two) for one in nodes[:4] for two in nodes[4:]])
    return nodes


def lost_edges(random: Random, record: Record) -> list[int]:
    """A region without the edges inside it."""
    region = region_of(random, record, 6)
    record["edges"] = [edge for edge in record["edges"] if not {edge["source"], edge["target"]} <= set(region)]
    return region


def shortcuts(random: Random, record: Record) -> list[int]:
    """Three new edges between nodes far apart in the order in which they were made."""
    size = len(record["nodes"])
    pairs = [(int(random.integers(size // 3)), int(random.integers(2 * size // 3, size))) for _ in range(3)]
    join(record, pairs)
    return sorted({end for pair in pairs for end in pair})


def stray(random: Random, record: Record) -> list[int]:
    """Five new nodes joined to nothing."""
    return [new_node(record) for _ in range(5)]


def hung_on(count: int, pairs: Pairs) -> Plant:
    """New nodes joined by these pairs, the first of them to one node of the graph."""
    shape = list(pairs)

    def plant(random: Random, record: Record) -> list[int]:
        at = drawn_node(random, record)
        new = [new_node(record) for _ in range(count)]
        add_edges(record, [*((new[one], new[two]) for one, two in shape), (at, new[0])])
        return new

    return plant


def bridge(random: Random, record: Record) -> list[int]:
    """A new node joined to ten others anywhere."""
    others = random.choice(len(record["nodes"]), 10, replace=False).tolist()
    new = new_node(record)
    add_edges(record, [(new, other) for other in others])
    return [new]


def pendants(random: Random, record: Record) -> list[int]:
    """A new leaf at each of five nodes of a region."""
    region = region_of(random, record, 5)
    new = [new_node(record) for _ in region]
    add_edges(record, zip(region, new, strict=True))
    return new


def changed(name: str, value: float | str, size: int = 1) -> Plant:
    """A region with another label, or with another value of an attribute."""

    def plant(random: Random, record: Record) -> list[int]:
        region = region_of(random, record, size) if size > 1 else [drawn_node(random, record)]
        for node in region:
            (record["nodes"][node] if name == "label" else record["nodes"][node]["attributes"])[name] = value
        return region

    return plant


def edge_times(name: str, factor: float) -> Plant:
    def plant(random: Random, record: Record) -> list[int]:
        edge = record["edges"][random.integers(len(record["edges"]))]
        edge["attributes"][name] *= factor
        return [edge["source"], edge["target"]]

    return plant


def node_times(name: str, factor: float) -> Plant:
    def plant(random: Random, record: Record) -> list[int]:
        node = drawn_node(random, record)
        record["nodes"][node]["attributes"][name] *= factor
        return [node]

    return plant


def swapped_labels(random: Random, record: Record) -> list[int]:
    """Two nodes exchange their labels; not the hub, which would change every node around it."""
    hub, labels = hub_of(record), [node["label"] for node in record["nodes"]]
    one = int(random.choice([i for i in range(len(labels)) if i != hub]))
    others = [i for i, label in enumerate(labels) if i != hub and label != labels[one]]
    if not others:
        raise LookupError
    two = int(random.choice(others))
    record["nodes"][one]["label"], record["nodes"][two]["label"] = labels[two], labels[one]
    return [one, two]


def reversed_flow(random: Random, record: Record) -> list[int]:
    """The edges at one node that is no hub turned round."""
    degrees = degrees_of(record)
    node = int(random.choice(np.flatnonzero((degrees >= 1) & (degrees < degrees.max()))))
    turned = {node}
    for edge in record["edges"]:
        if node in (edge["source"], edge["target"]):
            edge["source"], edge["target"] = edge["target"], edge["source"]
            turned |= {edge["source"], edge["target"]}
    return sorted(turned)


TAIL = hung_on(8, pairwise(range(8)))
STAR = hung_on(9, [(0, i) for i in range(1, 9)])
RING = hung_on(11, [(i, (i + 1) % 11) for i in range(11)])
WHEEL = hung_on(8, [(0, i) for i in range(1, 8)] + [(i, i % 7 + 1) for i in range(1, 8)])
BIPARTITE = hung_on(6, [(one, two) for one in range(3) for two in range(3, 6)])
LADDER = hung_on(8, [(i, i + 2) for i in range(6)] + [(i, i + 1) for i in range(0, 8, 2)])
TRIANGLES = hung_on(7, [(i, i + 1) for i in range(6)] + [(i, i + 2) for i in range(0, 5, 2)])
BROOM = hung_on(10, [(0, 1), (1, 2), *((2, i) for i in range(3, 10))])
SQUARES = hung_on(9, [(i, i + 3) for i in range(6)] + [(i, i + 1) for i in range(9) if i % 3 != 2])
BINARY = hung_on(15, [((i - 1) // 2, i) for i in range(1, 15)])
CATERPILLAR = hung_on(12, [(i, i + 1) for i in range(3)] + [(i % 4, i) for i in range(4, 12)])
OCTAHEDRON = hung_on(6, [(one, two) for one, two in combinations(range(6), 2) if two - one != 3])


# Payments of a customer, whose account is the hub

PEOPLE = {
    "shop": (1, 8, 60),
    "utility": (1, 3, 90),
    "landlord": (1, 1, 900),
    "person": (0, 3, 40),
    "savings": (0, 1, 300),
}


def _customer(random: Random, name: str) -> Record:
    """A month of payments of one customer: salary in, bills, purchases and gifts out, some purchases among partners."""
    nodes = [{"id": "account", "label": "account"}, {"id": "employer", "label": "employer"}]
    edges = [paid(1, 0, random.normal(2500, 300))]
    for kind, (least, most, amount) in PEOPLE.items():
        for number in range(int(random.integers(least, most + 1))):
            nodes.append({"id": f"{kind} {number}", "label": kind})
            edge = paid(0, len(nodes) - 1, amount * random.lognormal(0, 0.4))
            edges.append(edge)
            if kind == "person" and random.random() < 0.3:
                edges.append(edge | {"source": len(nodes) - 1, "target": 0})
            if kind == "shop" and random.random() < 0.3:  # the shop pays its own supplier, the employer
                half = {"amount": edge["attributes"]["amount"] / 2}
                edges.append({"source": len(nodes) - 1, "target": 1, "attributes": half})
    return {"id": name, "directed": True, "nodes": nodes, "edges": edges}


def circle(random: Random, record: Record) -> list[int]:
    """Money from the account to two new firms and back."""
    account = hub_of(record)
    ring = [account, new_node(record, label="shop"), new_node(record, label="shop"), account]
    for one, two in pairwise(ring):
        amount = {"amount": 400.0 * random.lognormal(0, 0.2)}
        record["edges"].append({"source": one, "target": two, "attributes": amount})
    return ring[:-1]


def deposits(random: Random, record: Record) -> list[int]:
    """Eight new people pay in."""
    account = hub_of(record)
    payers = [new_node(record, label="person") for _ in range(8)]
    record["edges"] += [paid(payer, account, 950.0) for payer in payers]
    return [account, *payers]


def among_people(random: Random, record: Record) -> list[int]:
    """Three new people, each of whom pays both others."""
    new = [new_node(record, label="person") for _ in range(3)]
    record["edges"] += [paid(*pair, 60 * random.lognormal(0, 0.3)) for pair in permutations(new, 2)]
    record["edges"].append(paid(hub_of(record), new[0], 60))
    return new


def partners(label: str, count: int, amount: float, spread: float) -> Plant:
    """New partners of one kind; all of that kind are planted."""

    def plant(random: Random, record: Record) -> list[int]:
        hub = hub_of(record)
        for node in [new_node(record, label=label) for _ in range(count)]:
            record["edges"].append(paid(hub, node, amount * random.lognormal(0, spread)))
        return [place for place, node in enumerate(record["nodes"]) if node["label"] == label]

    return plant


def salary_from_a_shop(random: Random, record: Record) -> list[int]:
    hub, shops = hub_of(record), [place for place, node in enumerate(record["nodes"]) if node["label"] == "shop"]
    shop = int(random.choice(shops))
    record["edges"].append(paid(shop, hub, 2500))
    return [shop, hub]


def relabelled(label: str) -> Plant:
    def plant(random: Random, record: Record) -> list[int]:
        hub = hub_of(record)
        node = int(random.choice([i for i, n in enumerate(record["nodes"]) if i != hub and n["label"] != label]))
        record["nodes"][node]["label"] = label
        return [node]

    return plant


def passed_on(random: Random, record: Record) -> list[int]:
    """Money that four new firms pass on, one after another."""
    chain = [new_node(record, label="utility") for _ in range(4)]
    steps = pairwise([hub_of(record), *chain])
    record["edges"] += [paid(one, two, 500 * random.lognormal(0, 0.1)) for one, two in steps]
    return chain


def small_change(random: Random, record: Record) -> list[int]:
    """Payments of a cent to three new people."""
    people = [new_node(record, label="person") for _ in range(3)]
    record["edges"] += [paid(hub_of(record), person, 0.01) for person in people]
    return people


def second_account(random: Random, record: Record) -> list[int]:
    """A second account that the first pays into and that pays a shop."""
    hub, account = hub_of(record), new_node(record, label="account")
    shop = new_node(record, label="shop")
    record["edges"] += [paid(hub, account, 700), paid(account, shop, 60)]
    return [account, shop]


def mule(random: Random, record: Record) -> list[int]:
    """A new person to whom three shops pay what it pays on to the account."""
    shops = [place for place, node in enumerate(record["nodes"]) if node["label"] == "shop"]
    if len(shops) < 3:
        raise LookupError
    chosen = random.choice(shops, 3, replace=False).tolist()
    hub, person = hub_of(record), new_node(record, label="person")
    record["edges"] += [*(paid(shop, person, 300) for shop in chosen), paid(person, hub, 880)]
    return [person, *chosen]


def exchange(random: Random, record: Record) -> list[int]:
    """Money to an exchange, and from there to a wallet: two labels that no one has."""
    hub, place = hub_of(record), new_node(record, label="exchange")
    wallet = new_node(record, label="wallet")
    record["edges"] += [paid(hub, place, 150), paid(place, wallet, 149)]
    return [place, wallet]


def dear_rent(random: Random, record: Record) -> list[int]:
    rent = next(edge for edge in record["edges"] if record["nodes"][edge["target"]]["label"] == "landlord")
    rent["attributes"]["amount"] *= 20
    return [rent["source"], rent["target"]]


# Log sessions


def _sessions(folder: Path) -> list[Record]:
    records = []
    with gzip.open(folder / "suite" / "HDFS_100k.jsonl.gz", "rt") as file:
        for line in file:
            record = json.loads(line)
            if record["label"] == 0 and len(record["nodes"]) >= 4:
                # A step from an event to itself is no edge of a simple graph.
                record["edges"] = [edge for edge in record["edges"] if edge["source"] != edge["target"]]
                records.append(record)
            if len(records) == 2_000:
                break
    return records


def chain_of_one_event(random: Random, record: Record) -> list[int]:
    """Five more events of one known kind in a row."""
    last = drawn_node(random, record)
    new = [new_node(record, label=record["nodes"][last]["label"]) for _ in range(5)]
    add_edges(record, pairwise([last, *new]))
    return new


def new_edge(random: Random, record: Record) -> list[int]:
    pairs = [pair for pair in permutations(range(len(record["nodes"])), 2) if not joined(record, *pair)]
    if not pairs:
        raise LookupError
    pair = pairs[random.integers(len(pairs))]
    add_edges(record, [pair])
    return [*pair]


def fork(random: Random, record: Record) -> list[int]:
    """Three events follow one at once."""
    last = drawn_node(random, record)
    new = [new_node(record, label=record["nodes"][drawn_node(random, record)]["label"]) for _ in range(3)]
    add_edges(record, [(last, node) for node in new])
    return [last, *new]


def skipped(random: Random, record: Record) -> list[int]:
    """An event left out: what came before it is joined to what came after it."""
    ends = [(edge["source"], edge["target"]) for edge in record["edges"]]
    for node in random.permutation(len(record["nodes"])).tolist():
        before, after = {one for one, two in ends if two == node}, {two for one, two in ends if one == node}
        if before and after and not before & after:
            break
    else:
        raise LookupError
    pairs = {(one, two) for one in before for two in after} - set(ends)
    add_edges(record, sorted(pairs))
    record["edges"] = [edge for edge in record["edges"] if node not in (edge["source"], edge["target"])]
    for edge in record["edges"]:
        edge["source"], edge["target"] = (end - (end > node) for end in (edge["source"], edge["target"]))
    record["nodes"].pop(node)
    return sorted(end - (end > node) for end in before | after)


def foreign_in_between(random: Random, record: Record) -> list[int]:
    """An event of a new kind in the middle of a step."""
    edge = record["edges"][random.integers(len(record["edges"]))]
    new, target = new_node(record, label="in between"), edge["target"]
    edge["target"] = new
    add_edges(record, [(new, target)], edge)
    return [new]


# Graphs without labels, and sensors


def made(make: Callable[[Random, str], Record], seed: int) -> Callable[[Path], list[Record]]:
    return lambda folder: [make(np.random.default_rng((seed, i)), f"graph-{i}") for i in range(800)]


def _unlabelled(name: str, size: int, pairs: Pairs) -> Record:
    edges = [{"source": one, "target": two} for one, two in pairs]
    return {"id": name, "nodes": [{"id": str(i)} for i in range(size)], "edges": edges}


def _tree(random: Random, name: str) -> Record:
    """A random tree of 20 to 40 nodes with a few extra edges."""
    size = int(random.integers(20, 41))
    pairs = [(int(random.integers(max(0, i - 6), i)), i) for i in range(1, size)]
    for _ in range(int(random.integers(0, 4))):
        one, two = (int(node) for node in random.choice(size, 2, replace=False))
        pairs.append((one, two))
    return _unlabelled(name, size, pairs)


def _lattice(random: Random, name: str) -> Record:
    """A grid with some nodes cut out."""
    rows, columns = (int(n) for n in random.integers(4, 7, 2))
    kept = [i for i in range(rows * columns) if random.random() < 0.95]
    at = {node: place for place, node in enumerate(kept)}
    pairs = [(i, i + 1) for i in kept if (i + 1) % columns] + [(i, i + columns) for i in kept]
    return _unlabelled(name, len(kept), [(at[a], at[b]) for a, b in pairs if a in at and b in at])


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


def _sensors(random: Random, name: str) -> Record:
    """Sensors joined to those near them; temperature and load change smoothly in space."""
    size = int(random.integers(15, 30))
    at = random.random((size, 2))
    gaps = np.linalg.norm(at[:, None] - at[None], axis=2)
    pairs = sorted({(min(one, two), max(one, two)) for two in range(1, size) for one in np.argsort(gaps[two])[1:4]})
    labels = random.choice(["door", "room", "hall"], size)
    record = _unlabelled(name, size, [(int(one), int(two)) for one, two in pairs])
    for i, (x, y) in enumerate(at):
        temperature = round(20 + 4 * x + random.normal(0, 0.3), 2)
        values = {"temperature": temperature, "load": int(random.poisson(20 + 20 * y))}
        record["nodes"][i] = {"id": f"s{i}", "label": str(labels[i]), "attributes": values}
    return record


def clique_of_halls(random: Random, record: Record) -> list[int]:
    nodes: list[int] = random.choice(len(record["nodes"]), 5, replace=False).tolist()
    for node in nodes:
        record["nodes"][node]["label"] = "hall"
    join(record, combinations(nodes, 2))
    return nodes


def exchanged_readings(random: Random, record: Record) -> list[int]:
    node = drawn_node(random, record)
    values = record["nodes"][node]["attributes"]
    values["temperature"], values["load"] = float(values["load"]), int(values["temperature"])
    return [node]


def drift(random: Random, record: Record) -> list[int]:
    """Five neighbouring sensors read eight degrees more."""
    region = region_of(random, record, 5)
    for node in region:
        record["nodes"][node]["attributes"]["temperature"] += 8
    return region


_UNLABELLED = {"clique": clique, "rewired region": rewired, "hub": hub, "tail": TAIL}
_BROOM = {"broom": BROOM, "shortcuts": shortcuts, "stray nodes": stray}

DOMAINS: Mapping[str, Domain] = {
    "molecules": Domain(
        _molecules, {part: {name: with_group(text) for name, text in groups.items()} for part, groups in GROUPS.items()}
    ),
    "payments": Domain(made(_customer, 1), {
        "in-view": {
            "amount times 100": edge_times("amount", 100.0), "amount over 100": edge_times("amount", 0.01),
            "reversed flow": reversed_flow, "foreign label": changed("label", "foreign"),
            "swapped labels": swapped_labels, "money in a circle": circle, "eight deposits": deposits,
        },
        "held-out": {
            "negative amount": edge_times("amount", -1), "people pay each other": among_people,
            "three casinos": partners("casino", 3, 70, 0.4), "six landlords": partners("landlord", 5, 900, 0.3),
            "salary from a shop": salary_from_a_shop, "relabelled as savings": relabelled("savings"),
        },
        "fresh": {"money passed on": passed_on, "small change": small_change, "second account": second_account},
        "latest": {"mule": mule, "exchange and wallet": exchange, "rent times 20": dear_rent},
    }),
    "sessions": Domain(_sessions, {
        "in-view": {
            "reversed flow": reversed_flow, "foreign event": changed("label", "foreign"),
            "swapped labels": swapped_labels, "step repeated 50 times": edge_times("count", 50.0),
            "event repeated 50 times": node_times("count", 50.0),
        },
        "held-out": {"chain of one event": chain_of_one_event, "new edge": new_edge},
        "fresh": {"fork": fork},
        "latest": {"skipped event": skipped, "new event in between": foreign_in_between},
    }),
    "trees": Domain(made(_tree, 2), {
        "in-view": _UNLABELLED,
        "held-out": {"bipartite": BIPARTITE, "wheel": WHEEL, "ladder": LADDER, "triangles": TRIANGLES, "fan": fan},
        "fresh": _BROOM,
        "latest": {"caterpillar": CATERPILLAR, "octahedron": OCTAHEDRON, "bridge": bridge},
    }),
    "lattices": Domain(made(_lattice, 3), {
        "in-view": _UNLABELLED,
        "held-out": {"star": STAR, "ring": RING, "fan": fan, "lost edges": lost_edges, "triangles": TRIANGLES},
        "fresh": _BROOM,
        "latest": {"binary tree": BINARY, "octahedron": OCTAHEDRON, "pendants": pendants},
    }),
    "communities": Domain(made(_communities, 4), {
        "held-out": {
            "ring": RING, "bipartite": BIPARTITE, "clique": clique, "ladder": LADDER, "lost edges": lost_edges,
        },
        "fresh": {"broom": BROOM, "squares": SQUARES},
        "latest": {"bridge": bridge, "caterpillar": CATERPILLAR, "rewired region": rewired},
    }),
    "preferential": Domain(made(_preferential, 5), {
        "held-out": {"clique": clique, "tail": TAIL, "hub": hub, "star": STAR, "wheel": WHEEL, "ring": RING},
        "fresh": {"broom": BROOM, "squares": SQUARES, "stray nodes": stray},
        "latest": {"binary tree": BINARY, "octahedron": OCTAHEDRON, "pendants": pendants},
    }),
    "sensors": Domain(made(_sensors, 6), {
        "held-out": {
            "one hot sensor": changed("temperature", 60.0), "load of one": changed("load", 400),
            "stuck region": changed("load", 0, 6), "attics": changed("label", "attic", 4),
            "clique of halls": clique_of_halls,
        },
        "fresh": {"cold region": changed("temperature", 16.0, 4), "shortcuts": shortcuts, "stray nodes": stray},
        "latest": {"exchanged readings": exchanged_readings, "drift": drift, "clique": clique},
    }),
}  # fmt: skip
