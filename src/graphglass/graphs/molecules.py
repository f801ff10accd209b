"""RDKit molecules as graphs: atoms are nodes, bonds are edges.

The node label is the atomic number, the edge label RDKit's bond type (1 single, 2 double, 3 triple, 12 aromatic).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphglass.errors import GraphError, MissingExtraError
from graphglass.graphs.chemistry import all_atoms, all_bonds, atom_contributions, atom_environments
from graphglass.graphs.graph_set import GraphSet
from graphglass.graphs.labels import typed_texts
from graphglass.graphs.limits import Limits
from graphglass.graphs.readers.options import ReadOptions
from graphglass.graphs.readers.record import Record, RecordSet
from graphglass.messages import counted, setting

ATOM_ATTRIBUTES = ("formal_charge", "hydrogens", "aromatic", "in_ring", "hybridisation")
STEREO_ATTRIBUTES = ("chirality", "double_bond_stereo")  # R 1, S -1; E 1, Z -1 at both ends
# Cycles that RDKit may list of one molecule: its search for aromatic ones takes 0.3 s for 4,096, and grows with their
# square. Twelve rings have at most 4,095.
MOST_CYCLES, _FEW_RINGS, _MOST_STEPS = 10_000, 12, 1_500_000
_MOST_RING_ATOMS = 4_000  # of more than twelve rings: the memory of a smallest basis grows with their square
_BONDS = {1: "single", 2: "double", 3: "triple", 12: "aromatic"}
_DOUBLE_BONDS = {"STEREOE": 1, "STEREOZ": -1, "STEREOTRANS": 1, "STEREOCIS": -1}
_HYBRIDISATION = {"SP": 1.0, "SP2": 2.0, "SP3": 3.0, "SP3D": 4.0, "SP3D2": 5.0}  # others, such as lone ions: 0


@contextmanager
def rdkit_chemistry() -> Iterator[Any]:
    """RDKit's ``Chem`` without its log: what it would print becomes the reason of a reject."""
    try:
        from rdkit import Chem, rdBase
    except ImportError as error:
        raise MissingExtraError("Reading molecules", "chem") from error
    with rdBase.BlockLogs():
        yield Chem


def parse_smiles(chemistry: Any, text: str, limits: Limits) -> Any:
    if not text:
        raise GraphError("there is no SMILES")
    if len(text) > limits.max_smiles_characters:
        bound = f"the limit max_smiles_characters is {limits.max_smiles_characters:,}"
        raise GraphError(f"a SMILES string of {len(text):,} characters, {bound}")
    # RDKit cannot take every other text: half of a surrogate pair is another error.
    molecule = chemistry.MolFromSmiles(text, sanitize=False) if text.isascii() else None
    if molecule is None:
        raise GraphError(f"{text[:60]!r} is not a SMILES string")
    return sanitised(chemistry, molecule, limits)


def parse_mol_block(chemistry: Any, block: str, limits: Limits) -> Any:
    try:
        bare = _bare_molecule(chemistry, block)
    except (ValueError, IndexError) as error:
        raise GraphError("the atom and bond table cannot be read as a molecule") from error
    _refuse_too_large(chemistry, bare, limits)  # RDKit lists rings while it reads
    molecule = chemistry.MolFromMolBlock(block, sanitize=False, removeHs=False)
    if molecule is None:
        raise GraphError("the atom and bond table cannot be read as a molecule")
    return sanitised(chemistry, molecule, limits)


def sanitised(chemistry: Any, molecule: Any, limits: Limits) -> Any:
    """The molecule, which is changed, with its rings and aromatic bonds known and hydrogens folded into their atoms."""
    _refuse_too_large(chemistry, molecule, limits)
    try:
        chemistry.SanitizeMol(molecule)
        if molecule.GetNumConformers() and molecule.GetConformer().Is3D():
            chemistry.AssignStereochemistryFrom3D(molecule)
        else:
            chemistry.AssignChiralTypesFromBondDirs(molecule)
            chemistry.AssignStereochemistry(molecule, cleanIt=True, force=True)
        folding = chemistry.RemoveHsParameters()
        folding.removeDefiningBondStereo = True  # [H]/N=C is HN=C
        return chemistry.RemoveHs(molecule, folding)
    except ValueError as error:  # RDKit's sanitisation exceptions are ValueErrors
        raise GraphError(f"not a possible molecule: {error}") from error


def _bare_molecule(chemistry: Any, block: str) -> Any:
    """The bonds of an atom and bond table; ValueError if there are not as many as it claims."""
    lines = block.split("\n")
    if lines[3][34:39] == "V3000":
        inside, count, bonds = False, -1, []
        for line in "\n".join(line.strip()[7:] for line in lines[4:]).replace("-\n", "").upper().split("\n"):
            words = line.split()
            if words[1:2] == ["BOND"]:
                inside = words[0] == "BEGIN"
            elif inside:
                bonds.append(words[2:4])
            elif count < 0 and words[:1] == ["COUNTS"]:
                count = int(words[2])
    else:
        atoms, count = int(lines[3][:3]), int(lines[3][3:6].strip() or 0)
        bonds = [[line[:3], line[3:6]] for line in lines[4 + atoms : 4 + atoms + count]]
    if len(bonds) != count:
        raise ValueError(f"{count} bonds are claimed, {len(bonds)} listed")
    pairs = {frozenset((int(one), int(other))) for one, other in bonds}
    places: dict[int, int] = {}
    bare = chemistry.RWMol()
    for atom in frozenset().union(*pairs):
        places[atom] = bare.AddAtom(chemistry.Atom(0))
    for pair in pairs:
        if len(pair) == 2:
            bare.AddBond(*(places[atom] for atom in pair), chemistry.BondType.SINGLE)
    return bare


def _refuse_too_large(chemistry: Any, molecule: Any, limits: Limits) -> None:
    """Refuse atoms and rings that would take RDKit minutes and gigabytes."""
    atoms, most = molecule.GetNumAtoms(), limits.max_smiles_characters
    if atoms > most:
        raise GraphError(f"a molecule of {atoms:,} atoms, the limit max_smiles_characters is {most:,}")
    rings = molecule.GetNumBonds() - atoms + len(chemistry.GetMolFrags(molecule))
    if rings > limits.max_rings:
        raise GraphError(f"a molecule of {rings:,} rings, the limit max_rings is {limits.max_rings:,}")
    if rings > _FEW_RINGS and _has_many_cycles(chemistry, molecule):
        raise GraphError(
            f"a molecule whose {rings:,} rings are too large or share atoms in over {MOST_CYCLES:,} cycles"
        )


def _has_many_cycles(chemistry: Any, molecule: Any) -> bool:
    """Whether RDKit would keep too much: it lists all shortest cycles, up to two to the power of the rings.

    Pairs of shortest paths that join into a cycle as long as one of a smallest basis are counted, each from its last
    atom. That is an upper bound (Vismara, 1997) and needs no list.
    """
    copy = chemistry.Mol(molecule)
    chemistry.FastFindRings(copy)
    if sum(atom.IsInRing() for atom in copy.GetAtoms()) > _MOST_RING_ATOMS:
        return True
    basis = [list(ring) for ring in chemistry.GetSSSR(molecule)]
    lengths, inside = {len(ring) for ring in basis}, {atom for ring in basis for atom in ring}
    deepest = (max(lengths) + 1) // 2
    nearby = {
        i: [n.GetIdx() for n in molecule.GetAtomWithIdx(i).GetNeighbors() if n.GetIdx() in inside] for i in inside
    }
    cycles = steps = 0
    for root in sorted(inside):
        depth, ways, line = {root: 0}, {root: 1}, [root]
        for atom in line:
            step = depth[atom] + 1
            for other in nearby[atom] if step <= deepest else ():
                steps += 1
                if other > root or depth.get(other, step) < step - 1:
                    continue
                if other not in depth:
                    depth[other], ways[other] = step, 0
                    line.append(other)
                if step + depth[other] in lengths:
                    cycles += ways[atom] * ways[other]
                if depth[other] == step:
                    ways[other] += ways[atom]
            if cycles > MOST_CYCLES or steps > _MOST_STEPS:
                return True
    return False


def _standardised(molecule: object, how: str) -> Any:
    """The whole molecule, its largest fragment, or that with as few charges as possible."""
    if how == "none":
        return molecule
    from rdkit.Chem.MolStandardize import rdMolStandardize

    fragment = rdMolStandardize.LargestFragmentChooser().choose(molecule)
    return fragment if how == "largest-fragment" else rdMolStandardize.Uncharger().uncharge(fragment)


def _stereo(molecule: Any) -> NDArray[np.float32]:
    """The stereochemistry of every atom, (atoms, :data:`STEREO_ATTRIBUTES`)."""
    rows = np.zeros((molecule.GetNumAtoms(), 2), np.float32)
    for atom in all_atoms(molecule):
        if atom.HasProp("_CIPCode"):
            rows[atom.GetIdx(), 0] = {"R": 1, "S": -1}.get(atom.GetProp("_CIPCode"), 0)
    for bond in all_bonds(molecule):
        kind = _DOUBLE_BONDS.get(bond.GetStereo().name, 0)
        if kind:
            rows[[bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()], 1] = kind
    return rows


def _record(molecule: object, row: MoleculeRow, name: str, label: object, stereo: NDArray[np.float32] | None) -> Record:
    """One molecule; a salt's separate ions stay one graph of several components."""
    atoms = all_atoms(molecule)
    bonds = [(bond.GetBeginAtomIdx(), bond.GetEndAtomIdx(), int(bond.GetBondType())) for bond in all_bonds(molecule)]
    ends = np.asarray(bonds, dtype=np.int64).reshape(-1, 3)
    rows = [
        (
            atom.GetFormalCharge(),
            atom.GetTotalNumHs(),
            atom.GetIsAromatic(),
            atom.IsInRing(),
            _HYBRIDISATION.get(atom.GetHybridization().name, 0.0),
        )
        for atom in atoms
    ]
    table = np.asarray(rows, dtype=np.float32).reshape(-1, len(ATOM_ATTRIBUTES))
    return Record(
        row.position, name, len(atoms), ends[:, 0], ends[:, 1],
        label=label,
        node_labels=np.asarray([atom.GetAtomicNum() for atom in atoms], dtype=np.int64),
        edge_labels=ends[:, 2],
        attributes=table if stereo is None else np.concatenate([table, stereo], axis=1),
        attribute_names=ATOM_ATTRIBUTES if stereo is None else ATOM_ATTRIBUTES + STEREO_ATTRIBUTES,
        atom_environments=atom_environments(molecule, stereo=stereo is not None),
        atom_contributions=atom_contributions(molecule),
        columns=row.columns,
    )  # fmt: skip


def has_atoms(graphs: GraphSet) -> bool:
    """Whether nodes are atoms that a reader of molecules made."""
    return graphs.attribute_names[: len(ATOM_ATTRIBUTES)] == ATOM_ATTRIBUTES


def atom_value(name: str, value: float) -> str:
    """What chemists say of atoms with a value of an attribute."""
    if name == "aromatic":
        return "are aromatic" if value else "are not aromatic"
    if name == "in_ring":
        return "are in a ring" if value else "are in no ring"
    if name == "hybridisation":
        return f"are {next((kind.lower() for kind, code in _HYBRIDISATION.items() if code == value), 'lone')}"
    if name == "hydrogens":
        return f"have {value:.0f} hydrogen{'' if value == 1 else 's'}"
    return f"have {name.replace('_', ' ')} {value:+.0f}"


def node_label_text(graphs: GraphSet, code: int) -> str:
    """What a node label stands for: its text, the element of an atom (``*`` for a dummy), or the number itself."""
    if (known := _known_text(graphs, code, "node")) is not None:
        return known
    if has_atoms(graphs) and 0 <= code < 119:
        try:
            with rdkit_chemistry() as chemistry:
                return str(chemistry.GetPeriodicTable().GetElementSymbol(code))
        except MissingExtraError:
            return str(code)
    return str(code)


def element_name(symbol: str) -> str:
    """``platinum`` for Pt; the symbol itself for what is no element, or without RDKit."""
    if symbol == "*":
        return "dummy atom (*)"
    try:
        with rdkit_chemistry() as chemistry:
            table = chemistry.GetPeriodicTable()
            number = table.GetAtomicNumber(symbol)
            return str(table.GetElementName(number)).lower() if number > 0 else symbol
    except (MissingExtraError, RuntimeError):
        return symbol


def _known_text(graphs: GraphSet, code: int, owner: str) -> str | None:
    if code in graphs.label_names:
        return graphs.label_names[code] or "none"
    return graphs.code_names.get(owner, {}).get(code)


def edge_label_text(graphs: GraphSet, code: int) -> str:
    """What an edge label stands for: its text, the bond of a molecule, or the number itself."""
    if (known := _known_text(graphs, code, "edge")) is not None:
        return known
    return _BONDS.get(code, str(code)) if has_atoms(graphs) else str(code)


@dataclass(frozen=True)
class MoleculeRow:
    """One molecule of an input, at a line or another position, before it is parsed."""

    position: int
    source: Any
    name: str | None = None
    label: Any = None
    columns: dict[str, Any] = field(default_factory=dict)
    fault: str | None = None


def read_molecules(rows: list[MoleculeRow], parse: Callable[[Any, Any], Any], options: ReadOptions) -> GraphSet:
    """Graphs of molecules, called by their names, or by the line where they have none.

    `parse` makes an RDKit molecule of (RDKit's ``Chem``, source); a GraphError says why it cannot.
    """
    records = RecordSet(options)
    found: Counter[str] = Counter()
    with rdkit_chemistry() as chemistry:
        for row, label in zip(rows, typed_texts([row.label for row in rows]), strict=True):
            name = row.name or f"line-{row.position}"
            try:
                if row.fault is not None:
                    raise GraphError(row.fault)
                molecule = parse(chemistry, row.source)
                whole = len(chemistry.GetMolFrags(molecule)) == 1
                molecule = _standardised(molecule, options.standardise)
                stereo = _stereo(molecule)
                records.add(_record(molecule, row, name, label, stereo if options.stereo else None))
                found.update(salts=int(not whole), stereo=int(stereo.any()), placed=int(_placed(molecule)))
                found.update(isotopes=int(_has_isotopes(molecule)))
            except GraphError as error:
                options.log.add(row.position, name, str(error), row.columns)
    for many, text in (
        (
            found["salts"] if options.standardise == "none" else 0,
            f"salts or mixtures, read whole; {setting('standardise', 'largest-fragment')} reads the largest part",
        ),
        (
            0 if options.stereo else found["stereo"],
            f"stereochemistry, not compared; {setting('stereo', True)} compares it",
        ),
        (found["placed"], "3D coordinates, not compared"),
        (found["isotopes"], "isotopes of elements other than hydrogen, not compared"),
    ):
        if many:
            options.log.note(f"{many} of {counted(len(records.records), 'molecule')}: {text}")
    return records.build()


def _has_isotopes(molecule: Any) -> bool:
    return any(atom.GetIsotope() and atom.GetAtomicNum() > 1 for atom in molecule.GetAtoms())


def _placed(molecule: Any) -> bool:
    return bool(molecule.GetNumConformers() and molecule.GetConformer().Is3D())
