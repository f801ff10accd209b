"""Atom environments and contributions: summed over a molecule they are RDKit's own numbers."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from graphglass import GraphGlass, read_graphs, write_json_lines, write_parquet
from graphglass.errors import GraphError
from graphglass.graphs.chemistry import DESCRIPTORS, NO_ENVIRONMENT, descriptors
from graphglass.graphs.concatenation import concatenate
from graphglass.graphs.graph_set import GraphSet
from graphglass.graphs.readers.json_lines import json_records

Chem = pytest.importorskip("rdkit.Chem")

SMILES = [
    "CC(=O)Oc1ccccc1C(=O)O",
    "Cn1cnc2c1c(=O)n(C)c(=O)n2C",
    "CC(C)NCC(O)COc1cccc2ccccc12",
    "[Na+].CC(=O)[O-]",
    "[2H]C([2H])Cl",
    "C[N+](C)(C)CCO",
    "*CC*",
    "O",
    "[H][H]",
    "C1CC2CCC1C2",
    "CCCCCCCC(=O)NCCOCCOCC",
]


@pytest.fixture(scope="module")
def graphs():
    return read_graphs(SMILES, format="smi")


def test_descriptors_are_those_of_rdkit(graphs):
    from rdkit.Chem import Crippen, Descriptors, Lipinski, rdMolDescriptors

    loose = rdMolDescriptors.NumRotatableBondsOptions.NonStrict
    expected = []
    for smiles in SMILES:
        one = Chem.MolFromSmiles(smiles)
        expected.append(
            [
                Crippen.MolLogP(one),
                rdMolDescriptors.CalcTPSA(one),
                Descriptors.MolWt(one),
                rdMolDescriptors.CalcNumHBD(one),
                len(one.GetSubstructMatches(Lipinski.HAcceptorSmarts)),
                rdMolDescriptors.CalcNumRotatableBonds(one, loose),
                rdMolDescriptors.CalcNumRings(one),
                rdMolDescriptors.CalcNumAromaticRings(one),
                Chem.GetFormalCharge(one),
                rdMolDescriptors.CalcFractionCSP3(one),
            ]
        )
    found = descriptors(graphs)
    assert found.shape == (len(SMILES), len(DESCRIPTORS))
    assert found == pytest.approx(np.array(expected), abs=1e-6)


def test_environments_are_the_counts_of_rdkit(graphs):
    from rdkit.Chem import rdFingerprintGenerator

    generator = rdFingerprintGenerator.GetMorganGenerator(radius=2)
    for smiles, graph in zip(SMILES, graphs, strict=True):
        counts = Counter(key for key in graph.atom_environments.ravel().tolist() if key != NO_ENVIRONMENT)
        assert counts == generator.GetSparseCountFingerprint(Chem.MolFromSmiles(smiles)).GetNonzeroElements()


def test_an_sdf_block_gives_the_same_as_smiles(tmp_path, graphs):
    file = tmp_path / "one.sdf"
    file.write_text(Chem.MolToMolBlock(Chem.MolFromSmiles(SMILES[0])) + "$$$$\n")
    found = read_graphs(file)
    assert descriptors(found) == pytest.approx(descriptors(graphs[:1]))
    assert sorted(found.atom_environments.ravel()) == sorted(graphs[0].atom_environments.ravel())


def test_a_deleted_atom_takes_its_part_along(graphs):
    aspirin = graphs[0]
    rest = aspirin.without_nodes(np.array([3]))
    parts = np.delete(aspirin.atom_contributions, 3, axis=0)
    assert np.array_equal(rest.atom_contributions, parts)
    assert np.array_equal(rest.atom_environments, np.delete(aspirin.atom_environments, 3, axis=0))


def test_rejected_molecules_leave_the_others_in_place(graphs):
    some = read_graphs([SMILES[0], "C1CC", SMILES[1]], format="smi")
    assert np.array_equal(descriptors(some), descriptors(graphs[:2]))


def test_selection_and_joining_keep_the_rows_of_each_molecule(graphs):
    joined = concatenate([graphs[5:], graphs[:5]])
    assert np.array_equal(descriptors(joined), np.roll(descriptors(graphs), -5, axis=0))


def test_other_graphs_have_no_descriptors(mutag, graphs):
    assert descriptors(mutag).shape == (len(mutag), 0)
    assert descriptors(graphs.structure_only()).shape == (len(graphs), 0)


@pytest.mark.parametrize("name", ["m.jsonl", "m.parquet"])
def test_converted_molecules_keep_their_chemistry(graphs: GraphSet, name: str, tmp_path: Path) -> None:
    write = write_json_lines if name.endswith("jsonl") else write_parquet
    write(graphs, tmp_path / name)
    back = read_graphs(tmp_path / name)
    np.testing.assert_array_equal(back.atom_environments, graphs.atom_environments)
    np.testing.assert_array_equal(back.atom_contributions, graphs.atom_contributions)
    detector = GraphGlass().fit(graphs)
    np.testing.assert_array_equal(detector.decision_function(back), detector.decision_function(graphs))


@pytest.mark.parametrize(
    "bad", [{}, 3, {"environments": [[1, 2]], "contributions": [[0.0] * 11]}, {"environments": [[2**70, 0, 0]]}]
)
def test_chemistry_that_does_not_fit_is_refused(bad: object) -> None:
    with pytest.raises(GraphError, match="'chemistry' must hold"):
        read_graphs([{"nodes": 1, "chemistry": bad}], strict=True)


def test_chemistry_is_dropped_where_some_graphs_have_none(graphs: GraphSet) -> None:
    one, two = json_records(graphs[:2])
    del two["chemistry"]
    assert read_graphs([one, two]).atom_environments is None
