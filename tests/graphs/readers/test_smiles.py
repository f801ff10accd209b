"""SMILES lines and tables."""

from __future__ import annotations

import gzip
import sys
import time
from io import BytesIO, TextIOWrapper
from pathlib import Path

import pytest
from rdkit import Chem
from rdkit.Chem import AllChem

from graphglass.errors import FormatError, GraphError, ParameterError, SchemaError
from graphglass.graphs.limits import Limits
from graphglass.graphs.molecules import ATOM_ATTRIBUTES, node_label_text
from graphglass.graphs.read import read_graphs, read_report


def test_atoms_and_bonds(tmp_path: Path) -> None:
    path = tmp_path / "m.smi"
    path.write_text("c1ccccc1O phenol\n# a comment\n\n[NH3+]CC#N cation\n")
    graphs = read_graphs(path)
    assert graphs.ids == ("phenol", "cation")
    assert graphs.node_labels is not None
    assert graphs[0].node_labels is not None
    assert sorted(graphs[0].node_labels.tolist()) == [6] * 6 + [8]  # type: ignore[union-attr]
    assert graphs.attribute_names == ATOM_ATTRIBUTES
    phenol, cation = graphs[0].attributes, graphs[1].attributes
    assert phenol is not None
    assert cation is not None
    assert phenol[:, ATOM_ATTRIBUTES.index("aromatic")].tolist() == [1, 1, 1, 1, 1, 1, 0]
    assert phenol[:, ATOM_ATTRIBUTES.index("in_ring")].sum() == 6
    assert phenol[:, ATOM_ATTRIBUTES.index("hydrogens")].tolist() == [1, 1, 1, 1, 1, 0, 1]
    assert cation[:, ATOM_ATTRIBUTES.index("formal_charge")].tolist() == [1, 0, 0, 0]
    assert cation[:, ATOM_ATTRIBUTES.index("hybridisation")].tolist() == [3, 3, 1, 1]
    assert graphs[0].edge_labels is not None
    assert sorted(set(graphs[0].edge_labels.tolist())) == [1, 12]  # type: ignore[union-attr]
    assert sorted(set(graphs[1].edge_labels.tolist())) == [1, 3]  # type: ignore[union-attr]


def test_a_salt_is_one_disconnected_graph() -> None:
    graphs = read_graphs(["[Na+].[Cl-]"], format="smi")
    assert (len(graphs), graphs.node_count, graphs.edge_count) == (1, 2, 0)


def test_explicit_hydrogens_are_counted_not_drawn() -> None:
    one, two = read_graphs(["[H]C([H])([H])O", "CO"], format="smi")
    assert one.content_hashes() == two.content_hashes()


def test_bad_molecules_are_left_out_and_ids_stay_aligned(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "m.smi"
    path.write_text("CC a\nnot-smiles b\nC1CC c\nCC(C)(C)(C)C d\n\nCO e\n")
    result = read_report(path)
    assert result.graphs.ids == ("a", "e")
    assert result.graphs.sizes.tolist() == [2, 2]
    assert [(reject.position, reject.id) for reject in result.rejects] == [(2, "b"), (3, "c"), (4, "d")]
    assert "'not-smiles' is not a SMILES string" in result.rejects[0].reason
    assert "valence" in result.rejects[2].reason
    printed = capfd.readouterr()
    assert (printed.out, printed.err) == ("", "")  # RDKit's own log is silent
    with pytest.raises(GraphError, match="Graph 'b' at position 2"):
        read_graphs(path, strict=True)


def test_names_are_ids_and_repeats_are_numbered(tmp_path: Path) -> None:
    path = tmp_path / "m.smi"
    path.write_text("CC a\nCO\nCN a\nCF a (2)\nCCl a\n")
    result = read_report(path)
    assert result.graphs.ids == ("a", "line-2", "a (2)", "a (2) (2)", "a (3)")
    assert result.notes == ("3 graphs with the id of another got a number, such as 'a (2)'",)
    path.write_text("CC a\nCO b\n")
    assert read_report(path).notes == ()


def test_a_table_with_ids_and_classes(tmp_path: Path) -> None:
    path = tmp_path / "m.csv"
    path.write_text('name,Canonical_SMILES,note,label\nx,CCO,"a, b",0\ny,zzz,,1\nz,CC,,1\nshort,C\n')
    result = read_report(path)
    assert result.graphs.ids == ("x", "z")
    assert result.graphs.labels is not None
    assert result.graphs.labels.tolist() == [0, 1]
    assert [reject.position for reject in result.rejects] == [3, 5]
    assert "2 columns, the header has 4" in result.rejects[1].reason


def test_columns_by_name_tab_separated_and_gzipped(tmp_path: Path) -> None:
    path = tmp_path / "m.tsv.gz"
    with gzip.open(path, "wt") as stream:
        stream.write("drug\tkey\tkind\nCCO\t7\tgood\nCC\t7\tbad\n")
    result = read_report(path, smiles_column="drug", id_column="key", label_column="kind")
    assert result.graphs.ids == ("7", "7 (2)")
    graphs = read_graphs(path, smiles_column="drug", label_column="kind")
    assert graphs.ids == ("line-2", "line-3")
    assert graphs.labels is not None
    assert graphs.labels.tolist() == ["good", "bad"]


@pytest.mark.parametrize("options", [{"smiles_column": "nope"}, {"id_column": "nope"}, {"label_column": "nope"}])
def test_a_column_that_is_not_there_is_named(tmp_path: Path, options: dict[str, str]) -> None:
    path = tmp_path / "m.csv"
    path.write_text("smiles,name\nCC,a\n")
    with pytest.raises(SchemaError, match=r"Columns found: smiles, name"):
        read_graphs(path, **options)  # type: ignore[arg-type]


def test_columns_of_one_name_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "m.csv"
    path.write_text("smiles,dose,dose\nCC,1,2\n")
    with pytest.raises(SchemaError, match=r"m\.csv has columns of the same name: dose\. Rename or remove them"):
        read_graphs(path)
    path.write_text("smiles,dose,,\nCC,1,,\n")  # a spreadsheet's empty columns
    assert read_graphs(path, keep=["dose"]).columns["dose"].tolist() == ["1"]


@pytest.mark.parametrize("name", ["Compound Name", "compound-id", "CompoundName", "Molecule ChEMBL ID", "NAME"])
@pytest.mark.parametrize("mark", [",", ";", "|"])
def test_a_column_of_names_is_found_as_people_spell_it(tmp_path: Path, name: str, mark: str) -> None:
    (tmp_path / "m.csv").write_text(f"{name}{mark}Canonical SMILES{mark}pIC50\nx{mark}CC{mark}6\n")
    assert read_graphs(tmp_path / "m.csv").ids == ("x",)


def test_a_bad_row_is_named_after_its_first_line(tmp_path: Path) -> None:
    (tmp_path / "m.csv").write_text('smiles,note\nCC,"two\nlines"\n\nCO,x\n"CN,open\nCC,x\n"CN\nC,x\n')
    result = read_report(tmp_path / "m.csv")
    assert result.graphs.ids == ("line-2", "line-5", "line-9")
    assert result.rejects[0].position == 6
    found = "1 column, the header has 2; the row covers several lines, so a quote may not be closed"
    assert result.rejects[0].reason == found


@pytest.mark.parametrize("header", ["smiles,name,note", "graph_id,source,target"])
def test_rows_inside_an_open_quote_are_not_lost_silently(tmp_path: Path, header: str) -> None:
    (tmp_path / "m.csv").write_text(f'{header}\nC,0,1\nN,0,"1\nO,0,1\nF,0,1\n')
    with pytest.raises(FormatError, match=r"m.csv line 3: a quote is not closed, and the rest of the file is inside"):
        read_report(tmp_path / "m.csv")
    (tmp_path / "m.csv").write_text(f'{header}\nC,0,1\nN,0,"1"\nO,0,1')
    assert read_report(tmp_path / "m.csv").graphs.ids in {("0", "0 (2)", "0 (3)"), ("C", "N", "O")}
    (tmp_path / "m.csv").write_text('smiles,name\nC,a\nN,"b\n"\n')
    assert read_report(tmp_path / "m.csv").graphs.ids == ("a", "b")


def test_a_column_of_exactly_the_name_comes_first(tmp_path: Path) -> None:
    path = tmp_path / "m.csv"
    path.write_text("Smiles,smiles,ID,id,Y,y\nN,CC,1,a,10,0\nO,CO,2,b,20,1\n")
    for name, labels in {"y": [0, 1], "Y": [10, 20]}.items():
        graphs = read_graphs(path, label_column=name)
        assert graphs.ids == ("a", "b")
        assert graphs.sizes.tolist() == [2, 2]
        assert graphs.labels is not None
        assert graphs.labels.tolist() == labels


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_ends_of_a_table_and_inside_of_its_cells(tmp_path: Path, end: str) -> None:
    path = tmp_path / "m.csv"
    path.write_bytes(f'smiles,note{end}CC,"line one{end}line two"{end}bad,x{end}CO,y{end}'.encode())
    result = read_report(path, keep=["note"])
    assert [note.splitlines() for note in result.graphs.columns["note"]] == [["line one", "line two"], ["y"]]
    assert [reject.position for reject in result.rejects] == [4]


def test_nothing_but_bad_molecules_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "m.smi"
    path.write_text("xx\nyy\n")
    with pytest.raises(GraphError, match=r"No graph could be read from .*m.smi. line 1: 'xx' is not a SMILES string"):
        read_graphs(path)
    assert len(read_report(path).graphs) == 0


def test_rdkit_molecules() -> None:
    molecules = [Chem.MolFromSmiles(text) for text in ("CCO", "c1ccccc1", "[Na+].[Cl-]")]
    with_hydrogens = [Chem.AddHs(molecule) for molecule in molecules]
    for molecule, name in zip(molecules, "abc", strict=True):
        molecule.SetProp("_Name", name)
        molecule.SetDoubleProp("dose", 1.5)
    graphs = read_graphs(molecules, keep="dose")
    assert graphs.ids == ("a", "b", "c")
    assert graphs.columns["dose"].tolist() == [1.5] * 3
    expected = read_graphs(["CCO", "c1ccccc1", "[Na+].[Cl-]"], format="smi").content_hashes()
    assert graphs.content_hashes() == expected
    assert read_graphs(with_hydrogens).content_hashes() == expected
    assert with_hydrogens[0].GetNumAtoms() == 9  # the caller's molecules stay as they are
    assert read_graphs(molecules[0]).content_hashes() == expected[:1]


def test_hydrogens_with_a_direction_are_folded_too() -> None:
    spellings = ["N=C(N)C", "[H]N=C(N)C", "[H]/N=C(\\N)C"]
    assert len(set(read_graphs(spellings, format="smi").content_hashes())) == 1
    assert read_graphs([Chem.MolFromSmiles(spellings[2])]).node_count == 4


def test_a_molecule_that_is_none_or_impossible_is_left_out() -> None:
    impossible = Chem.MolFromSmiles("C(C)(C)(C)(C)C", sanitize=False)
    result = read_report([Chem.MolFromSmiles("C"), None, impossible])
    assert result.graphs.ids == ("line-0",)
    assert [reject.position for reject in result.rejects] == [1, 2]


def test_a_long_molecule_is_rejected_before_it_is_parsed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parsed: list[str] = []
    real = Chem.MolFromSmiles
    monkeypatch.setattr(Chem, "MolFromSmiles", lambda text, **options: parsed.append(text) or real(text, **options))
    (tmp_path / "m.smi").write_text("CCCCCC long\nCCO short\n")
    (tmp_path / "m.csv").write_text("name,smiles\nlong,CCCCCC\nshort,CCO\n")
    for source in (tmp_path / "m.smi", tmp_path / "m.csv", ["CCCCCC", "CCO"]):
        result = read_report(source, limits=Limits(max_smiles_characters=5), format=_format(source))
        assert [item.reason for item in result.rejects] == [
            "a SMILES string of 6 characters, the limit max_smiles_characters is 5"
        ]
        assert len(result.graphs) == 1
    assert parsed == ["CCO"] * 3


def _format(source: object) -> str | None:
    return "smi" if isinstance(source, list) else None


@pytest.mark.parametrize("text", ["\ud800", "C\u2010O", "\u00e9"])
def test_text_beyond_ascii_is_no_smiles(text: str) -> None:
    result = read_report(["CCO", text], format="smi")
    assert [reject.position for reject in result.rejects] == [1]
    assert "is not a SMILES string" in result.rejects[0].reason


def lattice(atoms: int) -> str:
    """Dummy atoms with ring closures at distance 2, 5 and 17: every ring shares atoms with many others."""
    free, due, text = list(range(10, 100)), dict[int, list[int]](), ""
    for i in range(atoms):
        opened = [free.pop(0) for _ in range(3)] if i < atoms - 17 else []
        closed = due.pop(i, [])
        for number, distance in zip(opened, (2, 5, 17), strict=False):
            due.setdefault(i + distance, []).append(number)
        text += "*" + "".join(f"%{number}" for number in (*closed, *opened))
        free = sorted([*free, *closed])
    return text


def test_a_molecule_of_many_rings_costs_one_row(tmp_path: Path) -> None:
    path = tmp_path / "m.smi"
    path.write_text(f"CC a\n{lattice(380)} b\n{lattice(380)}.{'.'.join('C' * 900)} c\nC1CC1 d\n")
    started = time.process_time()
    result = read_report(path)
    assert time.process_time() - started < 2
    assert result.graphs.ids == ("a", "d")
    assert [reject.reason for reject in result.rejects] == ["a molecule of 1,089 rings, the limit max_rings is 300"] * 2
    molecule = Chem.MolFromSmiles(lattice(380), sanitize=False)
    assert "max_rings" in read_report([molecule]).rejects[0].reason
    assert len(read_graphs(lattice(40), limits=Limits(max_rings=69))) == 1


@pytest.mark.slow
def test_few_rings_of_many_cycles_cost_one_row(tmp_path: Path) -> None:
    """Rings in a row of which each may be passed on two sides: RDKit lists all ways around, 2 to the power of them."""

    def necklace(rings: int) -> str:
        return "c1%10ccc(cc1)" + "-c1ccc(cc1)" * (rings - 2) + "-c1ccc%10cc1"

    path = tmp_path / "m.smi"
    path.write_text(f"CC a\n{necklace(20)} b\n{necklace(8)} c\n{'c1ccccc1C' * 30} d\n")
    started = time.process_time()
    result = read_report(path)
    assert time.process_time() - started < 2
    assert result.graphs.ids == ("a", "c", "d")
    assert result.rejects[0].reason == "a molecule whose 21 rings are too large or share atoms in over 10,000 cycles"
    numbers = [f"%{number}" for number in range(10, 99)]
    large = "".join("C" * 100 + number for number in numbers) + "".join("C" * 100 + number for number in numbers)
    assert "are too large" in read_report([large], format="smi").rejects[0].reason
    buckyball = (
        "C12=C3C4=C5C6=C1C7=C8C9=C1C%10=C%11C(=C29)C3=C2C3=C4C4=C5C5=C9C6=C7C6=C7C8=C1C1=C8C%10=C%10C%11=C2C2=C3C3=C4C4"
        "=C5C5=C%11C%12=C(C6=C95)C7=C1C1=C%12C5=C%11C4=C3C3=C5C(=C81)C%10=C23"
    )
    assert read_graphs(buckyball).sizes.tolist() == [60]


def test_salts_are_counted_and_standardised() -> None:
    molecules = ["CC(=O)[O-].[Na+]", "CCO", "C[NH3+].[Cl-]"]
    whole = read_report(molecules, format="smi")
    assert whole.notes == (
        "2 of 3 molecules: salts or mixtures, read whole; standardise='largest-fragment' reads the largest part",
    )
    assert whole.graphs.sizes.tolist() == [5, 3, 3]
    largest = read_report(molecules, format="smi", standardise="largest-fragment")
    assert largest.notes == ()
    assert largest.graphs.sizes.tolist() == [4, 3, 2]
    charge = ATOM_ATTRIBUTES.index("formal_charge")
    assert largest.graphs.attributes[:, charge].tolist() == [0, 0, 0, -1, 0, 0, 0, 0, 1]
    neutral = read_graphs(molecules, format="smi", standardise="neutral")
    assert not neutral.attributes[:, charge].any()
    acid = read_graphs(["CC(=O)O"], format="smi")
    assert sorted(neutral[0].atom_environments.ravel()) == sorted(acid.atom_environments.ravel())
    with pytest.raises(ParameterError, match="one of none, largest-fragment, neutral"):
        read_graphs(molecules, format="smi", standardise="all")


def test_isotopes_that_make_no_difference_are_counted() -> None:
    result = read_report(["[13CH3]CO", "CCO", "[2H]CO"], format="smi")
    assert result.notes == ("1 of 3 molecules: isotopes of elements other than hydrogen, not compared",)


def test_stereochemistry_is_counted_and_compared_on_request() -> None:
    molecules = ["C[C@H](O)N", "C[C@@H](O)N", "C/C=C/C", "C/C=C\\C", "CCO"]
    result = read_report(molecules, format="smi")
    assert result.notes == ("4 of 5 molecules: stereochemistry, not compared; stereo=True compares it",)
    bags = [sorted(graph.atom_environments.ravel().tolist()) for graph in result.graphs]
    assert (bags[0] == bags[1], bags[2] == bags[3]) == (True, True)
    result = read_report(molecules, format="smi", stereo=True)
    assert result.notes == ()
    bags = [sorted(graph.atom_environments.ravel().tolist()) for graph in result.graphs]
    assert (bags[0] == bags[1], bags[2] == bags[3]) == (False, False)
    assert result.graphs.attribute_names[-2:] == ("chirality", "double_bond_stereo")
    assert len(set(result.graphs.content_hashes())) == 5
    assert node_label_text(result.graphs, 8) == "O"


def test_3d_coordinates_are_named(tmp_path: Path) -> None:
    molecule = Chem.AddHs(Chem.MolFromSmiles("C[C@H](O)N"))
    AllChem.EmbedMolecule(molecule, randomSeed=1)
    path = tmp_path / "m.sdf"
    path.write_text(Chem.MolToMolBlock(molecule) + "$$$$\n")
    assert "1 of 1 molecule: 3D coordinates, not compared" in read_report(path).notes
    mirrored = Chem.AddHs(Chem.MolFromSmiles("C[C@@H](O)N"))
    AllChem.EmbedMolecule(mirrored, randomSeed=1)
    both = read_graphs([molecule, mirrored], stereo=True)
    assert len(set(both.content_hashes())) == 2
    assert read_graphs(path, stereo=True).content_hashes()[0] == both.content_hashes()[0]


def test_a_smiles_string_stands_for_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert read_graphs("C/C=C/C").ids == ("C/C=C/C",)
    with pytest.raises(FormatError, match=r"molecules\.csv does not exist"):
        read_graphs("molecules.csv")
    (tmp_path / "CC").write_text("CO a\n")
    assert read_graphs("CC", format="smi").ids == ("a",)


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("CC a\nCO b\n", ("a", "b")),
        ("[Na+].[Cl-] salt\n", ("salt",)),
        ("name,smiles\na,CC\nb,CO\n", ("a", "b")),
        ('{"id": "g", "nodes": 2}\n', ("g",)),
        ("graph_id\tsource\ttarget\ng\t0\t1\n", ("g",)),
    ],
)
def test_standard_input(text: str, ids: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", TextIOWrapper(BytesIO(text.encode())))
    assert read_graphs("-").ids == ids


def test_a_spreadsheet_is_refused_with_advice(tmp_path: Path) -> None:
    (tmp_path / "m.xlsx").write_bytes(b"PK")
    with pytest.raises(FormatError, match=r"m\.xlsx is a spreadsheet.* Save the sheet as CSV"):
        read_graphs(tmp_path / "m.xlsx")
