"""bag-knn: what a graph is made of, without its structure beyond degrees."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphglass.baselines.knn import StructureKNN
from graphglass.graphs import GraphSet

_DEGREES = 10  # shares of degree 0 to 9, and of all higher ones


class BagKNN(StructureKNN):
    """Log size, shares of degrees and node labels; mean, deviation, minimum and maximum of every attribute.

    Columns are standardised by the references; the score is the mean Euclidean distance to the `k` nearest.
    """

    def _features(self, graphs: GraphSet) -> NDArray[np.float64]:
        sizes = np.log1p(np.column_stack([graphs.sizes, graphs.edge_counts]).astype(np.float64))
        degrees = np.minimum(np.diff(graphs.neighbour_offsets), _DEGREES)
        counts = np.bincount(graphs.node_graph * (_DEGREES + 1) + degrees, minlength=len(graphs) * (_DEGREES + 1))
        shares = counts.reshape(len(graphs), -1) / graphs.sizes[:, None]
        parts = [sizes, shares, self._label_shares(graphs)]
        if graphs.attributes is not None and graphs.attributes.shape[1]:
            values, starts = graphs.attributes.astype(np.float64), graphs.node_offsets[:-1]
            mean = np.add.reduceat(values, starts) / graphs.sizes[:, None]
            square = np.add.reduceat((values - mean[graphs.node_graph]) ** 2, starts) / graphs.sizes[:, None]
            extremes = [extreme.reduceat(values, starts) for extreme in (np.minimum, np.maximum)]
            parts += [mean, np.sqrt(square), *extremes]
        return np.hstack(parts)
