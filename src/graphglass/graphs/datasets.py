"""The twelve TU benchmark datasets by name: MUTAG comes with the package, the others are read from a data root."""

from __future__ import annotations

import os
from importlib.resources import files
from pathlib import Path

from graphglass.errors import DataError
from graphglass.graphs.graph_set import GraphSet
from graphglass.graphs.readers.tu import read_tu

TWELVE = (
    "MUTAG", "PROTEINS", "DD", "ENZYMES", "DHFR", "BZR", "COX2", "AIDS", "NCI1", "IMDB-BINARY", "COLLAB",
    "REDDIT-BINARY",
)  # fmt: skip
ALIASES = {"D&D": "DD", "IMDB-B": "IMDB-BINARY", "REDDIT-B": "REDDIT-BINARY"}


def dataset_name(name: str) -> str:
    """TU's name of a dataset, from that name or the paper's abbreviation in any case."""
    known = ALIASES.get(name.upper(), name.upper())
    if known not in TWELVE:
        raise DataError(f"There is no dataset called {name!r}. Known: {', '.join(TWELVE)}.")
    return known


def data_root(given: str | Path | None = None) -> Path | None:
    """The folder datasets are kept in: the argument, else ``GRAPHGLASS_DATA``, else None."""
    chosen = given if given is not None else os.environ.get("GRAPHGLASS_DATA")
    return Path(chosen).expanduser() if chosen else None


def find_dataset(name: str, root: str | Path | None = None) -> Path | None:
    """The zip or folder of a dataset under the data root, or None."""
    known, folder = dataset_name(name), data_root(root)
    candidates = [] if folder is None else [folder / f"{known}.zip", folder / known]
    return next((path for path in candidates if path.exists()), None)


def bundled_path(name: str) -> Path | None:
    """The package's own copy of a dataset, or None."""
    path = Path(str(files("graphglass.graphs"))) / f"{dataset_name(name)}.zip"
    return path if path.is_file() else None


def load_dataset(name: str, data_root: str | Path | None = None) -> GraphSet:
    """One of the twelve TU datasets; MUTAG needs no data root.

    Parameters
    ----------
    name : str
        As TU calls it; ``D&D``, ``IMDB-B`` and ``REDDIT-B`` are understood.
    data_root : path, optional
        Folder with ``NAME.zip`` or ``NAME/``; otherwise the environment variable ``GRAPHGLASS_DATA``.

    Raises
    ------
    DataError
        If the dataset is not there; the message says how to fetch it. Nothing is downloaded here.

    Examples
    --------
    >>> from graphglass import load_dataset
    >>> len(load_dataset("MUTAG"))
    188
    """
    known = dataset_name(name)
    path = find_dataset(known, data_root) or bundled_path(known)
    if path is not None:
        return read_tu(path)
    raise DataError(
        f"Dataset {known} was not found. Set GRAPHGLASS_DATA (or data_root=) to a folder with {known}.zip, "
        f"or fetch it with: glassbench data get {known} --data-root FOLDER"
    )
