"""Put the tables of the paper, as the records have them, into `bench/docs/reproduction.md`.

Single figures in its text and in the other pages of GLASS stand between marks and follow the records too.

    python bench/scripts/reproduction_page.py
    python bench/scripts/reproduction_page.py --count DATA      # counts the datasets of tab:dataset_stats again first

Run it again when records were added. A test compares the page with the records.
"""

from __future__ import annotations

import argparse
import json
import re
from functools import cache
from pathlib import Path

import numpy as np

from glassbench.authors_choices import choice_effects
from glassbench.datasets import TWELVE
from glassbench.decomposition import SELECTED, decomposition_table
from glassbench.methods import GLASS, METHODS
from glassbench.paper_figures import FEW_SHOT, MAIN_RESULTS, TRANSFER
from glassbench.records import Record, Results
from glassbench.table_entries import (
    SHORT,
    average,
    dataset_of,
    dataset_order,
    grouped,
    number_range,
    published_name,
    variant_entry,
    variant_names,
)
from glassbench.table_model import Entry, filled, markdown
from glassbench.tables import tables
from glassbench.transfer import DISJOINT
from graphglass.graphs.datasets import load_dataset
from graphglass.graphs.graph_set import GraphSet

PAGE = Path("bench/docs/reproduction.md")
# Pages with figures in their text: both copies of the fidelity table, and the card of the encoders.
OTHERS = tuple(
    map(Path, ("docs/paper-map.md", "src/graphglass/glass/README.md", "src/graphglass/glass/pretrained/README.md"))
)
RESULTS = Path("bench/results")
STATS = Path("bench/results/benchmarks/dataset_stats.json")
# The part of the page, and the folder whose records of GLASS it shows.
FOLDERS = {
    "main": "single/minority",
    "main-flip": "single/minority-flip",
    "main-good-d": "single/good-d",
    "choices": "choices/minority",
    "choices-flip": "choices/minority-flip",
    "scoring": "scoring/minority",
    "scale": "text/minority",
    "private": "private/minority",
    "cross": "transfer/minority",
    "cross-flip": "transfer/minority-flip",
    "few-shot": "few-shot/minority",
    "lora": "lora/minority",
}
METHOD = "glass-plain"  # what most records are of: GLASS by the paper's text alone
AUTHORS = RESULTS / "authors"
LAST = "last epoch, reliability"  # the column of the authors' protocol that no test label reaches
LARGE = ("DD", "NCI1", "COLLAB", "REDDIT-BINARY")
# tab:regimes: its name, the sources and targets that the paper takes it from, and what must hold of the AUROC of
# transfer minus that of the single domain.
REGIMES = (
    ("related-domain gain", (("mol", "PROTEINS"), ("mol", "DD")), "above 0", lambda gain: gain > 0),
    (
        "near-lossless coverage", (("protein", "MUTAG"), ("protein", "AIDS"), ("social", "AIDS")),
        "at least -1", lambda gain: gain >= -1,
    ),
    ("source dilution: gain", (("all", "PROTEINS"),), "above 0", lambda gain: gain > 0),
    ("source dilution: loss", (("all", "MUTAG"), ("all", "IMDB-BINARY")), "below 0", lambda gain: gain < 0),
    (
        "hard target shift", (("mol", "REDDIT-BINARY"), ("protein", "REDDIT-BINARY")),
        "at most -15", lambda gain: gain <= -15,
    ),
)  # fmt: skip
SHOTS = ("0", "32 only", "32")
FINE_GRAINED = ("ENZYMES", "DHFR")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=Path, metavar="DATA", help="folder of dataset zips")
    if root := parser.parse_args().count:
        STATS.write_text(json.dumps({name: counted(load_dataset(name, root)) for name in TWELVE}, indent=1) + "\n")
    PAGE.write_text(page())
    for other in OTHERS:
        other.write_text(with_figures(other.read_text()))


def counted(graphs: GraphSet) -> dict[str, float]:
    """One row of tab:dataset_stats; `columns` are one-hot labels and attributes."""
    labels = 0 if graphs.node_labels is None else len(np.unique(graphs.node_labels))
    attributes = len(graphs.attribute_names)
    return {
        "graphs": len(graphs),
        "classes": len(np.unique(graphs.labels)),
        "mean nodes": round(float(graphs.sizes.mean()), 2),
        "mean edges": round(float(graphs.edge_counts.mean()), 2),
        "node labels": labels,
        "edge labels": 0 if graphs.edge_labels is None else len(np.unique(graphs.edge_labels)),
        "attributes": attributes,
        "columns": labels + attributes,
    }


def stats() -> str:
    rows = json.loads(STATS.read_text())
    lines = [[name, *map(str, row.values())] for name, row in rows.items()]
    return "\n".join(markdown(["dataset", *rows[TWELVE[0]]], lines, "---"))


def regimes() -> str:
    """tab:regimes: what the paper reads from its tables, and whether the records of the same seeds show it.

    Transfer is measured twice: by references of the target, as the authors' code does, and by those of the source.
    """
    single = {name: by_seed("single/minority", METHOD, dataset=name) for name in TWELVE}
    lines = []

    def row(regime: str, evidence: str, wanted: str, paper: float, gains: list[list[float]], holds) -> None:
        means = [float(np.mean(gain)) for gain in gains]
        found = [f"{value:+.1f} ({'holds' if holds(value) else 'does not hold'})" for value in means]
        lines.append([regime, evidence, wanted, f"{paper:+.1f}", *found, *["–"] * (2 - len(found)), str(len(gains[0]))])

    for regime, settings, wanted, holds in REGIMES:
        for source, name in settings:
            moved = [
                by_seed("transfer/minority", METHOD, references, source=source, dataset=name)
                for references in ("matched", "zero-shot")
            ]
            printed = TRANSFER[source, name]["transfer"][0] - TRANSFER[source, name]["single"][0]
            gains = [paired(by_target_or_source, single[name]) for by_target_or_source in moved]
            row(regime, f"{source} → {SHORT.get(name, name)}", wanted, printed, gains, holds)
    none, alone, added = (by_seed("few-shot/minority", METHOD, shots, dataset="PROTEINS") for shots in SHOTS)
    printed = FEW_SHOT["32",]["PROTEINS"][0] - FEW_SHOT["0",]["PROTEINS"][0]
    gains = [paired(alone, none), paired(added, none)]
    row("few-shot calibration", "PROTEINS, 32 shots minus none", "above 0", printed, gains, lambda x: x > 0)
    published = [figures for (name,), figures in MAIN_RESULTS.items() if name != "glass"]
    peers = [name for name in METHODS if (name.removesuffix("-batch"),) in MAIN_RESULTS and name != "glass"]
    for name in FINE_GRAINED:
        scores = [by_seed("single/minority", peer, dataset=name) for peer in peers]
        best = max((values for values in scores if values), key=lambda values: np.mean(list(values.values())))
        printed = MAIN_RESULTS["glass",][name][0] - max(figures[name][0] for figures in published)
        row("fine-grained gaps", f"{name}, minus the best peer", "below 0", printed, [paired(single[name], best)],
            lambda x: x < 0)  # fmt: skip
    head = ["regime", "evidence", "must be", "paper", "target references", "source references", "seeds"]
    return "\n".join(markdown(head, lines, "---"))


@cache
def figures() -> dict[str, str]:
    """Every figure that a text can name."""
    return effects() | selections() | differences() | pair_averages() | adapters()


def with_figures(text: str) -> str:
    """A page with every figure that stands between the marks ``<!-- figure NAME -->`` and ``<!-- /figure -->``."""
    return re.sub(
        r"<!-- figure (.+?) -->.*?<!-- /figure -->",
        lambda found: f"<!-- figure {found[1]} -->{figures()[found[1]]}<!-- /figure -->",
        text,
    )


def selections() -> dict[str, str]:
    """Means of the columns of the table of the authors' protocol.

    ``eight`` is over the small datasets, ``twelve`` over all; ``gain`` is what choosing epoch and rule on the test set
    adds to the last epoch, ``gap`` the distance of the last epoch to the printed figures, and ``rest`` what remains.
    """
    table = decomposition_table(Results.open(AUTHORS).records(METHOD), [])
    rows = {row.name: row for row in table.rows}
    found = {}
    for many, names in (("eight", [name for name in TWELVE if name not in LARGE]), ("twelve", TWELVE)):
        columns = zip(*(rows[SHORT.get(name, name)].entries for name in names), strict=True)
        means = dict(zip(table.head[1:], map(average, columns), strict=True))
        values = {name: entry.mean for name, entry in means.items() if entry is not None}
        values |= {"gain": values[SELECTED] - values[LAST], "gap": values["printed"] - values[LAST]}
        values["rest"] = values["gap"] - values["gain"]
        found |= {f"{many} {name}": f"{value:.1f}" for name, value in values.items()}
    return found


def differences() -> dict[str, str]:
    """What `glass` adds to its initial weights on the same splits, and what uncalibrated distances add to it."""
    found = {}
    for direction, folder in (("", "single/minority"), ("flip ", "single/minority-flip")):
        gains, raw = {}, []
        for name in TWELVE:
            trained = by_seed(folder, "glass", dataset=name)
            if start := by_seed(folder, "glass-untrained", dataset=name):
                gains[name] = float(np.mean(paired(trained, start)))
            if trained:
                raw.append(np.mean(paired(by_seed(folder, "glass", "glass raw", dataset=name), trained)))
        found[f"{direction}training"] = signed(float(np.mean([gains[name] for name in gains if name not in LARGE])))
        found |= {f"{direction}training {name}": signed(gains[name]) for name in gains}
        found[f"{direction}raw"] = signed(float(np.mean(raw)))
    return found


def pair_averages() -> dict[str, str]:
    """Averages over the settings of the private series: encoders of the package, and trainings on every target."""

    def over(found: list[dict[int, float]]) -> str:
        return f"{np.mean([np.mean(list(seeds.values())) for seeds in found]):.1f}"

    made = {
        "settings pretrained": over([by_seed("pretrained/minority", METHOD, weights=s, dataset=t) for s, t in DISJOINT])
    }
    for method in ("glass", METHOD, "glass-untrained"):
        made[f"settings {method}"] = over([by_seed("single/minority", method, dataset=t) for _, t in DISJOINT])
    return made


def adapters() -> dict[str, str]:
    """The columns of tab:lora on MUTAG."""
    found = {name: by_seed("lora/minority", METHOD, name, dataset="MUTAG") for name in ("frozen", "warm-up", "tuned")}
    return {f"lora {name}": f"{np.mean(list(seeds.values())):.1f}" for name, seeds in found.items()}


def effects() -> dict[str, str]:
    """What a choice adds, on average and by dataset, in words.

    Before the name of a choice stand ``average`` for that alone, ``text`` for the text side, ``default`` for what it
    adds to `glass`, ``flip`` for the other direction; after it a dataset for that alone.
    """
    found = {}
    text, default = {"rule": "text"}, {"base": "training-mode"}
    ways: dict[str, dict[str, str]] = {"": {}, "text ": text, "default ": default, "default text ": text | default}
    for direction, folder in (("", "choices/minority"), ("flip ", "choices/minority-flip")):
        for way, options in ways.items():
            added = choice_effects(Results.open(RESULTS / folder), **options)
            for choice, by_name in added.items():
                means = {name: float(np.mean(by_name[name])) for name in dataset_order(by_name)}
                if not means:
                    continue
                whole = signed(float(np.mean(list(means.values()))))
                each = ", ".join(f"{SHORT.get(name, name)} {signed(value)}" for name, value in means.items())
                seeds = number_range(sorted(map(len, by_name.values())))
                of = "one seed" if seeds == "1" else f"{seeds} seeds"
                found[f"{direction}{way}average {choice}"] = whole
                found[f"{direction}{way}{choice}"] = f"{whole} on average ({each}; {of})"
                found |= {f"{direction}{way}{choice} {name}": signed(value) for name, value in means.items()}
    return found


def signed(value: float) -> str:
    """A difference with its sign, one digit after the point."""
    return f"{round(value, 1) or 0.0:+.1f}".replace("-", "−").replace("+0.0", "0.0")


def scorers() -> str:
    """Every scoring rule on the trainings of `glass`: averages over datasets, in both directions."""
    sides = [Results.open(RESULTS / folder).records("glass") for folder in ("single/minority", "single/minority-flip")]
    rules = [name for name in variant_names(sides[0]) if name != "glass"]
    lines = []
    for rule in ["glass", *rules]:
        means = [average(values_of(side, rule)) for side in sides]
        name = "reliability, the default" if rule == "glass" else rule.replace("glass raw", "reliability, raw")
        lines.append([name, *(f"{value.mean:.1f}" for value in means if value)])
    datasets = [len({dataset_of(record) for record in side}) for side in sides]
    head = ["scorer", f"{datasets[0]} datasets", f"{datasets[1]} with the classes exchanged"]
    return "\n".join(markdown(head, lines))


def values_of(records: list[Record], rule: str) -> list[Entry]:
    """The mean over seeds of a scoring rule on every dataset."""
    return [variant_entry(own, rule, "auroc") for own in grouped(records, dataset_of).values()]


def by_seed(folder: str, method: str, variant: str | None = None, **cell: str) -> dict[int, float]:
    """The AUROC of every seed of a cell."""
    records = [r for r in Results.open(RESULTS / folder).records(method) if cell.items() <= r["cell"].items()]
    return {r["cell"]["seed"]: (r["metrics"] if variant is None else r["variants"][variant])["auroc"] for r in records}


def paired(one: dict[int, float], two: dict[int, float]) -> list[float]:
    """Differences on the seeds that both have."""
    return [one[seed] - two[seed] for seed in sorted(one.keys() & two.keys())]


def page() -> str:
    """The page as the records have it."""
    parts = {name: part(RESULTS / folder) for name, folder in FOLDERS.items()}
    authors = Results.open(AUTHORS).records(METHOD) if AUTHORS.exists() else []
    graphglass = Results.open(RESULTS / "single/minority").records("graphglass")
    parts["decomposition"] = "\n".join(decomposition_table(authors, graphglass).render().splitlines()[2:])
    return with_figures(filled(PAGE, parts | {"regimes": regimes(), "stats": stats(), "scorers": scorers()}))


def part(folder: Path) -> str:
    """How many cells there are, and their table; the table of the main benchmark has its own page for the others."""
    every = Results.open(folder).records() if folder.exists() else []
    groups = {name: own for name in GLASS if (own := [record for record in every if record["method"] == name])}
    if not groups:
        return "**No records yet.**"
    covered = "\n".join(f"- `{name}`: {coverage(own)}" for name, own in groups.items())
    return f"{covered}\n\n{shown(folder, every)}"


def coverage(records: list[Record]) -> str:
    names = [name for name in TWELVE if any(record["cell"]["dataset"] == name for record in records)]
    seeds = sorted({record["cell"]["seed"] for record in records})
    threads = sorted({record["threads"] for record in records})
    return (
        f"{len(records)} cell{'s' if len(records) > 1 else ''}; datasets: {', '.join(names)}; "
        f"seeds: {', '.join(map(str, seeds))}; "
        f"threads: {', '.join(map(str, threads))}."
    )


def shown(folder: Path, records: list[Record]) -> str:
    if records[0]["benchmark"] != "single":
        return "\n".join(table.render("md") for table in tables(str(folder)))
    (table,) = tables(str(folder))
    rows = [row for row in table.rows if row.name in (*GLASS, published_name("glass"))]
    if folder.name == "good-d":  # elsewhere the default is in README.md
        rows = [row for row in table.rows if row.name == "graphglass"] + rows
    columns = [
        i for i in range(len(table.head) - 3) if any(row.entries[i] is not None for row in rows if not row.quoted)
    ]
    shared = [i for i in columns if all(row.entries[i] is not None for row in rows)]
    lines = []
    for row in rows:
        values, whole = [row.entries[i] for i in columns], average(row.entries[i] for i in shared)
        lines.append([row.name, *(value.text() if value else "–" for value in values), f"{whole.mean:.1f}"])
    last = "mean" if shared == columns else f"mean of the {len(shared)} that all rows have"
    return "\n".join(markdown(["row", *(table.head[i + 1] for i in columns), last], lines, "---"))


if __name__ == "__main__":
    main()
