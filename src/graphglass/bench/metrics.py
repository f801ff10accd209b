"""AUROC, AUPRC and FPR95 of anomaly scores, and their mean and spread over seeds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graphglass.errors import BenchError

METRIC_NAMES = ("auroc", "auprc", "fpr95")


def evaluate(scores: ArrayLike, anomalous: ArrayLike) -> dict[str, float]:
    """Every metric of one run, in percent.

    Parameters
    ----------
    scores : (graphs,)
        Higher means more anomalous.
    anomalous : bool (graphs,)
        True where the graph is an anomaly; both kinds must occur.
    """
    values, truth = _checked(scores, anomalous)
    return {"auroc": auroc(values, truth), "auprc": auprc(values, truth), "fpr95": fpr95(values, truth)}


def auroc(scores: ArrayLike, anomalous: ArrayLike) -> float:
    """The chance, in percent, that an anomaly scores above a normal graph; ties count half."""
    values, truth = _checked(scores, anomalous)
    normals = np.sort(values[~truth])
    queries = values[truth]
    below = np.searchsorted(normals, queries, "left").astype(np.float64)
    equal = np.searchsorted(normals, queries, "right") - below
    return float(100.0 * (below + 0.5 * equal).mean() / len(normals))


def auprc(scores: ArrayLike, anomalous: ArrayLike) -> float:
    """Average precision in percent: the area under the precision steps, anomalies positive."""
    hits, alarms = _curve(*_checked(scores, anomalous))
    precision = hits / alarms
    steps = np.diff(np.concatenate([[0], hits])) / hits[-1]
    return float(100.0 * (steps * precision).sum())


def fpr95(scores: ArrayLike, anomalous: ArrayLike) -> float:
    """False-positive rate in percent at the first threshold that catches 95% of the anomalies."""
    values, truth = _checked(scores, anomalous)
    hits, alarms = _curve(values, truth)
    first = int(np.argmax(hits >= 0.95 * hits[-1] - 1e-9))
    return float(100.0 * (alarms[first] - hits[first]) / (~truth).sum())


def summary(values: Iterable[float]) -> tuple[float, float, int]:
    """Mean, sample standard deviation (n - 1; NaN for one value) and number of values."""
    array = np.array(list(values), dtype=np.float64)
    if not len(array):
        raise BenchError("A mean needs at least one finished run, found none.")
    return float(array.mean()), float(array.std(ddof=1)) if len(array) > 1 else float("nan"), len(array)


def average_ranks(table: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    """Average rank of each row over the columns that every row has; 1 is best, ties share the mean rank."""
    rows = list(table)
    columns = [c for c in dict.fromkeys(c for row in table.values() for c in row) if all(c in table[r] for r in rows)]
    if not columns:
        return {}
    values = np.array([[table[row][column] for column in columns] for row in rows])
    better = (values[None, :, :] > values[:, None, :]).sum(axis=1)
    equal = (values[None, :, :] == values[:, None, :]).sum(axis=1)
    ranks = (better + 0.5 * (equal + 1)).mean(axis=1)
    return dict(zip(rows, ranks.tolist(), strict=True))


def _curve(values: NDArray[np.float64], truth: NDArray[np.bool_]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Anomalies caught and alarms raised at each distinct threshold, from the highest score down."""
    order = np.argsort(-values, kind="stable")
    ranked, labels = values[order], truth[order]
    ends = np.concatenate([np.flatnonzero(np.diff(ranked)), [len(ranked) - 1]])
    return np.cumsum(labels)[ends], ends + 1


def _checked(scores: ArrayLike, anomalous: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    values, truth = np.asarray(scores, dtype=np.float64), np.asarray(anomalous, dtype=bool)
    if values.shape != truth.shape or values.ndim != 1:
        raise BenchError(f"Scores and labels must be two rows of one length, found {values.shape} and {truth.shape}.")
    if not np.isfinite(values).all():
        raise BenchError(f"Scores must be finite, found {int((~np.isfinite(values)).sum())} that are not.")
    if truth.all() or not truth.any():
        raise BenchError("A metric needs normal and anomalous graphs, found only one kind in the test set.")
    return values, truth
