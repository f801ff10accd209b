"""Tables of the private benchmark, the paper's figures next to ours."""

from __future__ import annotations

from collections.abc import Sequence

from glassbench import paper_figures as paper
from glassbench.metrics import summary
from glassbench.private_series import DIAGNOSTICS, REFERENCES, SITES, SIZES
from glassbench.records import Record, Results
from glassbench.table_entries import SHORT, figure_entry, grouped, make_table, means_note, method_of, variant_entry
from glassbench.table_model import Entry, Row, Table, Value
from glassbench.transfer import DISJOINT

# The settings of tab:dp_main and of the diagnostics; each of these targets has one source there.
MAIN = (("mol", "PROTEINS"), ("mol", "DD"), ("protein", "AIDS"), ("mol", "IMDB-BINARY"))
RELEASES = ("exact", "no noise", "eps=1", "eps=2", "eps=4", "eps=8")
TITLES = {"exact": "exact KDE", "no noise": "no noise", **{f"eps={e}": f"ε = {e}" for e in (1, 2, 4, 8)}}
Settings = dict[tuple[str, str], list[Record]]


def private_tables(results: Results, metric: str = "auroc") -> list[Table]:
    """The summary, every setting, the sweep over n, and for AUROC the paper's diagnostics."""
    tables = []
    for method, settings in _by_method(results).items():
        if _of_sketches(settings):
            tables.append(_sketch_table(results, settings, metric))
            continue
        tables.append(_macro_table(results, method, settings, metric))
        tables.append(_settings_table(results, method, settings, metric))
        tables.append(_sizes_table(results, method, settings, metric))
        four = {setting: settings[setting] for setting in MAIN if setting in settings}
        if metric == "auroc" and four:
            layouts = (_modalities_table, _resolution_table, _extra_table)
            tables += [layout(results, method, four) for layout in layouts]
    return tables


def macro_tables(results: Results, metric: str = "auroc") -> list[Table]:
    """The averages over all settings, one table per kind of encoder."""
    return [
        _sketch_table(results, settings, metric, only_mean=True)
        if _of_sketches(settings)
        else _macro_table(results, method, settings, metric)
        for method, settings in _by_method(results).items()
    ]


def _of_sketches(settings: Settings) -> bool:
    """Whether these records are of releases without a model; older ones of the same method are of trained codes."""
    return all("n=128 eps=4" in record["variants"] for own in settings.values() for record in own)


def _by_method(results: Results) -> dict[str, Settings]:
    found = {}
    for method, records in grouped(results.records(), method_of).items():
        groups = grouped(records, lambda r: (str(r["cell"]["source"]), str(r["cell"]["dataset"])))
        found[method] = {setting: groups[setting] for setting in DISJOINT if setting in groups}
    return found


def macro(settings: Settings, name: str, metric: str) -> Entry:
    """A condition's mean over settings, and the deviation over seeds of that mean; None unless every setting has it."""
    records = [record for own in settings.values() for record in own if name in record["variants"]]
    by_seed = grouped(records, lambda record: int(record["cell"]["seed"]))
    found = [[record["variants"][name][metric] for record in by_seed[seed]] for seed in sorted(by_seed)]
    values = [sum(numbers) / len(numbers) for numbers in found if len(numbers) == len(settings)]
    return Value(*summary(values)) if values else None


def _macro_table(results: Results, method: str, settings: Settings, metric: str) -> Table:
    def row(suffix: str = "") -> tuple[Entry, ...]:
        return tuple(macro(settings, f"{name}{suffix}", metric) for name in RELEASES)

    nothing: list[Entry] = [None] * (len(RELEASES) - 1)
    rows = [
        Row("source 5-NN", (macro(settings, "source-nn", metric), *nothing)),
        Row("target 5-NN", (macro(settings, "target-nn", metric), *nothing)),
        Row("summary", row()),
        Row("summary with source prior", row(" +source")),
    ]
    if metric == "auroc" and len(settings) == len(DISJOINT):
        rows.append(Row("target 5-NN, published", (Value(paper.DISJOINT_MACRO["target-nn"]), *nothing), quoted=True))
        quoted = [Value(v) if (v := paper.DISJOINT_MACRO.get(name)) else None for name in RELEASES]
        rows.append(Row("summary, published", tuple(quoted), quoted=True))
    head = (f"mean of {len(settings)} settings", "exact", *(TITLES[name] for name in RELEASES[1:]))
    return _table(results, metric, method, "macro average", head, rows)


def _sketch_table(results: Results, settings: Settings, metric: str, *, only_mean: bool = False) -> Table:
    """Releases without a model: the detector and 5-NN next to them, with 128 and with all references."""
    columns = ("detector", "5-nn", "no noise", "eps=1", "eps=2", "eps=4", "eps=8")
    rows = []
    for part, title in (("n=128", "128 references"), ("all", "all references")):
        for (source, name), own in {} if only_mean else settings.items():
            entries = [variant_entry(own, f"{part} {column}", metric) for column in columns]
            rows.append(Row(f"{source} → {SHORT.get(name, name)}, {title}", tuple(entries)))
        mean = [macro(settings, f"{part} {column}", metric) for column in columns]
        rows.append(Row(f"mean of {len(settings)} settings, {title}", tuple(mean)))
    head = ("", "whole detector", "5-NN, same kernel", "no noise", "ε = 1", "ε = 2", "ε = 4", "ε = 8")
    return _table(results, metric, None, "public sketch without a model", head, rows)


def _settings_table(results: Results, method: str, settings: Settings, metric: str) -> Table:
    columns = ("source-nn", "target-nn", *RELEASES, "eps=4 +source")
    rows = []
    for (source, name), own in settings.items():
        n = own[0]["counts"]["summarised"]
        entries = [variant_entry(own, column, metric) for column in columns]
        rows.append(Row(f"{source} → {SHORT.get(name, name)}", (str(n), *entries)))
        if metric == "auroc":
            published = paper.DISJOINT[(source, name)]
            names = ("source-nn", "target-nn", *RELEASES, "")
            quoted = [figure_entry(published, column) for column in names]
            rows.append(Row(f"{source} → {SHORT.get(name, name)}, published", ("", *quoted), quoted=True))
    rows.append(Row("mean", ("", *(macro(settings, column, metric) for column in columns))))
    head = ("source → target", "n", "source 5-NN", "target 5-NN", *(TITLES[name] for name in RELEASES),
            "ε = 4 with source")  # fmt: skip
    return _table(results, metric, method, "every setting (tab:dp_all)", head, rows)


def _sizes_table(results: Results, method: str, settings: Settings, metric: str) -> Table:
    """Over the number of references; settings with fewer graphs leave the mean, and the count says so."""
    rows = []
    for n in SIZES:
        part = f"n={n}" if n != REFERENCES else ""
        names = [f"target-nn {part}", f"{part} eps=4", f"{part} eps=4 +source"]
        have = {
            key: own
            for key, own in settings.items()
            if own[0]["counts"]["references"] >= n and all(names[0].strip() in r["variants"] for r in own)
        }
        if have:
            entries = [macro(have, name.strip(), metric) for name in names]
            rows.append(Row(f"n = {n}", (str(len(have)), *entries)))
    head = ("references", "settings", "target 5-NN", "summary", "summary with source prior")
    return _table(results, metric, method, "number of references at ε = 4", head, rows)


def _modalities_table(results: Results, method: str, settings: Settings) -> Table:
    names = ("graph eps=4", "text eps=4", "eps=4", "eps=4 +source")
    rows = []
    for (_, name), own in settings.items():
        rows.append(Row(SHORT.get(name, name), tuple(variant_entry(own, column, "auroc") for column in names)))
        published = paper.MODALITIES[(name,)]
        quoted = [figure_entry(published, column) for column in ("graph", "text", "joint", "joint+source")]
        rows.append(Row(f"{SHORT.get(name, name)}, published", tuple(quoted), quoted=True))
    head = ("target", "graph", "text", "joint", "joint + source")
    return _table(results, "auroc", method, "modalities at ε = 4 (tab:dp_modalities)", head, rows)


def _resolution_table(results: Results, method: str, settings: Settings) -> Table:
    shown = {name: own for (_, name), own in settings.items() if name != "DD"}
    changed = [name for name in DIAGNOSTICS if name not in ("graph", "text")]
    labels = {"64+128 (main)": "eps=4", **{name: f"{name} eps=4" for name in changed}}
    rows = []
    for label, name in labels.items():
        entries = [variant_entry(own, name, "auroc") for own in shown.values()]
        spread = [record["variants"][name]["auroc_sd"] for own in shown.values() for record in own]
        rows.append(Row(label, (*entries, Value(sum(spread) / len(spread), digits=2))))
        if published := paper.RESOLUTION.get(label):
            quoted = [Value(published[column]) for column in shown]
            rows.append(Row(f"{label}, published", (*quoted, Value(published["noise"], digits=2)), quoted=True))
    head = ("setting", *(SHORT.get(name, name) for name in shown), "noise SD")
    note = "Noise SD: mean deviation of the AUROC over the draws of one model."
    return _table(results, "auroc", method, "resolution at ε = 4 (tab:dp_resolution)", head, rows, note)


def _extra_table(results: Results, method: str, settings: Settings) -> Table:
    rows = []
    sites = ["eps=4 +source", *(f"J={j} eps=4 +source" for j in SITES)]
    for (_, name), own in settings.items():
        quality = [variant_entry(own, "eps=4", metric) for metric in ("auprc", "fpr95")]
        entries = [*quality, *(variant_entry(own, column, "auroc") for column in sites)]
        rows.append(Row(SHORT.get(name, name), tuple(entries)))
        published = paper.EXTRA[(name,)]
        quoted = [figure_entry(published, column) for column in ("auprc", "fpr95", "J=1", "J=2", "J=4")]
        rows.append(Row(f"{SHORT.get(name, name)}, published", tuple(quoted), quoted=True))
    head = ("target", "AUPRC", "FPR95", "J = 1", "J = 2", "J = 4")
    note = "AUPRC and FPR95 of the target alone; AUROC over J sites with the source prior."
    return _table(results, "auroc", method, "further metrics and sites at ε = 4 (tab:dp_extra)", head, rows, note)


def _table(
    results: Results, metric: str, method: str | None, what: str, head: Sequence[str], rows: Sequence[Row], *notes: str
) -> Table:
    note = f"{means_note(results)} Ten noise draws are averaged within a seed first."
    what = f"private, {what}" if method is None else f"private, encoders of {method}: {what}"
    return make_table(results, metric, tuple(head), rows, [note, *notes], what=what)
