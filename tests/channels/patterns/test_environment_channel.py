"""The similarity of atom environments is the Tanimoto similarity of RDKit's count fingerprints."""

from __future__ import annotations

import numpy as np
import pytest

from graphglass.channels.patterns.count_channel import EnvironmentChannel
from graphglass.channels.profiled_graphs import measure_graphs
from graphglass.graphs.limits import DEFAULT_LIMITS
from graphglass.graphs.molecules import parse_smiles, rdkit_chemistry

SMILES = ["CCO", "CCCO", "c1ccccc1O", "Cc1ccccc1O", "CC(=O)Oc1ccccc1C(=O)O", "OC(=O)c1ccccc1O", "CCCCCCCC", "O"]


def test_similarity_is_tanimoto():
    pytest.importorskip("rdkit")
    from rdkit.Chem import rdFingerprintGenerator
    from rdkit.DataStructs import TanimotoSimilarity

    from graphglass import read_graphs

    channel = EnvironmentChannel("chemistry:environments")
    rows = channel.encode(measure_graphs(read_graphs(SMILES, format="smi")))
    generator = rdFingerprintGenerator.GetMorganGenerator(radius=2)
    with rdkit_chemistry() as chemistry:
        prints = [generator.GetSparseCountFingerprint(parse_smiles(chemistry, text, DEFAULT_LIMITS)) for text in SMILES]
    expected = [[TanimotoSimilarity(one, other) for other in prints] for one in prints]
    assert 1 - channel.compare(rows, rows) == pytest.approx(np.array(expected), abs=1e-6)


def test_no_data_without_atoms(mutag):
    channel = EnvironmentChannel("chemistry:environments")
    channel.fit(measure_graphs(mutag[:5]))
    assert not channel.has_data
