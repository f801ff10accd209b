"""SDF files, written here by RDKit."""

from __future__ import annotations

from pathlib import Path

import pytest
from rdkit import Chem

from graphglass.graphs.read import read_graphs, read_report


def block(smiles: str, title: str, **values: str) -> str:
    molecule = Chem.MolFromSmiles(smiles)
    molecule.SetProp("_Name", title)
    tags = "".join(f">  <{key}>\n{value}\n\n" for key, value in values.items())
    return Chem.MolToMolBlock(molecule) + tags + "$$$$\n"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    bad = "broken\n\n\n  2  1  0  0  0  0  0  0  0  0999 V2000\nnonsense\nM  END\n$$$$\n"
    place = tmp_path / "m.sdf"
    good = block("CCO", "ethanol", code="k1", kind="0"), block("C=O", "formaldehyde", code="k2", kind="1")
    place.write_text(bad.join(good))
    return place


def test_a_bad_record_is_left_out_with_its_line(path: Path) -> None:
    result = read_report(path)
    assert result.graphs.ids == ("ethanol", "formaldehyde")
    (reject,) = result.rejects
    assert reject.id == "broken"
    lines = path.read_text().splitlines()
    assert lines[reject.position - 1] == "broken"


def test_the_same_molecule_as_smiles(path: Path) -> None:
    from_sdf = read_graphs(path)
    from_smiles = read_graphs(["CCO", "C=O"], format="smi")
    assert from_sdf.content_hashes() == from_smiles.content_hashes()


def test_named_values_give_id_and_class(path: Path) -> None:
    graphs = read_graphs(path, id_column="code", label_column="kind")
    assert graphs.ids == ("k1", "k2")
    assert graphs.labels is not None
    assert graphs.labels.tolist() == [0, 1]


def test_titles_that_repeat_are_numbered(tmp_path: Path) -> None:
    place = tmp_path / "m.sdf"
    place.write_text(block("C", "x") + block("CC", "x"))
    assert read_graphs(place).ids == ("x", "x (2)")
