import numpy as np

from graphglass.sphere.projection import SphereMap
from graphglass.sphere.slices import normalise


def codes(count, seed):
    rng = np.random.default_rng(seed)
    return {"graph:8": normalise(rng.normal(size=(count, 8))), "text:8": normalise(rng.normal(size=(count, 8)))}


def test_plane_carries_the_most_variance():
    references = codes(60, 0)
    plane = SphereMap.fit(references)
    rows = np.concatenate([references["graph:8"], references["text:8"]], axis=1) / np.sqrt(2)
    expected = np.linalg.svd(rows - rows.mean(axis=0), compute_uv=False)[:2] ** 2
    assert np.allclose((plane.coordinates(references) ** 2).sum(axis=0), expected)


def test_places_do_not_depend_on_the_other_graphs():
    plane, queries = SphereMap.fit(codes(30, 1)), codes(5, 2)
    alone = np.concatenate([plane.coordinates({k: v[i : i + 1] for k, v in queries.items()}) for i in range(5)])
    assert np.allclose(alone, plane.coordinates(queries))


def test_one_reference_has_a_map():
    one = codes(1, 3)
    assert np.allclose(SphereMap.fit(one).coordinates(one), 0)
