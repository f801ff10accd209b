"""A fingerprint of what decides a method's number: its scores of two small generated sets of graphs.

A change of code or settings that moves a score changes the fingerprint; a change that keeps every score does not. A
method that is trained takes a few epochs on these graphs, and its fingerprint also covers its initial weights and its
prompts. Records carry it, so that a table can name those that the present code would not reproduce.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

import numpy as np

from graphglass.bench.isolation import stream
from graphglass.bench.methods import SUPERVISED, factory
from graphglass.bench.records import Record
from graphglass.graphs import GraphSet, canonical_graph_set

REFERENCES, QUERIES = 40, 12
_DIGITS, _TRAINED_DIGITS = 5, 3  # significant digits that enter: more would differ between machines
_EPOCHS = 22  # longer than the warm-up of the paper preset, so that training also uses its prototypes
_KNOWN = 3  # of the queries, for methods that need known anomalies


@cache
def fingerprint(method: str) -> str:
    """Sixteen hexadecimal digits."""
    # In a child process where possible: later cells fork, and compiled code that ran in threads must not be forked.
    ((digest, _),) = stream(lambda: iter([_probe(method)]))
    return str(digest)


def _probe(method: str) -> str:
    digest = hashlib.sha256()
    for graphs in (probe_graphs(labelled=True), probe_graphs(labelled=False)):
        detector: Any = factory(method)(0)
        trained = method != "glass" and "epochs" in getattr(detector, "get_params", dict)()
        if trained:
            detector.set_params(epochs=_EPOCHS)
        if method == "glass-paper":
            # Which text encoder a record used is part of its settings; any of them probes the same code.
            detector.set_params(encoder="numeric")
        known = {"anomalies": graphs[-_KNOWN:]} if method in SUPERVISED else {}
        detector.fit(graphs[:REFERENCES], **known)
        for part in _beginnings(detector, graphs):
            digest.update(part.encode())
        for score in detector.decision_function(graphs[REFERENCES:]):
            digest.update(f"{score:.{_TRAINED_DIGITS if trained else _DIGITS}g},".encode())
    return digest.hexdigest()[:16]


def _beginnings(detector: Any, graphs: GraphSet) -> Iterator[str]:
    """Digests of the initial weights and settings of a trained detector, and the prompts it reads."""
    if hasattr(detector, "origin_"):
        yield detector.origin_
    if (embedder := getattr(detector, "embedder_", None)) is not None:
        from graphglass.embedding.prompt.graphdp import STYLES, graphdp
        from graphglass.structure.profile import profile

        structure = profile(graphs)
        yield embedder.graph.origin
        for style in STYLES:
            yield from graphdp(structure, style=style)


def probe_graphs(*, labelled: bool) -> GraphSet:
    """Rings with random chords, the last ones denser; with node labels, edge labels and attributes, or bare."""
    rng = np.random.default_rng(7)
    sizes = rng.integers(5, 16, REFERENCES + QUERIES)
    chords = np.where(np.arange(len(sizes)) < REFERENCES + QUERIES // 2, 2, 12)
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    sources, targets = [], []
    for first, size, count in zip(starts, sizes, chords, strict=True):
        ring = np.arange(size)
        extra = rng.integers(0, size, (2, count))
        sources.append(first + np.concatenate([ring, extra[0]]))
        targets.append(first + np.concatenate([(ring + 1) % size, extra[1]]))
    one, two, nodes = np.concatenate(sources), np.concatenate(targets), int(sizes.sum())
    if not labelled:
        return canonical_graph_set(sizes, one, two)
    return canonical_graph_set(
        sizes, one, two, node_labels=rng.integers(0, 4, nodes), edge_labels=rng.integers(0, 3, len(one)),
        attributes=rng.normal(size=(nodes, 2)),
    )  # fmt: skip


def stale_note(records: Iterable[Record]) -> str:
    """Which methods have records that the present code would not reproduce, or that say nothing about their code."""
    groups: dict[str, list[str | None]] = {}
    for record in records:
        groups.setdefault(record["method"], []).append(record.get("fingerprint"))
    changed, unmarked = [], []
    for method, found in groups.items():
        now = fingerprint(method)
        if stale := sum(f not in (None, now) for f in found):
            changed.append(f"{method} ({stale} of {len(found)})")
        if blank := found.count(None):
            unmarked.append(f"{method} ({blank} of {len(found)})")
    notes = [f"The present code would not reproduce records of: {', '.join(changed)}."] if changed else []
    if unmarked:
        notes.append(f"Records without a fingerprint, which cannot be checked: {', '.join(unmarked)}.")
    return " ".join(notes)
