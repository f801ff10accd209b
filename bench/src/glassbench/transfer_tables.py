"""Tables of the benchmarks between domains: one per choice of references, and one per target of few-shot."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from glassbench import paper_figures as paper
from glassbench.methods import in_table_order
from glassbench.records import Record, Results
from glassbench.table_entries import (
    SHORT,
    average,
    figure_entry,
    grouped,
    make_table,
    means_note,
    variant_entry,
    variant_names,
)
from glassbench.table_model import Entry, Row, Table
from glassbench.transfer import DISJOINT, FEW, PAIRS, SIX, STRUCTURE


def transfer_tables(results: Results, metric: str = "auroc") -> list[Table]:
    """One table per choice of references: a row per source and target, a column per method (tab:cross)."""
    groups = grouped(results.records(), lambda r: (r["method"], r["cell"]["source"], r["cell"]["dataset"]))
    pairs = [pair for pair in PAIRS if any(pair == tuple(other) for _, *other in groups)]
    note = "`source NN` and `target NN`: the paper's private series, four seeds, fixed epoch."
    # The references, how they are called, and the paper's figures for them. Its text scores tab:cross by source
    # references, its code by those of the target.
    choices: tuple[tuple[str, str, dict[str, str]], ...] = (
        ("zero-shot", "source references", {"published, source NN": "source-nn"}),
        (f"{FEW} shots", f"{FEW} target references", {}),
        (
            "matched", "all target references",
            {"published, tab:cross": "transfer", "published, target NN": "target-nn"},
        ),
    )  # fmt: skip
    made = []
    for variant, title, printed in choices:
        columns: dict[str, list[Entry]] = {}
        for method, form in _methods_and_forms(groups):
            own = [variant_entry(groups.get((method, *pair), ()), f"{variant}{form}", metric) for pair in pairs]
            columns[f"{method}{form}"] = own
        columns = {name: column for name, column in columns.items() if any(column)}
        quoted = metric == "auroc" and not results.purpose.flip  # the paper does not flip
        for name, figure in printed.items() if quoted and columns else ():
            figures = paper.DISJOINT
            if figure == "transfer":  # by the authors' code these are the figures of its six molecule sources
                figures = paper.TRANSFER | {six: paper.TRANSFER["mol", six[1]] for six in SIX}
            columns[name] = [figure_entry(figures.get(pair), figure) for pair in pairs]
        rows = [
            Row(f"{source} → {SHORT.get(name, name)}", tuple(column[i] for column in columns.values()))
            for i, (source, name) in enumerate(pairs)
        ]
        if set(DISJOINT) <= set(pairs):
            shared = [[column[pairs.index(pair)] for pair in DISJOINT] for column in columns.values()]
            means = tuple(average(column) if all(column) else None for column in shared)
            rows.append(Row(f"average of the {len(DISJOINT)} disjoint settings", means))
        if columns:
            notes = [means_note(results), *([note] if printed and quoted else [])]
            made.append(
                make_table(results, metric, ("source → target", *columns), rows, notes, what=f"transfer, {title}")
            )
    return made


def few_shot_tables(results: Results, metric: str = "auroc") -> list[Table]:
    """One table per source and target: a row per number of target normals, a column per method (tab:fewshot)."""
    by_pair = grouped(results.records(), lambda r: (str(r["cell"]["source"]), str(r["cell"]["dataset"])))
    only = "k = all is every target reference; `only` leaves the source references out, as the authors' code does."
    notes = [means_note(results), only]
    made = []
    for (source, name), records in by_pair.items():
        groups = grouped(records, lambda r: (r["method"],))
        shots = sorted({re.split("[ ,]", variant)[0] for variant in variant_names(records)}, key=_shots_order)
        columns = {
            f"{method}{only}{form}": [variant_entry(groups[method,], f"{k}{only}{form}", metric) for k in shots]
            for method, form in _methods_and_forms(groups)
            for only in ("", " only")
        }
        columns = {title: column for title, column in columns.items() if any(column)}
        if metric == "auroc" and not results.purpose.flip:
            columns["published"] = [figure_entry(paper.FEW_SHOT.get((k,)), name) for k in shots]
        rows = [Row(k, entries) for k, entries in zip(shots, zip(*columns.values(), strict=True), strict=True)]
        what = f"few-shot, {source} → {SHORT.get(name, name)}"
        made.append(make_table(results, metric, ("k", *columns), rows, notes, what=what))
    return made


def _methods_and_forms(groups: Mapping[Any, Sequence[Record]]) -> Iterator[tuple[str, str]]:
    """The methods that begin the keys, in table order, each as it is and, where measured, by structure alone."""
    for method in in_table_order({key[0] for key in groups}):
        names = variant_names([record for key, own in groups.items() if key[0] == method for record in own])
        yield from ((method, form) for form in ("", STRUCTURE) if any(name.endswith(form) for name in names))


def _shots_order(shots: str) -> float:
    return math.inf if shots == "all" else float(shots)
