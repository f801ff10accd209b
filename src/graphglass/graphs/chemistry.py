"""What a chemist measures of a molecule, as numbers of its atoms.

A molecule's count fingerprint is a bag of atom environments, and its descriptors are sums over its atoms. Kept atom by
atom, both follow a graph through selection, joining and the deletion of nodes, and nothing needs RDKit once a molecule
is read.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphglass.graphs.graph_set import GraphSet

RADIUS = 2  # of the largest atom environment
ENVIRONMENTS = RADIUS + 1  # of an atom: one for each radius from 0
NO_ENVIRONMENT = -1
HYDROGEN = 1.008  # average weight

# The share of one atom in each descriptor of its molecule: implicit hydrogens count with their atom, a rotatable bond
# half at each end, a ring in equal parts at its atoms.
CONTRIBUTIONS = (
    "logp", "polar_surface", "weight", "donors", "acceptors", "rotatable_bonds", "rings", "aromatic_rings",
    "charge", "sp3_carbons", "carbons",
)  # fmt: skip
# The columns of :func:`descriptors`: those of the contributions up to the charge, then sp3 carbons per carbon.
DESCRIPTORS = (
    "logP", "polar surface area", "molecular weight", "number of H-bond donors", "number of H-bond acceptors",
    "number of rotatable bonds", "number of rings", "number of aromatic rings", "formal charge",
    "sp3 fraction of carbons",
)  # fmt: skip


def atom_environments(molecule: Any, *, stereo: bool = False) -> NDArray[np.int64]:
    """The Morgan identifier of the environment of every atom at radius 0, 1 and 2, (atoms, 3).

    With `stereo`, environments that are mirror images or cis and trans of each other differ.
    :data:`NO_ENVIRONMENT` where RDKit counts none because another atom's environment covers the same bonds.
    """
    from rdkit.Chem import rdFingerprintGenerator

    found = rdFingerprintGenerator.AdditionalOutput()
    found.AllocateBitInfoMap()
    _morgan(stereo).GetSparseCountFingerprint(molecule, additionalOutput=found)
    rows = np.full((molecule.GetNumAtoms(), ENVIRONMENTS), NO_ENVIRONMENT, np.int64)
    for key, places in found.GetBitInfoMap().items():
        for atom, radius in places:
            rows[atom, radius] = key
    return rows


@cache
def _morgan(stereo: bool) -> Any:
    from rdkit.Chem import rdFingerprintGenerator

    return rdFingerprintGenerator.GetMorganGenerator(radius=RADIUS, includeChirality=stereo)


def all_atoms(molecule: Any) -> list[Any]:
    """The atoms of a molecule; by number, since RDKit's own sequence takes three times as long."""
    return [molecule.GetAtomWithIdx(i) for i in range(molecule.GetNumAtoms())]


def all_bonds(molecule: Any) -> list[Any]:
    """The bonds of a molecule."""
    return [molecule.GetBondWithIdx(i) for i in range(molecule.GetNumBonds())]


def atom_contributions(molecule: Any) -> NDArray[np.float64]:
    """The part of every atom in the descriptors of its molecule, (atoms, :data:`CONTRIBUTIONS`)."""
    from rdkit.Chem import AddHs, Lipinski, rdMolDescriptors

    atoms, rings = all_atoms(molecule), molecule.GetRingInfo()
    rows = np.zeros((len(atoms), len(CONTRIBUTIONS)))
    column = dict(zip(CONTRIBUTIONS, rows.T, strict=True))
    hydrogens = [atom.GetTotalNumHs() for atom in atoms]
    # The hydrogens that RDKit adds follow the atoms of the molecule, in the order of their atoms.
    owners = np.concatenate([np.arange(len(atoms)), np.repeat(np.arange(len(atoms)), hydrogens)])
    parts = rdMolDescriptors._CalcCrippenContribs(AddHs(molecule))
    column["logp"][:] = np.bincount(owners, [value for value, _ in parts])
    column["polar_surface"][:] = rdMolDescriptors._CalcTPSAContribs(molecule)
    column["weight"][:] = [atom.GetMass() + HYDROGEN * count for atom, count in zip(atoms, hydrogens, strict=True)]
    most = max(len(atoms), molecule.GetNumBonds())
    for name, pattern, share in (
        ("donors", Lipinski.HDonorSmarts, 1.0),
        ("acceptors", Lipinski.HAcceptorSmarts, 1.0),
        ("rotatable_bonds", Lipinski.RotatableBondSmarts, 0.5),
    ):
        for match in molecule.GetSubstructMatches(pattern, maxMatches=most + 1):
            column[name][list(match)] += share
    for ring, edges in zip(rings.AtomRings(), rings.BondRings(), strict=True):
        column["rings"][list(ring)] += 1 / len(ring)
        if all(molecule.GetBondWithIdx(edge).GetIsAromatic() for edge in edges):
            column["aromatic_rings"][list(ring)] += 1 / len(ring)
    column["charge"][:] = [atom.GetFormalCharge() for atom in atoms]
    column["carbons"][:] = [atom.GetAtomicNum() == 6 for atom in atoms]
    column["sp3_carbons"][:] = [atom.GetAtomicNum() == 6 and atom.GetTotalDegree() == 4 for atom in atoms]
    return rows


def descriptors(graphs: GraphSet) -> NDArray[np.float64]:
    """The descriptors of every molecule, (graphs, :data:`DESCRIPTORS`); no columns for other graphs."""
    if graphs.atom_contributions is None or not len(graphs):
        return np.zeros((len(graphs), 0))
    sums = np.add.reduceat(graphs.atom_contributions, graphs.node_offsets[:-1], axis=0)
    saturated = sums[:, -2] / np.maximum(sums[:, -1], 1)
    # Thirds and sixths of rings add up to whole numbers except for their last digits.
    return np.round(np.concatenate([sums[:, :-2], saturated[:, None]], axis=1), 9) + 0.0
