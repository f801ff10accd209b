"""One job as it is handed out: its cells without a record, and the data they must be measured on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
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
    """The open cells of a job.

    Attributes
    ----------
    data : mapping
        sha256 of every dataset the job reads.
    """

    job: Job
    cells: Sequence[Cell]
    data: dict[str, str]


Measured = tuple[Outcome, float]  # with the peak memory of its process in megabytes
