"""Functional groups of molecules, by the names chemists use."""

from __future__ import annotations

from collections.abc import Container
from functools import cache
from typing import Any

from graphglass.drawing.molecule_svg import sanitised_molecule
from graphglass.graphs.graph_set import GraphSet

# Special groups before the general ones that they contain: an atom is told by the first group it belongs to.
GROUPS = {
    "azide": "[N;X2]=[N+]=[N-]",
    "diazonium group": "[N+]#N",
    "diazo group": "[C]=[N+]=[N-]",
    "nitrate ester": "[C]O[N+](=O)[O-]",
    "nitramine": "[N;X3][N+](=O)[O-]",
    "nitro group": "[N+](=O)[O-]",
    "nitrosamine": "[N;X3][N;X2]=O",
    "nitroso group": "[N;X2]=[O]",
    "peroxy acid": "C(=O)[O;X2][O;H1]",
    "hydroperoxide": "[O;X2][O;H1]",
    "peroxide": "[O;X2][O;X2]",
    "perchlorate": "O[Cl+3]([O-])([O-])[O-]",
    "hypohalite": "[O;X2][Cl,Br,I]",
    "nitrogen-halogen bond": "[N][F,Cl,Br,I]",
    "N-oxide": "[#7;$([#7]([#6])[#6])]~[O;X1]",
    "isothiocyanate": "N=C=S",
    "isocyanate": "N=C=O",
    "ketene": "[C]=[C]=O",
    "allene": "[C]=[C]=[C]",
    "boronic acid": "[B]([O;H1])[O;H1]",
    "boronic ester": "[B]([O;X2])[O;X2]",
    "trialkylsilyl group": "[Si;$([Si]([#6])([#6])[#6])]",
    "chlorosilane": "[Si;$([Si]Cl)]",
    "pentafluorosulfanyl group": "S(F)(F)(F)(F)F",
    "phosphonate": "[#6]P(=O)([O])[O]",
    "phosphoryl fluoride": "P(=O)F",
    "phosphate": "OP(=O)([O])[O]",
    "phosphine": "[P;X3;$(P([#6])[#6])]",
    "arsonic acid": "[As](=O)([O])[O]",
    "triazane": "[N;X3;!$(N=*);!$(N#*)][N;X3][N;X3]",
    "hydrazine": "[N;X3;!$(NC=O)][N;X3;!$(NC=O)]",
    "triazene": "N=N[N;X3]",
    "azo group": "[#6]N=N[#6]",
    "carbodiimide": "N=C=N",
    "epoxide": "C1OC1",
    "thiirane": "C1SC1",
    "aziridine": "C1NC1",
    "cyclopropane": "C1CC1",
    "cyclobutane": "C1CCC1",
    "beta-lactam": "O=C1CCN1",
    "nitrogen or sulfur mustard": "[N,S;X2,X3][C;H2][C;H2]Cl",
    "acyl halide": "C(=O)[F,Cl,Br,I]",
    "anhydride": "C(=O)OC(=O)",
    "sulfonyl halide": "S(=O)(=O)[F,Cl,Br,I]",
    "sulfate ester": "[#6]OS(=O)(=O)O",
    "sulfonic acid": "S(=O)(=O)[O;H1,-]",
    "sulfonamide": "S(=O)(=O)N",
    "sulfone": "[#6]S(=O)(=O)[#6]",
    "sulfoxide": "[#6][S;X3](=O)[#6]",
    "disulfide": "SS",
    "thiol": "[S;H1]",
    "thiocarbonyl group": "[#6]=S",
    "perfluoroalkyl group": "[C](F)(F)[C](F)F",
    "trifluoromethyl group": "C(F)(F)F",
    "hydroxamic acid": "C(=O)[N;X3][O;H1]",
    "carboxylic acid": "C(=O)[O;H1,-]",
    "carbamate": "[N]C(=O)O",
    "urea": "NC(=O)N",
    "amide": "C(=O)N",
    "ester": "C(=O)O[#6]",
    "aldehyde": "[C;H1](=O)[#6]",
    "isocyanide": "[N+]#[C-]",
    "nitrile": "C#[N;X1]",
    "alkyne": "C#C",
    "guanidine": "NC(=N)N",
    "amidine": "[#6]C(=N)[N;X3]",
    "oxime": "C=NO",
    "quaternary ammonium group": "[N+;X4]([#6])([#6])([#6])[#6]",
    "iodonium group": "[I+]",
    "phenol": "c[O;H1]",
}


def functional_groups(graph: GraphSet, asked: Container[str] = GROUPS) -> list[tuple[str, frozenset[int]]]:
    """Names and atoms of the groups in one molecule, of those asked for; none for other graphs, or without RDKit."""
    molecule = sanitised_molecule(graph)
    if molecule is None:
        return []
    most = molecule.GetNumAtoms()
    patterns = ((name, smarts) for name, smarts in _patterns() if name in asked)
    matches = ((name, molecule.GetSubstructMatches(smarts, maxMatches=most)) for name, smarts in patterns)
    return [(name, frozenset(atoms)) for name, found in matches for atoms in found]


@cache
def _patterns() -> tuple[tuple[str, Any], ...]:
    from rdkit.Chem import MolFromSmarts

    return tuple((name, MolFromSmarts(smarts)) for name, smarts in GROUPS.items())
