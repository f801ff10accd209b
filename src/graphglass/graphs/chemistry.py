"""What a chemist measures of a molecule, as numbers of its atoms.

A molecule's count fingerprint is a bag of atom environments, and its descriptors are sums over its atoms. Kept atom by
atom, both follow a graph through selection, joining and the deletion of nodes, and nothing needs RDKit once a molecule
is read.
"""

from __future__ import annotations

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
    generator = rdFingerprintGenerator.GetMorganGenerator(radius=RADIUS, includeChirality=stereo)
    generator.GetSparseCountFingerprint(molecule, additionalOutput=found)
    rows = np.full((molecule.GetNumAtoms(), ENVIRONMENTS), NO_ENVIRONMENT, np.int64)
    for key, places in found.GetBitInfoMap().items():
        for atom, radius in places:
            rows[atom, radius] = key
    return rows


def atom_contributions(molecule: Any) -> NDArray[np.float64]:
    """The part of every atom in the descriptors of its molecule, (atoms, :data:`CONTRIBUTIONS`)."""
    from rdkit.Chem import AddHs, Lipinski, rdMolDescriptors

    atoms, bonds, rings = list(molecule.GetAtoms()), molecule.GetBonds(), molecule.GetRingInfo()
    rows = np.zeros((len(atoms), len(CONTRIBUTIONS)))
    column = dict(zip(CONTRIBUTIONS, rows.T, strict=True))
    whole = AddHs(molecule)  # hydrogens follow the atoms of the molecule
    for atom, (value, _) in zip(whole.GetAtoms(), rdMolDescriptors._CalcCrippenContribs(whole), strict=True):
        owner = atom if atom.GetIdx() < len(atoms) else atom.GetNeighbors()[0]
        column["logp"][owner.GetIdx()] += value
    column["polar_surface"][:] = rdMolDescriptors._CalcTPSAContribs(molecule)
    column["weight"][:] = [atom.GetMass() + HYDROGEN * atom.GetTotalNumHs() for atom in atoms]
    most = max(len(atoms), len(bonds))
    for name, pattern, share in (
        ("donors", Lipinski.HDonorSmarts, 1.0),
        ("acceptors", Lipinski.HAcceptorSmarts, 1.0),
        ("rotatable_bonds", Lipinski.RotatableBondSmarts, 0.5),
    ):
        for match in molecule.GetSubstructMatches(pattern, maxMatches=most + 1):
            column[name][list(match)] += share
    for ring, edges in zip(rings.AtomRings(), rings.BondRings(), strict=True):
        column["rings"][list(ring)] += 1 / len(ring)
        if all(bonds[edge].GetIsAromatic() for edge in edges):
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
