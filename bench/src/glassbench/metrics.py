"""AUROC, AUPRC and FPR95 of anomaly scores, and their mean and spread over seeds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import rankdata
from sklearn.metrics import average_precision_score, roc_auc_score, roc_curve

from graphglass.errors import BenchError

METRIC_NAMES = ("auroc", "auprc", "fpr95")


def evaluate(scores: ArrayLike, anomalous: ArrayLike) -> dict[str, float]:
    """Every metric of one run, in percent.

    Parameters
    ----------
    scores : float (graphs,)
        Higher means more anomalous.
    anomalous : bool (graphs,)
        True where the graph is an anomaly; both kinds must occur.

    Returns
    -------
    dict of str to float
        ``auroc`` counts ties half, ``auprc`` is the average precision with anomalies positive, ``fpr95`` is the
        false-positive rate at the first threshold that finds 95% of the anomalies.
    """
    values, truth = np.asarray(scores, dtype=np.float64), np.asarray(anomalous, dtype=bool)
    if values.shape != truth.shape or values.ndim != 1:
        raise BenchError(f"Scores and labels must be two rows of one length, found {values.shape} and {truth.shape}.")
    if not np.isfinite(values).all():
        raise BenchError(f"Scores must be finite, found {int((~np.isfinite(values)).sum())} that are not.")
    if truth.all() or not truth.any():
        raise BenchError("A metric needs normal and anomalous graphs, found only one kind in the test set.")
    false_rate, true_rate, _ = roc_curve(truth, values, drop_intermediate=False)
    return {
        "auroc": 100.0 * float(roc_auc_score(truth, values)),
        "auprc": 100.0 * float(average_precision_score(truth, values)),
        "fpr95": 100.0 * float(false_rate[np.argmax(true_rate >= 0.95 - 1e-12)]),
    }


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
    return dict(zip(rows, rankdata(-values, axis=0).mean(axis=1).tolist(), strict=True))
