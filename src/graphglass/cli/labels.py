"""Class labels of the input: they choose the graphs to fit on and measure a ranking; no score depends on them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np
import typer
from numpy.typing import NDArray

from graphglass.errors import InputError
from graphglass.messages import counted, listing

if TYPE_CHECKING:
    from graphglass.detector.scored_graphs import ScoredGraphs
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
        raise InputError(
            f"{path} has no class labels, or not one for every graph. Name the column that holds them with "
            "--label-column, and fill its blank cells."
        )
    classes = [_spelled(value) for value in graphs.labels.tolist()]
    found = listing(sorted(set(classes)))
    if normal is None:
        raise InputError(f"--label-column needs --normal CLASS: which class is normal? Found in {path}: {found}.")
    wanted = _spelled(normal)
    if wanted not in classes and graphs.labels.dtype.kind == "i":
        wanted = {"false": "0", "true": "1"}.get(wanted.lower(), wanted)  # true and false of JSON are numbers here
    if wanted not in classes:
        raise InputError(f"No graph in {path} has the class {normal!r}. Found: {found}.")
    return np.array([value != wanted for value in classes])


def _spelled(value: object) -> str:
    """1, 1.0 and "1" are one class."""
    text = str(value).strip()
    if re.fullmatch(r"[+-]?\d+", text):  # not through a float, which has too few digits for a long id
        return str(int(text))
    try:
        number = float(text)
    except ValueError:
        return text
    return str(int(number)) if number.is_integer() else text


def aurocs(truth: NDArray[np.bool_] | None, *tables: ScoredGraphs) -> list[float]:
    """The AUROC of each model's scores; none if the classes are unknown, or if one has no graph.

    Only graphs that no model knows count: scores of a model's references and known anomalies do not show how new graphs
    are ranked.
    """
    if truth is None:
        return []
    references = np.logical_or.reduce([table.reference for table in tables])
    known = np.logical_or.reduce([table.known for table in tables])
    new = ~references & ~known
    if references.any():
        typer.echo(
            f"Left out of the AUROC: {counted(int(references.sum()), 'graph')} equal to a reference. To measure a "
            "model, hold some normal graphs out when you fit it.",
            err=True,
        )
    if known.any():
        told = counted(int(known.sum()), "known anomaly", "known anomalies")
        typer.echo(f"Left out of the AUROC: {told}.", err=True)
    truth = truth[new]
    if not len(truth) or truth.all() or not truth.any():
        left = "no graph is left" if not len(truth) else f"all are {'anomalous' if truth.all() else 'normal'}"
        typer.echo(f"AUROC needs new graphs of both classes; {left}.", err=True)
        return []
    from sklearn.metrics import roc_auc_score

    return [float(roc_auc_score(truth, table.scores[new])) for table in tables]


def print_auroc(truth: NDArray[np.bool_] | None, table: ScoredGraphs) -> None:
    """Print how well scores separate the classes, if they are known."""
    for area in aurocs(truth, table):
        assert truth is not None
        new = ~table.reference & ~table.known
        normal, other = int((new & ~truth).sum()), int((new & truth).sum())
        sizes = f"{counted(normal, 'normal graph')}, {counted(other, 'anomaly', 'anomalies')}"
        typer.echo(f"AUROC {area:.4f} ({sizes}).")
