"""Tables and figures rebuilt from records."""

from __future__ import annotations

import csv
import io
import os
from pathlib import Path
from typing import Any

import pytest

from glassbench import paper_figures
from glassbench.datasets import TWELVE
from glassbench.figures import draw
from glassbench.group_tables import summary_table
from glassbench.records import Purpose, Results
from glassbench.table_model import Row, Table, Value, insert
from glassbench.tables import tables
from glassbench.transfer import DISJOINT
from graphglass.errors import BenchError

BEGIN, END = "<!-- results:begin -->", "<!-- results:end -->"


def write(folder: Path, purpose: Purpose, method: str, cell: dict[str, Any], auroc: float, **extra: Any) -> None:
    metrics = {"auroc": auroc, "auprc": auroc / 2, "fpr95": 100 - auroc}
    variants = {name: {"auroc": value, "auprc": 1.0, "fpr95": 2.0} for name, value in extra.items()}
    Results.create(folder, purpose).append(
        {
            "benchmark": purpose.benchmark, "protocol": purpose.protocol, "flip": purpose.flip, "method": method,
            "cell": cell, "configuration": {}, "data": {}, "metrics": metrics, "seconds": {"fit": 2.0, "score": 0.5},
            "peak_memory_mb": 300.0, "versions": {},
            "variants": variants,
        }
    )  # fmt: skip


@pytest.fixture
def results(tmp_path: Path) -> Path:
    folder, purpose = tmp_path / "single", Purpose("single", "minority")
    for seed, (one, two) in enumerate([(80.0, 60.0), (82.0, 64.0)]):
        write(folder, purpose, "size-knn", {"dataset": "MUTAG", "seed": seed}, one)
        write(folder, purpose, "size-knn", {"dataset": "DD", "seed": seed}, 50.0)
        write(folder, purpose, "wl-svm", {"dataset": "MUTAG", "seed": seed}, two)
        write(folder, purpose, "wl-svm", {"dataset": "DD", "seed": seed}, 70.0)
        write(folder, purpose, "pk-if", {"dataset": "DD", "seed": seed}, 99.0)
    return tmp_path


def test_single_table_by_hand(results: Path) -> None:
    (table,) = tables(str(results))
    assert table.head == ("method", "MUTAG", "D&D", "average", "rank")
    text = table.render("md")
    assert "### single, AUROC (%), protocol minority" in text
    assert "| size-knn | **81.0±1.4** | 50.0±0.0 | 65.5 | 1.50 |" in text
    assert "| wl-svm | 62.0±2.8 | 70.0±0.0 | **66.0** | 1.50 |" in text
    assert "| *wl-svm, published* | 62.2±0.3 | 48.0±0.3 | 55.1 | – |" in text
    assert "| pk-if | – | **99.0±0.0** | – | – |" in text  # no average and no rank from half a row
    assert "Not on every dataset yet: pk-if." in text
    assert "over 2 seeds" in text


def test_csv_holds_numbers(results: Path) -> None:
    (table,) = tables(str(results))
    rows = list(csv.DictReader(io.StringIO(table.render("csv"))))
    assert rows[0]["method"] == "size-knn"
    assert (rows[0]["MUTAG"], rows[0]["MUTAG std"], rows[0]["MUTAG runs"]) == ("81.0", "1.4142", "2")
    assert {row["source"] for row in rows} == {"measured", "published"}


def test_low_is_good_for_fpr95(results: Path) -> None:
    (table,) = tables(str(results), metric="fpr95")
    assert "| size-knn | **19.0±1.4** |" in table.render()
    assert "published" not in table.render().split("Protocol")[0]  # the paper has no such figures


def test_costs(results: Path) -> None:
    (seconds,) = tables(str(results), metric="seconds")
    assert "| size-knn | **2.5±0.0** | **2.5±0.0** | **2.5** |" in seconds.render()
    (memory,) = tables(str(results), metric="memory")
    assert "single, peak memory (MB), protocol minority" in memory.render()
    assert "| wl-svm | **300.0±0.0** |" in memory.render()


def test_protocols_are_told_apart(results: Path) -> None:
    write(results / "good", Purpose("single", "good-d", flip=True), "graphglass", {"dataset": "BZR", "seed": 0}, 75.0)
    assert "published" not in tables(str(results / "good"))[0].render()  # its figures are not of that direction
    assert [table.title for table in tables(str(results))] == [
        "single, AUROC (%), protocol good-d (flipped)", "single, AUROC (%), protocol minority",
    ]  # fmt: skip
    (table,) = tables(str(results), protocol="good-d")
    assert "75.0" in table.render()
    with pytest.raises(BenchError, match="none of 'good-d'"):
        tables(str(results / "single"), protocol="good-d")
    with pytest.raises(BenchError, match="Unknown metric"):
        tables(str(results), metric="f1")
    with pytest.raises(BenchError, match="Unknown format"):
        table.render("html")


SHOT_NAMES = ("0", "16", "4", "all", "1 only", "32 only", "8 only", "all only")


def test_transfer_averages_the_disjoint_settings_once_all_are_there(tmp_path: Path) -> None:
    purpose = Purpose("transfer", "minority")
    for place, (source, name) in enumerate(DISJOINT):
        cell = {"source": source, "dataset": name, "seed": 0}
        if place == len(DISJOINT) - 1:
            assert "| 40.0 |" in tables(str(tmp_path))[0].render()
            assert "average of" not in tables(str(tmp_path))[0].render()
        write(tmp_path / "t", purpose, "graphglass", cell, 50.0, **{"zero-shot": 40.0 + place, "matched": 70.0})
    source, target = (table.render() for table in tables(str(tmp_path)))
    # the paper's private series: 52.0 with source references, 65.85 with the target's
    assert "| average of the 18 disjoint settings | 48.5 | 52.0 |" in source
    assert "| average of the 18 disjoint settings | 70.0 | – | 65.8 |" in target


def test_a_flipped_transfer_quotes_nothing(tmp_path: Path) -> None:
    cell = {"source": "mol", "dataset": "PROTEINS", "seed": 0}
    write(tmp_path / "t", Purpose("transfer", "minority", flip=True), "graphglass", cell, 61.0, **{"zero-shot": 61.0})
    write(
        tmp_path / "f", Purpose("few-shot", "minority", flip=True), "graphglass", cell, 70.0, **{"0": 60.0, "all": 70.0}
    )
    few, transfer = tables(str(tmp_path))
    assert (few.head, transfer.head) == (("k", "graphglass"), ("source → target", "graphglass"))
    assert "published" not in few.render() + transfer.render()


def test_other_layouts(tmp_path: Path) -> None:
    purpose = Purpose("scoring", "minority")
    write(tmp_path / "s", purpose, "glass", {"dataset": "MUTAG", "seed": 0}, 80.0, graph=70.0, text=60.0)
    purpose = Purpose("transfer", "minority")
    cell = {"source": "mol", "dataset": "PROTEINS", "seed": 0}
    write(tmp_path / "t", purpose, "graphglass", cell, 61.0, **{"zero-shot": 61.0, "matched": 72.0})
    write(
        tmp_path / "f", Purpose("few-shot", "minority"), "graphglass", cell, 70.0, **{"0": 60.0, "1": 65.0, "all": 70.0}
    )
    write(tmp_path / "g", Purpose("few-shot", "good-d"), "graphglass", cell, 70.0, **dict.fromkeys(SHOT_NAMES, 60.0))
    cell = {"encoder": "minilm", "dataset": "MUTAG", "seed": 0}
    write(tmp_path / "e", Purpose("text", "minority"), "glass", cell, 85.6)
    write(tmp_path / "l", Purpose("lora", "minority"), "glass", cell, 77.0, frozen=80.0, tuned=77.0)
    (ordered,) = tables(str(tmp_path), protocol="good-d")
    assert [row.name for row in ordered.rows] == ["0", "1", "4", "8", "16", "32", "all"]
    assert ordered.head == ("k", "graphglass", "graphglass only", "published")
    assert "| 1 | – | 60.0 | 73.3±3.0 |" in ordered.render()
    found = {table.title.split(", A")[0]: table.render() for table in tables(str(tmp_path), protocol="minority")}
    assert "| MUTAG | 70.0 | 60.0 |" in found["scoring"]
    assert "| *MUTAG, published* | 91.1±1.1 | 74.2±1.9 |" in found["scoring"]
    assert "| mol → PROTEINS | 61.0 | 60.5±5.2 |" in found["transfer, source references"]
    assert "| mol → PROTEINS | 72.0 | 83.5±0.3 | 72.3±1.9 |" in found["transfer, all target references"]
    assert "transfer, 8 target references" not in found
    assert "| 0 | 60.0 | 65.6±3.6 |" in found["few-shot, mol → PROTEINS"]
    assert "| MUTAG | 85.6 | 91.4±0.9 | 91.0±1.4 | 91.0±1.1 |" in found["text"]
    assert "--encoders Qwen/Qwen3-Embedding-0.6B" in found["text"]
    assert "| MUTAG | 80.0 | – | 77.0 |" in found["lora"]
    for path in draw(tmp_path, tmp_path / "figures"):
        assert path.read_bytes()[:4] == b"\x89PNG"


def test_figures_stand_beside_the_records(results: Path) -> None:
    (path,) = draw(results)
    assert path == results / "single" / "single-minority-auroc.png"
    assert path.stat().st_size > 5000


@pytest.mark.parametrize("benchmark", ["single", "transfer", "private"])
def test_an_empty_folder_says_so(tmp_path: Path, benchmark: str) -> None:
    Results.create(tmp_path, Purpose(benchmark, "minority"))
    with pytest.raises(BenchError, match="no finished cell"):
        tables(str(tmp_path))


def test_the_papers_averages_follow_from_its_figures() -> None:
    printed = {
        "pk-svm": 49.58, "pk-if": 54.28, "wl-svm": 53.03, "wl-if": 55.90, "ocgin": 71.34, "glocalkd": 70.25,
        "ocgtl": 70.86, "signet": 77.34, "gladc": 71.63, "cvtgad": 76.03, "muse": 76.63, "uniform": 76.58,
        "glass": 79.85,
    }  # fmt: skip
    for (method,), row in paper_figures.MAIN_RESULTS.items():
        assert tuple(row) == TWELVE
        assert sum(mean for mean, _ in row.values()) / 12 == pytest.approx(printed[method], abs=0.011)
    for (name,), row in paper_figures.TEXT_ENCODERS.items():
        assert row["qwen3-0.6b"] == paper_figures.MAIN_RESULTS[("glass",)][name]
    for (_, name), row in paper_figures.TRANSFER.items():
        assert row["single"] == paper_figures.MAIN_RESULTS[("glass",)][name]
    assert len(paper_figures.DISJOINT) == 18
    mean = sum(row["target-nn"][0] for row in paper_figures.DISJOINT.values()) / 18
    assert mean == pytest.approx(65.85, abs=0.01)


def test_a_value_without_spread() -> None:
    table = Table("t", ("a", "b"), (Row("x", (Value(1.0),)), Row("y", (None,))))
    assert "| x | 1.0 |\n| y | – |" in table.render()


def test_summary_of_both_directions(results: Path) -> None:
    flipped = Purpose("single", "minority", flip=True)
    for name in ("MUTAG", "DD"):
        write(results / "f", flipped, "size-knn", {"dataset": name, "seed": 0}, 60.5)
    text = summary_table(results).render()
    head = "| method | minority | flipped | both | minority on 1 | flipped on 1 | both on 1 | seeds | missing of 10 |"
    assert head in text  # one row lacks a dataset: what all rows have is compared apart
    assert "the datasets that every row has: D&D." in text
    assert "| size-knn | 65.5 | 60.5 | 63.0 | 50.0 | 60.5 | 55.2 | 2 / 1 | 6 / 8 |" in text  # alone: nothing in bold
    assert "| wl-svm | **66.0** | – | – | 70.0 | – | – | 2 / 0 | 6 / 10 |" in text
    assert "| pk-if | – | – | – | **99.0** | – | – | 0–2 / 0 | 8 / 10 |" in text
    assert "±" not in text
    alone, published = text.split("***published***")
    assert "***scored alone***" in alone
    printed = {name: paper_figures.MAIN_RESULTS[("wl-svm",)][name][0] for name in ("MUTAG", "DD")}
    means = f"{sum(printed.values()) / 2:.1f} | – | – | {printed['DD']:.1f} | – | –"
    assert f"| *wl-svm, published* | {means} | – | – |" in published
    assert "scored in a test batch" not in text
    write(results / "f", flipped, "signet-batch", {"dataset": "DD", "seed": 0}, 60.5)
    assert "***scored in a test batch***" in summary_table(results).render()
    with pytest.raises(BenchError, match="no single-domain results"):
        summary_table(results, protocol="good-d")


def test_insert_between_marks(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"before\n{BEGIN}\nold\n{END}\nafter\n")
    insert("new table\n", page)
    insert("newer table\n", page)
    assert page.read_text() == f"before\n{BEGIN}\nnewer table\n{END}\nafter\n"
    page.write_text("no marks")
    with pytest.raises(BenchError, match="no place for results"):
        insert("x", page)


def test_an_interrupted_insert_keeps_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"before\n{BEGIN}\nold\n{END}\nafter\n")
    before = page.read_text()

    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        insert("new table\n", page)
    assert page.read_text() == before
    assert list(tmp_path.iterdir()) == [page]


def test_methods_and_encoders_are_not_pooled(tmp_path: Path) -> None:
    for method, auroc in (("graphglass", 90.0), ("glass", 50.0)):
        for seed in (0, 1):
            cell: dict[str, Any] = {"dataset": "MUTAG", "seed": seed}
            write(tmp_path / "s", Purpose("scoring", "minority"), method, cell, auroc, fixed=auroc)
            cell = {"dataset": "MUTAG", "encoder": "numeric", "seed": seed}
            write(tmp_path / "t", Purpose("text", "minority"), method, cell, auroc)
    for encoder, auroc in (("one", 90.0), ("two", 50.0)):
        cell = {"dataset": "MUTAG", "encoder": encoder, "seed": 0}
        write(tmp_path / "l", Purpose("lora", "minority"), "glass", cell, auroc, tuned=auroc)
    for folder in "stl":
        (table,) = tables(str(tmp_path / folder))
        rows = [row for row in table.rows if not row.quoted]
        means = {entry.mean for row in rows for entry in row.entries if isinstance(entry, Value)}
        assert {90.0, 50.0} <= means
        assert 70.0 not in means


def test_an_empty_direction_leaves_the_summary_and_two_of_a_kind_are_refused(results: Path) -> None:
    before = summary_table(results).render()
    Results.create(results / "empty", Purpose("single", "minority", True))
    assert summary_table(results).render() == before
    write(results / "twin", Purpose("single", "minority"), "size-knn", {"dataset": "MUTAG", "seed": 0}, 60.0)
    with pytest.raises(BenchError, match="hold results of one kind"):
        summary_table(results)
