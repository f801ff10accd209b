import numpy as np
import pytest

from graphglass import GLASS, load_dataset


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
    """A detector of each preset, trained for two epochs; tests must not change it."""
    return GLASS(request.param, epochs=2, random_state=3).fit(normals)
