"""What the report says and shows."""

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from graphglass import GraphGlass, read_graphs
from graphglass.errors import InputError
from graphglass.report.page import report_page, write_report

NORMALS = ["CCO", "CCCO", "CCN", "CCCN", "c1ccccc1", "c1ccccc1C", "c1ccccc1O", "CC(C)O", "CCOC", "CCCC", "CCC", "CCNC"]
QUERIES = ["CCCCO", "O=[N+]([O-])c1ccc(Cl)cc1", "c1cc2ccc3cccc4ccc(c1)c2c34", "CC", "CCS", "CCCCCC"]


@pytest.fixture(scope="module")
def detector():
    return GraphGlass().fit(read_graphs(NORMALS, format="smi"))


@pytest.fixture(scope="module")
def page(detector):
    return report_page(detector, detector.score_table(read_graphs(QUERIES, format="smi"), alpha=0.1))


def test_every_row_of_the_explained_leads_to_its_card(page):
    links = re.findall(r'<a href="#(graph-\d+)">', page)
    assert links == [f"graph-{rank}" for rank in range(1, 5 + 1)]
    assert all(f'id="{link}"' in page for link in links)
    assert page.count("<tr>") == len(QUERIES) + 1


def test_a_part_of_a_large_graph_is_called_one(detector):
    assert "this graph (150 of 200 nodes)" in report_page(
        detector, detector.score_table(read_graphs(["C" * 200], format="smi"))
    )


def test_what_decides_is_what_is_shown(page, detector):
    queries = read_graphs(QUERIES, format="smi")
    worst = queries[int(np.argmax(detector.decision_function(queries)))]
    card = page.partition('id="graph-1"')[2].partition("</section>")[0]
    explanation = detector.explain(worst, neighbours=2)
    for item in explanation.neighbours:
        assert f"normal {item.id}<br>similarity: " in card
        assert all(f"{name} {value:.2f}" in card for name, value in item.families.items())
    assert f"<output>{max(explanation.shares.values()):.0f}%</output>" in card
    assert card.count("<li>") == len(explanation.reasons) > 0
    assert 'class="bond"' in card


def test_a_kept_column_gets_a_name_of_its_own(detector):
    queries = replace(
        read_graphs(QUERIES[:2], format="smi"), columns={"score": np.array([7, 8]), "p-value": np.ones(2)}
    )
    heads = re.findall(r"<th [^>]*>([^<]*)</th>", report_page(detector, detector.score_table(queries)))
    assert len(set(heads)) == len(heads)
    assert heads[-2:] == ["input_score", "input_p-value"]


def test_queries_that_equal_a_reference_are_told(detector, page):
    assert "equal a reference" not in page
    both = report_page(detector, detector.score_table(read_graphs([QUERIES[0], NORMALS[0]], format="smi")))
    assert "1 of 2 graphs equal a reference and have its leave-one-out score." in both


def test_progress_is_one_line(capsys):
    loud = GraphGlass(verbose=True).fit(read_graphs(NORMALS, format="smi"))
    table = loud.score_table(read_graphs(QUERIES, format="smi"))
    capsys.readouterr()
    report_page(loud, table)
    assert re.fullmatch(r"Explaining graphs: 5 done in .* s\n", capsys.readouterr().err)
    assert loud.verbose


def test_nothing_is_loaded_from_anywhere(page):
    assert not re.findall(r'(?:src|href)="(?!#|data:)', page)
    assert "http" not in page.replace("http://www.w3.org/2000/svg", "")


def test_known_anomalies_are_on_the_map_and_beside_the_graph(detector):
    known = read_graphs(["O=[N+]([O-])c1ccc(Br)cc1"], format="smi")
    marked = GraphGlass().fit(read_graphs(NORMALS, format="smi"), anomalies=known)
    page = report_page(marked, marked.score_table(read_graphs(QUERIES[:2], format="smi")))
    assert page.count('<path class="known"') == 1
    assert "known anomaly</span>" in page
    assert "<figcaption>known anomaly line-0<br>similarity" in page


def test_a_report_is_not_written_over_a_folder(detector, tmp_path):
    with pytest.raises(InputError, match="is a directory"):
        write_report(detector, detector.score_table(read_graphs(["CC"], format="smi")), tmp_path)


def test_everything_flagged_is_explained_and_the_head_names_the_files(detector):
    table = detector.score_table(read_graphs(QUERIES, format="smi"), alpha=0.5)
    page = report_page(detector, table, about={"Graphs": "a<b>.csv"})
    assert page.count('<section class="card" id="graph-') == max(5, int(table.flagged.sum()))
    assert "<dt>Graphs</dt><dd>a&lt;b&gt;.csv</dd>" in page
    assert "<dt>Date</dt>" in page
    assert "repeats=&#x27;auto&#x27;" in page
    assert report_page(detector, table, explained=1).count('<section class="card" id="graph-') == 1


def test_a_detector_writes_its_report(detector, tmp_path):
    graphs = read_graphs(QUERIES, format="smi")
    table = detector.report(tmp_path / "page.html", graphs, about={"Graphs": "new <one>.smi"})
    page = (tmp_path / "page.html").read_text()
    assert "<dt>Graphs</dt><dd>new &lt;one&gt;.smi</dd>" in page
    assert len(table) == len(QUERIES)
    assert all(reason is not None for reason, flag in zip(table.reasons, table.flagged, strict=True) if flag)
    assert "explained</h2>" in page


def test_a_long_cell_shows_its_start_and_the_rest_on_demand(detector):
    rows = {"smiles": ["CCO", "CCN"], "note": ["short", "<b>" + "long " * 60]}
    page = report_page(detector, detector.score_table(read_graphs(pd.DataFrame(rows), keep=["note"])), explained=0)
    assert page.count("<details>") == 1
    assert f"<summary>&lt;b&gt;{('long ' * 60)[:77]}…</summary>&lt;b&gt;{'long ' * 60}</details>" in page
    assert ">short</td>" in page


def test_flagged_graphs_that_are_not_explained_are_counted(detector):
    table = detector.score_table(detector.references_.graphs, alpha=0.5)
    page = report_page(detector, table, explained=2)
    assert f"<p>{table.flagged.sum() - 2} more are flagged.</p>" in page
