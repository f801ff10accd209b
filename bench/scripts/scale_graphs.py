"""Graphs for the scale benchmark: real molecules repeated and perturbed under new ids, and generated ones.

Parts are the same whenever and wherever they are made: part ``i`` is drawn from its own seed.
"""

from dataclasses import replace
from pathlib import Path

import numpy as np

from graphglass import load_dataset, write_parquet
from graphglass.graphs.canonical import canonical_graph_set
from graphglass.graphs.concatenation import concatenate
from graphglass.graphs.graph_set import GraphSet

SOURCES = ("MUTAG", "AIDS", "NCI1")
# Of every part; the rest are real molecules with an edge moved and an atom renamed.
REPEATED, GENERATED = 0.2, 0.3


def molecules(data_root=None):
    """The real molecules with what all three sets carry: nodes, edges and node labels."""
    parts = []
    for name in SOURCES:
        graphs = load_dataset(name, data_root).without_labels()
        ids = tuple(f"{name}/{identifier}" for identifier in graphs.ids)
        parts.append(replace(graphs, ids=ids, attributes=None, attribute_names=(), edge_labels=None, label_names={}))
    return concatenate(parts)


def part(base: GraphSet, number: int, size: int) -> GraphSet:
    """Graphs ``number * size`` to ``(number + 1) * size`` of the endless set."""
    rng = np.random.default_rng([7, number])
    generated, repeated = round(GENERATED * size), round(REPEATED * size)
    real = base[rng.integers(0, len(base), size - generated)]
    real = replace(real, ids=tuple(f"real-{number}-{i}" for i in range(len(real))))
    grown = trees(rng, generated, base.node_labels, f"made-{number}")
    return concatenate([real[:repeated], perturbed(rng, real[repeated:]), grown])


def perturbed(rng, graphs: GraphSet) -> GraphSet:
    """One edge of every graph gets a new end, one node a label from elsewhere in the same set."""
    sources, targets, *_ = graphs.edge_list()
    owner = graphs.node_graph[sources]
    first = np.searchsorted(owner, np.arange(len(graphs)))
    count = np.bincount(owner, minlength=len(graphs))
    some = np.flatnonzero(count > 0)
    moved = first[some] + rng.integers(0, count[some])
    targets = targets.copy()
    targets[moved] = graphs.node_offsets[some] + rng.integers(0, graphs.sizes[some])
    labels = graphs.node_labels.copy()
    renamed = graphs.node_offsets[:-1] + rng.integers(0, graphs.sizes)
    labels[renamed] = rng.choice(graphs.node_labels, len(graphs))
    return canonical_graph_set(graphs.sizes, sources, targets, ids=graphs.ids, node_labels=labels)


def planted(base: GraphSet, count: int, queries: int = 400) -> tuple[GraphSet, GraphSet, np.ndarray]:
    """Perturbed molecules of NCI1 and AIDS as normals, further ones as queries, and as many that were perturbed thrice.

    The last value is 1 for those.
    """
    real = base[np.array([name.startswith(("NCI1/", "AIDS/")) for name in base.ids])]
    rng = np.random.default_rng([11, count])

    def draw(number, name):
        graphs = real[rng.integers(0, len(real), number)]
        return perturbed(rng, replace(graphs, ids=tuple(f"{name}-{i}" for i in range(number))))

    normals, usual, unusual = draw(count, "normal"), draw(queries, "query"), draw(queries, "planted")
    for _ in range(2):
        unusual = perturbed(rng, unusual)
    return normals, concatenate([usual, unusual]), np.repeat([0, 1], queries)


def trees(rng, count: int, labels, name: str) -> GraphSet:
    """Random trees of 8 to 40 nodes that grow near their tips, closed to rings by a few more edges."""
    sizes = rng.integers(8, 41, count)
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    local = np.arange(offsets[-1]) - np.repeat(offsets[:-1], sizes)
    child = np.flatnonzero(local > 0)
    parent = child - np.minimum(rng.geometric(0.6, len(child)), local[child])
    rings = rng.integers(0, 5, count)
    graph = np.repeat(np.arange(count), rings)
    ends = offsets[graph] + rng.integers(0, sizes[graph])
    others = np.clip(ends + 5, None, offsets[graph + 1] - 1)
    return canonical_graph_set(
        sizes, np.concatenate([child, ends]), np.concatenate([parent, others]),
        ids=[f"{name}-{i}" for i in range(count)], node_labels=rng.choice(labels, offsets[-1]),
    )  # fmt: skip


def write_part(base: GraphSet, folder: Path, number: int, size: int) -> Path:
    """The part's file, made unless it is there."""
    path = folder / f"part-{size}-{number:04d}.parquet"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        temporary = path.with_suffix(".tmp")
        write_parquet(part(base, number, size), temporary)
        temporary.rename(path)
    return path
