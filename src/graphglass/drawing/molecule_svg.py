"""Molecules drawn as chemists draw them: RDKit's coordinates, bond orders, charges and hydrogens."""

from __future__ import annotations

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
# What formats call a bond, as RDKit does; AIDS and others of its kind give the number of electron pairs.
_BOND_NAMES = {"double": "DOUBLE", "2": "DOUBLE", "triple": "TRIPLE", "3": "TRIPLE", "aromatic": "AROMATIC"}


@dataclass(frozen=True, eq=False)
class Depiction:
    """A molecule on paper; a bond is two atoms and the order: 1, 2, 3, or 4 where it is not known to be one of them."""

    places: NDArray[np.float64]
    bonds: NDArray[np.int64]
    symbols: tuple[str, ...]
    hydrogens: NDArray[np.int64]
    charges: NDArray[np.int64]

    def svg(self, places: NDArray[np.float64], length: float) -> list[str]:
        """Lines and letters, with the atoms at ``places`` and bonds of about this length."""
        return [*self._bond_lines(places, length), *self._atom_texts(places, length)]

    def _bond_lines(self, places: NDArray[np.float64], length: float) -> list[str]:
        width, gap = max(0.9, length / 17), length / 6
        parts = []
        for one, two, order in self.bonds:
            start, end = places[one], places[two]
            along = (end - start) / max(float(np.linalg.norm(end - start)), 1e-9)
            across = np.array([-along[1], along[0]])
            inward = self._inward(places, int(one), int(two), across)
            # (how far to the side, how much shorter at both ends, whether dashed)
            strokes = [(0.0, 0.0, False)]
            if order == 2 and inward == 0:
                strokes = [(-gap / 2, 0.0, False), (gap / 2, 0.0, False)]
            elif order in (2, 4):
                strokes.append(((inward or 1) * gap, 0.16 * length, order == 4))
            elif order == 3:
                strokes += [(-gap, 0.1 * length, False), (gap, 0.1 * length, False)]
            for side, shorter, dashed in strokes:
                (x1, y1), (x2, y2) = start + side * across + shorter * along, end + side * across - shorter * along
                dash = f' stroke-dasharray="{length / 10:.1f}"' if dashed else ""
                ends = f'x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"'
                parts.append(f'<line class="bond" {ends} stroke-width="{width:.1f}"{dash}/>')
        return parts

    def _inward(self, places: NDArray[np.float64], one: int, two: int, across: NDArray[np.float64]) -> int:
        """The side on which most neighbours of both ends are, where the second line of a double bond goes."""
        others = [
            places[two if atom == other else other] - places[one]
            for near in (one, two)
            for atom, other in self._neighbours(near)
            if {atom, other} != {one, two}
        ]
        return int(np.sign(sum(np.sign(np.round(offset @ across, 6)) for offset in others)))

    def _neighbours(self, atom: int) -> list[tuple[int, int]]:
        return [(atom, int(two if one == atom else one)) for one, two, _ in self.bonds if atom in (one, two)]

    def _atom_texts(self, places: NDArray[np.float64], length: float) -> list[str]:
        size = float(np.clip(0.5 * length, 7, 16))
        parts = []
        for atom, symbol in enumerate(self.symbols):
            near = [other for _, other in self._neighbours(atom)]
            if symbol == "C" and near and not self.charges[atom]:
                continue
            # Hydrogens go to the side that has no bond.
            leftward = bool(near) and float(np.mean([places[other][0] for other in near]) - places[atom][0]) > 1e-6
            parts.append(self._atom_text(atom, places[atom], size, leftward))
        return parts

    def _atom_text(self, atom: int, place: NDArray[np.float64], size: float, leftward: bool) -> str:
        symbol, count, charge = self.symbols[atom], int(self.hydrogens[atom]), int(self.charges[atom])
        small = f'font-size="{0.7 * size:.1f}"'
        hydrogens = ""
        if count:
            below = (
                f'<tspan dy="{0.25 * size:.1f}" {small}>{count}</tspan><tspan dy="{-0.25 * size:.1f}">&#8203;</tspan>'
            )
            hydrogens = f"<tspan>H</tspan>{below if count > 1 else ''}"
        sign = ""
        if charge:
            sign = f"{abs(charge) if abs(charge) > 1 else ''}{'+' if charge > 0 else '−'}"
            sign = f'<tspan dy="{-0.35 * size:.1f}" {small}>{sign}</tspan>'
        half = 0.36 * size * len(symbol)
        x = place[0] + (half if leftward and count else -half)
        anchor = "end" if leftward and count else "start"
        name = f"<tspan>{escape(symbol)}</tspan>"
        words = f"{hydrogens}{name}{sign}" if leftward and count else f"{name}{hydrogens}{sign}"
        where = f'x="{x:.1f}" y="{place[1]:.1f}" font-size="{size:.1f}" text-anchor="{anchor}"'
        return f'<text class="atom {escape(symbol)}" {where}>{words}</text>'


def depict(graph: GraphSet) -> Depiction | None:
    """The molecule a graph is; None where its nodes are not atoms, or RDKit is not installed."""
    symbols = elements(graph)
    if symbols is None:
        return None
    try:
        with rdkit_chemistry() as chemistry:
            return _depicted(chemistry, graph, symbols)
    except (MissingExtraError, RuntimeError):  # RDKit's answer to what is no element
        return None


def atom_name(graph: GraphSet, node: int) -> str | None:
    """What a chemist calls the atom, such as ``O22, charge -1``; None where nodes are not atoms."""
    if not _has_atoms(graph) or graph.node_labels is None or graph.attributes is None:
        return None
    charge = int(graph.attributes[node, 0])
    name = f"{node_label_text(graph, int(graph.node_labels[node]))}{node}"
    return f"{name}, charge {charge:+d}" if charge else name


def _has_atoms(graph: GraphSet) -> bool:
    return has_atoms(graph)


def elements(graph: GraphSet) -> tuple[str, ...] | None:
    """The element of every node; None where labels are not atoms of an organic molecule."""
    if graph.node_labels is None or graph.directed or np.diff(graph.neighbour_offsets).max(initial=0) > _MOST_BONDS:
        return None
    symbols = tuple(node_label_text(graph, int(code)) for code in graph.node_labels)
    if _has_atoms(graph):
        return symbols if all(symbol[:1].isalpha() for symbol in symbols) else None
    known = set(symbols) <= (_ORGANIC | set(graph.code_names.get("node", {}).values()))
    return symbols if known and "C" in symbols else None


def sanitised_molecule(graph: GraphSet) -> Any:
    """The molecule that a graph was read from; None where it was not read from one, or RDKit is not installed."""
    symbols = elements(graph) if _has_atoms(graph) and graph.edge_labels is not None else None
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
        if _has_atoms(graph):
            order = chemistry.BondType.values.get(int(kind), order)
        molecule.AddBond(int(start), int(end), order)
        if order == chemistry.BondType.AROMATIC:
            molecule.GetBondBetweenAtoms(int(start), int(end)).SetIsAromatic(True)
            for atom in (start, end):
                molecule.GetAtomWithIdx(int(atom)).SetIsAromatic(True)
    return molecule


def _charges_and_hydrogens(graph: GraphSet) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    if not _has_atoms(graph) or graph.attributes is None:
        return np.zeros(graph.node_count, np.int64), np.zeros(graph.node_count, np.int64)
    return graph.attributes[:, 0].astype(np.int64), graph.attributes[:, 1].astype(np.int64)


def _depicted(chemistry: Any, graph: GraphSet, symbols: tuple[str, ...]) -> Depiction:
    from rdkit.Chem import rdDepictor

    molecule = _molecule(chemistry, graph, symbols)
    try:
        chemistry.Kekulize(molecule, clearAromaticFlags=True)
    except ValueError:
        pass  # part of a ring, as a large molecule that is shown in part: its bonds are drawn as aromatic
    molecule.UpdatePropertyCache(strict=False)
    chemistry.FastFindRings(molecule)
    rdDepictor.Compute2DCoords(molecule)
    rdDepictor.StraightenDepiction(molecule)
    places = np.array(molecule.GetConformer().GetPositions())[:, :2] * (1, -1)
    orders = {chemistry.BondType.SINGLE: 1, chemistry.BondType.DOUBLE: 2, chemistry.BondType.TRIPLE: 3}
    bonds = [(b.GetBeginAtomIdx(), b.GetEndAtomIdx(), orders.get(b.GetBondType(), 4)) for b in molecule.GetBonds()]
    charges, hydrogens = _charges_and_hydrogens(graph)
    return Depiction(_turned(places), np.array(bonds, np.int64).reshape(-1, 3), symbols, hydrogens, charges)


def _turned(places: NDArray[np.float64]) -> NDArray[np.float64]:
    """A molecule higher than wide is turned by a right angle."""
    width, height = np.ptp(places, axis=0)
    return places @ np.array([[0, 1], [-1, 0]]) if height > 1.3 * width else places
