"""Another distribution instead of another class: the references are one dataset, the anomalies graphs of another.

The protocol of GOOD-D and UB-GOLD: 90% of a dataset are references; the test set is the rest and as many graphs of the
other dataset. Their code takes the first graphs of the other file; here they are drawn at random. ``structure`` leaves
out labels and attributes, ``elements`` keeps the chemical elements where both datasets name them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import product

import numpy as np
from numpy.typing import NDArray

from glassbench.jobs import Job, Outcome, Plan
from glassbench.methods import factory
from glassbench.metrics import evaluate
from glassbench.protocols import blind
from glassbench.records import Cell, Results
from glassbench.single import fit_and_score
from glassbench.table_entries import SHORT, by_method, make_table, means_note, values_by
from glassbench.table_model import Entry, Row, Table, Value
from graphglass.errors import BenchError
from graphglass.graphs.concatenation import concatenate
from graphglass.graphs.graph_set import GraphSet

SHARE = 90  # percent of a dataset that are references
# AUROC that GOOD-D prints (Liu et al., WSDM 2023); the other published pairs need datasets that are not among these.
PUBLISHED = {("BZR", "COX2"): 95.0, ("AIDS", "DHFR"): 99.1, ("ENZYMES", "PROTEINS"): 61.8}
PAIRS = (
    *PUBLISHED, ("COX2", "BZR"), ("COX2", "DHFR"), ("DHFR", "AIDS"), ("MUTAG", "AIDS"), ("NCI1", "AIDS"),
    ("PROTEINS", "ENZYMES"), ("PROTEINS", "DD"), ("IMDB-BINARY", "COLLAB"), ("COLLAB", "IMDB-BINARY"),
    ("REDDIT-BINARY", "reddit3k"), ("Letter-low", "Fingerprint"), ("OHSU", "Peking_1"), ("Synthie", "SYNTHETICnew"),
)  # fmt: skip
ELEMENTS = (("BZR", "COX2"), ("COX2", "BZR"), ("COX2", "DHFR"), ("AIDS", "DHFR"), ("MUTAG", "AIDS"))


def shift_jobs(plan: Plan) -> list[Job]:
    """One job per pair, form and method, for the pairs whose references are a dataset of the plan."""

    def run(method: str, cells: Sequence[Cell]) -> Iterator[Outcome]:
        for cell in cells:
            one, other = (plan.datasets.get(str(cell[name])) for name in ("dataset", "other"))
            references, queries, anomalous = shifted(one, other, str(cell["kept"]), int(cell["seed"]))
            _, scores, seconds = fit_and_score(factory(method)(int(cell["seed"])), references, queries)
            tested = np.bincount(anomalous, minlength=2).tolist()
            counts = {"references": len(references), "test_normal": tested[0], "test_anomalous": tested[1]}
            yield Outcome(cell, evaluate(scores, anomalous), seconds, counts, {})

    jobs = []
    settings = [(*pair, "structure") for pair in PAIRS] + [(*pair, "elements") for pair in ELEMENTS]
    for (one, other, kept), method in product(settings, plan.methods):
        if one in plan.names:
            cells: tuple[Cell, ...] = tuple(
                {"dataset": one, "other": other, "kept": kept, "seed": seed} for seed in plan.seeds
            )
            jobs.append(Job(method, cells, (one, other), partial(run, method), {"references": f"{SHARE}%"}))
    return jobs


def shifted(one: GraphSet, other: GraphSet, kept: str, seed: int) -> tuple[GraphSet, GraphSet, NDArray[np.bool_]]:
    """References and queries of a pair, blinded, and which queries are of the other dataset."""
    draw = np.random.default_rng(seed)
    order = draw.permutation(len(one))
    references, rest = np.split(order, [len(one) * SHARE // 100])
    drawn = draw.permutation(len(other))[: len(rest)]
    parts = [bare(one, kept), bare(other, kept)]
    if kept == "elements":
        parts = _elements(one, other, parts)
    joined = concatenate([_named(name, part) for name, part in zip(("one", "other"), parts, strict=True)])
    test = draw.permutation(np.concatenate([rest, len(one) + drawn]))
    return blind(joined, references), blind(joined, test), test >= len(one)


def bare(graphs: GraphSet, kept: str) -> GraphSet:
    """The undirected skeletons without a class."""
    if kept not in ("structure", "elements"):
        raise BenchError(f"Graphs are compared by structure or by elements, found {kept!r}.")
    return replace(graphs.structure_only(), labels=None, columns={})


def _elements(one: GraphSet, other: GraphSet, parts: Sequence[GraphSet]) -> list[GraphSet]:
    """The skeletons with one label per chemical element, the same in both sets."""
    names = [part.code_names.get("node", {}) for part in (one, other)]
    symbols = sorted({symbol for own in names for symbol in own.values()})
    labelled = []
    for source, own, part in zip((one, other), names, parts, strict=True):
        if source.node_labels is None or not own:
            raise BenchError("Elements can be kept only where a dataset names the elements of its atoms.")
        codes, places = np.unique(source.node_labels, return_inverse=True)
        table = np.array([symbols.index(own[code]) for code in codes.tolist()], np.int64)
        labelled.append(replace(part, node_labels=table[places]))
    return labelled


def _named(prefix: str, graphs: GraphSet) -> GraphSet:
    return replace(graphs, ids=tuple(f"{prefix}/{i}" for i in range(len(graphs))))


def shift_tables(results: Results, metric: str = "auroc") -> list[Table]:
    """One row per pair, one column per method, the published figures next to them."""
    values = {
        method: values_by(own, lambda r: (r["cell"]["dataset"], r["cell"]["other"], r["cell"]["kept"]), metric)
        for method, own in by_method(results.records()).items()
    }
    rows = []
    for kept, pairs in (("structure", PAIRS), ("elements", ELEMENTS)):
        for one, other in pairs:
            entries: list[Entry] = [own.get((one, other, kept)) for own in values.values()]
            if not any(entries):
                continue
            printed = PUBLISHED.get((one, other)) if kept == "structure" and metric == "auroc" else None
            entries.append(None if printed is None else Value(printed))
            title = f"{SHORT.get(one, one)} against {SHORT.get(other, other)}"
            rows.append(Row(title, tuple(entries), group="structure only" if kept == "structure" else "elements kept"))
    head = ("references against", *values, "GOOD-D, published")
    note = (
        "90% of the first dataset are references; its rest and as many random graphs of the second are tested. GOOD-D "
        "takes the first graphs of the second file, and sets its epochs per pair."
    )
    return [make_table(results, metric, head, rows, [means_note(results), note], what="another distribution")]
