"""Graphs as histograms of node codes: a vocabulary learned from references, sparse counts, exact norms."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from graphglass.channels.patterns.wl import neighbourhood_keys
from graphglass.errors import SchemaError
from graphglass.graphs.graph_set import GraphSet


@dataclass(frozen=True, eq=False)
class Histograms:
    """Sparse counts over a fixed vocabulary.

    Codes outside the vocabulary count in the norms: they match no reference, but they make a graph less similar to all.
    """

    vocabulary: NDArray[np.uint64]  # sorted codes, one per column
    counts: csr_array  # (graphs, columns)
    norms: NDArray[np.float64]  # of the full histogram, (graphs,)

    def similarities(self, other: Histograms) -> NDArray[np.float64]:
        """Cosine of every graph here with every graph of `other` on the same vocabulary, (graphs, other graphs)."""
        products = (self.counts @ other.counts.T).toarray()
        return np.asarray(products / np.outer(_positive(self.norms), _positive(other.norms)))


def histograms(
    codes: NDArray[np.uint64], node_offsets: NDArray[np.int64], vocabulary: NDArray[np.uint64] | None = None
) -> Histograms:
    """Count node codes, (rounds, nodes), per graph; codes of different rounds must not collide.

    The vocabulary holds the sorted codes to count; None takes every code that occurs.
    """
    rounds, graphs = len(codes), len(node_offsets) - 1
    rows = np.tile(np.repeat(np.arange(graphs), np.diff(node_offsets)), rounds)
    present, columns = np.unique(codes.ravel(), return_inverse=True)
    ones = np.ones(len(rows))
    full = csr_array((ones, (rows, columns.ravel())), shape=(graphs, len(present)))
    full.sum_duplicates()
    norms = np.sqrt(np.asarray(full.multiply(full).sum(axis=1)).ravel())
    if vocabulary is None:
        return Histograms(present, full, norms)
    places, known = np.searchsorted(vocabulary, present), np.isin(present, vocabulary)
    entries = full.tocoo()
    kept = known[entries.coords[1]]
    where = entries.coords[0][kept], places[entries.coords[1][kept]]
    return Histograms(vocabulary, csr_array((entries.data[kept], where), shape=(graphs, len(vocabulary))), norms)


def subtree_histograms(
    graphs: GraphSet, rounds: int, vocabulary: NDArray[np.uint64] | None = None, unlabelled: str = "degree"
) -> Histograms:
    """Counts of Weisfeiler-Lehman colours after 0..rounds refinements; unlabelled nodes start from `unlabelled`."""
    roots = graphs.node_labels
    if roots is None:
        degrees = np.diff(graphs.neighbour_offsets)
        roots = degrees if unlabelled == "degree" else np.zeros_like(degrees)
    codes = np.stack(neighbourhood_keys(graphs, roots, levels=rounds + 1)).view(np.uint64)
    return histograms(codes, graphs.node_offsets, vocabulary)


def _positive(norms: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.where(norms > 0, norms, 1.0)


def refuse_other_labels(method: object, labelled: bool, graphs: GraphSet) -> None:
    """Raise if ``method`` was fitted on graphs with node labels and these have none, or the other way round."""
    if labelled != (graphs.node_labels is not None):
        known, found = ("node labels", "none") if labelled else ("no node labels", "some")
        raise SchemaError(f"{type(method).__name__} was fitted on graphs with {known}; these graphs have {found}.")
