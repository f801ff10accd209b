"""Where the printed average of 79.85 comes from: printed, selected on the test set, and honest figures side by side.

One training under the authors' protocol gives every column but the first and the last (:mod:`authors_protocol`).
"""

from __future__ import annotations

from collections.abc import Sequence

from glassbench import paper_figures as paper
from glassbench.datasets import TWELVE
from glassbench.records import Record, Results
from glassbench.table_entries import (
    SHORT,
    average,
    dataset_of,
    dataset_values,
    figure_entry,
    grouped,
    neighbour_records,
    seeds_of,
    variant_entry,
)
from glassbench.table_model import Entry, Row, Table, Value

SELECTION = "best test epoch"  # begins the names of columns that test labels choose
SELECTED = f"{SELECTION} and rule"
# The columns between the printed figures and GraphGlass, and the variant of a record that each shows.
STEPS = {
    SELECTED: "selected: best of six",
    f"{SELECTION}, domain shares": "selected: domain z",
    f"{SELECTION}, reliability": "selected: reliability z",
    "last epoch, reliability": "last: reliability z",
    "untrained, reliability": "untrained: reliability z",
}
HEAD = ("dataset", "printed", *STEPS, "GraphGlass")
COMMAND = "glassbench single --protocol authors --methods glass-plain -o bench/results/authors"
NOT_RUN = "not run"


def decomposition_tables(results: Results, metric: str = "auroc") -> list[Table]:
    """The table of a folder of the authors' protocol; GraphGlass is read from ``single/minority`` above it."""
    return [decomposition_table(results.records(), neighbour_records(results, "single/minority", "graphglass"))]


def decomposition_table(authors: Sequence[Record], graphglass: Sequence[Record]) -> Table:
    """One row per dataset, means over those that ran and over all twelve."""
    by_name = grouped(authors, dataset_of)
    ours = dataset_values(graphglass, "auroc")
    rows = []
    for name in TWELVE:
        own = by_name.get(name, [])
        found = [variant_entry(own, variant, "auroc") or NOT_RUN for variant in STEPS.values()]
        printed = figure_entry(paper.MAIN_RESULTS["glass",], name)
        rows.append(Row(SHORT.get(name, name), (printed, *found, ours.get(name) or NOT_RUN)))
    ran = [row for row in rows if all(isinstance(entry, Value) for entry in row.entries)]
    if 0 < len(ran) < len(rows):
        rows.append(_mean_row(f"mean of the {len(ran)} that ran", ran))
    rows.append(_mean_row("mean of all twelve", rows[: len(TWELVE)]))
    note = (
        f"The authors' protocol with MiniLM, seeds per dataset: {seeds_of(authors)} (of 42 to 46); GraphGlass under "
        "`minority` with seeds 0 to 4. The columns *best test epoch* use test labels and are no result of a method. "
        "*Domain shares* is on the evidence the printed rule, *reliability* the one that the paper's text names."
    )
    missing = ",".join(name for name in TWELVE if name not in by_name)
    notes = [note, f"Not run yet: `{COMMAND} --datasets {missing}`."] if missing else [note]
    return Table("Where 79.85 comes from, AUROC (%)", HEAD, tuple(rows), tuple(notes))


def _mean_row(title: str, rows: Sequence[Row]) -> Row:
    columns = zip(*(row.entries for row in rows), strict=True)
    return Row(title, tuple(_mean(column) for column in columns))


def _mean(column: Sequence[Entry]) -> Entry:
    return average(column) if all(isinstance(entry, Value) for entry in column) else NOT_RUN
