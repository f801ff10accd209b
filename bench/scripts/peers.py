"""Other libraries on the same graphs and rows: seconds of the processor in one run, on one thread.

    OMP_NUM_THREADS=1 NUMBA_NUM_THREADS=1 python bench/scripts/peers.py --data-root DATA

Needs GraKeL, PyOD and scikit-fingerprints. The last refuses the RDKit pinned here, and nothing else asks for PyOD:
install both with `pip install --no-deps --target FOLDER` and put the folder last on PYTHONPATH. Writes
bench/results/benchmarks/peers.json, which `python bench/scripts/scale_page.py` shows in docs/scale.md. The least of
three runs counts; conversion to another library's types does not.
"""

import argparse
import json
import os
import platform
import warnings
from importlib.metadata import version
from pathlib import Path

import faiss
import numpy as np
import rdkit
from pyod.models.knn import KNN
from scipy.sparse import csr_array
from skfp.distances import bulk_tanimoto_binary_similarity

from graphglass import read_graphs
from graphglass.channels.default_channels import default_channels
from graphglass.channels.patterns.counts import Counts, add_distances
from graphglass.channels.profiled_graphs import measure_graphs
from graphglass.graphs.datasets import load_dataset
from structure import best, descriptors_and_peers

COUNT = 1_000  # references, and as many queries
NCI = Path(rdkit.__file__).parent / "Data" / "NCI" / "first_5K.smi"  # comes with RDKit
LIBRARIES = ("networkx", "igraph", "grakel", "pyod", "faiss-cpu", "scikit-fingerprints")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-root", type=Path)
    parser.add_argument("--output", type=Path, default=Path("bench/results/benchmarks/peers.json"))
    options = parser.parse_args()
    graphs = load_dataset("NCI1", options.data_root).without_labels()[: 2 * COUNT]
    rows = [*structure(options.data_root), *kernels(graphs), *neighbours(graphs), *fingerprints()]
    record = {
        "machine": f"{platform.machine()}, Python {platform.python_version()}",
        "load_average": round(os.getloadavg()[0], 1),
        "versions": {name: version(name) for name in LIBRARIES},
        "rows": rows,
    }
    options.output.write_text(json.dumps(record, indent=1) + "\n")
    print(json.dumps(record, indent=1))


def row(task, library, theirs, ours):
    seconds = {"theirs": theirs["cpu_seconds"], "ours": ours["cpu_seconds"]}
    return {"task": task, "library": library, **{name: float(f"{value:.3g}") for name, value in seconds.items()}}


def structure(root):
    """What both libraries have of the nine descriptors and the aggregates; ours are all of them."""
    found = descriptors_and_peers(root, "NCI1", COUNT)
    for key, library in (("networkx", "NetworkX"), ("igraph", "igraph")):
        yield row(f"structural descriptors, {COUNT:,} graphs of NCI1", library, found[key], found["ours"])


def fitted(name, graphs):
    """A channel of the default with the first half as references, and the measured second half."""
    half = len(graphs) // 2
    channel = next(channel for channel in default_channels() if channel.name == name)
    channel.fit(measure_graphs(graphs[:half]))
    return channel, measure_graphs(graphs[half:])


def kernels(graphs):
    """All similarities of Weisfeiler-Lehman neighbourhoods up to radius three, from graphs that are already read."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from grakel.kernels import VertexHistogram, WeisfeilerLehman

    channel, queries = fitted("patterns:labels", graphs)
    known, asked = (in_grakel(some) for some in (graphs[: len(graphs) // 2], queries.graphs))
    kernel = WeisfeilerLehman(n_iter=3, normalize=True, base_graph_kernel=VertexHistogram).fit(known)
    task = f"WL similarities of {len(asked):,} graphs of NCI1 to {len(known):,}"
    ours = best(lambda: channel.compare(channel.encode(queries), channel.references))
    yield row(task, "GraKeL", best(lambda: kernel.transform(asked), 1), ours)


def in_grakel(graphs):
    return [
        [{(int(a), int(b)): 1.0 for a, b in zip(one.end_nodes, one.neighbours, strict=True)},
         {node: int(label) for node, label in enumerate(one.node_labels)}]
        for one in graphs
    ]  # fmt: skip


def neighbours(graphs):
    """Mean distance to the nearest references, on the rows of the structure channel."""
    channel, queries = fitted("structure", graphs)
    known, asked = channel.references, channel.encode(queries)
    ours = best(lambda: channel.distances(asked))
    task = f"{channel.k} nearest of {len(known):,} rows of {known.shape[1]} numbers, for {len(asked):,} rows"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        knn = KNN(n_neighbors=channel.k, method="mean").fit(known)
        yield row(task, "PyOD, `KNN`", best(lambda: knn.decision_function(asked)), ours)
    index = faiss.IndexFlatL2(known.shape[1])
    index.add(known)
    yield row(task, "faiss, `IndexFlatL2`", best(lambda: index.search(asked, channel.k)), ours)


def fingerprints():
    """All Tanimoto similarities of the sets of atom environments."""
    channel, queries = fitted("chemistry:environments", read_graphs(NCI)[: 2 * COUNT])
    known, asked = (sets(rows.levels[0]) for rows in (channel.references, channel.encode(queries)))
    names = np.unique(np.concatenate([known.keys, asked.keys]))
    theirs = [
        csr_array((some.values, np.searchsorted(names, some.keys), some.offsets), shape=(len(some), len(names)))
        for some in (asked, known)
    ]
    out = np.zeros((len(asked), len(known)))

    def compare():
        out[:] = 0
        add_distances(asked, known.postings, 1.0, out)

    ours = best(compare)
    np.testing.assert_allclose(1 - out, bulk_tanimoto_binary_similarity(*theirs), atol=1e-6)
    task = f"Tanimoto similarities of {len(asked):,} molecules to {len(known):,}"
    yield row(task, "scikit-fingerprints", best(lambda: bulk_tanimoto_binary_similarity(*theirs)), ours)


def sets(counts):
    """Every pattern once."""
    return Counts(counts.offsets, counts.keys, np.ones_like(counts.values))


if __name__ == "__main__":
    main()
