"""Molecules as RDKit draws them, in the colours of the page."""

from __future__ import annotations

import re
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphglass.errors import MissingExtraError
from graphglass.graphs.graph_set import GraphSet
from graphglass.graphs.molecules import edge_label_text, has_atoms, node_label_text, rdkit_chemistry

_ORGANIC = frozenset("H B C N O F Na Si P S Cl K Br I".split())
_MOST_BONDS = 6
_LONGEST_BOND = 34.0
_PATH = re.compile(r"<path\s+(?:class='([^']*)'\s+)?d='([^']*)'\s+(?:style='([^']*)'|fill=)")
# What formats call a bond, as RDKit does; AIDS and others of its kind give the number of electron pairs.
_BOND_NAMES = {"double": "DOUBLE", "2": "DOUBLE", "triple": "TRIPLE", "3": "TRIPLE", "aromatic": "AROMATIC"}


@dataclass(frozen=True, eq=False)
class Depiction:
    """A molecule on paper: where its atoms are, how long a bond is, how high the paper, and bonds and letters."""

    places: NDArray[np.float64]
    length: float
    height: float
    svg: list[str]


def depict(graph: GraphSet, width: float, margin: float) -> Depiction | None:
    """The molecule a graph is, on paper so wide; None where its nodes are not atoms, or RDKit is not installed."""
    symbols = elements(graph)
    if symbols is None:
        return None
    try:
        with rdkit_chemistry() as chemistry:
            return _depicted(chemistry, graph, symbols, width, margin)
    except (MissingExtraError, RuntimeError):  # RDKit's answer to what is no element
        return None


def atom_name(graph: GraphSet, node: int) -> str | None:
    """What a chemist calls the atom, such as ``O22, charge -1``; None where nodes are not atoms."""
    if not has_atoms(graph) or graph.node_labels is None or graph.attributes is None:
        return None
    charge = int(graph.attributes[node, 0])
    name = f"{node_label_text(graph, int(graph.node_labels[node]))}{node}"
    return f"{name}, charge {charge:+d}" if charge else name


def elements(graph: GraphSet) -> tuple[str, ...] | None:
    """The element of every node; None where labels are not atoms of an organic molecule."""
    if graph.node_labels is None or graph.directed or np.diff(graph.neighbour_offsets).max(initial=0) > _MOST_BONDS:
        return None
    codes, places = np.unique(graph.node_labels, return_inverse=True)
    texts = [node_label_text(graph, code) for code in codes.tolist()]
    symbols = tuple(texts[place] for place in places.tolist())
    if has_atoms(graph):
        return symbols if all(symbol[:1].isalpha() or symbol == "*" for symbol in symbols) else None
    known = set(symbols) <= (_ORGANIC | set(graph.code_names.get("node", {}).values()))
    return symbols if known and "C" in symbols else None


def sanitised_molecule(graph: GraphSet) -> Any:
    """The molecule that a graph was read from; None where it was not read from one, or RDKit is not installed."""
    symbols = elements(graph) if has_atoms(graph) and graph.edge_labels is not None else None
    if symbols is None:
        return None
    try:
        with rdkit_chemistry() as chemistry:
            molecule = _molecule(chemistry, graph, symbols)
            chemistry.SanitizeMol(molecule)
            return molecule
    except (MissingExtraError, ValueError):
        return None


def _molecule(chemistry: Any, graph: GraphSet, symbols: tuple[str, ...]) -> Any:
    """The graph as an RDKit molecule that is not sanitised."""
    molecule = chemistry.RWMol()
    charges, hydrogens = _charges_and_hydrogens(graph)
    for symbol, charge, count in zip(symbols, charges, hydrogens, strict=True):
        added = chemistry.Atom(symbol)
        added.SetFormalCharge(int(charge))
        added.SetNumExplicitHs(int(count))
        added.SetNoImplicit(True)
        molecule.AddAtom(added)
    edges = graph.edge_list()
    kinds = np.ones(len(edges.sources), np.int64) if edges.labels is None else edges.labels
    names = {int(code): edge_label_text(graph, int(code)) for code in np.unique(kinds)}
    for start, end, kind in zip(edges.sources, edges.targets, kinds, strict=True):
        order = chemistry.BondType.names[_BOND_NAMES.get(names[int(kind)], "SINGLE")]
        if has_atoms(graph):
            order = chemistry.BondType.values.get(int(kind), order)
        molecule.AddBond(int(start), int(end), order)
        if order == chemistry.BondType.AROMATIC:
            molecule.GetBondBetweenAtoms(int(start), int(end)).SetIsAromatic(True)
            for atom in (start, end):
                molecule.GetAtomWithIdx(int(atom)).SetIsAromatic(True)
    return molecule


def _charges_and_hydrogens(graph: GraphSet) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    if not has_atoms(graph) or graph.attributes is None:
        return np.zeros(graph.node_count, np.int64), np.zeros(graph.node_count, np.int64)
    return graph.attributes[:, 0].astype(np.int64), graph.attributes[:, 1].astype(np.int64)


def _depicted(chemistry: Any, graph: GraphSet, symbols: tuple[str, ...], width: float, margin: float) -> Depiction:
    from rdkit.Chem import rdDepictor
    from rdkit.Chem.Draw import rdMolDraw2D

    molecule = _molecule(chemistry, graph, symbols)
    try:
        chemistry.Kekulize(molecule, clearAromaticFlags=True)
    except ValueError:
        pass  # part of a ring, as a large molecule that is shown in part: its bonds are drawn as aromatic
    molecule.UpdatePropertyCache(strict=False)
    chemistry.FastFindRings(molecule)
    rdDepictor.Compute2DCoords(molecule)
    rdDepictor.StraightenDepiction(molecule)
    extent = np.ptp(np.array(molecule.GetConformer().GetPositions())[:, :2], axis=0)
    upright = extent[1] > 1.3 * extent[0]  # a molecule higher than wide is turned by a right angle
    wide, high = extent[::-1] if upright else extent
    length = min(_LONGEST_BOND, 1.5 * (width - 2 * margin) / max(wide, high, 1.5))
    height = max(high * length / 1.5, 60.0) + 2 * margin
    drawer = rdMolDraw2D.MolDraw2DSVG(int(width), int(height))
    options: Any = drawer.drawOptions()
    options.useBWAtomPalette()
    options.clearBackground = options.prepareMolsBeforeDrawing = options.scaleBondWidth = False
    # RDKit multiplies the length by that of a bond in its coordinates.
    options.fixedBondLength, options.padding, options.rotate = length / 1.5, 0.07, 90.0 if upright else 0.0
    options.minFontSize, options.bondLineWidth = 7, 2 if length > 20 else 1
    drawer.DrawMolecule(molecule)
    drawer.FinishDrawing()
    points = [drawer.GetDrawCoords(atom) for atom in range(molecule.GetNumAtoms())]
    places = np.array([(point.x, point.y) for point in points])
    ends = np.array([(bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()) for bond in molecule.GetBonds()], int)
    if len(ends):
        length = float(np.median(np.linalg.norm(places[ends[:, 0]] - places[ends[:, 1]], axis=1)))
    parts = [_themed(match, symbols) for match in _PATH.finditer(drawer.GetDrawingText())]
    return Depiction(places, length, float(int(height)), parts)


def _themed(path: re.Match[str], symbols: tuple[str, ...]) -> str:
    """A path of RDKit's with a class instead of a colour: a page's policy may forbid inline styles."""
    owner, outline, style = path[1] or "", " ".join(path[2].split()), path[3]
    given = dict(re.findall(r"([\w-]+):\s*([^;]+)", style or ""))
    if given.get("fill") == "none":
        dash = f' stroke-dasharray="{given["stroke-dasharray"]}"' if "stroke-dasharray" in given else ""
        return f'<path class="bond" d="{outline}" stroke-width="{given["stroke-width"].removesuffix("px")}"{dash}/>'
    atom = re.search(r"atom-(\d+)", owner)
    return f'<path class="atom {escape(symbols[int(atom[1])]) if atom else "C"}" d="{outline}"/>'
