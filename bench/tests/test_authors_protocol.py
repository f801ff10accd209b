import json

import numpy as np
import pytest

from glassbench.authors_choices import choice_effects, settings
from glassbench.authors_protocol import (
    SIX,
    TWENTY_FOUR,
    Side,
    _auroc,
    authors_cell,
    fitted_sides,
    honest_rules,
    look,
    look_epochs,
    selected_epoch,
)
from glassbench.metrics import evaluate
from glassbench.protocols import blind, split
from glassbench.records import REQUIRED, Purpose, Results
from glassbench.tables import tables
from graphglass import GLASS
from graphglass.channels.profiled_graphs import ProfiledGraphs
from graphglass.errors import BenchError, ParameterError
from graphglass.glass.scoring_rules import paper_variants
from graphglass.glass.slices import normalise
from graphglass.glass.training.config import AUTHORS
from graphglass.graphs.datasets import load_dataset
from graphglass.structure.profile import profile

SLICES = (4, 8)


def codes_of(view, count, seed, spread):
    random = np.random.default_rng(seed)
    return {
        f"{view}:{size}": normalise(np.eye(size)[0] + spread * random.standard_normal((count, size))).astype(np.float32)
        for size in SLICES
    }


@pytest.fixture(scope="module")
def sides():
    return tuple(
        Side(view, codes_of(view, 30, i, 0.3), codes_of(view, 20, i + 2, 0.6))
        for i, view in enumerate(("graph", "text"))
    )


def test_the_split_is_drawn_by_the_old_generator():
    labels = np.array([1] * 10 + [0] * 4)
    parts = split(labels, "authors", 42)
    expected = np.random.RandomState(42).permutation(10)[:8]
    assert sorted(parts.references) == sorted(expected)
    assert sorted(parts.test) == sorted(set(range(14)) - set(expected))
    assert parts.anomalous.sum() == 4
    assert split(np.array([3, 3, 5, 5]), "authors", 0).anomalous_labels == (3,)


def test_epochs_looked_at():
    assert look_epochs(12) == (0, 1, 5, 10, 12)
    assert look_epochs(150)[-1] == 150
    assert len(look_epochs(150)) == 32


def test_selection_and_patience():
    curve = {0: 50.0, 1: 60.0, 5: 55.0, 40: 59.0, 41: 58.0, 45: 99.0}
    assert selected_epoch(curve) == (1, 41)  # the rise at 45 comes after 40 epochs without one
    assert selected_epoch({0: 50.0, 5: 60.0, 10: 60.0}) == (5, 10)  # a tie keeps the earlier one


def test_rules_agree_with_the_detector(sides):
    """Two computations of the same rules: here per channel, there by fusion."""
    graph, text = sides
    found = honest_rules(graph, text, "mol")
    graphs = load_dataset("MUTAG")[:30]
    structure = profile(graphs)
    references = ProfiledGraphs(graphs, structure, {**graph.references, **text.references})
    queries = ProfiledGraphs(graphs[:20], structure[np.arange(20)], {**graph.queries, **text.queries})
    expected = paper_variants(queries, references, SLICES, 5, "mol")
    pairs = {"reliability z": "glass", "reliability raw": "glass raw", "fixed z": "fixed", "domain z": "domain"}
    for here, there in pairs.items():
        np.testing.assert_allclose(found[here], expected[there], rtol=1e-6)
    np.testing.assert_allclose(2 * found["graph raw"], expected["graph"], rtol=1e-6)
    assert set(found) == {"graph", "text", "fusion", "energy", *TWENTY_FOUR}
    own, far = graph.distances["graph:4"][1], graph.distances["graph:4"][0]
    assert found["widest cdf"].max() <= 1
    assert (far[0] >= own).mean() == np.searchsorted(np.sort(own), far[0], side="right") / 30


def test_the_best_share_is_at_least_either_side(sides):
    anomalous = np.arange(20) < 7
    found = look(*sides, "graph", anomalous)
    assert found["ensemble"] >= max(found["graph"], found["text"])
    assert found["best of six"] == max(found[rule] for rule in SIX)
    assert found["best of 24"] == max(found[rule] for rule in TWENTY_FOUR)


def test_areas_by_rank_are_those_of_the_benchmark():
    scores, anomalous = np.array([1.0, 2.0, 2.0, 2.0, 3.0, 0.5]), np.array([0, 1, 0, 1, 1, 0], bool)
    assert _auroc(scores, anomalous) == pytest.approx(evaluate(scores, anomalous)["auroc"])


def test_choices_are_names_of_details():
    assert settings("none") == {"prompt": 1, "details": ()}
    assert settings("margin+training-mode") == {"prompt": 1, "details": ("training-mode", "margin")}
    assert settings("untrained+prompt-2") == {"prompt": 2, "details": (), "epochs": 0}
    assert settings("all-but-gin+clipping")["details"] == tuple(n for n in AUTHORS if n not in ("gin", "clipping"))
    for wrong in ("nothing", "all-but-nothing"):
        with pytest.raises(BenchError, match="Unknown detail 'nothing'"):
            settings(wrong)


def test_a_choice_is_what_the_detector_does_with_its_details():
    graphs = load_dataset("MUTAG")[:60].without_labels()
    choice = settings("margin+training-mode")
    detector = GLASS("numeric", domain="mol", epochs=22).set_params(**choice).fit(graphs[:40])
    rules = honest_rules(*fitted_sides(detector, graphs[40:]), "mol")
    np.testing.assert_allclose(detector.decision_function(graphs[40:]), rules["reliability z"], rtol=1e-6)
    plain = GLASS("numeric", domain="mol", epochs=22, details=()).fit(graphs[:40])
    assert not np.allclose(plain.decision_function(graphs[40:]), rules["reliability z"], rtol=1e-3)
    with pytest.raises(ParameterError, match="must be names among training-mode, concentration"):
        GLASS(details=["warm-up"]).fit(graphs)


def test_tables_of_choices_compare_the_same_cells(tmp_path):
    def write(folder, benchmark, cell, auroc, variants):
        record = {"method": "glass", "cell": cell, "metrics": {"auroc": auroc}, "variants": variants}
        whole = dict.fromkeys(REQUIRED, "") | record | {"benchmark": benchmark, "protocol": "minority", "flip": False}
        Results.create(tmp_path / folder, Purpose(benchmark, "minority")).append(whole)

    for seed, auroc in ((0, 60.0), (1, 10.0)):
        text = {"text": {"auroc": auroc + 1}}
        write("choices/minority", "choices", {"dataset": "MUTAG", "choice": "none", "seed": seed}, auroc, text)
    for choice, auroc in (("margin", 63.0), ("untrained", 50.0), ("untrained+prompt-2", 52.5)):
        text = {"text": {"auroc": auroc}}
        write("choices/minority", "choices", {"dataset": "MUTAG", "choice": choice, "seed": 0}, auroc, text)
    (effects,) = tables(str(tmp_path / "choices/minority"))
    assert [(row.name, row.entries[0].mean) for row in effects.rows] == [("margin", 3.0), ("untrained+prompt-2", 2.5)]
    assert choice_effects(Results.open(tmp_path / "choices/minority"), rule="text")["margin"] == {"MUTAG": [2.0]}


def test_choices_are_compared_with_what_the_main_benchmark_recorded(tmp_path):
    """Without and with the adopted detail; a cell of both folders counts once."""

    def write(folder, benchmark, method, cell, auroc):
        record = {"method": method, "cell": cell, "metrics": {"auroc": auroc}, "benchmark": benchmark, "flip": False}
        whole = dict.fromkeys(REQUIRED, "") | record | {"protocol": "minority"}
        Results.create(tmp_path / folder, Purpose(benchmark, "minority")).append(whole)

    for seed, plain, adopted in ((0, 50.0, 54.0), (1, 60.0, 62.0)):
        write("single/minority", "single", "glass-plain", {"dataset": "BZR", "seed": seed}, plain)
        write("single/minority", "single", "glass", {"dataset": "BZR", "seed": seed}, adopted)
    for choice, auroc in (("margin", 51.0), ("training-mode", 54.0)):
        write("choices/minority", "choices", "glass-plain", {"dataset": "BZR", "choice": choice, "seed": 0}, auroc)
    results = Results.open(tmp_path / "choices/minority")
    assert choice_effects(results) == {"margin": {"BZR": [1.0]}, "training-mode": {"BZR": [4.0, 2.0]}}
    assert choice_effects(results, base="training-mode")["margin"] == {"BZR": [-3.0]}


def test_one_training_gives_every_column():
    graphs = load_dataset("MUTAG")
    parts = split(graphs.labels, "authors", 42)
    detector = GLASS("numeric", domain="mol", epochs=2, random_state=42)
    known, asked = blind(graphs, parts.references[:40]), blind(graphs, parts.test)
    outcome = authors_cell(detector, known, asked, parts, {"dataset": "MUTAG", "seed": 42})
    honest = honest_rules(*fitted_sides(detector.fit(known), asked), "mol")
    for rule in ("reliability z", "energy", "fusion"):
        last = outcome.variants[f"last: {rule}"]["auroc"]
        assert last == pytest.approx(evaluate(honest[rule], parts.anomalous)["auroc"]), rule
    assert {name.partition(": ")[0] for name in outcome.variants} == {"untrained", "selected", "last"}
    assert len(outcome.variants) == 3 * (6 + 24 + 2)
    assert outcome.counts["selected_epoch"] in (0, 1, 2)
    kept, last = (outcome.variants[f"{at}: ensemble"]["auroc"] for at in ("selected", "last"))
    assert outcome.metrics["auroc"] == outcome.variants["selected: best of six"]["auroc"] >= kept >= last
    json.dumps(outcome.variants)
