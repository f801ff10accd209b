"""What version 2 of the prompt adds: labels, attributes, colours, small motifs, components, cores and eigenvalues.

The paper's table of fields is version 1. The authors' public code can also write these, off by default.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components

from graphglass.graphs.graph_set import GraphSet
from graphglass.structure.profile import LTD_NAMES, StructureProfile

LISTED = 8  # most frequent labels, pairs and attributes that are written
ROUNDS = 3  # of colour refinement


def content_lines(graphs: GraphSet, profile: StructureProfile) -> tuple[str, ...]:
    """One text per graph. It does not change with node order or with the other graphs, and holds no class label."""
    core = profile.descriptors[:, LTD_NAMES.index("core")]
    ends = graphs.neighbour_offsets[graphs.node_offsets]
    lines = []
    for i in range(len(graphs)):
        nodes, held = slice(*graphs.node_offsets[i : i + 2]), slice(*ends[i : i + 2])
        degrees = np.diff(graphs.neighbour_offsets[graphs.node_offsets[i] : graphs.node_offsets[i + 1] + 1])
        sources, targets = np.repeat(np.arange(len(degrees)), degrees), graphs.neighbours[held]
        parts = []
        if graphs.node_labels is not None:
            names = [graphs.label_names.get(int(v), str(v)) for v in graphs.node_labels[nodes]]
            pairs = [
                f"{min(names[a], names[b])}-{max(names[a], names[b])}" for a, b in zip(sources, targets, strict=True)
            ]
            parts += [f"labels={_shares(names)}", f"label_pairs={_shares(pairs)}"]
        if graphs.edge_labels is not None:
            labels = [graphs.label_names.get(int(v), str(v)) for v in graphs.edge_labels[held]]
            parts.append(f"edge_labels={_shares(labels)}")
        if graphs.attributes is not None:
            values = graphs.attributes[nodes, :LISTED].astype(np.float64)
            columns = zip(graphs.attribute_names, values.mean(axis=0), values.std(axis=0), strict=False)
            parts.append(
                "attributes=" + ", ".join(f"{name}:{_two(mean)}/{_two(spread)}" for name, mean, spread in columns)
            )
        start = None if graphs.node_labels is None else graphs.node_labels[nodes]
        parts += [
            "wl=" + "/".join(map(str, _colours(sources, targets, len(degrees), start))),
            f"wedges={_per_node(degrees * (degrees - 1) / 2)}",
            f"claws={_per_node(degrees * (degrees - 1) * (degrees - 2) / 6)}",
            f"component_q={_quantiles(_components(sources, targets, len(degrees)))}",
            f"core_q={_quantiles(core[nodes])}",
            f"assortativity={_two(_assortativity(degrees[sources], degrees[targets]))}",
            "eigenvalues=" + "/".join(_two(max(value, 0.0)) for value in profile.sketch[i, :LISTED]),
        ]
        lines.append("; ".join(parts))
    return tuple(lines)


def _shares(names: Iterable[str]) -> str:
    """The most frequent names in percent, ties in alphabetical order."""
    values, counts = np.unique(np.array(list(names), dtype=str), return_counts=True)
    order = np.lexsort((values, -counts))[:LISTED]
    return ", ".join(f"{values[j]}:{100 * counts[j] / counts.sum():.0f}" for j in order) or "none"


def _colours(
    sources: NDArray[np.int64], targets: NDArray[np.int32], count: int, start: NDArray[np.int64] | None
) -> list[int]:
    """Different colours after each round of Weisfeiler-Leman refinement."""
    colours = np.zeros(count, np.int64) if start is None else np.unique(start, return_inverse=True)[1].ravel()
    found = []
    for _ in range(ROUNDS):
        around: list[list[int]] = [[] for _ in range(count)]
        for a, b in zip(sources.tolist(), colours[targets].tolist(), strict=True):
            around[a].append(b)
        seen: dict[tuple[int, ...], int] = {}
        pairs = [(int(own), *sorted(others)) for own, others in zip(colours, around, strict=True)]
        colours = np.array([seen.setdefault(pair, len(seen)) for pair in pairs], np.int64)
        found.append(len(seen))
    return found


def _components(sources: NDArray[np.int64], targets: NDArray[np.int32], count: int) -> NDArray[np.int64]:
    """Nodes in every connected component."""
    matrix = csr_matrix((np.ones(len(sources), np.int8), (sources, targets)), (count, count))
    return np.bincount(connected_components(matrix, directed=False)[1])


def _assortativity(first: NDArray[np.int64], second: NDArray[np.int64]) -> float:
    """Correlation of the degrees at the two ends of an edge; 0 where all are equal.

    In whole numbers: every edge is there in both directions, and the order of nodes may not decide a rounding.
    """
    count, total = len(first), int(first.sum())
    spread = count * int((first * first).sum()) - total * total
    return (count * int((first * second).sum()) - total * total) / spread if spread else 0.0


def _per_node(counts: NDArray[np.float64]) -> str:
    return _two(counts.mean()) if len(counts) else "0.00"


def _two(value: float) -> str:
    """Two digits after the point. Sums in another order differ in the last bits, which may not decide a rounding."""
    return f"{round(round(float(value), 9), 2) + 0.0:.2f}"


def _quantiles(values: NDArray[np.float64] | NDArray[np.int64]) -> str:
    return "/".join(f"{value:.1f}" for value in np.quantile(values, (0.25, 0.5, 0.75))) if len(values) else "0/0/0"
