"""Named evaluation protocols: which graphs are references, which are tested, which raw class is the anomaly.

minority
    The class with the fewest graphs is anomalous (ties: the smallest raw label). A shuffle with the run's seed makes
    80% of the other graphs references; the test set is the other 20% and every anomaly.
minority, flipped
    The minority class is normal and every other class is anomalous.
good-d
    Five stratified folds over all graphs (shuffled once, seed 0); seed i is fold i. The smallest raw label is
    anomalous; references are the normal graphs of the other four folds, the test set is the whole fold.
good-d, flipped
    The largest raw label is anomalous. With two classes that is the other class; with more (ENZYMES, COLLAB) all
    classes but the last are normal.
authors
    The split of the GLASS authors' public code: that of ``minority``, drawn by ``RandomState`` of the seed (42 to 46).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphglass.errors import BenchError
from graphglass.graphs.graph_set import GraphSet

PROTOCOLS = ("minority", "good-d", "authors")
FOLDS = 5


@dataclass(frozen=True, eq=False)
class Split:
    """Index arrays of one run; no graph and no label travels with them to a method.

    Attributes
    ----------
    references, test : int64
        Rows of the dataset, in shuffled order: position says nothing about the class.
    anomalous : bool (test,)
        The truth of the test rows, for the metrics alone.
    anomalous_labels, normal_labels : tuple
        The raw classes on either side.
    """

    seed: int
    references: NDArray[np.int64]
    test: NDArray[np.int64]
    anomalous: NDArray[np.bool_]
    anomalous_labels: tuple[int, ...]
    normal_labels: tuple[int, ...]

    @property
    def counts(self) -> dict[str, int]:
        """How many references and test graphs of either kind there are."""
        normal, anomalous = np.bincount(self.anomalous, minlength=2).tolist()
        return {"references": len(self.references), "test_normal": normal, "test_anomalous": anomalous}

    @property
    def classes(self) -> dict[str, list[int]]:
        """The raw classes on either side."""
        return {"normal": list(self.normal_labels), "anomalous": list(self.anomalous_labels)}


def split(labels: NDArray[Any], protocol: str, seed: int, *, flip: bool = False) -> Split:
    """The split of a dataset with raw class `labels` under a named protocol."""
    check_protocol(protocol)
    raw = np.asarray(labels)
    classes, counts = np.unique(raw, return_counts=True)
    if len(classes) < 2:
        raise BenchError(f"A protocol needs at least two classes, found {classes.tolist()}.")
    if seed < 0:
        raise BenchError(f"Seeds start at 0, found {seed}.")
    if protocol in ("minority", "authors"):
        smallest = classes[int(np.argmin(counts))]  # argmin takes the first of a tie: the smallest label
        odd = classes[classes != smallest] if flip else np.array([smallest])
        normal = np.flatnonzero(~np.isin(raw, odd))
        old = np.random.RandomState(seed) if protocol == "authors" else None  # theirs
        order = (old or np.random.default_rng(seed)).permutation(normal)
        cut = len(normal) * 4 // 5
        references, test = order[:cut], np.concatenate([order[cut:], np.flatnonzero(np.isin(raw, odd))])
    else:
        odd = np.array([classes[-1] if flip else classes[0]])
        train, test = _fold(raw, seed)
        references = train[~np.isin(raw[train], odd)]
    if not len(references):
        raise BenchError(f"Protocol {protocol!r} leaves no references among {len(raw)} graphs.")
    return shuffled_split(raw, np.isin(raw, odd), references, test, seed)


def shuffled_split(
    raw: NDArray[Any], anomalous: NDArray[np.bool_], references: NDArray[Any], test: NDArray[Any], seed: int
) -> Split:
    """A split of these rows in shuffled order: files often sort graphs by class, so position must say nothing."""
    shuffle = np.random.default_rng([seed, 0xB11D])
    references, test = shuffle.permutation(references), shuffle.permutation(test)
    odd, classes = np.unique(raw[anomalous]), np.unique(raw)
    normal = classes[~np.isin(classes, odd)]
    references, test = references.astype(np.int64), test.astype(np.int64)
    return Split(seed, references, test, anomalous[test], tuple(odd.tolist()), tuple(normal.tolist()))


def check_protocol(protocol: str) -> None:
    """Refuse an unknown name."""
    if protocol not in PROTOCOLS:
        raise BenchError(f"Unknown protocol {protocol!r}. The protocols are: {', '.join(PROTOCOLS)}.")


def _fold(raw: NDArray[Any], fold: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    from sklearn.model_selection import StratifiedKFold

    if fold >= FOLDS:
        raise BenchError(f"Protocol 'good-d' has {FOLDS} folds, so seeds 0..{FOLDS - 1}; found seed {fold}.")
    ranks = np.unique(raw, return_inverse=True)[1].ravel()
    folds = StratifiedKFold(n_splits=FOLDS, shuffle=True, random_state=0).split(np.zeros(len(raw)), ranks)
    out: tuple[NDArray[np.int64], NDArray[np.int64]] = list(folds)[fold]
    return out


def blind(graphs: GraphSet, rows: NDArray[np.int64]) -> GraphSet:
    """The chosen graphs as a method may see them: no class labels, names, columns of the file or reading history."""
    ids, removed = tuple(map(str, range(len(rows)))), np.zeros((len(rows), 3), np.int64)
    return replace(
        graphs[rows], labels=None, ids=ids, node_names=None, columns={}, removed=removed, rejected=(), reading=None
    )
