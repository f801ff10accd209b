"""Several listings of one edge become one edge.

In a directed set, listings of the same ordered pair are parallel edges. In an undirected set an edge may be listed in
one direction or in both; listings of the same direction are parallel, and where both directions are listed, the edge
takes the mean of the two, which is the common value in files that list every edge twice.

Parallel edges combine by the name of the attribute: what is called an amount, a weight or a count is summed, everything
else is averaged; a caller may choose the rule. If any edge of a directed set, or of a set with edge attributes, is
repeated, the attribute ``count`` says how many edges became one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from graphglass.errors import ParameterError
from graphglass.graphs.graph_set import COUNT
from graphglass.graphs.reading import RULES

if TYPE_CHECKING:
    from scipy.sparse import csr_array

_LARGEST = np.finfo(np.float64).max
_SUMMED = {"amount", "amounts", "weight", "weights", "count", "counts"}


def merge_rule(name: str, chosen: Mapping[str, str]) -> str:
    """How parallel edges combine an attribute: as chosen, else by its name; ``total_amount`` is an amount."""
    rule = chosen.get(name) or ("sum" if _SUMMED & set(re.split(r"[^a-z]+", name.lower())) else "mean")
    if rule not in RULES:
        raise ParameterError("read_graphs", "merge", f"attribute=rule with a rule of {', '.join(RULES)}", rule)
    return rule


@dataclass(frozen=True)
class Listing:
    """Listed edges against the stored ends of the skeleton.

    ``places`` is the stored end each listed edge starts at, (edges,); ``mirror`` the other end of every stored end and
    ``repeats`` how often the pair is listed in this direction, (ends,).
    """

    places: NDArray[np.int64]
    mirror: NDArray[np.int64]
    repeats: NDArray[np.int64]
    directed: bool

    @classmethod
    def of(cls, sources: NDArray[Any], targets: NDArray[Any], adjacency: csr_array, *, directed: bool) -> Listing:
        nodes = adjacency.shape[0]
        rows = np.repeat(np.arange(nodes, dtype=np.int64), np.diff(adjacency.indptr))
        keys = rows * nodes + adjacency.indices  # sorted, since rows and the columns of a row are
        places = np.searchsorted(keys, sources.astype(np.int64) * nodes + targets)
        mirror = np.searchsorted(keys, adjacency.indices.astype(np.int64) * nodes + rows)
        return cls(places, mirror, np.bincount(places, minlength=len(keys)), directed)

    @property
    def listed(self) -> NDArray[np.bool_]:
        """Whether an edge is listed in the direction of each end, (ends,)."""
        return self.repeats > 0

    def first(self) -> NDArray[np.int64]:
        """The listed edge whose label each end carries, (ends,)."""
        first = np.full(len(self.repeats), len(self.places))
        first[self.places[::-1]] = np.arange(len(self.places))[::-1]  # the earliest is written last
        if self.directed:
            return np.where(self.listed, first, first[self.mirror])
        return np.asarray(np.minimum(first, first[self.mirror]))

    def merged(
        self, values: NDArray[np.float64] | None, names: tuple[str, ...], chosen: Mapping[str, str]
    ) -> tuple[NDArray[np.float64] | None, tuple[str, ...]]:
        """Attributes of every end, (ends, width), and their names; ``count`` is added if any edge is parallel."""
        columns = []
        if values is not None:
            names = names if len(names) == values.shape[1] else tuple(f"value_{i}" for i in range(values.shape[1]))
            columns = [
                self._both_ends(self._combined(values[:, i], merge_rule(name, chosen))) for i, name in enumerate(names)
            ]
        if (self.repeats > 1).any() and COUNT not in names and (self.directed or columns):
            both = self.repeats if self.directed else np.maximum(self.repeats, self.repeats[self.mirror])
            columns.append(self._both_ends(both.astype(np.float64)))
            names = (*names, COUNT)
        return (np.stack(columns, axis=1), names) if columns else (None, names)

    def _combined(self, values: NDArray[np.float64], rule: str) -> NDArray[np.float64]:
        if rule in ("min", "max"):
            out = np.full(len(self.repeats), np.inf if rule == "min" else -np.inf)
            at: Callable[..., None] = np.minimum.at if rule == "min" else np.maximum.at
            at(out, self.places, values)
            return out
        total = np.bincount(self.places, weights=values, minlength=len(self.repeats)).astype(np.float64)
        total = np.clip(total, -_LARGEST, _LARGEST)  # attributes stay finite
        return total / np.maximum(self.repeats, 1) if rule == "mean" else total

    def _both_ends(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """The value each end carries: that of its own direction, or of the opposite one if only that is listed."""
        opposite, listed = values[self.mirror], self.listed
        if self.directed:
            return np.where(listed, values, opposite)
        both = listed & listed[self.mirror]
        return np.where(both, 0.5 * values + 0.5 * opposite, np.where(listed, values, opposite))
