"""The development suite: every class a task, in both directions, on the twelve datasets and twelve others.

A dataset with two classes gives one task, its minority class; a dataset with more gives one task for each of its ten
most frequent classes. In the direction ``anomalous`` the class is the anomaly and all others are normal; in the
direction ``normal`` it is the other way round. Averages are taken within a dataset first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glassbench.jobs import Job, Outcome, Plan, cell_jobs
from glassbench.methods import factory
from glassbench.protocols import Split, shuffled_split
from glassbench.records import Cell
from glassbench.single import dataset_cell
from graphglass.errors import BenchError

DIRECTIONS = ("anomalous", "normal")
CLASSES = 10
# Graphs of one task at most, drawn at random: the suite takes minutes. Part of every record.
LIMITS = {"references": 600, "test_normal": 200, "test_anomalous": 400}


def suite_jobs(plan: Plan) -> list[Job]:
    """One job per dataset and method, with a cell for each class, direction and seed."""

    def measure(method: str, cell: Cell) -> Outcome:
        graphs = plan.datasets.get(str(cell["dataset"]))
        parts = class_split(graphs.labels, int(cell["class"]), str(cell["direction"]), int(cell["seed"]))
        return dataset_cell(graphs, parts, factory(method)(parts.seed), cell)

    jobs = []
    for name in plan.names:
        classes = task_classes(plan.datasets.get(name).labels)
        fields: dict[str, Sequence[Any]] = {"class": classes, "direction": DIRECTIONS}
        jobs += cell_jobs(replace(plan, names=[name]), measure, {"limits": dict(LIMITS)}, together=True, **fields)
    return jobs


def task_classes(labels: NDArray[Any] | None) -> list[int]:
    """The classes that give a task: the minority class of two, else the ten most frequent; ties by label."""
    classes, counts = np.unique(np.asarray(labels), return_counts=True)
    if len(classes) < 2:
        raise BenchError(f"A task needs at least two classes, found {classes.tolist()}.")
    if len(classes) == 2:
        return [int(classes[np.argmin(counts)])]
    return sorted(int(label) for label in classes[np.argsort(-counts, kind="stable")[:CLASSES]])


def class_split(labels: NDArray[Any] | None, label: int, direction: str, seed: int) -> Split:
    """80% of the normal graphs as references, the others and the anomalies as the test set, each within the limits."""
    raw = np.asarray(labels)
    odd = (raw == label) == (direction == "anomalous")
    draw = np.random.default_rng([seed, label & 0xFFFF, DIRECTIONS.index(direction)])
    normal, anomalies = draw.permutation(np.flatnonzero(~odd)), draw.permutation(np.flatnonzero(odd))
    cut = len(normal) * 4 // 5
    test = [normal[cut:][: LIMITS["test_normal"]], anomalies[: LIMITS["test_anomalous"]]]
    return shuffled_split(raw, odd, normal[:cut][: LIMITS["references"]], np.concatenate(test), seed)
