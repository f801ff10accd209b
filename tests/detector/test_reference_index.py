"""Large reference sets: merged shards against brute force, and files that are searched where they lie."""

import sys
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphglass.channels.neighbours import nearest_in_shards
from graphglass.detector.reference_index import ReferenceIndex
from graphglass.errors import ArtifactError, MissingExtraError
from graphglass.glass.slices import normalise


def brute_force(queries, references, k, exclude=None):
    """Every similarity in double precision, sorted by (similarity, index)."""
    similarities, indices = [], []
    for row, query in enumerate(queries.astype(np.float64)):
        ranked = []
        for i, other in enumerate(references.astype(np.float64)):
            if exclude is None or exclude[row] != i:
                ranked.append((-float((query * other).sum()), i))
        ranked.sort()
        similarities.append([-value for value, _ in ranked[:k]])
        indices.append([i for _, i in ranked[:k]])
    return np.array(similarities).reshape(len(queries), -1), np.array(indices, np.int64).reshape(len(queries), -1)


@settings(max_examples=60, deadline=None)
@given(
    count=st.integers(1, 40), queries=st.integers(1, 6), k=st.integers(1, 8), dimension=st.integers(2, 12),
    cuts=st.lists(st.integers(0, 40), max_size=5), seed=st.integers(0, 2**16), leave=st.booleans(),
)  # fmt: skip
def test_merged_shards_are_exact(count, queries, k, dimension, cuts, seed, leave):
    rng = np.random.default_rng(seed)
    references = normalise(rng.normal(size=(count, dimension))).astype(np.float32)
    asked = normalise(rng.normal(size=(queries, dimension))).astype(np.float32)
    exclude = rng.integers(0, count, queries) if leave else None
    edges = [0, *sorted(min(cut, count) for cut in cuts), count]
    shards = [references[a:b] for a, b in pairwise(edges)]  # some are empty
    found, where = nearest_in_shards(asked, shards, k, exclude=exclude)
    expected, places = brute_force(asked, references, k, exclude)
    assert np.allclose(found, expected, atol=1e-12)
    assert np.array_equal(where, places)


def test_ties_across_shards_go_to_the_lower_index():
    row = np.array([[0.6, 0.8]], np.float32)
    references = np.repeat(row, 9, axis=0)
    _, where = nearest_in_shards(row, [references[:4], references[4:5], references[5:]], 6)
    assert where.tolist() == [[0, 1, 2, 3, 4, 5]]


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    """Unit rows in clusters, as codes of alike graphs are."""
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(60, 16))
    values = centres[rng.integers(0, 60, 4000)] + 0.3 * rng.normal(size=(4000, 16))
    path = tmp_path_factory.mktemp("rows") / "rows.npy"
    np.save(path, normalise(values).astype(np.float32))
    return path


@pytest.fixture(scope="module", params=["flat", "ivf"])
def index(request, rows, tmp_path_factory):
    own = tmp_path_factory.mktemp(request.param) / "rows.npy"
    own.write_bytes(rows.read_bytes())
    return ReferenceIndex.build(own, 5, kind=request.param)


def test_recall_is_what_a_separate_count_gives(index, rows):
    references = np.load(rows)
    rng = np.random.default_rng(1)
    queries = normalise(references[rng.integers(0, 4000, 100)] + 0.05 * rng.normal(size=(100, 16))).astype(np.float32)
    found, where = index.nearest(queries, 5)
    expected, places = brute_force(queries, references, 5)
    share = np.mean([len(set(a) & set(b)) / 5 for a, b in zip(where.tolist(), places.tolist(), strict=True)])
    assert share >= (1.0 if index.kind == "flat" else 0.9)
    assert index.recall == pytest.approx(share, abs=0.05)
    same = where == places
    assert np.allclose(found[same], expected[same], atol=1e-6 if index.kind == "flat" else 0.01)
    assert (np.diff(found, axis=1) <= 0).all()


def test_an_answer_does_not_depend_on_the_batch(index, rows):
    queries = np.load(rows)[:64]
    together = index.nearest(queries, 5)
    for i in (0, 13, 63):
        alone = index.nearest(queries[i : i + 1], 5)
        assert np.array_equal(alone[0][0], together[0][i])
        assert np.array_equal(alone[1][0], together[1][i])


def test_a_reference_leaves_itself_out(index, rows):
    chosen = np.array([3, 1000, 3999])
    found, where = index.nearest(np.load(rows)[chosen], 5, exclude=chosen)
    assert found.shape == where.shape == (3, 5)
    assert not (where == chosen[:, None]).any()


def test_every_row_finds_others_near_it_as_a_search_of_few_lists_does(index, rows):
    references = np.load(rows)
    near = np.full((len(references), 20), -1)
    for places, found in index.near_all(references, 20):
        assert (near[places] == -1).all()
        near[places] = found
    assert not (near == np.arange(len(references))[:, None]).any()
    assert all(len(set(row)) == 20 for row in near.tolist())
    alone = index.nearest(references, 20, exclude=np.arange(len(references)), probed=8)[1]
    reached, known = (np.einsum("nd,nkd->nk", references, references[found]).mean() for found in (near, alone))
    assert reached >= known - 0.001


def test_every_row_finds_enough_others_though_the_lists_near_it_are_short(index, rows):
    for places, found in index.near_all(np.load(rows), 3000):
        assert found.shape == (len(places), 3000)
        assert (np.diff(np.sort(found, axis=1), axis=1) > 0).all()


def test_the_file_is_mapped_and_says_the_same_when_opened_again(index, rows):
    again = ReferenceIndex.open(index.path, index.facts())
    queries = np.load(rows)[:20]
    assert np.array_equal(again.nearest(queries, 5)[1], index.nearest(queries, 5)[1])
    with open("/proc/self/maps") as maps:
        assert str(index.path) in maps.read()


def test_more_neighbours_than_are_in_view_are_looked_for_everywhere(index, rows):
    found, where = index.nearest(np.load(rows)[:2], 3000)
    assert (where >= 0).all()
    assert all(len(set(row)) == 3000 for row in where.tolist())
    assert np.isfinite(found).all()


def test_building_twice_gives_the_same_bytes(index, rows, tmp_path):
    own = tmp_path / "rows.npy"
    own.write_bytes(rows.read_bytes())
    assert ReferenceIndex.build(own, 5, kind=index.kind).path.read_bytes() == index.path.read_bytes()


def test_a_truncated_file_is_refused(index, tmp_path):
    broken = tmp_path / index.path.name
    broken.write_bytes(index.path.read_bytes()[:1000])
    with pytest.raises(ArtifactError, match="is not a readable index"):
        ReferenceIndex.open(broken, index.facts())


@pytest.mark.parametrize("change", [{"count": 3999}, {"dimension": 15}])
def test_the_index_of_another_model_is_refused(index, change):
    with pytest.raises(ArtifactError, match="belongs to another model"):
        ReferenceIndex.open(index.path, index.facts() | change)


def test_without_faiss_only_exact_search_works(rows, monkeypatch):
    monkeypatch.setitem(sys.modules, "faiss", None)
    with pytest.warns(UserWarning, match=r"graphglass\[index\]"):
        assert ReferenceIndex.build(rows, 5).kind == "flat"
    with pytest.raises(MissingExtraError, match=r"graphglass\[index\]"):
        ReferenceIndex.build(rows, 5, kind="ivf")
