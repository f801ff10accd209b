"""Planted causes: whether an explanation points at the nodes that make a graph strange.

A plant changes or adds a few nodes of a normal graph and remembers which. A case counts where the plant raises the
score by at least half a deviation of the references' scores; then its nodes are ranked by their parts.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score

from graphglass import GraphGlass, read_graphs
from graphglass.channels.patterns.wl import neighbourhood_keys
from graphglass.graphs.concatenation import concatenate
from graphglass.graphs.graph_set import GraphSet
from graphglass.graphs.subgraphs import without_nodes

LEAST_RISE = 0.5  # deviations of the references' scores
REFERENCES = 600
CASES = 8
TRIES = 6  # bases tried per case that counts

Random = np.random.Generator
Record = dict[str, Any]  # a node-link record, or under "smiles" a molecule
Plant = Callable[[Random, Record], tuple[Record, list[int]]]
Domain = tuple[Callable[[Path], list[Record]], Mapping[str, Plant]]
Attribution = Callable[[GraphGlass, GraphSet], NDArray[np.float64]]


# Molecules: groups joined to an aromatic carbon that carries a hydrogen, or to any carbon that does.

GROUPS = {
    "azide": "N=[N+]=[N-]",
    "boronic acid": "B(O)O",
    "trimethylsilyl": "[Si](C)(C)C",
    "methylselenide": "[Se]C",
    "pentafluorosulfanyl": "S(F)(F)(F)(F)F",
    "hydroperoxide": "OO",
    "phosphonate": "P(=O)(O)O",
    "diazonium": "[N+]#N",
    "arsonic acid": "[As](=O)(O)O",
    "methylmercury": "[Hg]C",
    "triazane": "NNN",
    "isothiocyanate": "N=C=S",
    "acyl iodide": "C(=O)I",
    "spiro chain of cyclopropanes": "C1CC12CC2",
}


def with_group(group: str) -> Plant:
    def plant(random: Random, record: Record) -> tuple[Record, list[int]]:
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
        for atom in merged.GetAtoms():
            atom.SetIntProp("place", atom.GetIdx())
        new = merged.GetAtomWithIdx(first)
        if new.GetNumExplicitHs():
            new.SetNumExplicitHs(new.GetNumExplicitHs() - 1)
        whole = merged.GetMol()
        Chem.SanitizeMol(whole)
        smiles = Chem.MolToSmiles(whole)
        order = json.loads(whole.GetProp("_smilesAtomOutputOrder").replace(",]", "]"))
        return {"id": record["id"], "smiles": smiles}, [place for place, old in enumerate(order) if old >= first]

    return plant


# Graphs with records.


def degrees_of(record: Record) -> NDArray[np.int64]:
    ends = [end for edge in record["edges"] for end in (edge["source"], edge["target"])]
    return np.bincount(np.array(ends, np.int64), minlength=len(record["nodes"]))


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


def edge_like(one: int, two: int, like: Record) -> Record:
    """An edge that carries what another one carries."""
    return deepcopy(like) | {"source": one, "target": two}


def joined(record: Record, one: int, two: int) -> bool:
    return any({edge["source"], edge["target"]} == {one, two} for edge in record["edges"])


def clique(random: Random, record: Record) -> tuple[Record, list[int]]:
    nodes = random.choice(len(record["nodes"]), min(6, len(record["nodes"])), replace=False).tolist()
    for place, one in enumerate(nodes):
        for two in nodes[:place]:
            if not joined(record, one, two):
                record["edges"].append(edge_like(one, two, record["edges"][0]))
    return record, nodes


def _rewired(random: Random, record: Record) -> tuple[Record, list[int]]:
    """The edges inside a connected region exchanged for as many at random inside it, and some more."""
    region = region_of(random, record, 8)
    inside = [edge for edge in record["edges"] if edge["source"] in region and edge["target"] in region]
    record["edges"] = [edge for edge in record["edges"] if edge not in inside]
    for edge in inside + inside[: len(inside) // 2]:
        for _ in range(20):
            one, two = (int(node) for node in random.choice(region, 2, replace=False))
            if not joined(record, one, two):
                record["edges"].append(edge_like(one, two, edge))
                break
    return record, region


def hub(random: Random, record: Record) -> tuple[Record, list[int]]:
    """One node joined to half of the others; of the graph's nodes, one with few neighbours."""
    degrees = degrees_of(record)
    centre = int(random.choice(np.flatnonzero(degrees <= np.median(degrees))))
    others = random.permutation(np.delete(np.arange(len(degrees)), centre))[: max(5, len(degrees) // 2)]
    for other in others.tolist():
        if not joined(record, centre, other):
            record["edges"].append(edge_like(centre, other, record["edges"][0]))
    return record, [centre]


def tail(random: Random, record: Record) -> tuple[Record, list[int]]:
    """A path of eight new nodes that hangs on one node."""
    first = len(record["nodes"])
    last = int(random.integers(first))
    for node in range(first, first + 8):
        record["nodes"].append({"id": str(10**6 + node)})
        record["edges"].append(edge_like(last, node, record["edges"][0]))
        last = node
    return record, list(range(first, first + 8))


def new_node(record: Record, label: str) -> int:
    like = record["nodes"][0]
    record["nodes"].append(deepcopy(like) | {"id": f"new {len(record['nodes'])}", "label": label})
    return len(record["nodes"]) - 1


def _foreign_label(random: Random, record: Record) -> tuple[Record, list[int]]:
    node = int(random.integers(len(record["nodes"])))
    record["nodes"][node]["label"] = "foreign"
    return record, [node]


def _swapped_labels(random: Random, record: Record) -> tuple[Record, list[int]]:
    """Two nodes exchange their labels; not the hub, which would change every node around it."""
    hub = int(degrees_of(record).argmax())
    one = int(random.choice([i for i in range(len(record["nodes"])) if i != hub]))
    taken = {hub, *(i for i, node in enumerate(record["nodes"]) if node["label"] == record["nodes"][one]["label"])}
    if len(taken) == len(record["nodes"]):
        raise LookupError
    two = int(random.choice([i for i in range(len(record["nodes"])) if i not in taken]))
    labels = [record["nodes"][node]["label"] for node in (one, two)]
    record["nodes"][one]["label"], record["nodes"][two]["label"] = labels[1], labels[0]
    return record, [one, two]


def _reversed_flow(random: Random, record: Record) -> tuple[Record, list[int]]:
    """The edges at one node that is no hub turned round."""
    degrees = degrees_of(record)
    node = int(random.choice(np.flatnonzero((degrees >= 1) & (degrees < degrees.max()))))
    turned = {node}
    for edge in record["edges"]:
        if node in (edge["source"], edge["target"]):
            edge["source"], edge["target"] = edge["target"], edge["source"]
            turned |= {edge["source"], edge["target"]}
    return record, sorted(turned)


def _times(name: str, factor: float) -> Plant:
    def plant(random: Random, record: Record) -> tuple[Record, list[int]]:
        edge = record["edges"][random.integers(len(record["edges"]))]
        edge["attributes"][name] *= factor
        return record, [edge["source"], edge["target"]]

    return plant


def _node_times(name: str, factor: float) -> Plant:
    def plant(random: Random, record: Record) -> tuple[Record, list[int]]:
        node = int(random.integers(len(record["nodes"])))
        record["nodes"][node]["attributes"][name] *= factor
        return record, [node]

    return plant


def _circle(random: Random, record: Record) -> tuple[Record, list[int]]:
    """Money from the account to two new firms and back."""
    account = int(degrees_of(record).argmax())
    ring = [account, new_node(record, "shop"), new_node(record, "shop"), account]
    for one, two in pairwise(ring):
        record["edges"].append(
            {"source": one, "target": two, "attributes": {"amount": 400.0 * random.lognormal(0, 0.2)}}
        )
    return record, ring[:-1]


def _deposits(random: Random, record: Record) -> tuple[Record, list[int]]:
    """Eight new people pay in."""
    account = int(degrees_of(record).argmax())
    payers = [new_node(record, "person") for _ in range(8)]
    for payer in payers:
        record["edges"].append({"source": payer, "target": account, "attributes": {"amount": 950.0}})
    return record, [account, *payers]


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
    edges = [{"source": 1, "target": 0, "attributes": {"amount": round(float(random.normal(2500, 300)), 2)}}]
    for kind, (least, most, amount) in PEOPLE.items():
        for number in range(int(random.integers(least, most + 1))):
            nodes.append({"id": f"{kind} {number}", "label": kind})
            paid = {"amount": round(float(amount * random.lognormal(0, 0.4)), 2)}
            edges.append({"source": 0, "target": len(nodes) - 1, "attributes": paid})
            if kind == "person" and random.random() < 0.3:
                edges.append({"source": len(nodes) - 1, "target": 0, "attributes": paid})
            if kind == "shop" and random.random() < 0.3:  # the shop pays its own supplier, the employer
                edges.append({"source": len(nodes) - 1, "target": 1, "attributes": {"amount": paid["amount"] / 2}})
    return {"id": name, "directed": True, "nodes": nodes, "edges": edges}


def _tree(random: Random, name: str) -> Record:
    """A random tree of 20 to 40 nodes with a few extra edges."""
    size = int(random.integers(20, 41))
    edges = [{"source": int(random.integers(max(0, i - 6), i)), "target": i} for i in range(1, size)]
    for _ in range(int(random.integers(0, 4))):
        one, two = (int(node) for node in random.choice(size, 2, replace=False))
        edges.append({"source": one, "target": two})
    return {"id": name, "nodes": [{"id": str(i)} for i in range(size)], "edges": edges}


def _lattice(random: Random, name: str) -> Record:
    """A grid with some nodes cut out."""
    rows, columns = (int(n) for n in random.integers(4, 7, 2))
    kept = [i for i in range(rows * columns) if random.random() < 0.95]
    at = {node: place for place, node in enumerate(kept)}
    pairs = [(i, i + 1) for i in kept if (i + 1) % columns] + [(i, i + columns) for i in kept]
    edges = [{"source": at[a], "target": at[b]} for a, b in pairs if a in at and b in at]
    return {"id": name, "nodes": [{"id": str(i)} for i in range(len(kept))], "edges": edges}


def _molecules(folder: Path) -> list[Record]:
    import csv

    from rdkit import Chem, rdBase

    quiet = rdBase.BlockLogs()
    with (_suite_file(folder, "BBBP.csv")).open(newline="") as file:
        smiles = [row["smiles"] for row in csv.DictReader(file)]
    found = [(text, Chem.MolFromSmiles(text)) for text in smiles]
    del quiet
    return [
        {"id": f"molecule-{place}", "smiles": text}
        for place, (text, molecule) in enumerate(found)
        if molecule is not None and 8 <= molecule.GetNumAtoms() <= 40
    ]


def _suite_file(folder: Path, name: str) -> Path:
    return folder / "suite" / name


def _sessions(folder: Path) -> list[Record]:
    import gzip

    records = []
    with gzip.open(_suite_file(folder, "HDFS_100k.jsonl.gz"), "rt") as file:
        for line in file:
            record = json.loads(line)
            if record["label"] == 0 and len(record["nodes"]) >= 4:
                # A step from an event to itself is no edge of a simple graph.
                record["edges"] = [edge for edge in record["edges"] if edge["source"] != edge["target"]]
                records.append(record)
            if len(records) == 2_000:
                break
    return records


def made(make: Callable[[Random, str], Record], seed: int) -> Callable[[Path], list[Record]]:
    return lambda folder: [make(np.random.default_rng((seed, i)), f"graph-{i}") for i in range(800)]


DOMAINS: Mapping[str, Domain] = {
    "molecules": (_molecules, {name: with_group(smiles) for name, smiles in GROUPS.items()}),
    "payments": (
        made(_customer, 1),
        {
            "amount times 100": _times("amount", 100.0),
            "amount over 100": _times("amount", 0.01),
            "reversed flow": _reversed_flow,
            "foreign label": _foreign_label,
            "swapped labels": _swapped_labels,
            "money in a circle": _circle,
            "eight deposits": _deposits,
        },
    ),
    "sessions": (
        _sessions,
        {
            "reversed flow": _reversed_flow,
            "foreign event": _foreign_label,
            "swapped labels": _swapped_labels,
            "step repeated 50 times": _times("count", 50.0),
            "event repeated 50 times": _node_times("count", 50.0),
        },
    ),
    "trees": (made(_tree, 2), {"clique": clique, "rewired region": _rewired, "hub": hub, "tail": tail}),
    "lattices": (made(_lattice, 3), {"clique": clique, "rewired region": _rewired, "hub": hub, "tail": tail}),
}


def graphs_of(records: Sequence[Record]) -> GraphSet:
    if "smiles" in records[0]:
        graphs = read_graphs([record["smiles"] for record in records], format="smi")
    else:
        graphs = read_graphs([_by_id(record) for record in records])
    return graphs.without_labels()


def _by_id(record: Record) -> Record:
    """The record with edges that name nodes by their ids instead of their places."""
    names = [node.get("id", place) for place, node in enumerate(record["nodes"])]
    edges = [edge | {"source": names[edge["source"]], "target": names[edge["target"]]} for edge in record["edges"]]
    return record | {"edges": edges}


# What gives nodes a number, next to the explanation


def explained(detector: GraphGlass, graph: GraphSet) -> NDArray[np.float64]:
    """The parts of the nodes in the score."""
    return detector.explain(graph, neighbours=1).node_attribution


def deleted(detector: GraphGlass, graph: GraphSet) -> NDArray[np.float64]:
    """How much the score falls when a node is deleted."""
    copies = without_nodes(graph, [np.array([node]) for node in range(graph.node_count)])
    return np.asarray(detector.decision_function(graph)[0] - detector.decision_function(copies))


def occluded(detector: GraphGlass, graph: GraphSet) -> NDArray[np.float64]:
    """How much the score falls when a node gets the references' most frequent label; 0 without labels."""
    if graph.node_labels is None or detector.references_.graphs.node_labels is None:
        return np.zeros(graph.node_count)
    codes, counts = np.unique(detector.references_.graphs.node_labels, return_counts=True)
    copies = []
    for node in range(graph.node_count):
        labels = graph.node_labels.copy()
        labels[node] = codes[counts.argmax()]
        copies.append(replace(graph, node_labels=labels, ids=(f"{node}",)))
    return np.asarray(detector.decision_function(graph)[0] - detector.decision_function(concatenate(copies)))


def rare(detector: GraphGlass, graph: GraphSet) -> NDArray[np.float64]:
    """-log of the share of reference nodes with the same neighbours."""
    keys = [
        neighbourhood_keys(part, np.diff(part.neighbour_offsets) if part.node_labels is None else part.node_labels,
                           part.edge_labels, 2)[1]
        for part in (graph, detector.references_.graphs)
    ]  # fmt: skip
    known, counts = np.unique(keys[1], return_counts=True)
    place = np.searchsorted(known, keys[0]).clip(max=len(known) - 1)
    return -np.log((1 + np.where(known[place] == keys[0], counts[place], 0)) / (1 + len(keys[1])))


def drawn(detector: GraphGlass, graph: GraphSet) -> NDArray[np.float64]:
    """Random numbers."""
    return np.random.default_rng(graph.node_count).random(graph.node_count)


METHODS: Mapping[str, Attribution] = {
    "explain": explained, "deletion": deleted, "occlusion": occluded, "rarity": rare, "random": drawn,
}  # fmt: skip


def localise(
    domain: str,
    folder: Path,
    *,
    cases: int = CASES,
    domains: Mapping[str, Domain] = DOMAINS,
    methods: Sequence[str] = tuple(METHODS),
) -> list[dict[str, object]]:
    """All cases of one domain that count, a record each: AUC over the nodes and whether the top node is planted."""
    load, plants = domains[domain]
    records = load(folder)
    order = np.random.default_rng(0).permutation(len(records))
    kept = min(REFERENCES, 3 * len(records) // 4)
    bases = [records[place] for place in order[kept:]]
    detector = GraphGlass().fit(graphs_of([records[place] for place in order[:kept]]))
    least, rows = LEAST_RISE * float(detector.decision_scores_.std()), []
    for name, plant in plants.items():
        found = 0
        for seed, base in enumerate(bases[: cases * TRIES]):
            random = np.random.default_rng((zlib.crc32(f"{domain} {name}".encode()), seed))
            try:
                record, planted = plant(random, deepcopy(base))
                graph = graphs_of([record])
            except (LookupError, ValueError):  # no place to plant, or no molecule that can be
                continue
            truth = np.zeros(graph.node_count, bool)
            truth[planted] = True
            before, after = (float(detector.decision_function(part)[0]) for part in (graphs_of([base]), graph))
            if after - before < least or truth.all():
                continue
            values = {method: METHODS[method](detector, graph) for method in methods}
            rows.append({
                "domain": domain, "plant": name, "seed": seed, "rise": after - before,
                "auc": {method: float(roc_auc_score(truth, value)) for method, value in values.items()},
                "top": {method: float(truth[value == value.max()].mean()) for method, value in values.items()},
            })  # fmt: skip
            found += 1
            if found == cases:
                break
    return rows


def localise_table(rows: Sequence[Mapping[str, Any]]) -> str:
    """A Markdown table of the records: AUC of every method, and how often the hottest node is planted."""
    kinds: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for row in rows:
        kinds.setdefault((row["domain"], row["plant"]), []).append(row)
    methods = list(rows[0]["auc"])
    lines = [
        f"| graphs | plant | cases | {' | '.join(methods)} | top node planted |",
        f"|{'---|' * (len(methods) + 4)}",
    ]
    means = []
    for (domain, plant), cases in kinds.items():
        own = [*(mean(case["auc"][method] for case in cases) for method in methods)]
        means.append([*own, 100 * mean(case["top"]["explain"] for case in cases)])
        figures = " | ".join(f"{value:.2f}" for value in own)
        lines.append(f"| {domain} | {plant} | {len(cases)} | {figures} | {means[-1][-1]:.0f}% |")
    average = [mean(column) for column in zip(*means, strict=True)]
    figures = " | ".join(f"**{value:.3f}**" for value in average[:-1])
    return "\n".join(
        [*lines, f"| **mean** | {len(kinds)} kinds | {len(rows)} | {figures} | **{average[-1]:.0f}%** |", ""]
    )
