"""SDF files, written here by RDKit."""

from __future__ import annotations

from pathlib import Path

import pytest
from rdkit import Chem

from graphglass.graphs.limits import Limits
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


def table(bonds: list[tuple[int, int]], *, version: int) -> str:
    """A record of carbon atoms in a row, in either version of the format."""
    atoms = max(end for pair in bonds for end in pair)
    if version == 2000:
        head = f"\n\n\n{atoms:3d}{len(bonds):3d}  0  0  0  0  0  0  0  0999 V2000\n"
        places = "".join(f"{i:10.4f}    0.0000    0.0000 C   0  0\n" for i in range(atoms))
        return head + places + "".join(f"{one:3d}{other:3d}  1  0\n" for one, other in bonds) + "M  END\n$$$$\n"
    carbons = [f"{i + 1} C {i} 0 0 0" for i in range(atoms)]
    listed = [f"{i} 1 {one} -\nM  V30 {other}" for i, (one, other) in enumerate(bonds, 1)]
    lines = ["BEGIN CTAB", f"COUNTS {atoms} {len(bonds)} 0 0 0", "BEGIN ATOM", *carbons, "END ATOM"]
    lines += ["BEGIN BOND", *listed, "END BOND", "END CTAB"]
    head = "\n\n\n  0  0  0  0  0  0  0  0  0  0999 V3000\n"
    return head + "".join(f"M  V30 {line}\n" for line in lines) + "M  END\n$$$$\n"


@pytest.mark.parametrize("version", [2000, 3000])
def test_rings_are_counted_before_a_table_is_parsed(tmp_path: Path, version: int) -> None:
    """RDKit looks for rings while it reads the coordinates of a table; in a lattice it finds them for hours."""
    lattice = [(i, i + step) for i in range(1, 60) for step in (1, 27, 29) if i + step <= 60]
    chain, cycle = [(i, i + 1) for i in range(1, 20)], [*((i, i + 1) for i in range(1, 8)), (8, 1)]
    path = tmp_path / "m.sdf"
    path.write_text("".join(table(bonds, version=version) for bonds in (chain, lattice, cycle)))
    result = read_report(path)
    assert result.graphs.sizes.tolist() == [20, 8]
    assert [reject.reason.rpartition(" over ")[2] for reject in result.rejects] == ["10,000 cycles"]


def test_atoms_are_bounded_as_the_characters_of_smiles_are(path: Path) -> None:
    """A chain of 40,000 atoms took 9 seconds and 1.1 GB; both grow with the square."""
    result = read_report(path, limits=Limits(max_smiles_characters=2))
    assert result.graphs.ids == ("formaldehyde",)
    assert "a molecule of 3 atoms, the limit max_smiles_characters is 2" in [item.reason for item in result.rejects]
