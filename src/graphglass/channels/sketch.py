"""A public sketch: one unit row per graph whose inner products approximate kernels on patterns, size and structure.

Nothing in it is learned from data. A row depends on its graph alone: not on the batch, the node order or the machine.
"""

from __future__ import annotations

import hashlib
import math
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from graphglass.channels.fourier import standard_frequencies
from graphglass.channels.patterns.initial_labels import LabelStart, ShapeStart, Start
from graphglass.channels.patterns.wl import LEVELS, neighbourhood_keys
from graphglass.channels.profiled_graphs import ProfiledGraphs
from graphglass.errors import ParameterError
from graphglass.graphs.graph_set import GraphSet
from graphglass.kernel import kernel
from graphglass.structure.kernels.hashing import spread_bits
from graphglass.structure.profile import AGGREGATE_NAMES, StructureProfile, profile

SKETCH_VERSION = 1
DIMENSION = 4096
GROUP = 8  # coordinates of one group: two of every block
BLOCKS = ("labels", "shape", "size", "structure")
LARGEST_DIMENSION = 2**17
SHARPEST = 64
_SEED = 20_270
# Gaussian kernels exp(-width |difference|^2) of the logarithms of these numbers.
_SIZE = ("nodes", "edges")
_WIDTHS = {"size": 1.0, "structure": 0.1}
# The share of every block in the squared norm of a row, and so the weight of its kernel.
SHARES = {"labels": 1 / 3, "shape": 1 / 3, "size": 1 / 6, "structure": 1 / 6}
# Fixed point, so no rounding of a machine's arithmetic enters: logarithms, frequencies in turns, and cosines.
_LOG_BITS, _TURN_BITS, _TABLE_BITS, _COSINE_BITS = 16, 20, 12, 30


def sketch(
    graphs: GraphSet,
    *,
    dimension: int = DIMENSION,
    sharpness: int = 1,
    structure: StructureProfile | None = None,
    dtype: DTypeLike = np.float64,
) -> NDArray[Any]:
    r"""Unit rows whose inner product approximates a weighted mean of four kernels.

    * ``labels`` and ``shape``, a third each: :math:`J^p`, where J is the weighted Jaccard similarity of rooted
      neighbourhoods, averaged over radius 0 to 3, with node labels (the degree without labels) or with buckets of
      degree and clustering in their place. A MinHash of the multiset of (pattern, copy) agrees for two graphs with
      probability J, p of them with :math:`J^p`, and a random sign of the values has that as its expected product.
    * ``size`` and ``structure``, a sixth each: :math:`\exp(-g |u - v|^2)` with u and v the logarithms of nodes and
      edges (g = 1), or of all structural aggregates (g = 0.1), by random Fourier features.

    The error of an inner product has a standard deviation of about :math:`1 / \sqrt{dimension}`. Node attributes do not
    enter.

    Parameters
    ----------
    graphs : GraphSet
        The graphs.
    dimension : int
        Coordinates, a multiple of 8. A prefix of a row, scaled to unit length, is the sketch of that dimension.
    sharpness : int
        The power p.
    structure : StructureProfile, optional
        The profile of the graphs, where it is known.
    dtype : dtype
        ``float32`` for an index; in ``float64`` no row is longer than one.

    Returns
    -------
    (graphs, dimension)

    Examples
    --------
    >>> from graphglass import load_dataset, sketch
    >>> rows = sketch(load_dataset("MUTAG")[:4], dimension=256)
    >>> rows.shape
    (4, 256)
    """
    if not (GROUP <= dimension <= LARGEST_DIMENSION) or dimension % GROUP:
        raise ParameterError("sketch", "dimension", f"a multiple of {GROUP} up to {LARGEST_DIMENSION}", dimension)
    if not 1 <= sharpness <= SHARPEST:
        raise ParameterError("sketch", "sharpness", f"from 1 to {SHARPEST}", sharpness)
    structure = profile(graphs) if structure is None else structure
    profiled, groups = ProfiledGraphs(graphs, structure, {}), dimension // GROUP
    rows = np.empty((len(graphs), dimension), dtype)
    starts: dict[str, Start] = {"labels": LabelStart(), "shape": ShapeStart()}
    for column, (block, start) in enumerate(starts.items()):
        keys = np.stack(neighbourhood_keys(graphs, *start.names(profiled))).view(np.uint64)
        seeds, levels = _hash_functions(block, groups, sharpness)
        elements = _copies(graphs.node_offsets, keys)
        _min_hash_signs(graphs.node_offsets, elements, seeds, levels, _length(block, 2 * groups), rows, 2 * column)
    table, cosines = _logarithms(structure), _cosines()
    for column, block in enumerate(("size", "structure")):
        values = np.ascontiguousarray(table[block])
        frequencies = _turns(block, values.shape[1], groups)
        _fourier_pairs(values, frequencies, cosines, _length(block, groups), rows, 4 + 2 * column)
    return rows


def block_columns(dimension: int) -> dict[str, NDArray[np.int64]]:
    """The coordinates of every block of a sketch."""
    columns = np.arange(dimension).reshape(-1, GROUP)
    return {block: columns[:, 2 * i : 2 * i + 2].ravel() for i, block in enumerate(BLOCKS)}


def sketch_digest(dimension: int, sharpness: int) -> str:
    """sha256 over every constant that a sketch depends on; equal digests mean comparable rows."""
    sha = hashlib.sha256(f"graphglass/sketch/{SKETCH_VERSION}|{dimension}|{sharpness}".encode())
    for block in ("labels", "shape"):
        for part in _hash_functions(block, dimension // GROUP, sharpness):
            sha.update(part.tobytes())
    for block, names in (("size", _SIZE), ("structure", AGGREGATE_NAMES)):
        sha.update(_turns(block, len(names), dimension // GROUP).tobytes())
    sha.update(_cosines().tobytes())
    return sha.hexdigest()


def _length(block: str, parts: int) -> float:
    """Length of each of the equal parts of a block, a little short so rounding makes no row longer than one."""
    return math.sqrt(SHARES[block] / parts) * (1.0 - 1e-15)


def _hash_functions(block: str, groups: int, sharpness: int) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Multipliers and offsets, (groups, sharpness, 2), and the radius each hash reads, (groups, sharpness).

    In every four consecutive groups each of the hashes reads each radius once.
    """
    key = hashlib.sha256(f"graphglass/sketch/{SKETCH_VERSION}|{_SEED}|{block}".encode()).digest()
    words = np.empty((groups, sharpness, 3), np.uint64)
    for j in range(sharpness):  # one stream for every power: more powers or groups only append
        stream = np.random.Philox(key=int.from_bytes(key[:16], "big") + j)
        words[:, j] = stream.random_raw(3 * groups).astype(np.uint64).reshape(groups, 3)
    turn = np.repeat(words[::LEVELS, :, 2], LEVELS, axis=0)[:groups] >> np.uint64(32)
    levels = (turn.astype(np.int64) + np.arange(groups)[:, None]) % LEVELS
    return np.ascontiguousarray(words[:, :, :2]) | np.array([1, 0], np.uint64), levels


def _turns(block: str, width: int, count: int) -> NDArray[np.int64]:
    """Frequencies in turns of the circle, fixed point, (count, width)."""
    normal = standard_frequencies(_SEED, f"sketch {SKETCH_VERSION} {block}", width, count)
    scale = math.sqrt(2.0 * _WIDTHS[block]) / (2.0 * math.pi)
    return np.rint(normal * scale * 2.0**_TURN_BITS).astype(np.int64)


@lru_cache(maxsize=1)
def _cosines() -> NDArray[np.float64]:
    """Cosines of one turn, cut toward zero, so cosine and sine together are never longer than one."""
    values = np.cos(2.0 * np.pi * np.arange(2**_TABLE_BITS) / 2**_TABLE_BITS)
    return np.asarray(np.trunc(values * 2.0**_COSINE_BITS) / 2.0**_COSINE_BITS)


def _logarithms(structure: StructureProfile) -> dict[str, NDArray[np.int64]]:
    """Logarithms of size and structure in fixed point."""
    return {
        block: np.rint(
            np.log1p(structure.aggregates[:, [AGGREGATE_NAMES.index(name) for name in names]]) * 2.0**_LOG_BITS
        ).astype(np.int64)
        for block, names in (("size", _SIZE), ("structure", AGGREGATE_NAMES))
    }


@kernel
def _copies(offsets: NDArray[np.int64], keys: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The multiset of every graph and level as a set: a counter distinguishes equal keys."""
    out = np.empty_like(keys)
    for level in range(keys.shape[0]):
        for graph in range(len(offsets) - 1):
            ordered = np.sort(keys[level, offsets[graph] : offsets[graph + 1]])
            copy = np.uint64(0)
            for i in range(len(ordered)):
                copy = copy + np.uint64(1) if i > 0 and ordered[i] == ordered[i - 1] else np.uint64(0)
                salt = spread_bits(np.uint64(0x9E3779B97F4A7C15) * (copy + np.uint64(1)))
                out[level, offsets[graph] + i] = spread_bits(ordered[i] ^ salt)
    return out


@kernel
def _min_hash_signs(
    offsets: NDArray[np.int64],
    elements: NDArray[np.uint64],
    seeds: NDArray[np.uint64],
    levels: NDArray[np.int64],
    length: float,
    out: NDArray[Any],
    column: int,
) -> None:
    """Two signs per group from the combined minima of its hashes."""
    for graph in range(len(offsets) - 1):
        for group in range(seeds.shape[0]):
            combined = np.uint64(0)
            for j in range(seeds.shape[1]):
                factor, offset = seeds[group, j, 0], seeds[group, j, 1]
                level, least = levels[group, j], np.uint64(0xFFFFFFFFFFFFFFFF)
                for i in range(offsets[graph], offsets[graph + 1]):
                    least = min(least, elements[level, i] * factor + offset)
                combined = spread_bits(combined * np.uint64(3) + least)
            place = group * GROUP + column
            out[graph, place] = length if combined & np.uint64(1) else -length
            out[graph, place + 1] = length if combined & np.uint64(2) else -length


@kernel
def _fourier_pairs(
    values: NDArray[np.int64],
    frequencies: NDArray[np.int64],
    cosines: NDArray[np.float64],
    length: float,
    out: NDArray[Any],
    column: int,
) -> None:
    """Cosine and sine of every frequency, by integer arithmetic and a table."""
    steps = len(cosines)
    shift = _LOG_BITS + _TURN_BITS - _TABLE_BITS
    for graph in range(len(values)):
        for group in range(len(frequencies)):
            turn = np.int64(1) << (shift - 1)
            for k in range(values.shape[1]):
                turn += values[graph, k] * frequencies[group, k]
            place = (turn >> shift) & (steps - 1)
            out[graph, group * GROUP + column] = length * cosines[place]
            out[graph, group * GROUP + column + 1] = length * cosines[(place - steps // 4) & (steps - 1)]
