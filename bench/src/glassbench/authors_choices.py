"""What each detail of the authors' code is worth: the last epoch with all of them, with one alone, and with none.

A choice is ``all``, ``none``, or names of :data:`graphglass.glass.training.config.AUTHORS` joined by ``+``, among them
``prompt-2`` and ``untrained``. A record (benchmark ``choices``) has the figures of the reliability weights as its
metrics, and those of every other rule that reads no test label as variants. ``training-mode`` is what the benchmark
``single`` records of ``glass``, up to rounding.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from glassbench.authors_protocol import fitted_sides, honest_rules
from glassbench.jobs import Job, Outcome, Plan
from glassbench.metrics import evaluate, summary
from glassbench.protocols import blind
from glassbench.records import Cell, Record, Results
from glassbench.single import built, dataset_jobs
from glassbench.table_entries import (
    average,
    dataset_of,
    dataset_order,
    grouped,
    make_table,
    means_note,
    variant_entry,
)
from glassbench.table_model import Row, Table, Value
from graphglass.errors import BenchError
from graphglass.glass.training.config import AUTHORS

MAIN_RULE = "reliability z"
OTHERS = ("prompt-2", "untrained")
RULES = (MAIN_RULE, "reliability raw", "domain z", "graph", "text")


def settings(choice: str) -> dict[str, Any]:
    """The parameters of GLASS that a choice names."""
    named = set({"all": AUTHORS, "none": ()}.get(choice, choice.split("+")))
    if unknown := sorted(named.difference(AUTHORS, OTHERS)):
        known = ", ".join(("all", "none", *AUTHORS, *OTHERS))
        raise BenchError(f"Unknown detail {unknown[0]!r}. The details are: {known}.")
    details = tuple(name for name in AUTHORS if name in named)
    chosen: dict[str, Any] = {"prompt": 1 + ("prompt-2" in named), "details": details}
    return chosen | ({"epochs": 0} if "untrained" in named else {})


def choice_jobs(plan: Plan, choices: Sequence[str], encoder: str = "minilm") -> list[Job]:
    """One job per dataset, choice and seed."""
    for choice in choices:
        settings(choice)

    def measure(method: str, cell: Cell) -> Outcome:
        graphs, parts = plan.task(cell)
        references, queries = blind(graphs, parts.references), blind(graphs, parts.test)
        start = time.perf_counter()
        detector = built(method, cell, encoder=encoder, **settings(str(cell["choice"]))).fit(references)
        middle = time.perf_counter()
        rules = honest_rules(*fitted_sides(detector, queries), detector.domain)
        variants = {rule: evaluate(scores, parts.anomalous) for rule, scores in rules.items()}
        seconds = {"fit": middle - start, "score": time.perf_counter() - middle}
        return Outcome(cell, variants[MAIN_RULE], seconds, parts.counts, parts.classes, variants)

    return dataset_jobs(plan, measure, {"encoder": encoder}, choice=list(choices))


def choice_tables(results: Results, metric: str = "auroc") -> list[Table]:
    """The effect of every choice by dataset, and its average under several rules.

    The effect is against the same cells with ``none``, or with ``untrained``.
    """
    groups = grouped(results.records(), lambda record: str(record["cell"]["choice"]))
    added, averages = {}, []
    for choice, own in groups.items():
        if choice not in ("none", "untrained"):
            base = groups.get("untrained" if choice.startswith("untrained+") else "none", [])
            added[choice] = _differences(own, base, metric)
        every = [tuple(variant_entry(some, rule, metric) for rule in RULES) for some in _by_dataset(own)]
        averages.append(Row(choice, (str(len(every)), *(average(column) for column in zip(*every, strict=True)))))
    names = dataset_order(name for found in added.values() for name in found)
    effects = []
    for choice, found in added.items():
        cells = tuple(Value(*summary(found[name])) if name in found else None for name in names)
        effects.append(Row(choice, (*cells, average(cells))))
    notes = [means_note(results)]
    shown = [row for row in effects if row.entries[-1] is not None]
    averages = [row for row in averages if any(entry is not None for entry in row.entries[1:])]
    first = "what a choice adds to the reliability weights"
    return [
        make_table(results, metric, ("choice", *names, "average"), shown, notes, what=first),
        make_table(results, metric, ("choice", "datasets", *RULES), averages, notes, what="choices by rule"),
    ]


def _differences(records: Sequence[Record], base: Sequence[Record], metric: str) -> dict[str, list[float]]:
    """By dataset: figures of records minus those of the same dataset and seed in `base`."""
    known = {(r["cell"]["dataset"], r["cell"]["seed"]): float(r["metrics"][metric]) for r in base}
    found: dict[str, list[float]] = {}
    for record in records:
        if (cell := (record["cell"]["dataset"], record["cell"]["seed"])) in known:
            found.setdefault(str(cell[0]), []).append(record["metrics"][metric] - known[cell])
    return found


def _by_dataset(records: Sequence[Record]) -> list[list[Record]]:
    return list(grouped(records, dataset_of).values())
