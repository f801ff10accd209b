"""What each detail of the authors' code is worth: the last epoch with all of them, with one alone, and with none.

A choice is ``all``, ``none``, or names of :data:`graphglass.glass.training.config.AUTHORS` joined by ``+``, among them
``prompt-2`` and ``untrained``; ``all-but-NAMES`` leaves some out. A record (benchmark ``choices``) has the figures of
the reliability weights as its metrics, and those of every other rule that reads no test label as variants. ``none`` is
what the benchmark ``single`` records of ``glass-plain``, and ``training-mode`` what it records of ``glass``, up to
rounding: tables read those too.
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
    neighbour_records,
)
from glassbench.table_model import Row, Table, Value
from graphglass.errors import BenchError
from graphglass.glass.training.config import AUTHORS

MAIN_RULE = "reliability z"
OTHERS = ("prompt-2", "untrained")
SAME = {"none": "glass-plain", "training-mode": "glass"}  # choices that the benchmark ``single`` measures by name


def settings(choice: str) -> dict[str, Any]:
    """The parameters of GLASS that a choice names."""
    first, _, names = choice.partition("-but-")
    left_out = set(names.split("+")) if names else set()
    named = set({"all": AUTHORS, "none": ()}.get(first, first.split("+")))
    if unknown := sorted((named | left_out).difference(AUTHORS, OTHERS)):
        known = ", ".join(("all", "none", *AUTHORS, *OTHERS))
        raise BenchError(f"Unknown detail {unknown[0]!r}. The details are: {known}.")
    details = tuple(name for name in AUTHORS if name in named - left_out)
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
    """What every choice adds to the figures of the reliability weights, by dataset and on average."""
    added = choice_effects(results, metric)
    names = dataset_order(name for found in added.values() for name in found)
    rows = []
    for choice, found in added.items():
        cells = tuple(Value(*summary(found[name])) if name in found else None for name in names)
        rows += [Row(choice, (*cells, average(cells)))] if found else []
    notes = [means_note(results), "An average is over the datasets of its row."]
    what = "what a choice adds to the reliability weights"
    return [make_table(results, metric, ("choice", *names, "average"), rows, notes, what=what)]


def choice_effects(
    results: Results, metric: str = "auroc", rule: str = MAIN_RULE, base: str = "none"
) -> dict[str, dict[str, list[float]]]:
    """What every choice adds, by dataset: one difference per seed to the same split with `base`.

    Choices with an untrained graph side are compared with ``untrained``.
    """
    groups = grouped(results.records(), _choice)
    single = f"single/{results.purpose.protocol}{'-flip' if results.purpose.flip else ''}"

    def figures(choice: str) -> dict[tuple[str, int], float]:
        records = groups.get(choice, [])
        if choice in SAME and rule == MAIN_RULE:
            records = neighbour_records(results, single, SAME[choice]) + records
        shown = [(r, r["metrics"] if rule == MAIN_RULE else r.get("variants", {}).get(rule, {})) for r in records]
        return {(dataset_of(r), r["cell"]["seed"]): float(found[metric]) for r, found in shown if metric in found}

    added: dict[str, dict[str, list[float]]] = {}
    for choice in groups:
        if choice not in ("none", "untrained"):
            own, other = figures(choice), figures("untrained" if choice.startswith("untrained+") else base)
            effect = added.setdefault(choice, {})
            for name, seed in sorted(own.keys() & other.keys()):
                effect.setdefault(name, []).append(own[name, seed] - other[name, seed])
    return added


def _choice(record: Record) -> str:
    return str(record["cell"]["choice"])
