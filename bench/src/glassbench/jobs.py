"""What is run: the plan of a benchmark, jobs of cells that share work, and the outcome of a cell."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import TYPE_CHECKING, Any

from glassbench.datasets import Datasets
from glassbench.protocols import Split, check_protocol, split
from glassbench.records import Cell
from graphglass.graphs.graph_set import GraphSet

if TYPE_CHECKING:
    from glassbench.source_models import SourceEncoders


@dataclass(frozen=True)
class Plan:
    """What a benchmark runs over: datasets, methods and splits, and where the encoders that it trains are kept."""

    datasets: Datasets
    names: Sequence[str]
    methods: Sequence[str]
    protocol: str = "minority"
    seeds: tuple[int, ...] = (0, 1, 2, 3, 4)
    flip: bool = False
    encoders: SourceEncoders | None = None  # without it every encoder is trained again

    def __post_init__(self) -> None:
        check_protocol(self.protocol)

    def split(self, graphs: GraphSet, seed: int) -> Split:
        """The split of a dataset for one seed."""
        assert graphs.labels is not None
        return split(graphs.labels, self.protocol, seed, flip=self.flip)

    def task(self, cell: Cell) -> tuple[GraphSet, Split]:
        """The dataset of a cell and its split."""
        graphs = self.datasets.get(str(cell["dataset"]))
        return graphs, self.split(graphs, int(cell["seed"]))


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
    peak_memory_mb : float
        Of the process that measured it; the runner sets it.
    """

    cell: Cell
    metrics: dict[str, float]
    seconds: dict[str, float]
    counts: dict[str, int]
    labels: dict[str, list[int]]
    variants: dict[str, dict[str, float]] = field(default_factory=dict)
    peak_memory_mb: float = float("nan")


@dataclass(frozen=True)
class Job:
    """Cells that share work (one fit, several targets); `run` yields an outcome for each of `cells` it is given."""

    method: str
    cells: tuple[Cell, ...]
    datasets: tuple[str, ...]
    run: Callable[[Sequence[Cell]], Iterator[Outcome]]
    settings: dict[str, Any] = field(default_factory=dict)


def cell_jobs(
    plan: Plan,
    measure: Callable[[str, Cell], Outcome | None],
    settings: dict[str, object] | None = None,
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

    # The dataset varies slowest, so each is read once; then the method.
    names = ("dataset", *fields, "seed")
    jobs = []
    for dataset in plan.names:
        combinations = product([dataset], *fields.values(), plan.seeds)
        cells: list[Cell] = [dict(zip(names, values, strict=True)) for values in combinations]
        parts = [cells] if together else [[cell] for cell in cells]
        jobs += [job(method, part) for method in plan.methods for part in parts]
    return jobs
