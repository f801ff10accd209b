"""Planted causes: the records, their table and the page that shows it."""

import json
from copy import deepcopy
from pathlib import Path

import numpy as np
import pytest

from glassbench import localise as module
from glassbench.localise import METHODS, graphs_of, localise, localise_table
from glassbench.plants import DOMAINS, GROUPS, PARTS, Domain, with_group

ROOT = Path(__file__).parents[2]


def test_an_explanation_finds_a_planted_hub_and_random_numbers_do_not(monkeypatch, tmp_path):
    whole = DOMAINS["lattices"]
    few = Domain(lambda folder: whole.records(folder)[:100], {"in-view": {"hub": whole.plants["in-view"]["hub"]}})
    monkeypatch.setattr(module, "REFERENCES", 60)
    monkeypatch.setitem(DOMAINS, "lattices", few)
    rows = localise("lattices", "in-view", tmp_path, cases=3)
    assert len(rows) == 3
    assert all(set(row["auc"]) == set(METHODS) for row in rows)
    assert all(row["auc"]["explain"] >= 0.9 for row in rows)
    assert "| lattices | hub | 3 |" in localise_table(rows)


def test_a_planted_group_is_where_the_record_says():
    pytest.importorskip("rdkit")
    record = {"id": "m", "smiles": "CC(=O)Nc1ccc(O)cc1"}
    planted = with_group(GROUPS["in-view"]["methylselenide"])(np.random.default_rng(0), record)
    graph = graphs_of([record])
    assert sorted(graph.node_labels[planted].tolist()) == [6, 34]


@pytest.mark.parametrize("part", PARTS)
def test_the_page_shows_the_records(part):
    domains = [name for name, domain in DOMAINS.items() if part in domain.plants]
    files = [ROOT / "bench/results/localise" / part / f"{domain}.jsonl" for domain in domains]
    rows = [json.loads(line) for file in files for line in file.read_text().splitlines()]
    page = (ROOT / "docs/explanations.md").read_text()
    shown = page.split(f"<!-- {part} -->\n")[1].split("\n\n")[0].rstrip("\n")
    assert shown == localise_table(rows).rstrip("\n"), "paste what `glassbench localise` prints"
    planted = {(domain, plant) for domain in domains for plant in DOMAINS[domain].plants[part]}
    assert {(row["domain"], row["plant"]) for row in rows} <= planted


@pytest.mark.parametrize("name", [name for name in DOMAINS if name not in ("molecules", "sessions")])  # from files
def test_plants_are_planted(name):
    base = DOMAINS[name].records(ROOT)[0]
    for plants in DOMAINS[name].plants.values():
        for title, plant in plants.items():
            record = deepcopy(base)
            planted = plant(np.random.default_rng(1), record)
            assert record != base, title
            assert 0 < len(set(planted)) <= len(record["nodes"]), title
            assert graphs_of([record]).node_count == len(record["nodes"])
