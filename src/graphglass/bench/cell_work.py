"""What is run: jobs of cells that share work, the outcome of a cell, and how a job with one cell is made."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from graphglass.bench.records import Cell


@dataclass(frozen=True)
class Outcome:
    """What one cell measured.

    Attributes
    ----------
    metrics : mapping
        AUROC, AUPRC and FPR95 in percent of the method's own score.
    seconds : mapping
        Time by part, such as ``fit`` and ``score``.
    counts : mapping
        References, and normal and anomalous test graphs.
    labels : mapping
        The raw classes that were ``normal`` and ``anomalous``.
    variants : mapping
        Further metrics by name: scoring rules, numbers of shots, reference sets.
    """

    cell: Cell
    metrics: dict[str, float]
    seconds: dict[str, float]
    counts: dict[str, int]
    labels: dict[str, list[int]]
    variants: dict[str, dict[str, float]] = field(default_factory=dict)


@dataclass(frozen=True)
class Job:
    """Cells that share work (one fit, several targets); `run` yields an outcome for each of `cells` it is given."""

    method: str
    cells: tuple[Cell, ...]
    datasets: tuple[str, ...]
    run: Callable[[Sequence[Cell]], Iterator[Outcome]]
    settings: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Work:
    """The cells of a job that have no record yet, and the sha256 of every dataset the job reads."""

    job: Job
    cells: Sequence[Cell]
    data: dict[str, str]


Measured = tuple[Outcome, float]  # with the peak memory of its process in megabytes


def cell_jobs(
    methods: Sequence[str],
    measure: Callable[[str, Cell], Outcome],
    settings: dict[str, Any] | None = None,
    **fields: Sequence[str | int],
) -> list[Job]:
    """One job per method and combination of `fields`, which are the fields of a cell and include ``dataset``.

    Parameters
    ----------
    measure : callable
        Takes the method and the cell; runs in the process of the cell.
    settings : dict, optional
        What the benchmark decides about every cell; part of its record.
    """

    def job(method: str, cell: Cell) -> Job:
        return Job(
            method, (cell,), (str(cell["dataset"]),), lambda cells: iter([measure(method, cells[0])]), settings or {}
        )

    # The dataset varies slowest, so that each is read once; then the method.
    names = [name for name in fields if name != "dataset"]
    return [
        job(method, {"dataset": dataset, **dict(zip(names, values, strict=True))})
        for dataset in fields["dataset"]
        for method in methods
        for values in product(*(fields[name] for name in names))
    ]
