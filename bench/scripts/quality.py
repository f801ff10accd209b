"""What the default reaches on the twelve datasets and the development suite, and what each part of it adds.

    python bench/scripts/quality.py tasks --data DATA --seeds 0 2     # every task: channels, rules, p-values
    python bench/scripts/quality.py few --data DATA                   # 2 to 64 references
    python bench/scripts/quality.py zero-shot --data DATA             # references of other datasets
    python bench/scripts/quality.py edges --data DATA                 # with and without direction and edge attributes
    python bench/scripts/quality.py page                              # the tables of bench/docs/quality.md

The tasks are those of `glassbench suite`. Finished tasks are kept in bench/results/quality/*.jsonl and not run again;
the page is built from these files alone.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from glassbench.datasets import EVERY, SUITE, TWELVE, Datasets
from glassbench.fingerprint import fingerprint
from glassbench.metrics import evaluate
from glassbench.protocols import blind
from glassbench.suite import DIRECTIONS, class_split, task_classes
from glassbench.table_entries import SHORT
from glassbench.table_model import filled, markdown
from glassbench.tables import tables
from graphglass import GraphGlass
from graphglass.channels.fusion import SHARPNESS
from graphglass.graphs.canonical import canonical_graph_set
from graphglass.graphs.graph_set import GraphSet

OUT = Path("bench/results/quality")
PAGE = Path("bench/docs/quality.md")
VALIDITY = Path("bench/results/benchmarks/validity.json")
KNOWN = Path("bench/results/known/full/graphglass.jsonl")
LOSS = 1.5  # points of AUROC that a task has lost if known anomalies hurt it
LEVELS = (0.01, 0.05, 0.1)
RULES = (0.01, 0.25, 0.5, SHARPNESS, 1.0, 2.0, 4.0)  # sharpness; the first is the weighted mean in effect
SIZES = (2, 4, 8, 16, 32, 64)
GROUPS = {"twelve": TWELVE, "suite": tuple(SUITE)}
# Sources and targets of one domain: what can be found without a single graph of the target.
DOMAINS = {
    ("AIDS", "MUTAG", "NCI1"): ("BZR", "COX2", "DHFR"),
    ("PROTEINS", "ENZYMES"): ("DD",),
    ("IMDB-BINARY",): ("COLLAB",),
}
Row = dict[str, Any]


# Measuring


def tasks(datasets: Datasets, names: list[str], seeds: range) -> None:
    """Channels alone, families left out, other sharpness, and p-values of held-out normals, on every task."""

    def measure(cell: Row) -> Row:
        graphs, parts = _task(datasets, cell)
        detector = GraphGlass().fit(blind(graphs, parts.references))
        scorer, queries = detector.scorer_, blind(graphs, parts.test)
        measured = detector._queries(queries, scorer)
        found = scorer.fusion.calibrated(scorer._distances(measured, scorer.search(measured)))
        weights = scorer.fusion.weights

        def area(scores: NDArray[np.float64]) -> float:
            return round(evaluate(scores, parts.anomalous)["auroc"], 3)

        def fused(sharpness: float, without: str = "") -> float:
            chosen = [name for name in found if name.partition(":")[0] != without]
            total = sum(weights[name] for name in chosen)
            return area(sum(weights[n] / total * np.expm1(sharpness * found[n]) for n in chosen))

        families = dict.fromkeys(name.partition(":")[0] for name in found)
        p_values = detector.p_values(queries)[~parts.anomalous]
        return {
            "default": area(scorer.fusion.combine(found)),
            "channels": {name: area(values) for name, values in found.items()},
            "without": {family: fused(SHARPNESS, family) for family in families} if len(families) > 1 else {},
            "sharpness": {f"{p:g}": fused(p) for p in RULES},
            "maximum": area(np.max(list(found.values()), axis=0)),
            "normals": len(p_values),
            "flagged": {f"{level:g}": int((p_values <= level).sum()) for level in LEVELS},
        }

    _run("tasks", _cells(datasets, names, seeds), measure)


def few(datasets: Datasets, names: list[str], seeds: range) -> None:
    """The same tasks with the first n references."""

    def measure(cell: Row) -> Row:
        graphs, parts = _task(datasets, cell)
        queries = blind(graphs, parts.test)
        sizes = [n for n in SIZES if n <= len(parts.references)]
        found = {}
        for n in sizes:
            scores = GraphGlass().fit(blind(graphs, parts.references[:n])).decision_function(queries)
            found[str(n)] = round(evaluate(scores, parts.anomalous)["auroc"], 3)
        return {"references": found}

    first = (cell for cell in _cells(datasets, names, seeds) if cell["class"] == _first_class(datasets, cell))
    _run("few", first, measure)


def zero_shot(datasets: Datasets, names: list[str], seeds: range) -> None:
    """References of other datasets of a domain: the target's classes, and graphs of the target that were corrupted."""

    def measure(cell: Row) -> Row:
        sources = next(pool for pool, targets in DOMAINS.items() if cell["dataset"] in targets)
        detector = GraphGlass().fit({name: _sample(datasets.get(name), 400, cell["seed"]) for name in sources})
        graphs = datasets.get(cell["dataset"])
        rows = np.random.default_rng(cell["seed"]).permutation(len(graphs))[:200]
        target = blind(graphs, rows).structure_only()
        scores = detector.decision_function(target)
        odd = np.asarray(graphs.labels)[rows] == task_classes(graphs.labels)[0]
        found = {"class anomalous": evaluate(scores, odd)["auroc"], "class normal": evaluate(scores, ~odd)["auroc"]}
        truth = np.repeat([False, True], len(target))
        for name, change in CORRUPTIONS.items():
            broken = _changed(target, change, cell["seed"])
            found[name] = evaluate(np.concatenate([scores, detector.decision_function(broken)]), truth)["auroc"]
        return {"auroc": {name: round(value, 3) for name, value in found.items()}}

    targets = [name for pool in DOMAINS.values() for name in pool if name in names]
    _run("zero-shot", ({"dataset": name, "seed": seed} for name in targets for seed in seeds), measure)


def edges(datasets: Datasets, names: list[str], seeds: range) -> None:
    """80% of the normals as references, with and without what the edges carry; how many test graphs are references."""

    def measure(cell: Row) -> Row:
        graphs = datasets.get(cell["dataset"])
        odd = np.asarray(graphs.labels) == task_classes(graphs.labels)[0]
        normal = np.random.default_rng(cell["seed"]).permutation(np.flatnonzero(~odd))
        references, held_out = np.split(normal, [len(normal) * 4 // 5])
        test = np.concatenate([held_out, np.flatnonzero(odd)])
        found = {}
        for name, dropped in EDGE_FORMS.items():
            form = replace(graphs, **dropped)
            scores = GraphGlass().fit(blind(form, references)).decision_function(blind(form, test))
            found[name] = round(evaluate(scores, odd[test])["auroc"], 3)
        forms = np.unique([_form(graph) for graph in graphs], return_inverse=True)[1]
        copies = np.isin(forms[test], forms[references])
        counts = [np.bincount(forms[test], kind, minlength=len(graphs)) for kind in (odd[test], ~odd[test])]
        best = (counts[0] / np.maximum(counts[0] + counts[1], 1))[forms[test]]
        return {
            "auroc": found,
            "copies": {"normals": float(copies[~odd[test]].mean()), "anomalies": float(copies[odd[test]].mean())},
            "ceiling": round(evaluate(best, odd[test])["auroc"], 3),
        }

    chosen = [name for name in ("HDFS_100k", "ER_MD") if name in names]
    _run("edges", ({"dataset": name, "seed": seed} for name in chosen for seed in seeds), measure)


_UNWEIGHTED: Row = {"edge_attributes": None, "edge_attribute_names": ()}
EDGE_FORMS: dict[str, Row] = {
    "direction and edge attributes": {},
    "without direction": {"outgoing": None},
    "without edge attributes": _UNWEIGHTED,
    "without both": {"outgoing": None, **_UNWEIGHTED},
}


def _form(graph: GraphSet) -> str:
    """Equal for equal graphs whatever their node order, if no two nodes of a graph carry the same label."""
    assert graph.node_labels is not None
    ends = zip(graph.end_nodes, graph.global_neighbours, strict=True)
    pairs = [(int(graph.node_labels[one]), int(graph.node_labels[two])) for one, two in ends]
    extra = [part.tolist() for part in (graph.outgoing, graph.edge_attributes) if part is not None]
    return f"{sorted(graph.node_labels.tolist())} {sorted(zip(pairs, *extra, strict=True))}"


def _rewired(edges: NDArray[np.int64], nodes: int, rng: Generator) -> NDArray[np.int64]:
    """A fifth of the edges get a random end."""
    edges = edges.copy()
    chosen = rng.random(len(edges)) < 0.2
    edges[chosen, 1] = rng.integers(0, nodes, int(chosen.sum()))
    return edges


def _added(edges: NDArray[np.int64], nodes: int, rng: Generator) -> NDArray[np.int64]:
    """A fifth more edges at random places."""
    return np.concatenate([edges, rng.integers(0, nodes, (max(1, len(edges) // 5), 2))])


def _removed(edges: NDArray[np.int64], nodes: int, rng: Generator) -> NDArray[np.int64]:
    """A fifth of the edges are missing."""
    return edges[rng.random(len(edges)) >= 0.2]


CORRUPTIONS: dict[str, Callable[[NDArray[np.int64], int, Generator], NDArray[np.int64]]] = {
    "a fifth of the edges rewired": _rewired,
    "a fifth more edges": _added,
    "a fifth of the edges removed": _removed,
}


def _changed(graphs: GraphSet, change: Callable[..., NDArray[np.int64]], seed: int) -> GraphSet:
    rng = np.random.default_rng([seed, 1])
    ends = []
    for i, size in enumerate(graphs.sizes.tolist()):
        first = int(graphs.node_offsets[i])
        offsets = graphs.neighbour_offsets[first : first + size + 1]
        rows = np.repeat(np.arange(size), np.diff(offsets))
        pairs = np.column_stack([rows, graphs.global_neighbours[offsets[0] : offsets[-1]] - first])
        ends.append(change(pairs[pairs[:, 0] < pairs[:, 1]], size, rng) + first)
    every = np.concatenate(ends)
    ids = [f"corrupted-{identifier}" for identifier in graphs.ids]
    return canonical_graph_set(graphs.sizes, every[:, 0], every[:, 1], ids=ids)


def _sample(graphs: GraphSet, most: int, seed: int) -> GraphSet:
    return blind(graphs, np.random.default_rng(seed).permutation(len(graphs))[:most])


def _task(datasets: Datasets, cell: Row) -> tuple[GraphSet, Any]:
    graphs = datasets.get(cell["dataset"])
    return graphs, class_split(graphs.labels, cell["class"], cell["direction"], cell["seed"])


def _cells(datasets: Datasets, names: list[str], seeds: range) -> Iterator[Row]:
    for name in names:
        for label in task_classes(datasets.get(name).labels):
            for direction in DIRECTIONS:
                for seed in seeds:
                    yield {"dataset": name, "class": label, "direction": direction, "seed": seed}


def _first_class(datasets: Datasets, cell: Row) -> int:
    return task_classes(datasets.get(cell["dataset"]).labels)[0]


def _run(name: str, cells: Iterator[Row], measure: Callable[[Row], Row]) -> None:
    path = OUT / f"{name}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    code = fingerprint("graphglass")
    done = [row["cell"] for row in _rows(name) if row.get("fingerprint") in (None, code)]
    for cell in cells:
        if cell not in done:
            row = {"cell": cell, "fingerprint": code, **measure(cell)}
            with path.open("a") as handle:
                handle.write(json.dumps(row, sort_keys=True) + "\n")
            print(*cell.values(), flush=True)


def _rows(name: str) -> list[Row]:
    path = OUT / f"{name}.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


# The page


def page() -> str:
    """bench/docs/quality.md with every table between its marks."""
    rows = _rows("tasks")
    parts = {
        "reached": reached(rows), "rules": rules(rows), "channels": channels(rows), "datasets": per_dataset(rows),
        "p-values": calibration(rows), "sizes": sizes_table(), "copies": copies_table(), "losses": losses_table(),
        "few": few_table(), "zero-shot": zero_table(), "edges": edges_table(),
        "planted": planted_table(), "rivals": rivals(), "shift": recorded("shift"),
        "contaminated": recorded("contaminated"), "review": recorded("review"),
        "review-draws": recorded("review-draws"),
    }  # fmt: skip
    return filled(PAGE, {name: "\n".join(lines) or "Not measured yet." for name, lines in parts.items()})


def average(rows: list[Row], value: Callable[[Row], float | None], names: Any, direction: str) -> float | None:
    """The mean over datasets of their means over classes and seeds."""
    means = []
    for name in names:
        own = [r for r in rows if r["cell"]["dataset"] == name and r["cell"]["direction"] == direction]
        found = [number for row in own if (number := value(row)) is not None]
        if found:
            means.append(float(np.mean(found)))
    return float(np.mean(means)) if means else None


def four(rows: list[Row], value: Callable[[Row], float | None]) -> list[str]:
    """Twelve and suite in both directions, and the mean of the four."""
    found = [average(rows, value, names, direction) for names in GROUPS.values() for direction in DIRECTIONS]
    mean = [float(np.mean(found))] if None not in found else [None]
    return ["–" if number is None else f"{number:.1f}" for number in [*found, *mean]]


HEAD = [f"{group}, class {direction}" for group in GROUPS for direction in DIRECTIONS] + ["mean"]


def reached(rows: list[Row]) -> list[str]:
    if not rows:
        return []
    seeds = len({row["cell"]["seed"] for row in rows})
    present = {
        group: [n for n in names if any(r["cell"]["dataset"] == n for r in rows)] for group, names in GROUPS.items()
    }
    counted = " and ".join(f"{len(names)} of {len(GROUPS[group])} ({group})" for group, names in present.items())
    return [*markdown(["", *HEAD], [["default", *four(rows, lambda row: row["default"])]]), "",
            f"Datasets measured: {counted}; {seeds} {'seed' if seeds == 1 else 'seeds'}."]  # fmt: skip


def rules(rows: list[Row]) -> list[str]:
    if not rows:
        return []
    lines = [[f"p = {p:g}" + (" (default)" if p == SHARPNESS else ""),
              *four(rows, lambda row, p=p: row["sharpness"][f"{p:g}"])] for p in RULES]  # fmt: skip
    lines.append(["maximum", *four(rows, lambda row: row["maximum"])])
    inside, outside, chosen = left_out_choice(rows)
    note = (
        f"Average over datasets and both directions: {inside:.2f} with the p that is best on all datasets, "
        f"{outside:.2f} where each dataset takes the p that is best on the others (chosen: {', '.join(chosen)})."
    )
    return [*markdown(["sharpness", *HEAD], lines), "", note]


def left_out_choice(rows: list[Row]) -> tuple[float, float, list[str]]:
    """The best rule in sample, and the average when each dataset takes the rule that is best on the others."""
    names = [name for name in EVERY if any(row["cell"]["dataset"] == name for row in rows)]
    values = np.array([
        [np.mean([average(rows, lambda row, p=p: row["sharpness"][f"{p:g}"], [name], d) for d in DIRECTIONS])
         for p in RULES] for name in names
    ])  # fmt: skip
    picks = [
        int(np.delete(values, i, axis=0).mean(axis=0).argmax()) if len(names) > 1 else 0 for i in range(len(names))
    ]
    outside = float(np.mean([values[i, pick] for i, pick in enumerate(picks)]))
    return float(values.mean(axis=0).max()), outside, sorted({f"{RULES[pick]:g}" for pick in picks})


def channels(rows: list[Row]) -> list[str]:
    if not rows:
        return []
    names = list(dict.fromkeys(name for row in rows for name in row["channels"]))
    families = list(dict.fromkeys(name.partition(":")[0] for name in names))
    alone = [[f"`{name}`", *four(rows, lambda row, name=name: row["channels"].get(name))] for name in names]
    without = [
        [f"all but `{family}`", *four(rows, lambda row, family=family: row["without"].get(family, row["default"]))]
        for family in families
    ]
    return [*markdown(["alone, where it has data", *HEAD], alone), "", *markdown(["left out", *HEAD], without)]


def per_dataset(rows: list[Row]) -> list[str]:
    lines, behind = [], []
    for name in EVERY:
        own = [row for row in rows if row["cell"]["dataset"] == name]
        if not own:
            continue
        sides = [average(own, lambda row: row["default"], [name], direction) for direction in DIRECTIONS]
        best = {
            channel: float(
                np.mean([average(own, lambda r, c=channel: r["channels"].get(c), [name], d) for d in DIRECTIONS])
            )
            for channel in own[0]["channels"]
        }
        top = max(best, key=lambda channel: best[channel])
        gap = float(np.mean(sides)) - best[top]
        if gap < -5:
            behind.append(SHORT.get(name, name))
        lines.append(
            [SHORT.get(name, name), *(f"{s:.1f}" for s in sides), f"`{top}`", f"{best[top]:.1f}", f"{gap:+.1f}"]
        )
    head = ["dataset", *(f"class {d}" for d in DIRECTIONS), "best single channel", "its mean", "default minus best"]
    note = f"More than five points behind their best channel: {', '.join(behind) or 'none'}."
    return [*markdown(head, lines), "", note] if lines else []


def calibration(rows: list[Row]) -> list[str]:
    if not rows:
        return []
    lines = []
    for group, names in {**GROUPS, "all": EVERY}.items():
        own = [row for row in rows if row["cell"]["dataset"] in names]
        total = sum(row["normals"] for row in own)
        if total:
            shares = [100 * sum(row["flagged"][f"{level:g}"] for row in own) / total for level in LEVELS]
            lines.append([group, str(total), *(f"{share:.2f}%" for share in shares)])
    return markdown(["datasets", "held-out normals", *(f"p at most {level:g}" for level in LEVELS)], lines)


def copies_table() -> list[str]:
    """Shares of new normals where references are listed several times, as `bench/scripts/validity.py` measured them."""
    record = json.loads(VALIDITY.read_text())
    lines = [
        [row["set"], row["listed"], row["repeats"], *(f"{100 * share:.1f}%" for share in row["shares"])]
        for row in record["copies"]["rows"]
    ]
    levels = [f"p at most {level:g}" for level in record["alphas"]]
    return markdown(["graphs", "references listed", "repeats", *levels], lines)


def sizes_table() -> list[str]:
    """Shares of new normals with few references, means over datasets, and the most that is valid."""
    record = json.loads(VALIDITY.read_text())
    found, levels, lines = record["shares"], record["alphas"], []
    for size in max(found.values(), key=len):
        shares = np.mean([rows[size] for rows in found.values() if size in rows], axis=0)
        most = [np.floor(level * (int(size) + 1) + 1e-9) / (int(size) + 1) for level in levels]
        lines.append([size, *(f"{s:.1%} of {m:.1%}" for s, m in zip(shares, most, strict=True))])
    return markdown(["references", *(f"p at most {level:g}" for level in levels)], lines)


def losses_table() -> list[str]:
    """What known anomalies change in every task of the record, and the tasks that they hurt."""
    runs = [json.loads(line) for line in KNOWN.read_text().splitlines()]
    lines = []
    for count in sorted(map(int, runs[0]["variants"]))[1:]:
        gains: dict[tuple[str, str], list[float]] = {}
        for run in runs:
            known, none = (run["variants"][str(number)]["auroc"] for number in (count, 0))
            gains.setdefault((run["cell"]["dataset"], run["cell"]["direction"]), []).append(known - none)
        means = {task: float(np.mean(values)) for task, values in gains.items()}
        hurt = sorted((value, task) for task, value in means.items() if value < -LOSS)
        named = ", ".join(f"{SHORT.get(name, name)} ({side}) {value:.1f}" for value, (name, side) in hurt)
        lines.append(
            [str(count), f"{np.mean(list(means.values())):+.1f}", f"{len(hurt)} of {len(means)}", named or "–"]
        )
    head = ["known anomalies", "mean change of AUROC", f"tasks that lose more than {LOSS}", "which"]
    return markdown(head, lines)


def rivals() -> list[str]:
    """The averages of `glassbench suite`."""
    return recorded("suite")


def recorded(folder: str) -> list[str]:
    """The first table of a results folder, without its title."""
    path = Path("bench/results") / folder
    return tables(str(path))[0].render("md").splitlines()[2:] if path.exists() else []


def few_table() -> list[str]:
    rows = _rows("few")
    lines = [[str(n), *four(rows, lambda row, n=n: row["references"].get(str(n)))] for n in SIZES]
    return markdown(["references", *HEAD], lines) if rows else []


def zero_table() -> list[str]:
    rows = _rows("zero-shot")
    if not rows:
        return []
    names = list(dict.fromkeys(row["cell"]["dataset"] for row in rows))
    kinds = ["class anomalous", "class normal", *CORRUPTIONS]
    lines = []
    for kind in kinds:
        values = [np.mean([r["auroc"][kind] for r in rows if r["cell"]["dataset"] == name]) for name in names]
        lines.append([kind, *(f"{value:.1f}" for value in values), f"{np.mean(values):.1f}"])
    return markdown(["", *(SHORT.get(name, name) for name in names), "mean"], lines)


def edges_table() -> list[str]:
    rows = _rows("edges")
    names = list(dict.fromkeys(row["cell"]["dataset"] for row in rows))
    own = {name: [row for row in rows if row["cell"]["dataset"] == name] for name in names}
    lines = [
        [form, *(f"{np.mean([r['auroc'][form] for r in own[name]]):.1f}" for name in names)] for form in EDGE_FORMS
    ]
    lines.append(["best ranking that knows the test labels, equal graphs tied",
                  *(f"{np.mean([r['ceiling'] for r in own[name]]):.1f}" for name in names)])  # fmt: skip
    lines += [
        [f"{kind} equal to a reference", *(f"{np.mean([r['copies'][kind] for r in own[name]]):.0%}" for name in names)]
        for kind in ("normals", "anomalies")
    ]
    return markdown(["", *names], lines) if rows else []


def planted_table() -> list[str]:
    path = OUT / "planted.json"
    if not path.exists():
        return []
    found: dict[str, dict[str, float]] = json.loads(path.read_text())
    columns = list(next(iter(found.values())))
    return markdown(
        ["planted anomaly", *columns], [[kind, *(f"{row[c]:.1f}" for c in columns)] for kind, row in found.items()]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("tasks", "few", "zero-shot", "edges", "page"))
    parser.add_argument("--data", type=Path, help="the data root, with the folder suite in it")
    parser.add_argument("--seeds", type=int, nargs=2, default=(0, 1), metavar=("FIRST", "END"))
    parser.add_argument("--datasets", nargs="+", default=list(EVERY))
    options = parser.parse_args()
    if options.what == "page":
        PAGE.write_text(page(), encoding="utf-8")
        return
    measure = {"tasks": tasks, "few": few, "zero-shot": zero_shot, "edges": edges}[options.what]
    measure(Datasets(options.data, keep=4), options.datasets, range(*options.seeds))


if __name__ == "__main__":
    main()
