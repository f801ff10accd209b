"""Class labels of the input: they choose the graphs to fit on and measure a ranking; no score depends on them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray

from graphglass.errors import InputError
from graphglass.wording import counted, listing

if TYPE_CHECKING:
    from graphglass.detector.glass import GLASS
    from graphglass.graphs.graph_set import GraphSet

LABEL_COLUMN = Annotated[
    str | None, typer.Option("--label-column", help="Column with the class of a graph; `label` by default.")
]
NORMAL = Annotated[str | None, typer.Option("--normal", help="The class that is normal; all others are anomalous.")]


def anomalous(graphs: GraphSet, label_column: str | None, normal: str | None, path: Path) -> NDArray[np.bool_] | None:
    """Which graphs have another class than ``normal``, (graphs,); None if neither option was given."""
    if normal is None and label_column is None:
        return None
    if graphs.labels is None:
        raise InputError(f"{path} has no class labels. Name the column that holds them with --label-column.")
    classes = [_spelled(value) for value in graphs.labels.tolist()]
    found = listing(sorted(set(classes)))
    if normal is None:
        raise InputError(f"--label-column needs --normal CLASS: which class is normal? Found in {path}: {found}.")
    if _spelled(normal) not in classes:
        raise InputError(f"No graph in {path} has the class {normal!r}. Found: {found}.")
    return np.array([value != _spelled(normal) for value in classes])


def _spelled(value: Any) -> str:
    """1, 1.0 and "1" are one class."""
    text = str(value).strip()
    try:
        number = float(text)
    except ValueError:
        return text
    return str(int(number)) if number.is_integer() else text


def left_out_scores(detector: GLASS, graphs: GraphSet, scores: NDArray[np.float64]) -> tuple[NDArray[np.float64], int]:
    """Scores in which queries that are references have their leave-one-out score; and how many such queries there are.

    A reference that is compared with itself scores too low.
    """
    references = detector.references_.graphs
    places = {pair: place for place, pair in enumerate(zip(references.ids, references.content_hashes(), strict=True))}
    pairs = zip(graphs.ids, graphs.content_hashes(), strict=True)
    own = np.array([places.get(pair, -1) for pair in pairs], dtype=np.int64)
    return np.where(own >= 0, detector.decision_scores_[own], scores), int((own >= 0).sum())


def print_auroc(truth: NDArray[np.bool_] | None, scores: NDArray[np.float64]) -> None:
    """Print how well scores separate the classes, if they are known."""
    if truth is None:
        return
    if truth.all() or not truth.any():
        typer.echo("AUROC needs both classes; all graphs are " + ("anomalous." if truth.all() else "normal."), err=True)
        return
    from sklearn.metrics import roc_auc_score

    sizes = f"{counted(int((~truth).sum()), 'normal graph')}, {counted(int(truth.sum()), 'anomaly', 'anomalies')}"
    typer.echo(f"AUROC {roc_auc_score(truth, scores):.4f} ({sizes}).")
