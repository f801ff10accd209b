"""Node labels, attributes and structure passed through random layers over the neighbours, summarised per graph."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphglass.channels.channel import State
from graphglass.channels.fourier import standard_frequencies
from graphglass.channels.profiled_graphs import ProfiledGraphs
from graphglass.channels.tables.composition import VOCABULARY
from graphglass.channels.tables.feature_maps import FeatureMap
from graphglass.graphs.attributes import attribute_columns
from graphglass.graphs.labels import columns_of, frequent
from graphglass.kernel import kernel
from graphglass.structure.profile import LTD_NAMES

LAYERS = 4
WIDTH = 16
GAIN = 2.0  # of the values before they are bounded
BIAS = 0.6
SHAPE = [LTD_NAMES.index(name) for name in ("degree", "clustering", "core")]
_SEED = 20_271


class RandomLayersMap(FeatureMap):
    """Mean, minimum and maximum over the nodes after each layer of an untrained message-passing network.

    A node starts as its degree, clustering and core number and its attributes, standardised over the nodes of the
    references, and its label (one column each). Every later layer mixes a node with the mean of its neighbours. The
    weights are random, public and the same for all graphs.
    """

    def __init__(self) -> None:
        self._labels = np.zeros(0, np.int64)
        self._centre = np.zeros(0)
        self._deviation = np.ones(0)

    def fit(self, references: ProfiledGraphs) -> None:
        labels = references.graphs.node_labels
        self._labels = np.zeros(0, np.int64) if labels is None else frequent([labels], VOCABULARY)
        nodes = references.graphs.node_count
        self._centre = sum(_numbers(part).sum(axis=0) for part in references.parts()) / nodes
        squares = sum(((_numbers(part) - self._centre) ** 2).sum(axis=0) for part in references.parts())
        deviation = np.sqrt(squares / nodes)
        self._deviation = np.where(deviation > 1e-9, deviation, 1.0)

    def table(self, profiled: ProfiledGraphs) -> NDArray[np.float64]:
        graphs = profiled.graphs
        numbers = np.ascontiguousarray((_numbers(profiled) - self._centre) / self._deviation)
        entries = numbers.shape[1]  # of a node's row that are not zero
        names, labels = np.zeros((1, WIDTH)), np.zeros(graphs.node_count, np.int64)
        if graphs.node_labels is not None:
            entries += 1
            names, labels = _weights("labels", VOCABULARY + 1), columns_of(graphs.node_labels, self._labels)
        start = _weights("numbers", numbers.shape[1]) / entries**0.5
        return _layer_summaries(
            numbers, labels, graphs.node_offsets, graphs.neighbour_offsets, graphs.neighbours,
            GAIN * start, GAIN * names / entries**0.5, GAIN * _layers(), BIAS * _weights("bias", LAYERS),
        )  # fmt: skip

    def state(self) -> State:
        return {"labels": self._labels, "centre": self._centre, "spread": self._deviation}

    def restore(self, state: State) -> None:
        self._labels, self._centre, self._deviation = state["labels"], state["centre"], state["spread"]


def _numbers(profiled: ProfiledGraphs) -> NDArray[np.float64]:
    """Degree, clustering and core number on a logarithmic scale, and the attributes, (nodes, columns)."""
    shape = np.log1p(profiled.profile.descriptors[:, SHAPE])
    return np.concatenate([shape, attribute_columns(profiled.graphs)], axis=1)


def _weights(name: str, inputs: int) -> NDArray[np.float64]:
    """Standard normal weights, (inputs, WIDTH)."""
    return standard_frequencies(_SEED, f"random layers {name}", WIDTH, inputs)


def _layers() -> NDArray[np.float64]:
    """Weights of a node and of its neighbours in every layer but the first, (LAYERS - 1, 2 WIDTH, WIDTH)."""
    return np.asarray(np.stack([_weights(f"{layer}", 2 * WIDTH) for layer in range(1, LAYERS)]) / WIDTH**0.5)


@kernel
def _layer_summaries(
    numbers: NDArray[np.float64],
    labels: NDArray[np.int64],
    node_offsets: NDArray[np.int64],
    neighbour_offsets: NDArray[np.int64],
    neighbours: NDArray[np.int32],
    start: NDArray[np.float64],
    names: NDArray[np.float64],
    layers: NDArray[np.float64],
    bias: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Mean, minimum and maximum of every unit over every graph, (graphs, 3 * LAYERS * WIDTH)."""
    out = np.empty((len(node_offsets) - 1, 3 * LAYERS * WIDTH))
    row, near = np.empty(WIDTH), np.empty(WIDTH)
    for graph in range(len(node_offsets) - 1):
        first, size = node_offsets[graph], node_offsets[graph + 1] - node_offsets[graph]
        current, following = np.empty((size, WIDTH)), np.empty((size, WIDTH))
        for layer in range(LAYERS):
            for node in range(size):
                for unit in range(WIDTH):  # a slice of an array would compile its error messages, for seconds
                    row[unit] = bias[layer, unit]
                if layer == 0:
                    for column in range(numbers.shape[1]):
                        for unit in range(WIDTH):
                            row[unit] += numbers[first + node, column] * start[column, unit]
                    for unit in range(WIDTH):
                        row[unit] += names[labels[first + node], unit]
                else:
                    near[:] = 0.0
                    ends = neighbours[neighbour_offsets[first + node] : neighbour_offsets[first + node + 1]]
                    for other in ends:
                        for unit in range(WIDTH):
                            near[unit] += current[other, unit]
                    share = 1.0 / max(len(ends), 1)
                    for column in range(WIDTH):
                        own, around = current[node, column], near[column] * share
                        for unit in range(WIDTH):
                            row[unit] += own * layers[layer - 1, column, unit]
                            row[unit] += around * layers[layer - 1, WIDTH + column, unit]
                for unit in range(WIDTH):  # softsign: bounded as a hyperbolic tangent is, and cheaper
                    following[node, unit] = row[unit] / (1.0 + abs(row[unit]))
            current, following = following, current
            place = 3 * WIDTH * layer
            for unit in range(WIDTH):
                total, low, high = 0.0, np.inf, -np.inf
                for node in range(size):
                    value = current[node, unit]
                    total, low, high = total + value, min(low, value), max(high, value)
                out[graph, place + unit] = total / size
                out[graph, place + WIDTH + unit] = low
                out[graph, place + 2 * WIDTH + unit] = high
    return out
