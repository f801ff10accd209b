import shutil

import pytest
from fastapi.testclient import TestClient

from graphglass import GraphGlass
from graphglass.privacy.release.ledger import Ledger
from graphglass.serve.app import create_app
from graphglass.serve.request_graphs import ServeLimits
from graphglass.serve.service import Service


@pytest.fixture(scope="session")
def limits():
    """Small bounds, so that tests can reach them."""
    return ServeLimits(body_bytes=300_000, graphs=64, nodes=2_000, edges=8_000, waiting=600)


@pytest.fixture(scope="session")
def model(tmp_path_factory, normals):
    """A saved model over graphs without labels, so that plain node-link records can be sent."""
    path = tmp_path_factory.mktemp("serve") / "model"
    GraphGlass().fit(normals.structure_only()).save(path)
    return path


@pytest.fixture
def own_model(tmp_path, model):
    """A copy a test may change."""
    shutil.copytree(model, tmp_path / "model")
    return tmp_path / "model"


@pytest.fixture
def ledger(tmp_path):
    """A ledger with a budget for the dataset `site`."""
    book = Ledger.create(tmp_path / "ledger.db")
    book.grant("site", epsilon=8, delta=1e-5)
    return book


@pytest.fixture(scope="session")
def service(model):
    return Service(model)


@pytest.fixture(scope="session")
def client(service, limits):
    """Requests into the application; the model is not changed through it."""
    with TestClient(create_app(service, limits=limits), raise_server_exceptions=False) as connected:
        yield connected


@pytest.fixture(scope="session")
def ring():
    """A function that makes the node-link record of a ring."""

    def record(size, name=None):
        body = {"nodes": size, "edges": [[i, (i + 1) % size] for i in range(size)]}
        return body if name is None else {**body, "id": name}

    return record
