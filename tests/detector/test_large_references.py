"""Reference sets past the bound: all of them in the spherical channels, a sample elsewhere, files that are mapped.

The bounds are lowered so that a hundred molecules are a large set.
"""

import json
import shutil
import sys

import numpy as np
import pytest
from typer.testing import CliRunner

from graphglass import GLASS
from graphglass.channels.codes import CodeChannel
from graphglass.cli.app import app
from graphglass.errors import ArtifactError, InputError, MissingExtraError

CHUNK, SAMPLE = 30, 50


@pytest.fixture(scope="module", params=["default", "paper"])
def small(request, normals):
    return (
        GLASS().fit(normals) if request.param == "default" else GLASS("paper", encoder="numeric", epochs=1).fit(normals)
    )


@pytest.fixture(scope="module")
def indexed(normals):
    """A detector with codes to index."""
    return GLASS("paper", encoder="numeric", epochs=1).fit(normals)


@pytest.fixture
def bounds(monkeypatch):
    for name, value in {"SAMPLE": SAMPLE, "CHUNK": CHUNK}.items():
        monkeypatch.setattr(f"graphglass.detector.large_references.{name}", value)
    monkeypatch.setattr("graphglass.detector.glass.SAMPLE", SAMPLE)
    return monkeypatch


@pytest.fixture
def approximate(bounds):
    bounds.setattr("graphglass.sphere.reference_index.FLAT_UP_TO", 10)
    bounds.setattr("graphglass.sphere.reference_index.HNSW_UP_TO", 20)


@pytest.fixture(scope="module")
def many(mutag):
    return mutag[np.flatnonzero(mutag.labels == 1)].without_labels()[:100]


def spherical(detector):
    return [channel for channel in detector.scorer_.channels if isinstance(channel, CodeChannel)]


def test_spherical_channels_measure_against_every_reference(small, many, queries, bounds):
    bounds.undo()
    exact = small.with_references(many)
    bounds.setattr("graphglass.detector.large_references.SAMPLE", SAMPLE)
    bounds.setattr("graphglass.detector.large_references.CHUNK", CHUNK)
    bounds.setattr("graphglass.detector.glass.SAMPLE", SAMPLE)
    large = small.with_references(many)
    assert (exact.scorer_.large, exact.scorer_.reference_count) == (None, 100)
    assert large.scorer_.reference_count == 100
    assert len(large.references_) == len(large.decision_scores_) == len(large.labels_) == SAMPLE
    places = large.scorer_.large.places
    assert large.references_.graphs.ids == tuple(many.ids[i] for i in places)
    measured = exact._queries(queries)
    for mine, theirs in zip(spherical(large), spherical(exact), strict=True):
        # Graph codes of a part may differ from those of the whole in their last digits.
        assert np.allclose(mine.distances(mine.encode(measured)), theirs.distances(mine.encode(measured)), atol=1e-6)
        assert np.allclose(mine.left_out, theirs.left_out[places], atol=1e-6)


def test_other_channels_and_the_weights_are_those_of_the_sample(small, many, queries, bounds):
    large = small.with_references(many)
    bounds.undo()
    sampled = small.with_references(many[large.scorer_.large.places])
    measured = large._queries(queries)
    for mine, theirs in zip(large.scorer_.channels, sampled.scorer_.channels, strict=True):
        if not isinstance(mine, CodeChannel):
            assert np.array_equal(mine.distances(mine.encode(measured)), theirs.distances(theirs.encode(measured)))
            assert np.array_equal(mine.left_out, theirs.left_out)
    for name, weight in large.scorer_.fusion.weights.items():
        assert weight == pytest.approx(sampled.scorer_.fusion.weights[name], rel=1e-4)


def test_fitting_and_adding_past_the_bound_index_as_well(normals, many, bounds):
    fitted = GLASS().fit(many)
    assert fitted.scorer_.reference_count == 100
    grown = GLASS().fit(normals).add_references(many[60:100])
    assert grown.scorer_.reference_count == 80
    assert len(grown.references_) == SAMPLE


def test_a_sampled_detector_is_deterministic_and_ranks(small, many, queries, bounds):
    first, second = small.with_references(many), small.with_references(many)
    assert np.array_equal(first.decision_function(queries), second.decision_function(queries))
    assert np.isfinite(first.decision_function(queries)).all()
    assert first.p_values(queries).min() >= 1 / (SAMPLE + 1)
    assert len(first.explain(queries[0], nodes=False).neighbours) == 5


@pytest.mark.parametrize("kind", ["flat", "hnsw", "ivf"])
def test_a_saved_index_is_mapped_covered_by_the_manifest_and_on_the_card(small, many, queries, bounds, tmp_path, kind):
    limits = {"flat": (1000, 1000), "hnsw": (10, 1000), "ivf": (10, 10)}[kind]
    bounds.setattr("graphglass.sphere.reference_index.FLAT_UP_TO", limits[0])
    bounds.setattr("graphglass.sphere.reference_index.HNSW_UP_TO", limits[1])
    large = small.with_references(many)
    scores = large.decision_function(queries)
    large.save(tmp_path / "model")
    entries = json.loads((tmp_path / "model" / "manifest.json").read_text())["files"]
    stored = {role: entry["file"] for role, entry in entries.items() if role.startswith("index_")}
    assert len(stored) == len(spherical(large))
    assert all(name.endswith(".npy" if kind == "flat" else ".faiss") for name in stored.values())
    del large
    loaded = GLASS.load(tmp_path / "model")
    assert np.array_equal(loaded.decision_function(queries), scores)
    with open("/proc/self/maps") as maps:
        mapped = maps.read()
    assert all(str(tmp_path / "model" / name) in mapped for name in stored.values())
    loaded.save(tmp_path / "model")  # onto itself
    assert {path.name for path in (tmp_path / "model").glob("index_*")} == set(stored.values())
    card = CliRunner().invoke(app, ["info", str(tmp_path / "model")], catch_exceptions=False).output
    if stored:
        assert f"{kind}, {'exact' if kind == 'flat' else 'recall@'}" in card
        assert f"{SAMPLE} references stand for all" in card
    else:
        assert f"{SAMPLE} of 100 references" in card


def test_a_small_set_has_no_index(small, many, tmp_path):
    small.with_references(many).save(tmp_path / "model")
    assert not list((tmp_path / "model").glob("index_*"))
    assert "large" not in json.loads(next((tmp_path / "model").glob("detector-*.json")).read_text())


def test_single_references_of_a_large_set_stay(small, many, queries, bounds):
    large = small.with_references(many)
    with pytest.raises(InputError, match="indexes 100 references and keeps 50"):
        large.add_references(queries)
    with pytest.raises(InputError, match="references MODEL replace"):
        large.remove_references(large.references_.graphs.ids[:1])


@pytest.fixture
def saved(indexed, many, approximate, tmp_path):
    indexed.with_references(many).save(tmp_path / "model")
    return tmp_path / "model"


def index_file(model):
    return next(model.glob("index_graph_64-*.faiss"))


def test_a_truncated_or_altered_index_is_refused(saved):
    file = index_file(saved)
    content = file.read_bytes()
    file.write_bytes(content[:-7])
    with pytest.raises(ArtifactError, match=r"index_graph_64-.* is not what was saved"):
        GLASS.load(saved)
    file.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    with pytest.raises(ArtifactError, match="altered or truncated"):
        GLASS.load(saved)
    file.unlink()
    with pytest.raises(ArtifactError, match="has no index_graph_64"):
        GLASS.load(saved)


def test_the_index_of_another_model_is_refused(saved, indexed, many, tmp_path):
    indexed.with_references(many[:80]).save(tmp_path / "other")
    other, file = index_file(tmp_path / "other"), index_file(saved)
    shutil.copy(other, file)
    with pytest.raises(ArtifactError, match="is not what was saved"):
        GLASS.load(saved)
    # Even with a manifest that vouches for it.
    manifest = json.loads((saved / "manifest.json").read_text())
    theirs = json.loads((tmp_path / "other" / "manifest.json").read_text())["files"]["index_graph_64"]
    manifest["files"]["index_graph_64"] = theirs | {"file": file.name}
    (saved / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(ArtifactError, match="belongs to another model"):
        GLASS.load(saved)


def test_without_faiss_the_extra_is_named(saved, indexed, many, monkeypatch):
    monkeypatch.setitem(sys.modules, "faiss", None)
    with pytest.raises(MissingExtraError, match=r"An index of 100 references needs .*graphglass\[index\]"):
        GLASS.load(saved)
    with pytest.raises(MissingExtraError, match=r"graphglass\[index\]"):
        indexed.with_references(many)


def test_an_index_behind_a_url_is_fetched_once(saved, queries, tmp_path, monkeypatch):
    fsspec = pytest.importorskip("fsspec")
    monkeypatch.setenv("GRAPHGLASS_CACHE", str(tmp_path / "cache"))
    memory = fsspec.filesystem("memory")
    memory.put(str(saved), "/large-model", recursive=True)
    scores = GLASS.load("memory://large-model").decision_function(queries)
    assert np.array_equal(scores, GLASS.load(saved).decision_function(queries))
    fetched = {path: path.stat().st_mtime_ns for path in (tmp_path / "cache" / "artifacts").iterdir()}
    assert len(fetched) == len(list(saved.glob("index_*")))
    GLASS.load("memory://large-model")
    assert {path: path.stat().st_mtime_ns for path in fetched} == fetched
    memory.rm("/large-model", recursive=True)
