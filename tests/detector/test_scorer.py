"""Which channels take part: chemistry for molecules, and for them alone."""

from __future__ import annotations

import pickle
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from graphglass import GraphGlass, read_graphs
from graphglass.channels.profiled_graphs import measure_graphs
from graphglass.detector import scorer
from graphglass.errors import SchemaError

CHEMISTRY = {"chemistry:environments", "chemistry:descriptors"}


@pytest.fixture(scope="module")
def detector(molecules):
    return GraphGlass().fit(molecules[:18])


def without_chemistry(graphs):
    return replace(graphs, atom_environments=None, atom_contributions=None)


def names(detector):
    return {channel.name for channel in detector.scorer_.channels}


def test_molecules_have_chemistry_and_other_graphs_do_not(detector, molecules, normals):
    assert names(detector) >= CHEMISTRY
    assert not names(GraphGlass().fit(normals)) & CHEMISTRY
    assert not names(GraphGlass().fit(without_chemistry(molecules))) & CHEMISTRY


def test_contributions_sum_to_the_score(detector, molecules):
    queries = molecules[18:]
    told = detector.explain(queries[0])
    assert told.contributions.keys() >= CHEMISTRY
    assert sum(told.contributions.values()) == pytest.approx(detector.decision_function(queries[0])[0])


def test_queries_without_chemistry_are_refused(detector, molecules):
    with pytest.raises(SchemaError, match="molecules read from SMILES or SDF"):
        detector.decision_function(without_chemistry(molecules[18:]))


def test_references_without_chemistry_ignore_that_of_queries(molecules):
    plain = GraphGlass().fit(without_chemistry(molecules[:18]))
    queries = molecules[18:]
    assert np.array_equal(plain.decision_function(queries), plain.decision_function(without_chemistry(queries)))
    assert len(plain.add_references(queries).references_) == len(molecules)


def test_a_lone_query_scores_as_among_others(detector, molecules):
    queries = molecules[18:]
    together = detector.decision_function(queries)
    assert np.array_equal(together, [detector.decision_function(one)[0] for one in queries])


def test_queries_read_in_parts_score_as_at_once(detector, molecules, monkeypatch):
    whole = detector.decision_function(molecules)
    monkeypatch.setattr(scorer, "TOGETHER", 7)
    assert (detector.decision_function(molecules) == whole).all()


def test_atoms_get_an_attribution(detector, molecules):
    told = detector.explain(molecules[22])
    assert len(told.node_attribution) == molecules[22].node_count
    assert np.isfinite(told.node_attribution).all()
    assert told.node_attribution.any()


def test_a_saved_model_scores_read_molecules_without_rdkit(detector, molecules, tmp_path):
    queries = molecules[18:]
    detector.save(tmp_path / "model")
    (tmp_path / "queries.pickle").write_bytes(pickle.dumps(queries))
    code = (
        "import pickle, sys; sys.modules['rdkit'] = None\n"
        "from graphglass import ReferenceDetector\n"
        f"model = ReferenceDetector.load({str(tmp_path / 'model')!r})\n"
        f"queries = pickle.load(open({str(tmp_path / 'queries.pickle')!r}, 'rb'))\n"
        "model.explain(queries[0])\n"
        "print(model.decision_function(queries).tobytes().hex())"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == detector.decision_function(queries).tobytes().hex()


def test_p_values_of_normal_molecules_are_not_too_small():
    """Chains of alcohols and ethers, half of them references: about a tenth of the others is flagged at 0.1."""
    chains = [f"{'C' * a}{x}{'C' * b}" for a in range(1, 13) for x in ("O", "N", "S", "C(=O)") for b in range(1, 4)]
    order = np.random.default_rng(0).permutation(len(chains))
    graphs = read_graphs([chains[i] for i in order], format="smi")
    half = len(graphs) // 2
    flagged = GraphGlass().fit(graphs[:half]).predict(graphs[half:], alpha=0.1)
    assert flagged.mean() <= 0.2


@pytest.mark.parametrize("count", [5, 20, 64, 65])
def test_p_values_of_new_normals_are_valid_for_any_number_of_references(count, mutag):
    """With units that a left-out reference helped to set, a third of the new graphs would fall below 0.2 among five."""
    normals = measure_graphs(mutag[np.flatnonzero(mutag.labels == 1)].without_labels())
    found = []
    for seed in range(12):
        order = np.random.default_rng([count, seed]).permutation(len(normals))
        detector = GraphGlass().fit(normals[order[:count]])
        found.append(detector.p_values(normals[order[count : count + 40]]))
    assert np.mean(np.concatenate(found) <= 0.2) <= np.floor(0.2 * (count + 1)) / (count + 1) + 0.04
