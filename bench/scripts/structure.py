"""How fast is the structural profile, compared with NetworkX, igraph and per-graph eigensolvers, and how does it grow?

    OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 python bench/scripts/structure.py --data-root DATA

Peers run on one thread, on the same graphs in the same process; conversion to their own graph type is not counted.
Ratios are of processor time, which other work on the machine disturbs less than the clock. The profile of the twelve
datasets and the growth with edges are also given by the clock, on NUMBA_NUM_THREADS threads. Growth is measured in
a fresh process per size, so that peak memory belongs to that size.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import igraph
import networkx as nx
import numba
import numpy as np
from scipy.sparse import csr_array, diags_array, identity
from scipy.sparse.linalg import eigsh

from glassbench.tu_catalogue import CATALOGUE
from graphglass.graphs.canonical import canonical_graph_set
from graphglass.graphs.datasets import load_dataset
from graphglass.graphs.graph_set import GraphSet
from graphglass.structure.descriptors import describe
from graphglass.structure.kernels.motifs import EXACT_WORK
from graphglass.structure.kernels.spectrum import write_sketches
from graphglass.structure.profile import AGGREGATE_NAMES, StructureProfile, profile

SIZES = (10**3, 10**4, 10**5, 3 * 10**5, 10**6)


def measure(work: Callable[[], object]) -> dict[str, float]:
    clock, processor = time.perf_counter(), time.process_time()
    work()
    return {"seconds": time.perf_counter() - clock, "cpu_seconds": time.process_time() - processor}


def best(work: Callable[[], object], repeats: int = 3) -> dict[str, float]:
    return min((measure(work) for _ in range(repeats)), key=lambda run: run["cpu_seconds"])


def edges_of(graph: GraphSet) -> np.ndarray:
    rows = graph.end_nodes
    keep = rows < graph.neighbours
    return np.stack([rows[keep], graph.neighbours[keep]], axis=1)


def our_descriptors(graphs: GraphSet) -> None:
    """All nine descriptors and all aggregates."""
    flat = graphs.node_offsets, graphs.neighbour_offsets, graphs.neighbours
    tables = np.zeros((graphs.node_count, 9)), np.zeros((len(graphs), 17))
    describe(np.arange(len(graphs)), flat, EXACT_WORK, *tables)


def our_sketch(graphs: GraphSet, components: np.ndarray) -> np.ndarray:
    """The eleven numbers of the sketch."""
    flat = graphs.node_offsets, graphs.neighbour_offsets, graphs.neighbours
    sketch = np.zeros((len(graphs), 11))
    write_sketches(np.arange(len(graphs)), flat, EXACT_WORK, components, sketch, np.zeros(len(graphs), np.bool_))
    return sketch


def networkx_descriptors(graph: nx.Graph) -> None:
    """What NetworkX has: degree, mean neighbour degree, clustering, cores, triangles, components, transitivity."""
    dict(graph.degree)
    nx.average_neighbor_degree(graph)
    nx.clustering(graph)
    nx.core_number(graph)
    nx.triangles(graph)
    nx.number_connected_components(graph)
    nx.transitivity(graph)


def igraph_descriptors(graph: igraph.Graph) -> None:
    """What igraph has: degree, mean neighbour degree, clustering, cores, triangles, components, transitivity."""
    graph.degree()
    graph.knn()
    graph.transitivity_local_undirected(mode="zero")
    graph.coreness()
    len(graph.list_triangles())
    len(graph.connected_components())
    graph.transitivity_undirected()


def laplacian(graph: GraphSet) -> csr_array:
    degree = np.diff(graph.neighbour_offsets)
    ones = np.ones(len(graph.neighbours))
    adjacency = csr_array((ones, graph.neighbours, graph.neighbour_offsets), shape=(len(degree),) * 2)
    scale = diags_array(np.divide(1.0, np.sqrt(degree), out=np.zeros(len(degree)), where=degree > 0))
    return csr_array(diags_array((degree > 0) * 1.0) - scale @ adjacency @ scale)


def descriptors_and_peers(root: Path | None, name: str, count: int) -> dict[str, object]:
    graphs = load_dataset(name, root)[:count]
    singles = [graphs[i] for i in range(len(graphs))]
    in_networkx, in_igraph = [], []
    for one in singles:
        edges = edges_of(one).tolist()
        graph = nx.empty_graph(one.node_count)
        graph.add_edges_from(edges)
        in_networkx.append(graph)
        in_igraph.append(igraph.Graph(n=one.node_count, edges=edges))
    ours = best(lambda: our_descriptors(graphs))
    their = {
        "networkx": best(lambda: [networkx_descriptors(g) for g in in_networkx], 1),
        "igraph": best(lambda: [igraph_descriptors(g) for g in in_igraph]),
    }
    ratios = {peer: run["cpu_seconds"] / ours["cpu_seconds"] for peer, run in their.items()}
    return {"dataset": name, "graphs": len(graphs), "ours": ours, **their, "ratio": ratios}


def sketch_and_peers(root: Path | None, name: str, count: int) -> dict[str, object]:
    graphs = load_dataset(name, root)[:count]
    matrices = [laplacian(graphs[i]) for i in range(len(graphs))]
    dense = [matrix.toarray() for matrix in matrices]
    components = profile(graphs).aggregates[:, AGGREGATE_NAMES.index("components")]
    found = our_sketch(graphs, components)
    gap = max(
        float(np.abs(np.linalg.eigvalsh(matrix)[1:9] - row[:8]).max())
        for matrix, row in zip(dense, found, strict=True)
        if 9 <= len(matrix) <= 1500
    )
    ours = best(lambda: our_sketch(graphs, components))
    their = {
        "numpy eigvalsh": best(lambda: [np.linalg.eigvalsh(matrix) for matrix in dense], 1),
        # Nine values of the flipped matrix's upper end, where Lanczos converges.
        "scipy eigsh": best(
            lambda: [
                eigsh(identity(m.shape[0]) * 2 - m, k=9, return_eigenvectors=False) for m in matrices if m.shape[0] > 10
            ],
            1,
        ),
    }
    ratios = {peer: run["cpu_seconds"] / ours["cpu_seconds"] for peer, run in their.items()}
    return {
        "dataset": name, "graphs": len(graphs), "ours": ours, **their, "ratio": ratios, "largest_difference": gap,
    }  # fmt: skip


def twelve(root: Path | None) -> dict[str, object]:
    runs: dict[str, object] = {}
    total = {"seconds": 0.0, "cpu_seconds": 0.0}
    graphs_seen = estimated = 0
    for name in CATALOGUE:
        graphs = load_dataset(name, root)
        run = measure(lambda graphs=graphs: runs.update(last=profile(graphs).estimated.sum()))
        estimated += int(runs.pop("last"))
        runs[name] = run
        graphs_seen += len(graphs)
        for key in total:
            total[key] += run[key]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return {"graphs": graphs_seen, **total, "estimated_graphs": estimated, "peak_bytes": peak, "datasets": runs}


def grown_graph(edges: int) -> GraphSet:
    """One graph by preferential attachment, five edges per node."""
    rng = np.random.default_rng(0)
    nodes = edges // 5
    ends = np.zeros(10 * nodes + 1, np.int64)
    targets = np.zeros((nodes, 5), np.int64)
    filled = 1
    for v in range(1, nodes):
        targets[v] = ends[rng.integers(filled, size=5)]
        ends[filled : filled + 5], ends[filled + 5 : filled + 10] = targets[v], v
        filled += 10
    return canonical_graph_set([nodes], np.repeat(np.arange(1, nodes), 5), targets[1:].ravel())


def many_graphs(edges: int) -> GraphSet:
    """Random graphs of 30 nodes and 50 edges."""
    rng = np.random.default_rng(0)
    count = edges // 50
    shift = np.repeat(np.arange(count) * 30, 50)
    return canonical_graph_set(
        [30] * count, rng.integers(30, size=50 * count) + shift, rng.integers(30, size=50 * count) + shift
    )


KINDS = {"one graph": grown_graph, "many graphs": many_graphs}


def peak_bytes() -> int:
    """Largest resident memory since the peak was last cleared (Linux)."""
    status = Path("/proc/self/status").read_text()
    return int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM"))) * 1024


def one_size(kind: str, edges: int) -> None:
    profile(grown_graph(3000))  # load the compiled kernels before the clock starts
    graphs = KINDS[kind](edges)
    Path("/proc/self/clear_refs").write_text("5")  # the peak starts again from here
    before = peak_bytes()
    profiles: list[StructureProfile] = []
    run: dict[str, object] = dict(measure(lambda: profiles.append(profile(graphs))))
    added = peak_bytes() - before
    run |= {"edges": graphs.edge_count, "added_bytes": added, "estimated": bool(profiles[0].estimated.any())}
    print(json.dumps(run))


def growth() -> dict[str, list[dict[str, object]]]:
    command = [sys.executable, __file__, "--one"]
    return {
        kind: [
            json.loads(subprocess.run([*command, kind, str(m)], check=True, capture_output=True, text=True).stdout)
            for m in SIZES
        ]
        for kind in KINDS
    }


def plot(grown: dict[str, list[dict[str, object]]], path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, (left, right) = pyplot.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    for kind, runs in grown.items():
        edges = np.array([run["edges"] for run in runs], float)
        seconds = np.array([run["cpu_seconds"] for run in runs], float)
        left.loglog(edges, seconds, "o-", label=kind)
        right.loglog(edges, np.maximum([run["added_bytes"] for run in runs], 1e5) / 1e6, "o-", label=kind)
    for axis, label, base in ((left, "processor seconds", 3e-6), (right, "added memory, MB (0.1 at least)", 4e-4)):
        ends = np.array([SIZES[0], SIZES[-1]], float)
        axis.loglog(ends, base * ends, "k:", linewidth=1, label="linear")
        axis.set(xlabel="edges", ylabel=label)
        axis.grid(alpha=0.3)
        axis.legend()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=130)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-root", type=Path)
    parser.add_argument("--output", type=Path, default=Path("bench/results/benchmarks/structure.json"))
    parser.add_argument("--plot", type=Path, default=Path("docs/images/structure-scaling.png"))
    parser.add_argument("--one", nargs=2, metavar=("KIND", "EDGES"), help="measure one size and print it")
    arguments = parser.parse_args()
    if arguments.one:
        one_size(arguments.one[0], int(arguments.one[1]))
        return
    started = time.perf_counter()
    profile(grown_graph(3000))
    result: dict[str, object] = {
        "machine": {"cpu_count": len(os.sched_getaffinity(0)), "threads": numba.config.NUMBA_NUM_THREADS,
                    "platform": platform.platform(), "python": platform.python_version()},
        "versions": {m.__name__: m.__version__ for m in (np, nx, igraph, numba)},
        "first_call_with_cached_kernels_seconds": time.perf_counter() - started,
    }  # fmt: skip
    root = arguments.data_root
    steps: dict[str, Callable[[], object]] = {
        "descriptors": lambda: [
            descriptors_and_peers(root, *case)
            for case in (
                ("MUTAG", 188),
                ("PROTEINS", 300),
                ("IMDB-BINARY", 300),
                ("COLLAB", 60),
                ("REDDIT-BINARY", 100),
            )
        ],
        "sketch": lambda: [sketch_and_peers(root, *case) for case in (("REDDIT-BINARY", 100), ("NCI1", 500))],
        "twelve_datasets": lambda: twelve(root),
        "growth": growth,
    }
    for name, step in steps.items():
        result[name] = step()
        print(name, json.dumps(result[name], indent=1))
    plot(result["growth"], arguments.plot)
    arguments.output.parent.mkdir(parents=True, exist_ok=True)
    arguments.output.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
