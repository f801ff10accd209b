"""Class labels of the input: they choose the graphs to fit on and measure a ranking; no score depends on them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray

from graphglass.errors import InputError
from graphglass.messages import counted, listing

if TYPE_CHECKING:
    from graphglass.detector.known_queries import LeftOut
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


def _spelled(value: Any) -> str:
    """1, 1.0 and "1" are one class."""
    text = str(value).strip()
    if re.fullmatch(r"[+-]?\d+", text):  # not through a float, which has too few digits for a long id
        return str(int(text))
    try:
        number = float(text)
    except ValueError:
        return text
    return str(int(number)) if number.is_integer() else text


def aurocs(truth: NDArray[np.bool_] | None, *found: LeftOut) -> list[float]:
    """The AUROC of each model's scores; none if the classes are unknown, or if one has no graph.

    Graphs that are not fair for one of the models are left out.
    """
    if truth is None:
        return []
    fair = np.logical_and.reduce([part.fair for part in found])
    known = np.logical_or.reduce([part.known for part in found])
    reasons = []
    if unscored := int(np.logical_or.reduce([part.unscored for part in found]).sum()):
        reasons.append(f"{counted(unscored, 'reference')} without a leave-one-out score")
    if known.any():
        reasons.append(counted(int(known.sum()), "known anomaly", "known anomalies"))
    if reasons:
        typer.echo(f"Left out of the AUROC: {' and '.join(reasons)}.", err=True)
    truth = truth[fair]
    if not len(truth):
        typer.echo("No graph is left for the AUROC.", err=True)
        return []
    if truth.all() or not truth.any():
        rest = "the other graphs" if reasons else "all graphs"
        typer.echo(f"AUROC needs both classes; {rest} are {'anomalous' if truth.all() else 'normal'}.", err=True)
        return []
    return [_area(truth, part.scores[fair]) for part in found]


def print_auroc(truth: NDArray[np.bool_] | None, found: LeftOut, scores: NDArray[np.float64]) -> None:
    """Print how well scores separate the classes, if they are known.

    Where leave-one-out scores of references take the place of `scores`, both figures are printed: a graph that equals
    a reference may be the reference itself, or another one like it.
    """
    for area in aurocs(truth, found):
        assert truth is not None
        fair = found.fair
        normal, other = int((fair & ~truth).sum()), int((fair & truth).sum())
        sizes = f"{counted(normal, 'normal graph')}, {counted(other, 'anomaly', 'anomalies')}"
        left_out = ""
        if own := int((found.own & fair).sum()):
            listed = _area(truth[fair], scores[fair])
            left_out = f" with leave-one-out scores of {counted(own, 'reference')}; {listed:.4f} with scores as listed"
        typer.echo(f"AUROC {area:.4f} ({sizes}){left_out}.")


def _area(truth: NDArray[np.bool_], scores: NDArray[np.float64]) -> float:
    from sklearn.metrics import roc_auc_score

    return float(roc_auc_score(truth, scores))
