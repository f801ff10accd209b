"""What each detail of the authors' code is worth: the last epoch with all of them, with one alone, and with none.

A choice is ``all``, ``none``, or names of :data:`graphglass.glass.training.config.AUTHORS` joined by ``+``. A record
(benchmark ``choices``) has the figures of the reliability weights as its metrics, and those of every other rule that
reads no test label as variants. ``none`` is what the benchmark ``single`` records of ``glass``, up to rounding.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

from glassbench.authors_protocol import Task, honest_rules
from glassbench.datasets import DOMAINS
from glassbench.jobs import Job, Outcome, Plan
from glassbench.metrics import evaluate
from glassbench.protocols import blind
from glassbench.records import Cell, Results
from glassbench.single import dataset_jobs
from glassbench.table_entries import average, dataset_order, dataset_values, grouped, make_table, means_note
from glassbench.table_model import Row, Table
from graphglass.errors import BenchError
from graphglass.glass.training.config import AUTHORS

MAIN_RULE = "reliability z"


def details(choice: str) -> tuple[str, ...]:
    """The details that a choice names."""
    named = {"all": AUTHORS, "none": ()}.get(choice, tuple(choice.split("+")))
    if unknown := [name for name in named if name not in AUTHORS]:
        raise BenchError(f"Unknown detail {unknown[0]!r}. The details are: all, none, {', '.join(AUTHORS)}.")
    return named


def choice_jobs(plan: Plan, choices: Sequence[str], encoder: str = "minilm") -> list[Job]:
    """One job per dataset, choice and seed."""
    for choice in choices:
        details(choice)

    def measure(method: str, cell: Cell) -> Outcome:
        graphs, parts = plan.task(cell)
        domain = DOMAINS.get(str(cell["dataset"]), "graph")
        task = Task(domain, blind(graphs, parts.references), blind(graphs, parts.test), encoder)
        start = time.perf_counter()
        trained = task.train(task.config(seed=parts.seed, authors=details(str(cell["choice"]))))
        middle = time.perf_counter()
        rules = honest_rules(*task.sides(trained), domain)
        variants = {rule: evaluate(scores, parts.anomalous) for rule, scores in rules.items()}
        seconds = {"fit": middle - start, "score": time.perf_counter() - middle}
        return Outcome(cell, variants[MAIN_RULE], seconds, parts.counts, parts.classes, variants)

    return dataset_jobs(plan, measure, {"encoder": encoder}, choice=list(choices))


def choice_table(results: Results, metric: str = "auroc") -> Table:
    """One row per choice, one column per dataset."""
    groups = grouped(results.records(), lambda record: str(record["cell"]["choice"]))
    by_choice = {choice: dataset_values(own, metric) for choice, own in groups.items()}
    names = dataset_order(name for row in by_choice.values() for name in row)
    rows = [
        Row(choice, (*(row.get(name) for name in names), average(row.values()) if len(row) == len(names) else None))
        for choice, row in by_choice.items()
    ]
    return make_table(results, metric, ("choice", *names, "average"), rows, [means_note(results)])
