"""The benchmark's datasets: the paper's twelve, the development suite, and a hash of what was read."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Mapping
from hashlib import sha256
from pathlib import Path

from glassbench.methods import unknown
from glassbench.tu_catalogue import dataset_entry
from graphglass.errors import BenchError, DataError
from graphglass.graphs.datasets import data_root, load_dataset
from graphglass.graphs.graph_set import GraphSet
from graphglass.graphs.read import read_report

# Columns of tab:main_results, in its order.
TWELVE = (
    "MUTAG", "PROTEINS", "DD", "ENZYMES", "DHFR", "BZR", "COX2",
    "AIDS", "IMDB-BINARY", "NCI1", "COLLAB", "REDDIT-BINARY",
)  # fmt: skip

# What the paper's prompts call each of them.
DOMAINS = {
    **dict.fromkeys(("MUTAG", "DHFR", "BZR", "COX2", "AIDS", "NCI1"), "mol"),
    **dict.fromkeys(("PROTEINS", "DD", "ENZYMES"), "protein"),
    **dict.fromkeys(("IMDB-BINARY", "COLLAB", "REDDIT-BINARY"), "social"),
}

# The development suite: files in the folder `suite` of the data root.
SUITE = {
    "Synthie": "Synthie.zip", "SYNTHETICnew": "SYNTHETICnew.zip", "OHSU": "OHSU.zip", "Peking_1": "Peking_1.zip",
    "MSRC_9": "MSRC_9.zip", "Letter-low": "Letter-low.zip", "COIL-RAG": "COIL-RAG.zip",
    "Fingerprint": "Fingerprint.zip", "ER_MD": "ER_MD.zip", "reddit3k": "reddit3k.jsonl.gz", "BBBP": "BBBP.csv",
    "HDFS_100k": "HDFS_100k.jsonl.gz",
}  # fmt: skip
_CLASS_COLUMNS = {"BBBP": "p_np"}
EVERY = (*TWELVE, *SUITE)


def dataset_names(chosen: Iterable[str] | None, *, suite: bool = False) -> tuple[str, ...]:
    """The chosen datasets by their names; all if none was chosen: the twelve, and with `suite` the suite's too."""
    known = EVERY if suite else TWELVE
    if chosen is None:
        return known
    cases = {name.upper(): name for name in known}
    names = []
    for name in chosen:
        try:
            names.append(cases.get(name.upper()) or dataset_entry(name).name)
        except DataError:
            raise unknown("dataset", name, known) from None
    return tuple(dict.fromkeys(names))


def own_files(chosen: Iterable[str]) -> dict[str, Path]:
    """The files and folders among the names of `--datasets`, by the name they have in records: their stem."""
    files: dict[str, Path] = {}
    for text in chosen:
        path = Path(text)
        if path.suffix or path.name != text or (text.upper() not in map(str.upper, EVERY) and path.exists()):
            name = path.name.split(".")[0]
            if not path.exists():
                raise BenchError(f"There is no dataset {text}. Name a file or folder, or a dataset of the benchmark.")
            if name.upper() in map(str.upper, EVERY) or files.setdefault(name, path) != path:
                raise BenchError(f"Another dataset is called {name}, as {text} would be in records. Rename the file.")
    return files


def load_suite(name: str, root: str | Path | None = None) -> GraphSet:
    """A dataset of the development suite, from the folder ``suite`` of the data root."""
    folder = data_root(root)
    path = None if folder is None else folder / "suite" / SUITE[name]
    if path is None or not path.exists():
        raise DataError(f"Dataset {name} was not found. Put {SUITE[name]} into the folder suite of the data root.")
    return read_report(path, label_column=_CLASS_COLUMNS.get(name)).graphs


def data_hash(graphs: GraphSet) -> str:
    """sha256 over the content of every graph and its raw class, whatever files they came from."""
    digest = sha256(bytes.fromhex("".join(graphs.content_hashes())))
    digest.update(",".join(map(str, [] if graphs.labels is None else graphs.labels.tolist())).encode())
    return digest.hexdigest()


class Datasets:
    """Datasets of a data root (default: ``GRAPHGLASS_DATA``), read once; the last `keep` in use stay in memory.

    `files` are datasets of the user's by name: files or folders that :func:`graphglass.read_graphs` reads with labels.
    """

    def __init__(self, root: str | Path | None = None, keep: int = 1, files: Mapping[str, Path] | None = None) -> None:
        self._root, self._keep, self._files = root, keep, dict(files or {})
        self._held: OrderedDict[str, GraphSet] = OrderedDict()
        self._hashes: dict[str, str] = {}

    def __getstate__(self) -> dict[str, object]:
        """A copy in another process reads the files itself."""
        root = None if self._root is None else Path(self._root).absolute()
        files = {name: path.absolute() for name, path in self._files.items()}
        return {"_root": root, "_keep": self._keep, "_files": files, "_held": OrderedDict(), "_hashes": {}}

    def get(self, name: str) -> GraphSet:
        """The graphs with their raw class labels."""
        if name not in self._held:
            while len(self._held) >= self._keep:
                self._held.popitem(last=False)
            if name in self._files:
                graphs = read_report(self._files[name]).graphs
            else:
                graphs = load_suite(name, self._root) if name in SUITE else load_dataset(name, self._root)
            if graphs.labels is None:
                raise BenchError(
                    f"Dataset {name} has no class labels, so it cannot be evaluated. Call the column label."
                )
            self._held[name] = graphs
        self._held.move_to_end(name)
        return self._held[name]

    def hash(self, name: str) -> str:
        """The :func:`data_hash` of a dataset."""
        if name not in self._hashes:
            self._hashes[name] = data_hash(self.get(name))
        return self._hashes[name]
