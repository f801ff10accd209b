"""Planted causes: the records, their table and the page that shows it."""

import json
from copy import deepcopy
from pathlib import Path

import numpy as np
import pytest

from glassbench import localise as module
from glassbench.held_out import FRESH, HELD_OUT
from glassbench.localise import DOMAINS, METHODS, graphs_of, localise, localise_table

ROOT = Path(__file__).parents[2]


def test_an_explanation_finds_a_planted_hub_and_random_numbers_do_not(monkeypatch, tmp_path):
    load, plants = DOMAINS["lattices"]
    monkeypatch.setattr(module, "REFERENCES", 60)
    monkeypatch.setitem(DOMAINS, "lattices", (lambda folder: load(folder)[:100], {"hub": plants["hub"]}))
    rows = localise("lattices", tmp_path, cases=3)
    assert len(rows) == 3
    assert all(set(row["auc"]) == set(METHODS) for row in rows)
    assert all(row["auc"]["explain"] >= 0.9 for row in rows)
    assert "| lattices | hub | 3 |" in localise_table(rows)


def test_a_planted_group_is_where_the_record_says():
    pytest.importorskip("rdkit")
    plant = DOMAINS["molecules"][1]["methylselenide"]
    record, planted = plant(np.random.default_rng(0), {"id": "m", "smiles": "CC(=O)Nc1ccc(O)cc1"})
    graph = graphs_of([record])
    assert sorted(graph.node_labels[planted].tolist()) == [6, 34]


@pytest.mark.parametrize(("part", "domains"), [("in-view", DOMAINS), ("held-out", HELD_OUT), ("fresh", FRESH)])
def test_the_page_shows_the_records(part, domains):
    files = [ROOT / "bench/results/localise" / part / f"{domain}.jsonl" for domain in domains]
    rows = [json.loads(line) for file in files for line in file.read_text().splitlines()]
    page = (ROOT / "docs/explanations.md").read_text()
    shown = page.split(f"<!-- {part} -->\n")[1].split("\n\n")[0].rstrip("\n")
    assert shown == localise_table(rows).rstrip("\n"), "paste what `glassbench localise` prints"


def test_held_out_plants_are_planted():
    for domain, (load, plants) in [*HELD_OUT.items(), *FRESH.items()]:
        if domain in ("molecules", "sessions"):  # from files
            continue
        base = load(ROOT)[0]
        for name, plant in plants.items():
            record, planted = plant(np.random.default_rng(1), deepcopy(base))
            assert 0 < len(set(planted)) <= len(record["nodes"]), name
            assert graphs_of([record]).node_count == len(record["nodes"])
