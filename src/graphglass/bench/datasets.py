"""The benchmark's datasets: the paper's order, their domains, and a hash of what was read."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from difflib import get_close_matches
from hashlib import sha256
from pathlib import Path
from typing import Any

from graphglass.errors import BenchError, DataError
from graphglass.graphs import GraphSet
from graphglass.graphs.tu_catalogue import dataset_entry, load_dataset

# Columns of tab:main_results, in its order.
TWELVE = (
    "MUTAG", "PROTEINS", "DD", "ENZYMES", "DHFR", "BZR", "COX2",
    "AIDS", "IMDB-BINARY", "NCI1", "COLLAB", "REDDIT-BINARY",
)  # fmt: skip


def dataset_names(chosen: Iterable[str] | None) -> tuple[str, ...]:
    """The chosen datasets by their TU names, all twelve if none was chosen.

    Raises
    ------
    BenchError
        If a name is unknown; the message names the nearest one.
    """
    if chosen is None:
        return TWELVE
    names = []
    for name in chosen:
        try:
            names.append(dataset_entry(name).name)
        except DataError:
            close = get_close_matches(name.upper(), TWELVE, n=1)
            hint = f" Did you mean {close[0]!r}?" if close else ""
            raise BenchError(f"Unknown dataset {name!r}.{hint} The datasets are: {', '.join(TWELVE)}.") from None
    return tuple(dict.fromkeys(names))


def data_hash(graphs: GraphSet) -> str:
    """sha256 over the content of every graph and its raw class, whatever files they came from."""
    digest = sha256()
    for content in graphs.content_hashes():
        digest.update(bytes.fromhex(content))
    digest.update(",".join(map(str, [] if graphs.labels is None else graphs.labels.tolist())).encode())
    return digest.hexdigest()


class Datasets:
    """Datasets read once and kept while they are in use.

    Parameters
    ----------
    root : path or None
        The data root; None reads ``GRAPHGLASS_DATA``.
    keep : int
        How many stay in memory; the one not used for longest leaves first.
    """

    def __init__(self, root: str | Path | None = None, keep: int = 1) -> None:
        self._root, self._keep = root, keep
        self._held: OrderedDict[str, GraphSet] = OrderedDict()
        self._hashes: dict[str, str] = {}

    def __getstate__(self) -> dict[str, Any]:
        """A copy in another process reads the files itself."""
        root = None if self._root is None else Path(self._root).absolute()
        return {"_root": root, "_keep": self._keep, "_held": OrderedDict(), "_hashes": {}}

    def get(self, name: str) -> GraphSet:
        """The graphs with their raw class labels."""
        if name not in self._held:
            while len(self._held) >= self._keep:
                self._held.popitem(last=False)
            graphs = load_dataset(name, self._root)
            if graphs.labels is None:
                raise BenchError(f"Dataset {name} has no class labels, so it cannot be evaluated.")
            self._held[name] = graphs
        self._held.move_to_end(name)
        return self._held[name]

    def hash(self, name: str) -> str:
        """The :func:`data_hash` of a dataset."""
        if name not in self._hashes:
            self._hashes[name] = data_hash(self.get(name))
        return self._hashes[name]
