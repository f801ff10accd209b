"""The twelve TU benchmark datasets: where they come from, and how a copy is recognised."""

from __future__ import annotations

import shutil
import time
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import numpy as np

from graphglass.errors import DataError
from graphglass.files.atomic import replacing
from graphglass.files.manifest import file_digest
from graphglass.graphs.datasets import bundled_path, dataset_name
from graphglass.graphs.readers.tu import read_tu

_LARGEST_DOWNLOAD = 512 << 20
SITE = "https://www.chrsmrrs.com/graphkerneldatasets"


@dataclass(frozen=True)
class TuDataset:
    """What a correct copy of one dataset holds.

    Averages are per graph, to two decimals; an edge is an unordered pair of different nodes. Another packing of the
    same graphs has another ``sha256``.
    """

    name: str
    graphs: int
    classes: int
    average_nodes: float
    average_edges: float
    domain: str
    sha256: str


# Counts of tab:dataset_stats. AIDS is TU's own version (the table has 25.7 and 27.9). COLLAB lists 2,837 self-loops,
# which are no edges here: 2457.22 instead of 2457.78; its edges are listed once or four times, depending on the copy.
CATALOGUE = {
    entry.name: entry
    for entry in (
        TuDataset("MUTAG", 188, 2, 17.93, 19.79, "molecule",
                  "05febd2a61db0e600d1551966eb74b8524501fa12bfbf2b60913d60e03e619c2"),
        TuDataset("PROTEINS", 1113, 2, 39.06, 72.82, "protein",
                  "053233acfec6a87a1494be5e7d4e410f627fafd6142634237db38229a90eaacf"),
        TuDataset("DD", 1178, 2, 284.32, 715.66, "protein",
                  "3e67366001222bc150f3fa7b39fd1e73e586699656c993869c691906f27c681a"),
        TuDataset("ENZYMES", 600, 6, 32.63, 62.14, "protein",
                  "c23466eb026aab05aeb0a29155fae40384203a9570c69d6b2a0cf6f9fb72f6be"),
        TuDataset("DHFR", 756, 2, 42.43, 44.54, "molecule",
                  "d89f936199002dab711bb161e5f13411e4b0f0b45810c01c44bdabf4c576733f"),
        TuDataset("BZR", 405, 2, 35.75, 38.36, "molecule",
                  "e5dba7a66980b86590d6fff1b09d1d831d7fa62c256defcb2899bb49124c5614"),
        TuDataset("COX2", 467, 2, 41.22, 43.45, "molecule",
                  "e2f30e06264246cb8c6263f8db050c1f1aa330053d582c4f926d824d32ec4f29"),
        TuDataset("AIDS", 2000, 2, 15.69, 16.20, "molecule",
                  "bd7efbc8a28969909825f6f76930020a2a3d6330621804c5f9f3cda52cb0e23f"),
        TuDataset("NCI1", 4110, 2, 29.87, 32.30, "molecule",
                  "5d18397d2ec06e97bd95b3ac286c1b1672200b80ab6e2842219a40d202f45ca9"),
        TuDataset("IMDB-BINARY", 1000, 2, 19.77, 96.53, "social",
                  "7dac99dbf9576ae7a824d59f0d7dd4ca5856d79b0a71d22bfdcefc8c39e2112b"),
        TuDataset("COLLAB", 5000, 3, 74.49, 2457.22, "social",
                  "0b2f98d15c5a00ac982d45eedd422223b278981368968dcb6ed3832c0b9cbc35"),
        TuDataset("REDDIT-BINARY", 2000, 2, 429.63, 497.75, "social",
                  "4b0f2b6bbfeb24bc291ce30398c45126ae6e9853476d5822255ebbb5080b3350"),
    )
}  # fmt: skip


@dataclass(frozen=True)
class Verification:
    """How a copy compares with the catalogue; either match is enough."""

    name: str
    hash_matches: bool
    counts_match: bool
    found: dict[str, float]

    @property
    def accepted(self) -> bool:
        return self.hash_matches or self.counts_match


def dataset_entry(name: str) -> TuDataset:
    """The catalogue's entry, by TU name or the paper's abbreviation, in any case."""
    return CATALOGUE[dataset_name(name)]


def copy_bundled(name: str, root: Path) -> Path | None:
    """Put the package's own copy into the data root; None if it has none."""
    copy = bundled_path(name)
    if copy is None:
        return None
    root.mkdir(parents=True, exist_ok=True)
    return Path(shutil.copyfile(copy, root / copy.name))


def verify_dataset(name: str, path: Path) -> Verification:
    """Compare a zip's sha256, and the counts of a zip or folder, with the catalogue."""
    entry = dataset_entry(name)
    graphs = read_tu(path)
    found = {
        "graphs": len(graphs),
        "classes": 0 if graphs.labels is None else len(np.unique(graphs.labels)),
        "average_nodes": graphs.node_count / len(graphs),
        "average_edges": graphs.edge_count / len(graphs),
    }
    counts = all(abs(value - getattr(entry, name)) < 0.006 for name, value in found.items())
    return Verification(entry.name, path.is_file() and file_digest(path) == entry.sha256, counts, found)


def fetch_dataset(name: str, root: Path, *, site: str = SITE, timeout: float = 30.0) -> Path:
    """Download a dataset into the data root and verify it; a copy that fails is not kept.

    Raises
    ------
    DataError
        If the site cannot be reached within `timeout` seconds, the file is too large, or it is not the dataset.
    """
    entry = dataset_entry(name)
    url, final = f"{site}/{entry.name}.zip", root / f"{entry.name}.zip"
    root.mkdir(parents=True, exist_ok=True)
    try:
        with replacing(final) as part:
            with part.open("wb") as stream:
                _download(url, stream, timeout)
            check = verify_dataset(entry.name, part)
            if not check.accepted:
                raise DataError(f"What {url} sent is not {entry.name}: found {check.found}. Nothing was kept.")
    except (ValueError, OSError) as error:
        raise DataError(
            f"{entry.name} could not be fetched from {url}: {error}. "
            f"Check the network, or put {entry.name}.zip into {root} yourself."
        ) from error
    return final


def _download(url: str, stream: IO[bytes], timeout: float) -> None:
    """Copy a URL to a file; a server that stops sending, or never ends, is an error."""
    if not url.startswith(("https://", "http://")):
        raise DataError(f"Datasets come over http or https, found {url!r}.")
    deadline = time.monotonic() + 20 * timeout
    received = 0
    import urllib.request

    with urllib.request.urlopen(url, timeout=timeout) as response:  # noqa: S310 - the scheme is checked above
        while block := response.read(1 << 16):
            received += len(block)
            if received > _LARGEST_DOWNLOAD:
                raise DataError(f"{url} sends more than {_LARGEST_DOWNLOAD:,} bytes, which no dataset here has.")
            if time.monotonic() > deadline:
                raise DataError(f"{url} is too slow: {received:,} bytes in {20 * timeout:.0f} s. Try again later.")
            stream.write(block)
