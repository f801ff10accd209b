"""What is run: the plan of a benchmark, jobs of cells that share work, and the outcome of a cell."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import TYPE_CHECKING, Any

from glassbench.datasets import Datasets
from glassbench.protocols import Split, Splits
from glassbench.records import Cell
from graphglass.graphs import GraphSet

if TYPE_CHECKING:
    from glassbench.source_models import SourceEncoders


@dataclass(frozen=True)
class Plan:
    """What a benchmark runs over, and where the encoders that it trains are kept; without `encoders` none is."""

    datasets: Datasets
    names: Sequence[str]
    methods: Sequence[str]
    splits: Splits = field(default_factory=Splits)
    encoders: SourceEncoders | None = None

    def task(self, cell: Cell) -> tuple[GraphSet, Split]:
        """The dataset of a cell and its split."""
        graphs = self.datasets.get(str(cell["dataset"]))
        return graphs, self.splits.of(graphs, int(cell["seed"]))


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
    plan: Plan,
    measure: Callable[[str, Cell], Outcome | None],
    settings: dict[str, Any] | None = None,
    *,
    together: bool = False,
    **fields: Sequence[str | int],
) -> list[Job]:
    """One job per dataset, method, combination of `fields` and seed, which are the fields of a cell.

    `measure` takes the method and the cell and gives None where the cell has no outcome. With `together` all cells of a
    dataset and method are one job, whose process loads compiled code once.
    """

    def job(method: str, cells: Sequence[Cell]) -> Job:
        def run(chosen: Sequence[Cell]) -> Iterator[Outcome]:
            return (outcome for cell in chosen if (outcome := measure(method, cell)) is not None)

        return Job(method, tuple(cells), (str(cells[0]["dataset"]),), run, settings or {})

    # The dataset varies slowest, so that each is read once; then the method.
    names = ("dataset", *fields, "seed")
    jobs = []
    for dataset in plan.names:
        combinations = product([dataset], *fields.values(), plan.splits.seeds)
        cells: list[Cell] = [dict(zip(names, values, strict=True)) for values in combinations]
        parts = [cells] if together else [[cell] for cell in cells]
        jobs += [job(method, part) for method in plan.methods for part in parts]
    return jobs
