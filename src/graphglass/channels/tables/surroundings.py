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
    # Loops over units alone are innermost and name their arrays' elements: they run in vector registers, and a slice
    # would compile its error messages, for seconds.
    out = np.empty((len(node_offsets) - 1, 3 * LAYERS * WIDTH))
    most = 0
    for graph in range(len(out)):
        most = max(most, node_offsets[graph + 1] - node_offsets[graph])
    values, inputs = np.empty((most, WIDTH)), np.empty((most, 2 * WIDTH))
    for graph in range(len(out)):
        first, size = node_offsets[graph], node_offsets[graph + 1] - node_offsets[graph]
        for layer in range(LAYERS):
            if layer > 0:
                _gather(values, first, size, neighbour_offsets, neighbours, inputs)
            for node in range(size):
                for unit in range(WIDTH):
                    values[node, unit] = bias[layer, unit]
                if layer == 0:
                    for column in range(numbers.shape[1]):
                        for unit in range(WIDTH):
                            values[node, unit] += numbers[first + node, column] * start[column, unit]
                    for unit in range(WIDTH):
                        values[node, unit] += names[labels[first + node], unit]
                else:
                    for c in range(0, WIDTH, 4):  # eight terms for each time that a sum is loaded and stored
                        a, b, d, e = inputs[node, c], inputs[node, c + 1], inputs[node, c + 2], inputs[node, c + 3]
                        w = c + WIDTH
                        p, q, r, s = inputs[node, w], inputs[node, w + 1], inputs[node, w + 2], inputs[node, w + 3]
                        for unit in range(WIDTH):
                            total = values[node, unit] + a * layers[layer - 1, c, unit]
                            total = total + p * layers[layer - 1, w, unit]
                            total = total + b * layers[layer - 1, c + 1, unit]
                            total = total + q * layers[layer - 1, w + 1, unit]
                            total = total + d * layers[layer - 1, c + 2, unit]
                            total = total + r * layers[layer - 1, w + 2, unit]
                            total = total + e * layers[layer - 1, c + 3, unit]
                            values[node, unit] = total + s * layers[layer - 1, w + 3, unit]
                for unit in range(WIDTH):  # softsign: bounded as a hyperbolic tangent is, and cheaper
                    values[node, unit] /= 1.0 + abs(values[node, unit])
            _summarise(values, size, out, graph, 3 * WIDTH * layer)
    return out


@kernel
def _gather(
    values: NDArray[np.float64],
    first: int,
    size: int,
    neighbour_offsets: NDArray[np.int64],
    neighbours: NDArray[np.int32],
    inputs: NDArray[np.float64],
) -> None:
    """Write the values of every node of a graph and the mean of its neighbours', side by side."""
    for node in range(size):
        begin, end = neighbour_offsets[first + node], neighbour_offsets[first + node + 1]
        for unit in range(WIDTH):
            inputs[node, unit], inputs[node, WIDTH + unit] = values[node, unit], 0.0
        for position in range(begin, end):
            other = neighbours[position]
            for unit in range(WIDTH):
                inputs[node, WIDTH + unit] += values[other, unit]
        share = 1.0 / max(end - begin, 1)
        for unit in range(WIDTH):
            inputs[node, WIDTH + unit] *= share


@kernel
def _summarise(values: NDArray[np.float64], size: int, out: NDArray[np.float64], graph: int, place: int) -> None:
    """Write mean, minimum and maximum over the nodes of a graph, from a column on."""
    low, high = place + WIDTH, place + 2 * WIDTH
    for unit in range(WIDTH):
        out[graph, place + unit], out[graph, low + unit], out[graph, high + unit] = 0.0, np.inf, -np.inf
    for node in range(size):
        for unit in range(WIDTH):
            value = values[node, unit]
            out[graph, place + unit] += value
            least, most = out[graph, low + unit], out[graph, high + unit]
            out[graph, low + unit] = value if value < least else least
            out[graph, high + unit] = value if value > most else most
    for unit in range(WIDTH):
        out[graph, place + unit] /= size
