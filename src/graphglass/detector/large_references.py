"""Reference sets too large for every channel to compare with: an index of all, and a sample for the rest.

Code channels search all references. The pattern and table channels, whose cost per query grows with the number of
references, and the leave-one-out calibration, whose cost grows with its square, use a sample drawn once with a fixed
seed. Up to :data:`SAMPLE` references nothing is sampled and nothing is approximate.
"""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import numpy as np
from numpy.typing import NDArray

from graphglass.channels.channel import Channel
from graphglass.channels.codes import CodeChannel
from graphglass.channels.profiled_graphs import ProfiledGraphs, join_profiled
from graphglass.sphere.reference_index import ReferenceIndex

SAMPLE = 20_000
CHUNK = 10_000  # references whose structure and codes are in memory at a time


@dataclass(frozen=True, eq=False)
class LargeReferences:
    """All references as indexed codes, and some of them whole.

    Attributes
    ----------
    sample : ProfiledGraphs
    places : int64 (sample,)
        The places of the sample among all.
    indexes : mapping code -> ReferenceIndex
        Empty without codes.
    count : int
        References in all.
    """

    sample: ProfiledGraphs
    places: NDArray[np.int64]
    indexes: dict[str, ReferenceIndex]
    count: int

    def attach(self, channels: Sequence[Channel]) -> None:
        """Let the channels of indexed codes search all references."""
        for channel in channels:
            if channel.name in self.indexes:
                cast(CodeChannel, channel).search_in(self.indexes[channel.name], self.places)


def index_references(parts: Iterable[ProfiledGraphs], count: int, k: int = 5) -> LargeReferences:
    """Go through the references once, part by part, and index their codes.

    Parameters
    ----------
    parts : iterable of ProfiledGraphs
    count : int
        References in all parts together.
    k : int
        Neighbours that the recall of an approximate index is measured for.
    """
    places = np.sort(np.random.default_rng(0).choice(count, min(SAMPLE, count), replace=False))
    home = Path(tempfile.mkdtemp(prefix="graphglass-index-"))
    try:
        sample, files = _spread(parts, count, places, home)
        indexes = {}
        for name, file in files.items():
            indexes[name] = ReferenceIndex.build(file, k)
            if indexes[name].path != file:
                file.unlink()
        large = LargeReferences(sample, places, indexes, count)
    except BaseException:
        shutil.rmtree(home)
        raise
    # Saving a model copies the files; these go with the last detector that uses them.
    weakref.finalize(large, shutil.rmtree, home, ignore_errors=True)
    return large


def _spread(
    parts: Iterable[ProfiledGraphs], count: int, places: NDArray[np.int64], home: Path
) -> tuple[ProfiledGraphs, dict[str, Path]]:
    """The graphs at `places`, and the rows of every code in a file of its own."""
    files: dict[str, Path] = {}
    rows: dict[str, NDArray[np.float32]] = {}
    kept, start = [], 0
    for part in parts:
        for name, codes in part.codes.items():
            if name not in rows:
                files[name] = home / f"{name.replace(':', '-')}.npy"
                rows[name] = np.lib.format.open_memmap(files[name], "w+", np.float32, (count, codes.shape[1]))
            rows[name][start : start + len(part)] = codes
        kept.append(part[places[(places >= start) & (places < start + len(part))] - start])
        start += len(part)
    return join_profiled(kept), files


def chunks(count: int) -> Iterator[slice]:
    """The references in pieces that fit into memory."""
    return (slice(first, min(first + CHUNK, count)) for first in range(0, count, CHUNK))
