"""The pages of figures say what the records say."""

from __future__ import annotations

import importlib.util
import json
import re
from pathlib import Path
from statistics import mean
from types import ModuleType

import pytest

from glassbench.decomposition import SELECTED
from glassbench.group_tables import headline, short_tables
from glassbench.paper_figures import MAIN_RESULTS, TRANSFER
from glassbench.records import Results
from glassbench.table_model import filled, insert
from glassbench.tables import tables
from glassbench.transfer import DISJOINT
from graphglass.errors import BenchError

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"


def benchmark(name: str, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """A script of the folder benchmarks, run where it runs: at the root of the project."""
    monkeypatch.chdir(ROOT)
    spec = importlib.util.spec_from_file_location(name, ROOT / "bench/scripts" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def unmarked(page: Path) -> str:
    """The text of a page on one line, without the marks around its figures."""
    return " ".join(re.sub("<!--.*?-->", "", page.read_text()).split())


@pytest.mark.parametrize("name", ["baselines_page", "reproduction_page", "quality"])
def test_a_page_follows_the_records(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    module = benchmark(name, monkeypatch)
    assert module.page() == module.PAGE.read_text(), "run `python bench/scripts/remake.py --pages`"


def test_figures_in_the_text_of_other_pages_follow_the_records(monkeypatch: pytest.MonkeyPatch) -> None:
    module = benchmark("reproduction_page", monkeypatch)
    for page in module.OTHERS:
        text = page.read_text()
        assert text.count("<!-- figure ") == text.count("<!-- /figure -->") >= 3
        assert module.with_figures(text) == text, "run `python bench/scripts/reproduction_page.py`"


def test_measured_pages_follow_the_result_files(monkeypatch: pytest.MonkeyPatch) -> None:
    for page, text in benchmark("measured_pages", monkeypatch).pages().items():
        assert text == page.read_text(), "run `python bench/scripts/measured_pages.py`"


def test_the_cold_start_on_the_page_is_the_measured_one() -> None:
    found = json.loads((ROOT / "bench/results/benchmarks/cold-start.json").read_text())
    page = (ROOT / "docs/serving.md").read_text()
    ranked, explained = (found[name]["processor_seconds"] for name in ("ranked", "first explanation"))
    assert (
        f"takes {ranked:.1f} processor seconds from opening the file; the first explanation adds {explained:.1f}"
        in page
    )


def test_results_in_pages_are_those_of_the_records(tmp_path: Path) -> None:
    made = {
        README: headline(ROOT / "bench/results"),
        ROOT / "bench/docs/benchmark.md": short_tables(ROOT / "bench/results/single")[0].render(),
        ROOT / "bench/docs/quality.md": "\n".join(
            table.render() for table in tables(str(ROOT / "bench/results/known"))
        ),
        ROOT / "src/graphglass/glass/pretrained/README.md": tables(str(ROOT / "bench/results/pretrained/minority"))[
            0
        ].render(),
    }
    for page, text in made.items():
        rebuilt = tmp_path / page.name
        rebuilt.write_text(page.read_text())
        insert(text, rebuilt)
        assert rebuilt.read_text() == page.read_text(), "run `python bench/scripts/remake.py --pages`"


def test_the_readme_has_at_most_twelve_rows_and_a_sentence_that_a_second_computation_confirms() -> None:
    text = headline(ROOT / "bench/results")
    rows = [line for line in text.splitlines() if line.startswith("| ")]
    assert len(rows) <= 14  # with its head
    by_cell: dict[tuple[str, str], dict[str, list[float]]] = {}
    for record in Results.open(ROOT / "bench/results/known/full").records("graphglass"):
        cell = by_cell.setdefault((record["cell"]["dataset"], record["cell"]["direction"]), {})
        for known, metrics in record["variants"].items():
            cell.setdefault(known, []).append(metrics["auroc"])
    gains = [mean(mean(cell[known]) for cell in by_cell.values()) for known in ("0", "1", "20", "100")]
    none, one, twenty, hundred = (f"{gain:.1f}" for gain in gains)
    assert (
        f"over {len(by_cell) // 2} datasets and both directions rises from {none} to {one} with one known anomaly, "
        f"{twenty} with twenty and {hundred} with a hundred"
    ) in text
    gain = r"rises from ([\d.]+) to ([\d.]+) with one known anomaly, ([\d.]+) with twenty and ([\d.]+) with a hundred"
    assert set(re.findall(gain, " ".join(README.read_text().split()))) == {(none, one, twenty, hundred)}
    by_dataset: dict[str, list[float]] = {}
    for record in Results.open(ROOT / "bench/results/single/minority").records("graphglass"):
        by_dataset.setdefault(record["cell"]["dataset"], []).append(record["metrics"]["auroc"])
    ours = f"{mean(map(mean, by_dataset.values())):.1f}"
    assert f"GraphGlass averages {ours} over the twelve datasets" in text
    for page in (README, ROOT / "docs/index.md"):
        assert re.findall(r"averages ([\d.]+\d) over (?:the same )?twelve", " ".join(page.read_text().split())) == [
            ours
        ], page


def test_the_three_figures_of_glass_are_those_of_the_table_that_explains_them() -> None:
    (table,) = tables(str(ROOT / "bench/results/authors"))
    row = next(row for row in table.rows if row.name == "mean of all twelve")
    known = dict(zip(table.head[1:], row.entries, strict=True))
    wanted = [known[column].mean for column in ("printed", SELECTED, "last epoch, reliability")]
    three = r"over twelve datasets: ([\d.]+\d) printed; ([\d.]+\d) here, .*?; ([\d.]+\d) if nothing is"
    for page in (README, ROOT / "docs/index.md"):
        (found,) = re.findall(three, " ".join(page.read_text().split()))
        assert list(found) == [f"{value:.1f}" for value in wanted], page
    by_dataset: dict[str, list[float]] = {}
    for record in Results.open(ROOT / "bench/results/single/minority").records("glass"):
        by_dataset.setdefault(record["cell"]["dataset"], []).append(record["metrics"]["auroc"])
    default = re.findall(r"has ([\d.]+\d) under our protocol", " ".join(README.read_text().split()))
    assert default == [f"{mean(map(mean, by_dataset.values())):.1f}"]


def test_what_the_card_says_of_the_18_settings_holds() -> None:
    pretrained: dict[tuple[str, str], list[float]] = {}
    for record in Results.open(ROOT / "bench/results/pretrained/minority").records():
        pair = (record["cell"]["weights"], record["cell"]["dataset"])
        pretrained.setdefault(pair, []).append(record["metrics"]["auroc"])
    wanted = [mean(mean(pretrained[pair]) for pair in DISJOINT)]
    for method in ("glass", "glass-plain", "glass-untrained"):
        trained: dict[str, list[float]] = {}
        for record in Results.open(ROOT / "bench/results/single/minority").records(method):
            trained.setdefault(record["cell"]["dataset"], []).append(record["metrics"]["auroc"])
        wanted.append(mean(mean(trained[target]) for _, target in DISJOINT))
    card = unmarked(ROOT / "src/graphglass/glass/pretrained/README.md")
    said = r"these encoders average ([\d.]+\d)\. .*? has ([\d.]+\d), .*? ([\d.]+\d), and .*? weights ([\d.]+\d)\."
    assert re.findall(said, card) == [tuple(f"{value:.1f}" for value in wanted)]


def test_what_the_page_says_of_the_adopted_detail_and_of_training_holds() -> None:
    """Differences on the same splits, averaged within a dataset first."""

    def gains(folder: str, other: str) -> dict[str, float]:
        results = Results.open(ROOT / "bench/results/single" / folder)
        cells = {
            method: {(r["cell"]["dataset"], r["cell"]["seed"]): r["metrics"]["auroc"] for r in results.records(method)}
            for method in ("glass", other)
        }
        by_dataset: dict[str, list[float]] = {}
        for cell in cells["glass"].keys() & cells[other].keys():
            by_dataset.setdefault(cell[0], []).append(cells["glass"][cell] - cells[other][cell])
        return {name: mean(found) for name, found in by_dataset.items()}

    def told(value: float) -> str:
        return f"{value:+.1f}".replace("-", "−")

    large = ("NCI1", "DD", "REDDIT-BINARY", "COLLAB")
    plain, plain_flip = gains("minority", "glass-plain"), gains("minority-flip", "glass-plain")
    start, start_flip = gains("minority", "glass-untrained"), gains("minority-flip", "glass-untrained")
    small = [value for name, value in start.items() if name not in large]
    page = unmarked(ROOT / "bench/docs/reproduction.md")
    pair = " is {} over the twelve and {} over the eight small datasets in the other direction"
    assert (
        f"`glass` minus `glass-plain`{pair}".format(*map(told, (mean(plain.values()), mean(plain_flip.values()))))
        in page
    )
    first, second = told(mean(small)), told(mean(start_flip.values()))
    assert f"is {first} over the eight small datasets and {second} in the other direction" in page
    for name, shown in zip(large, ("NCI1", "D&D", "REDDIT-BINARY", "COLLAB"), strict=True):
        assert f"{told(start[name])} on {shown}" in page
    for name in ("PROTEINS", "ENZYMES"):
        assert f"{name} ({told(plain[name])} and {told(plain_flip[name])})" in page
    assert f"D&D ({told(plain['DD'])}) and, in the other direction, DHFR ({told(plain_flip['DHFR'])}) lose most" in page
    assert min(plain, key=lambda name: plain[name]) == "DD"
    assert min(plain_flip, key=lambda name: plain_flip[name]) == "DHFR"


def test_what_the_page_says_of_the_distance_to_the_printed_figures_holds() -> None:
    by_dataset: dict[str, list[float]] = {}
    for record in Results.open(ROOT / "bench/results/single/minority").records("glass"):
        by_dataset.setdefault(record["cell"]["dataset"], []).append(record["metrics"]["auroc"])
    below = {name: MAIN_RESULTS["glass",][name][0] - mean(found) for name, found in by_dataset.items()}
    page = " ".join((ROOT / "bench/docs/reproduction.md").read_text().replace("D&D", "DD").split())
    said = (
        r"within five points of the printed figures on (.*?), and within seven on (.*?)\. "
        r"- \*\*Does not agree:\*\* (.*?)\."
    )
    ((near, nearer, far),) = re.findall(said, page)
    for names, most in ((near, 5), (nearer, 7)):
        for name in re.split(", | and ", names):
            assert abs(below.pop(name)) <= most, name
    numbers = {"nine": 9, "ten": 10, "eleven": 11, "twelve": 12, "fourteen": 14, "fifteen": 15, "twenty": 20}
    for part in far.split(", "):
        names, number = part.replace(" lies", "").split(" about ")
        for name in names.split(" and "):
            assert abs(below.pop(name) - numbers[number.split()[0]]) < 2, name
    assert not below


def test_what_the_page_says_of_the_six_molecule_sources_holds() -> None:
    found: dict[tuple[str, str], list[float]] = {}
    for record in Results.open(ROOT / "bench/results/transfer/minority").records("glass-plain"):
        pair = (record["cell"]["source"], record["cell"]["dataset"])
        found.setdefault(pair, []).append(record["variants"]["matched"]["auroc"])
    page = unmarked(ROOT / "bench/docs/reproduction.md").replace("D&D", "DD")
    said = r"by about six points at most\. (.*?) still lie eight to twelve points below tab:cross"
    (names,) = re.findall(said, page)
    for name in re.split(", | and ", names):
        assert 7.5 <= TRANSFER["mol", name]["transfer"][0] - mean(found["mol-six", name]) <= 12.5, name
    changes = [mean(own) - mean(found["mol", name]) for (source, name), own in found.items() if source == "mol-six"]
    assert len(changes) == 5
    assert 5.5 < max(map(abs, changes)) < 6.5


def test_a_part_is_replaced_and_its_marks_are_needed(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("a\n<!-- one -->\nold\n<!-- end -->\nb\n<!-- two -->\n<!-- end -->\n")
    text = filled(page, {"one": "new\n", "two": "2"})
    assert text == "a\n<!-- one -->\n\nnew\n\n<!-- end -->\nb\n<!-- two -->\n\n2\n\n<!-- end -->\n"
    with pytest.raises(BenchError, match="<!-- three -->"):
        filled(page, {"three": ""})


def test_the_readme_says_what_reviews_find_on_average() -> None:
    """Per task the mean over its draws, then the mean over tasks; ahead of both forests on the same marks."""
    found: dict[str, dict[tuple[str, str], list[float]]] = {}
    for record in Results.open(ROOT / "bench/results/review").records():
        cell = record["cell"]
        if cell["references"] == "clean":
            for rule, metrics in record["variants"].items():
                found.setdefault(rule, {}).setdefault((cell["dataset"], cell["direction"]), []).append(
                    metrics["found_40"]
                )
    means = {rule: mean(mean(draws) for draws in tasks.values()) for rule, tasks in found.items()}
    gain = 100 * (means["review"] / means["fixed"] - 1)
    said = (
        r"In 40 simulated reviews the ranking that follows the marks finds (\d+)% more anomalies than the fixed one, "
    )
    text = " ".join(README.read_text().split())
    assert re.findall(said + r"mean of (\d+) tasks", text) == [(f"{gain:.0f}", str(len(found["review"])))]
    forests = [
        f"{100 * (means[rule] / means['fixed'] - 1):.0f}".replace("-", "−") for rule in ("random-forest", "aad-forest")
    ]
    others = r"On the same marks a random forest gains (−?\d+)% and active anomaly discovery \(coniferest\) (−?\d+)%"
    assert re.findall(others, text) == [tuple(forests)]


def test_what_the_page_says_of_contaminated_references_holds() -> None:
    """Signs that the section names in words: mean over the four columns, and p-values on clean references."""
    whole = {}
    for method in ("graphglass", "graphglass-trimmed"):
        by_task: dict[tuple[str, str], list[dict[str, dict[str, float]]]] = {}
        for record in Results.open(ROOT / "bench/results/contaminated").records(method):
            cell = record["cell"]
            by_task.setdefault((cell["dataset"], cell["direction"]), []).append(record["variants"])
        whole[method] = {
            (share, metric): mean(mean(draw[share][metric] for draw in draws) for draws in by_task.values())
            for share in ("0%", "2%", "5%", "10%", "20%")
            for metric in ("auroc", "normals_flagged", "found")
        }
    plain, trimmed = whole["graphglass"], whole["graphglass-trimmed"]
    assert plain["0%", "auroc"] > plain["2%", "auroc"] > plain["5%", "auroc"] > plain["20%", "auroc"]
    assert max(plain[share, "normals_flagged"] for share in ("0%", "2%", "5%", "10%", "20%")) <= 5
    assert trimmed["0%", "auroc"] < plain["0%", "auroc"]
    assert trimmed["0%", "normals_flagged"] > 5
    for share in ("5%", "10%", "20%"):
        won, lost = trimmed[share, "auroc"] - plain[share, "auroc"], plain["0%", "auroc"] - plain[share, "auroc"]
        assert 0 < won < lost / 4
        assert trimmed[share, "found"] > plain[share, "found"]
