"""Which kinds of planted anomalies the default finds.

    python bench/scripts/planted.py --out bench/results/quality/planted.json

Normal graphs are random trees, preferential-attachment and small-world graphs of 14 to 33 nodes, with attributes that
resemble the neighbours', with labels, with both or with neither. Normal flows are directed graphs in layers whose edges
carry an amount and a time. An anomaly is such a graph changed in one way. No dataset is read, so none can be tuned to.
"""

from __future__ import annotations

import argparse
import itertools
import json
from collections.abc import Callable
from pathlib import Path

import networkx as nx
import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from glassbench.metrics import evaluate
from graphglass import GraphGlass, read_graphs

SHAPES: dict[str, Callable[[int, int], nx.Graph]] = {
    "tree": lambda n, seed: nx.random_labeled_tree(n, seed=seed),
    "preferential attachment": lambda n, seed: nx.barabasi_albert_graph(n, 2, seed=seed),
    "small world": lambda n, seed: nx.connected_watts_strogatz_graph(n, 4, 0.15, seed=seed),
}
FEATURES = ((3, False), (1, False), (8, True), (0, True), (0, False))  # attributes, labels
REFERENCES = (60, 300)
TESTED = 60  # normal graphs, and as many anomalies of each kind
Change = Callable[[nx.Graph, Generator], nx.Graph]


def normal(shape: str, attributes: int, labels: bool, rng: Generator) -> nx.Graph:
    graph = SHAPES[shape](int(rng.integers(14, 34)), int(rng.integers(2**30)))
    adjacency = nx.to_numpy_array(graph)
    drawn = rng.normal(size=(len(graph), max(attributes, 1)))
    smooth = (drawn + adjacency @ drawn / adjacency.sum(axis=1, keepdims=True)) / 2
    names = rng.choice(4, size=len(graph), p=[0.4, 0.3, 0.2, 0.1])
    for node in graph:
        if attributes:
            graph.nodes[node]["x"] = smooth[node].tolist()
        if labels:
            graph.nodes[node]["label"] = int(names[node])
    return graph


def with_values(change: Callable[[NDArray, Generator], NDArray]) -> Change:
    """A change of the attribute table."""

    def apply(graph: nx.Graph, rng: Generator) -> nx.Graph:
        values = change(np.array([graph.nodes[node]["x"] for node in graph]), rng)
        for node, row in zip(graph, values, strict=True):
            graph.nodes[node]["x"] = row.tolist()
        return graph

    return apply


def level(values: NDArray, rng: Generator) -> NDArray:
    values[:, 0] += 1
    return values


def spread(values: NDArray, rng: Generator) -> NDArray:
    values[:, 0] *= 1.7
    return values


def one_node(values: NDArray, rng: Generator) -> NDArray:
    values[rng.integers(len(values)), 0] += 8
    return values


def more_of_a_rare_label(graph: nx.Graph, rng: Generator) -> nx.Graph:
    for node in graph:
        if rng.random() < 0.3:
            graph.nodes[node]["label"] = 3
    return graph


def labels_by_degree(graph: nx.Graph, rng: Generator) -> nx.Graph:
    names = sorted(nx.get_node_attributes(graph, "label").values())
    nx.set_node_attributes(graph, dict(zip(sorted(graph, key=graph.degree), names, strict=True)), "label")
    return graph


def unseen_label(graph: nx.Graph, rng: Generator) -> nx.Graph:
    graph.nodes[int(rng.integers(len(graph)))]["label"] = 9
    return graph


def random_edges(graph: nx.Graph, rng: Generator) -> nx.Graph:
    other = nx.gnm_random_graph(len(graph), graph.number_of_edges(), seed=int(rng.integers(2**30)))
    nx.set_node_attributes(other, dict(graph.nodes(data=True)))
    return other


def clique_of_five(graph: nx.Graph, rng: Generator) -> nx.Graph:
    graph.add_edges_from(itertools.combinations(rng.choice(len(graph), 5, replace=False).tolist(), 2))
    return graph


def twice_the_size(graph: nx.Graph, rng: Generator) -> nx.Graph:
    double = nx.disjoint_union(graph, graph)
    double.add_edge(0, len(graph))
    return double


def hub(graph: nx.Graph, rng: Generator) -> nx.Graph:
    graph.add_edges_from((0, node) for node in range(1, len(graph)) if rng.random() < 0.6)
    return graph


def ring_of_six(graph: nx.Graph, rng: Generator) -> nx.Graph:
    count = len(graph)
    for place in range(6):
        graph.add_node(count + place, **graph.nodes[int(rng.integers(count))])
    nx.add_cycle(graph, range(count, count + 6))
    graph.add_edge(0, count)
    return graph


KINDS: dict[str, tuple[str, Change]] = {
    "an attribute's level": ("attributes", with_values(level)),
    "an attribute's spread": ("attributes", with_values(spread)),
    "attributes moved to other nodes": ("attributes", with_values(lambda values, rng: rng.permutation(values))),
    "one node's attribute": ("attributes", with_values(one_node)),
    "more of a rare label": ("labels", more_of_a_rare_label),
    "labels sorted by degree": ("labels", labels_by_degree),
    "one label never seen": ("labels", unseen_label),
    "random edges": ("", random_edges),
    "a clique of five": ("", clique_of_five),
    "twice the size": ("", twice_the_size),
    "a hub": ("", hub),
    "a ring of six": ("", ring_of_six),
}


def flow(rng: Generator) -> nx.MultiDiGraph:
    """Payments through four layers: amounts fall and times rise from layer to layer."""
    layers = np.sort(rng.integers(0, 4, int(rng.integers(14, 34))))
    layers[0], layers[-1] = 0, 3
    graph = nx.MultiDiGraph()
    graph.add_nodes_from((node, {"label": int(layer)}) for node, layer in enumerate(layers))
    for node, layer in enumerate(layers):
        before = np.flatnonzero(layers == layer - 1)
        for source in rng.choice(before, min(len(before), int(rng.integers(1, 3))), replace=False).tolist():
            amount = float(np.exp(rng.normal(6 - layer, 0.5)))
            graph.add_edge(source, node, amount=amount, time=float(1e6 + 3600 * (layer + rng.random())))
    return graph


def one_edge(change: Callable[[nx.MultiDiGraph, tuple, Generator], object]) -> Change:
    """A change of one edge drawn at random."""

    def apply(graph: nx.Graph, rng: Generator) -> nx.Graph:
        edges = list(graph.edges(keys=True, data=True))
        change(graph, edges[int(rng.integers(len(edges)))], rng)
        return graph

    return apply


def reverse_edge(graph: nx.MultiDiGraph, edge: tuple, rng: Generator) -> None:
    graph.remove_edge(*edge[:3])
    graph.add_edge(edge[1], edge[0], **edge[3])


def all_amounts(change: Callable[[NDArray, Generator], NDArray]) -> Change:
    def apply(graph: nx.Graph, rng: Generator) -> nx.Graph:
        edges = list(graph.edges(data=True))
        values = change(np.array([data["amount"] for *_, data in edges]), rng)
        for (*_, data), value in zip(edges, values, strict=True):
            data["amount"] = float(value)
        return graph

    return apply


def cycle_closed(graph: nx.Graph, rng: Generator) -> nx.Graph:
    last = max(graph)
    graph.add_edge(last, 0, amount=float(np.exp(rng.normal(4, 0.5))), time=1e6 + 4 * 3600.0)
    return graph


FLOW_KINDS: dict[str, Change] = {
    "one amount times 100": one_edge(lambda graph, edge, rng: edge[3].update(amount=100 * edge[3]["amount"])),
    "all amounts times 3": all_amounts(lambda values, rng: 3 * values),
    "amounts exchanged between edges": all_amounts(lambda values, rng: rng.permutation(values)),
    "one edge reversed": one_edge(reverse_edge),
    "all edges reversed": lambda graph, rng: graph.reverse(),
    "a cycle of flows closed": cycle_closed,
    "one repeated edge": one_edge(lambda graph, edge, rng: graph.add_edge(edge[0], edge[1], **edge[3])),
    "a late timestamp": one_edge(lambda graph, edge, rng: edge[3].update(time=edge[3]["time"] + 10 * 86400)),
}


def measure() -> dict[str, dict[str, float]]:
    """AUROC of the default by kind of anomaly and number of references."""
    found: dict[str, dict[str, list[float]]] = {}
    for shape, count, (attributes, labels) in itertools.product(SHAPES, REFERENCES, FEATURES):
        rng = np.random.default_rng(7)
        detector = GraphGlass().fit(read_graphs([normal(shape, attributes, labels, rng) for _ in range(count)]))
        tested = [normal(shape, attributes, labels, rng) for _ in range(TESTED)]
        for kind, (needs, change) in KINDS.items():
            if (needs == "attributes" and not attributes) or (needs == "labels" and not labels):
                continue
            changed = [change(normal(shape, attributes, labels, rng), rng) for _ in range(TESTED)]
            scores = detector.decision_function(read_graphs([*tested, *changed]))
            values = found.setdefault(kind, {}).setdefault(f"{count} references", [])
            values.append(evaluate(scores, np.arange(2 * TESTED) >= TESTED)["auroc"])
        print(shape, count, attributes, labels, flush=True)
    for count, seed in itertools.product(REFERENCES, range(3)):
        for kind, value in measure_flows(count, seed).items():
            found.setdefault(kind, {}).setdefault(f"{count} references", []).append(value)
    return {
        kind: {name: round(float(np.mean(values)), 1) for name, values in rows.items()} for kind, rows in found.items()
    }


def measure_flows(count: int, seed: int) -> dict[str, float]:
    """AUROC by kind of change of a directed graph with edge attributes."""
    rng = np.random.default_rng(seed)
    detector = GraphGlass().fit(read_graphs([flow(rng) for _ in range(count)]))
    tested = [flow(rng) for _ in range(TESTED)]
    found = {}
    for kind, change in FLOW_KINDS.items():
        scores = detector.decision_function(read_graphs([*tested, *(change(flow(rng), rng) for _ in range(TESTED))]))
        found[kind] = evaluate(scores, np.arange(2 * TESTED) >= TESTED)["auroc"]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("bench/results/quality/planted.json"))
    out = parser.parse_args().out
    out.write_text(json.dumps(measure(), indent=1) + "\n", encoding="utf-8")
    print(out)


if __name__ == "__main__":
    main()
