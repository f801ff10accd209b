"""A fingerprint of what decides a method's number: its scores of two small generated sets of graphs.

A change of code or settings that moves a score changes the fingerprint; a change that keeps every score does not.
Records carry it; a table names those that the present code would not reproduce.

Training-free methods have a digest. Processors round the sums of a training in different orders, so the fingerprint of
a trained method holds the scores themselves after a few epochs, and two of them agree within a tolerance. Other initial
weights, losses or settings move the scores much further.
"""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

import numpy as np

from glassbench.isolation import stream
from glassbench.methods import GLASS, SUPERVISED, factory, is_own
from glassbench.records import Record
from graphglass.errors import BenchError
from graphglass.graphs.canonical import canonical_graph_set
from graphglass.graphs.graph_set import GraphSet

REFERENCES, QUERIES = 40, 12
_DIGITS = 5  # significant digits that enter: more would differ between machines
_EPOCHS = 2  # few, which keeps differences in rounding small
# Longer than the warm-up of GLASS: training also uses its prototypes.
_PROBED_EPOCHS = {"glass": 22, "glass-plain": 22, "glass-untrained": 0}
_TOLERANCE = 0.05  # of the deviation of the scores; processors were seen to differ by up to 0.006
_KNOWN = 3  # of the queries, for methods that need known anomalies
log = logging.getLogger(__name__)


@cache
def fingerprint(method: str) -> str | None:
    """Sixteen hexadecimal digits; of a trained method those of its texts, a bar, and scores separated by commas.

    None for a method of the user's that cannot score these graphs, or not twice in the same way.
    """
    if not is_own(method):
        return _probed(method)
    try:
        first, second = _probed(method), _probed(method)
    except BenchError as error:
        log.warning("%s has no fingerprint: %s", method, error)
        return None
    if agree(first, second):
        return first
    log.warning("%s has no fingerprint: two runs with one seed scored differently.", method)
    return None


def _probed(method: str) -> str:
    logging.disable(logging.WARNING)  # a remark on these graphs would be read as one on the user's
    try:
        # In a child process where possible: later cells fork, and compiled code that ran in threads must not be forked.
        ((digest, _),) = stream(lambda: iter([_probe(method)]))
    finally:
        logging.disable(logging.NOTSET)
    return str(digest)


def _probe(method: str) -> str:
    texts, scores = hashlib.sha256(), []
    for graphs in (probe_graphs(labelled=True), probe_graphs(labelled=False)):
        detector: Any = factory(method)(0)
        trained = method != "graphglass" and "epochs" in getattr(detector, "get_params", dict)()
        if trained:
            detector.set_params(epochs=_PROBED_EPOCHS.get(method, _EPOCHS))
        if method in GLASS:
            # Which text encoder a record used is part of its settings; any of them probes the same code.
            detector.set_params(encoder="numeric")
        known = {"anomalies": graphs[-_KNOWN:]} if method in SUPERVISED else {}
        detector.fit(graphs[:REFERENCES], **known)
        for text in _texts(detector, graphs) if method in GLASS else ():
            texts.update(text.encode())
        scores += [f"{score:.{_DIGITS}g}" for score in detector.decision_function(graphs[REFERENCES:])]
    if trained:
        return f"{texts.hexdigest()[:16]}|{','.join(scores)}"
    return hashlib.sha256("".join(f"{score}," for score in scores).encode()).hexdigest()[:16]


def _texts(detector: Any, graphs: GraphSet) -> Iterator[str]:
    """The training settings, whose effect may come late, and the prompts, which the probe's encoder does not read."""
    from graphglass.glass.prompt.graphdp import STYLES, graphdp
    from graphglass.structure.profile import profile

    yield json.dumps(detector.embedder_.graph.config.every_setting(), sort_keys=True)
    structure = profile(graphs)
    for style in STYLES:
        yield from graphdp(structure, style=style)


def agree(found: str, now: str) -> bool:
    """Whether two fingerprints of one method are of code with the same scores."""
    if "|" not in found or "|" not in now:
        return found == now
    (texts, scores), (prompts, others) = (
        (head, np.array(tail.split(","), float)) for head, _, tail in (part.partition("|") for part in (found, now))
    )
    return (
        texts == prompts
        and len(scores) == len(others)
        and bool(np.abs(scores - others).max() <= _TOLERANCE * others.std())
    )


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
        try:
            now = fingerprint(method)
        except BenchError:  # a method that is not known here
            now = None
        marked = [mark for mark in found if mark is not None and now is not None]
        if stale := sum(now is not None and not agree(mark, now) for mark in marked):
            changed.append(f"{method} ({stale} of {len(found)})")
        if blank := len(found) - len(marked):
            unmarked.append(f"{method} ({blank} of {len(found)})")
    notes = [f"The present code would not reproduce records of: {', '.join(changed)}."] if changed else []
    if unmarked:
        notes.append(f"Records without a fingerprint, which cannot be checked: {', '.join(unmarked)}.")
    return " ".join(notes)
