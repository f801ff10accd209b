"""Synthetic negatives: each graph once, with some edges or features changed."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphglass.graphs.canonical import canonical_graph_set
from graphglass.graphs.graph_set import GraphSet

KINDS = ("rewiring", "addition", "removal", "noise")
_REWIRING, _ADDITION, _REMOVAL, _NOISE = range(4)
_DENSE = 0.5
AUTHORS_KINDS = ("rewiring", "masking", "shuffling")
_MASKED = -1  # a label without a column


def perturb(graphs: GraphSet, *, strength: float = 0.2, seed: int = 0) -> tuple[GraphSet, NDArray[np.int8]]:
    """Every graph with one perturbation, drawn evenly from those its content allows, and its index in :data:`KINDS`.

    ``rewiring`` moves one end of a share of the edges to another node, ``addition`` joins random pairs, ``removal``
    deletes edges, ``noise`` redraws node labels from the whole set and adds Gaussian noise to attributes. The
    share is ``strength`` (at least one edge or node). A graph with more than half of all possible edges loses edges
    where it would have gained some, and a graph without edges can only gain them; one with neither edges nor
    features to change is returned as it is.

    Deterministic for a seed; the input is not changed. The result has no edge labels and no class labels.
    """
    random = np.random.default_rng([seed, 0x9E37])
    kinds = _choose_kinds(graphs, random)
    sources, targets, *_ = graphs.edge_list()
    graph_of_edge = graphs.node_graph[sources]
    changes = np.maximum(1, np.round(strength * graphs.edge_counts)).astype(np.int64)

    rank = _random_rank(graph_of_edge, random)
    chosen = rank < changes[graph_of_edge]
    rewired = chosen & (kinds[graph_of_edge] == _REWIRING)
    targets = targets.copy()
    targets[rewired] = _other_node(graphs, sources[rewired], random)
    kept = ~(chosen & (kinds[graph_of_edge] == _REMOVAL))

    gaining = np.flatnonzero((kinds == _ADDITION) & (graphs.sizes > 1))
    which = np.repeat(gaining, changes[gaining])
    first = graphs.node_offsets[which] + _below(graphs.sizes[which], random)
    second = _other_node(graphs, first, random)

    labels, attributes = _noisy_features(graphs, kinds == _NOISE, strength, random)
    ends = np.concatenate([sources[kept], first]), np.concatenate([targets[kept], second])
    return _changed(graphs, *ends, labels, attributes), kinds


def rewire_mask_or_shuffle(graphs: GraphSet, *, seed: int = 0) -> tuple[GraphSet, NDArray[np.int8]]:
    """Every graph with one perturbation of the authors' code, and its index in :data:`AUTHORS_KINDS`.

    ``rewiring`` draws 15% of the two directions of all edges, removes an edge where both are drawn, and joins a random
    pair of nodes for every draw: graphs get denser. ``masking`` clears each label and each attribute of a node with
    probability 0.2, ``shuffling`` permutes the labels and attributes of 20% of the nodes. A graph without labels and
    attributes is rewired, where the authors' code leaves two of three such graphs unchanged.
    """
    random = np.random.default_rng([seed, 0xA075])
    labels, attributes = graphs.node_labels, graphs.attributes
    has_features = labels is not None or attributes is not None
    kinds = random.integers(0, 3 if has_features else 1, len(graphs)).astype(np.int8)

    sources, targets, *_ = graphs.edge_list()
    rewired = kinds[graphs.node_graph[sources]] == 0
    drawn = (random.random((len(sources), 2)) < 0.15) & rewired[:, None]
    kept = ~drawn.all(axis=1)
    graph = np.repeat(graphs.node_graph[sources], drawn.sum(axis=1))
    first, second = (graphs.node_offsets[graph] + _below(graphs.sizes[graph], random) for _ in range(2))

    masked, shuffled = (kinds == kind for kind in (1, 2))
    order = _shuffled_nodes(graphs, shuffled, random)
    touched = masked[graphs.node_graph]
    if labels is not None:
        labels = np.where(touched & (random.random(len(labels)) < 0.2), _MASKED, labels[order])
    if attributes is not None:
        cleared = touched[:, None] & (random.random(attributes.shape) < 0.2)
        attributes = np.where(cleared, 0.0, attributes[order]).astype(np.float32)
    ends = np.concatenate([sources[kept], first]), np.concatenate([targets[kept], second])
    return _changed(graphs, *ends, labels, attributes), kinds


def _changed(
    graphs: GraphSet,
    sources: NDArray[np.int64],
    targets: NDArray[np.int64],
    labels: NDArray[np.int64] | None,
    attributes: NDArray[np.float32] | None,
) -> GraphSet:
    """The graphs with other edges and features."""
    return canonical_graph_set(
        graphs.sizes, sources, targets, ids=graphs.ids, node_labels=labels, attributes=attributes,
        attribute_names=graphs.attribute_names, label_names=graphs.label_names,
    )  # fmt: skip


def _shuffled_nodes(graphs: GraphSet, shuffled: NDArray[np.bool_], random: np.random.Generator) -> NDArray[np.int64]:
    """Whose features every node gets: 20% of the nodes of each shuffled graph exchange theirs, at least two."""
    share = np.maximum(2, np.round(0.2 * graphs.sizes))[graphs.node_graph]
    chosen = np.flatnonzero(shuffled[graphs.node_graph] & (_random_rank(graphs.node_graph, random) < share))
    order = np.arange(graphs.node_count)
    # Sorted by graph, the chosen nodes keep their places and take a random order inside each graph.
    order[chosen] = chosen[np.lexsort((random.random(len(chosen)), graphs.node_graph[chosen]))]
    return order


def _choose_kinds(graphs: GraphSet, random: np.random.Generator) -> NDArray[np.int8]:
    nodes, edges = graphs.sizes, graphs.edge_counts
    possible = nodes * (nodes - 1) // 2
    has_features = graphs.node_labels is not None or graphs.attributes is not None
    kinds = random.integers(0, 4 if has_features else 3, len(graphs)).astype(np.int8)
    dense = edges > _DENSE * possible
    kinds[dense & (kinds != _NOISE)] = _REMOVAL
    kinds[(edges == 0) & (kinds != _NOISE)] = _ADDITION
    if has_features:
        kinds[possible == 0] = _NOISE
    return kinds


def _random_rank(groups: NDArray[np.int64], random: np.random.Generator) -> NDArray[np.int64]:
    """A random order inside every run of equal, sorted group numbers."""
    order = np.lexsort((random.random(len(groups)), groups))
    starts = np.searchsorted(groups, groups)
    rank = np.empty(len(groups), np.int64)
    rank[order] = np.arange(len(groups))
    return rank - starts


def _below(limits: NDArray[np.int64], random: np.random.Generator) -> NDArray[np.int64]:
    """Uniform integers, each below its own limit."""
    drawn = (random.random(len(limits)) * limits).astype(np.int64)
    return np.minimum(drawn, np.maximum(limits - 1, 0))


def _other_node(graphs: GraphSet, nodes: NDArray[np.int64], random: np.random.Generator) -> NDArray[np.int64]:
    """A node of the same graph that differs from the given one, for graphs of two or more nodes."""
    graph = graphs.node_graph[nodes]
    start, size = graphs.node_offsets[graph], graphs.sizes[graph]
    return start + (nodes - start + 1 + _below(size - 1, random)) % size


def _noisy_features(
    graphs: GraphSet, noisy: NDArray[np.bool_], strength: float, random: np.random.Generator
) -> tuple[NDArray[np.int64] | None, NDArray[np.float32] | None]:
    labels, attributes = graphs.node_labels, graphs.attributes
    touched = noisy[graphs.node_graph]
    if labels is not None:
        hit = touched & (
            _random_rank(graphs.node_graph, random)
            < np.maximum(1, np.round(strength * graphs.sizes))[graphs.node_graph]
        )
        pool = np.unique(labels)
        drawn = pool[random.integers(0, len(pool), len(labels))]
        labels = np.where(hit, drawn, labels)
    if attributes is not None and len(attributes):
        deviation = attributes.std(axis=0, dtype=np.float64)
        noise = random.standard_normal(attributes.shape) * (deviation * np.sqrt(strength))
        attributes = np.where(touched[:, None], attributes + noise, attributes).astype(np.float32)
    return labels, attributes
