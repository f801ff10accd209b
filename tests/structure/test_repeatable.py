"""The first run on a machine compiles, later ones load the compiled code: both must give the same bits."""

import os
import subprocess
import sys

import pytest

SCRIPT = """
import hashlib, networkx as nx
from graphglass import read_graphs
from graphglass.structure.profile import profile
graphs = [nx.gnp_random_graph(n, 0.2, seed=n) for n in range(5, 60, 6)]  # the dense solver
graphs.append(nx.gnp_random_graph(600, 0.01, seed=1))  # the iteration
measured = profile(read_graphs(graphs))
print(hashlib.sha256(measured.sketch.tobytes() + measured.aggregates.tobytes()).hexdigest())
"""


@pytest.mark.slow
def test_fresh_and_cached_code_give_the_same_bits(tmp_path):
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path), "PYTHONWARNINGS": "ignore"}
    run = [sys.executable, "-c", SCRIPT]
    fresh = subprocess.run(run, env=environment, check=True, capture_output=True, text=True).stdout
    assert list(tmp_path.rglob("*.nbc"))
    cached = subprocess.run(run, env=environment, check=True, capture_output=True, text=True).stdout
    assert len(fresh) == 65
    assert fresh == cached
