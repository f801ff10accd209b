import socket
import threading
import time
from contextlib import contextmanager
from itertools import pairwise

import numpy as np
import pytest

from graphglass import GLASS, GraphGlass, load_dataset, read_graphs
from graphglass.graphs.canonical import canonical_graph_set


@pytest.fixture(scope="session", autouse=True)
def _own_cache(tmp_path_factory, worker_id):
    """Tests never read or fill the user's caches."""
    patch = pytest.MonkeyPatch()
    patch.setenv("GRAPHGLASS_CACHE", str(tmp_path_factory.mktemp(f"cache-{worker_id}")))
    yield
    patch.undo()


@pytest.fixture(scope="session")
def mutag():
    """The bundled molecules."""
    return load_dataset("MUTAG")


@pytest.fixture(scope="session")
def normals(mutag):
    """Forty molecules of the majority class."""
    return mutag[np.flatnonzero(mutag.labels == 1)[:40]].without_labels()


@pytest.fixture(scope="session")
def queries(mutag):
    """Molecules of both classes that are not among the normals."""
    return mutag[np.concatenate([np.flatnonzero(mutag.labels == 1)[40:52], np.flatnonzero(mutag.labels == -1)[:12]])]


@pytest.fixture(scope="session", params=["default", "paper"])
def fitted(request, normals):
    """A detector of each method, the paper's trained for two epochs; tests must not change it."""
    return (
        GraphGlass().fit(normals)
        if request.param == "default"
        else GLASS(encoder="numeric", epochs=2, random_state=3).fit(normals)
    )


@pytest.fixture(scope="session")
def make_graphs():
    """Random graphs with node labels and attributes as asked for."""

    def make(count=8, seed=0, labels=None, attributes=0, largest=12):
        random = np.random.default_rng(seed)
        sizes = random.integers(1, largest + 1, count)
        offsets = np.concatenate([[0], np.cumsum(sizes)])
        sources, targets = [], []
        for start, size in zip(offsets, sizes, strict=False):
            edges = random.integers(0, size, (2, 2 * size))
            sources.append(start + edges[0])
            targets.append(start + edges[1])
        nodes = int(offsets[-1])
        return canonical_graph_set(
            sizes,
            np.concatenate(sources),
            np.concatenate(targets),
            node_labels=None if labels is None else random.choice(labels, nodes),
            attributes=random.standard_normal((nodes, attributes)) if attributes else None,
        )

    return make


@pytest.fixture(scope="session")
def reordered():
    """A function that gives the same graphs with the nodes of each in another order."""

    def reorder(graphs, seed):
        random = np.random.default_rng(seed)
        order = np.concatenate([random.permutation(np.arange(a, b)) for a, b in pairwise(graphs.node_offsets)])
        place = np.argsort(order)
        edges = graphs.edge_list()
        return canonical_graph_set(
            graphs.sizes, place[edges.sources], place[edges.targets], ids=graphs.ids,
            node_labels=None if graphs.node_labels is None else graphs.node_labels[order],
            attributes=None if graphs.attributes is None else graphs.attributes[order],
            attribute_names=graphs.attribute_names,
            edge_labels=edges.labels, edge_attributes=edges.attributes,
            edge_attribute_names=graphs.edge_attribute_names, directed=graphs.directed,
        )  # fmt: skip

    return reorder


@pytest.fixture(scope="session")
def molecules():
    """Well-known molecules with rings, ions and a salt, read from SMILES."""
    return read_graphs(
        [
            "CCO", "CC(=O)O", "c1ccccc1", "Cc1ccccc1", "Oc1ccccc1", "CC(=O)Oc1ccccc1C(=O)O", "CC(=O)Nc1ccc(O)cc1",
            "Cn1cnc2c1c(=O)n(C)c(=O)n2C", "CC(C)Cc1ccc(cc1)C(C)C(=O)O", "C1CCCCC1", "CCN(CC)CC", "NCC(=O)O",
            "C[N+](C)(C)CC(=O)[O-]", "[Na+].CC(=O)[O-]", "OCC1OC(O)C(O)C(O)C1O", "CC(N)Cc1ccccc1", "c1ccc2ccccc2c1",
            "CN1CCC[C@H]1c1cccnc1", "O=C(O)c1ccccc1O", "CCCCCCCCCCCC", "C#N", "O", "Clc1ccc(Cl)cc1", "CS(=O)(=O)N",
        ],
        format="smi",
    )  # fmt: skip


@pytest.fixture(scope="session")
def flows():
    """A function that makes directed chains of payments with amounts, and a node label."""

    def make(count=20, seed=0, amount=10.0):
        random = np.random.default_rng(seed)
        sizes = random.integers(4, 9, count)
        starts = np.cumsum(sizes) - sizes
        sources = np.concatenate([start + np.arange(size - 1) for start, size in zip(starts, sizes, strict=True)])
        return canonical_graph_set(
            sizes, sources, sources + 1, directed=True, node_labels=random.integers(0, 3, sizes.sum()),
            edge_attributes=amount * random.uniform(0.5, 2, (len(sources), 1)), edge_attribute_names=("amount",),
            ids=[f"flow-{seed}-{i}" for i in range(count)],
        )  # fmt: skip

    return make


@pytest.fixture(scope="session")
def serving():
    """A context that answers on loopback with a real HTTP server, and gives its address."""
    import httpx
    import uvicorn

    @contextmanager
    def context(application):
        listener = socket.create_server(("127.0.0.1", 0), backlog=1024)
        server = uvicorn.Server(uvicorn.Config(application, log_level="warning", ws="none"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        address = f"http://127.0.0.1:{listener.getsockname()[1]}"
        while not server.started:
            assert thread.is_alive()
            time.sleep(0.05)
        assert httpx.get(f"{address}/healthz", timeout=60).text == "ok"
        yield address
        server.should_exit = True
        thread.join(30)
        listener.close()

    return context


def pytest_collection_modifyitems(items):
    """Every test of the folder `browser` has the marker `browser`."""
    for item in items:
        if item.path.parent.name == "browser":
            item.add_marker(pytest.mark.browser)
