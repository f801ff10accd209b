"""Planted causes: whether an explanation points at the nodes that make a graph strange.

A case counts where a plant raises the score by at least half a deviation of the references' scores; then its nodes are
ranked by their parts.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score

from glassbench.plants import DOMAINS, Record
from graphglass import GraphGlass, read_graphs
from graphglass.channels.patterns.wl import neighbourhood_keys
from graphglass.graphs.concatenation import concatenate
from graphglass.graphs.graph_set import GraphSet

LEAST_RISE = 0.5  # deviations of the references' scores
REFERENCES = 600
CASES = 8
TRIES = 6  # bases tried per case that counts

Attribution = Callable[[GraphGlass, GraphSet], NDArray[np.float64]]


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
    copies = (
        replace(graph.without_nodes(np.array([node])), ids=(f"without {node}",)) for node in range(graph.node_count)
    )
    return np.asarray(detector.decision_function(graph)[0] - detector.decision_function(concatenate(copies)))


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


def localise(domain: str, part: str, folder: Path, *, cases: int = CASES) -> list[dict[str, object]]:
    """All cases of a domain that count, a record each: AUC over the nodes and whether the top node is planted.

    Plants of the part ``in-view`` are measured with every method, those of the others with two.
    """
    methods = METHODS if part == "in-view" else ("explain", "rarity")
    load, plants = DOMAINS[domain].records, DOMAINS[domain].plants[part]
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
            record = deepcopy(base)
            try:
                planted = plant(random, record)
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
