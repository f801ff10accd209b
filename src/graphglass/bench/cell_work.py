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
    measure: Callable[[str, Cell], Outcome | None],
    settings: dict[str, Any] | None = None,
    *,
    together: bool = False,
    **fields: Sequence[str | int],
) -> list[Job]:
    """One job per method and combination of `fields`, which are the fields of a cell and include ``dataset``.

    Parameters
    ----------
    measure : callable
        Takes the method and the cell; runs in the process of the cell. None where the cell has no outcome.
    settings : dict, optional
        What the benchmark decides about every cell; part of its record.
    together : bool
        Put all cells of a dataset and method into one job, whose process loads compiled code once.
    """

    def job(method: str, cells: Sequence[Cell]) -> Job:
        def run(chosen: Sequence[Cell]) -> Iterator[Outcome]:
            for cell in chosen:
                if (outcome := measure(method, cell)) is not None:
                    yield outcome

        return Job(method, tuple(cells), (str(cells[0]["dataset"]),), run, settings or {})

    # The dataset varies slowest, so that each is read once; then the method.
    names = [name for name in fields if name != "dataset"]
    jobs = []
    for dataset in fields["dataset"]:
        combinations = product(*(fields[name] for name in names))
        cells: list[Cell] = [{"dataset": dataset, **dict(zip(names, values, strict=True))} for values in combinations]
        parts = [cells] if together else [[cell] for cell in cells]
        jobs += [job(method, part) for method in methods for part in parts]
    return jobs
