"""Resealed models: other arrays or settings behind checksums that fit give one clear error when they are loaded."""

import json
import tracemalloc

import numpy as np
import pytest
from safetensors.numpy import load, save

from graphglass import GLASS, GraphGlass, ReferenceDetector
from graphglass.errors import ArtifactError, GlassError
from graphglass.files.manifest import MANIFEST, digest


@pytest.fixture(scope="module")
def models(normals, tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    GraphGlass().fit(normals).save(folder / "default")
    GLASS(encoder="numeric", epochs=0).fit(normals[:10]).save(folder / "paper")
    return folder


def resealed(source, target, role, change):
    """A copy of a model in which `change` was applied to the arrays or the document of a role."""
    target.mkdir()
    for path in source.iterdir():
        (target / path.name).write_bytes(path.read_bytes())
    body = json.loads((target / MANIFEST).read_text())
    entry = body["files"][role]
    content = (target / entry["file"]).read_bytes()
    value = load(content) if entry["file"].endswith(".safetensors") else json.loads(content)
    change(value)
    content = save(value) if entry["file"].endswith(".safetensors") else json.dumps(value).encode()
    (target / entry["file"]).write_bytes(content)
    entry.update(bytes=len(content), sha256=digest(content))
    (target / MANIFEST).write_text(json.dumps(body))
    return target


def put(name, place, value):
    def change(arrays):
        arrays[name] = arrays[name].copy()
        arrays[name].reshape(-1)[place] = value

    return change


def cut(name):
    return lambda arrays: arrays.update({name: arrays[name][:-1].copy()})


def cast(name, kind):
    return lambda arrays: arrays.update({name: arrays[name].astype(kind)})


@pytest.mark.parametrize(
    ("role", "change"),
    [
        ("references", put("neighbours", 0, 10**6)),
        ("references", put("neighbours", 3, -1)),
        ("references", put("node_offsets", 5, 10**9)),
        ("references", put("neighbour_offsets", 7, -(2**40))),
        ("references", put("neighbour_offsets", -1, 2**40)),
        ("references", cut("descriptors")),
        ("references", cut("aggregates")),
        ("references", cut("node_labels")),
        ("references", cast("neighbours", "f8")),
        ("references", cast("node_offsets", "f4")),
        ("channels", put("patterns:labels/offsets_2", 4, 10**7)),
        ("channels", cut("patterns:labels/offsets_0")),
        ("channels", cast("patterns:labels/keys_1", "i4")),
        ("channels", put("patterns:labels/values_1", 3, 0.0)),
        ("channels", put("patterns:labels/values_1", 3, np.nan)),
        ("channels", cut("patterns:labels/units")),
        ("channels", put("patterns:labels/units", 0, -1.0)),
        ("channels", cut("reference_scores")),
        ("detector", lambda value: value["fusion"]["weights"].popitem()),
        ("detector", lambda value: value["fusion"]["centres"].popitem()),
        ("detector", lambda value: value["fusion"]["scales"].update({"patterns:labels": 0.0})),
        ("detector", lambda value: value["fusion"]["scales"].update({"patterns:labels": "1"})),
        ("detector", lambda value: value["fusion"].update(weights=[1])),
        ("detector", lambda value: value.update(schema=None)),
        ("reference_names", lambda value: value.update(labels="none")),
    ],
)
def test_a_resealed_model_is_refused_when_it_is_loaded(models, tmp_path, role, change):
    with pytest.raises(GlassError):
        ReferenceDetector.load(resealed(models / "default", tmp_path / "m", role, change))


def test_an_unchanged_copy_is_accepted(models, tmp_path, queries):
    for preset in ("default", "paper"):
        same = ReferenceDetector.load(resealed(models / preset, tmp_path / preset, "references", lambda arrays: None))
        expected = ReferenceDetector.load(models / preset).decision_function(queries)
        np.testing.assert_array_equal(same.decision_function(queries), expected)


@pytest.mark.parametrize(
    "change",
    [
        lambda value: value["schema"].update(width=10**9),
        lambda value: value["schema"].update(width=2**62),
        lambda value: value.update(slices=[10**9]),
        lambda value: value.update(slices=list(range(2, 100_000))),
        lambda value: value.update(slices=[-4]),
    ],
)
def test_network_sizes_need_weights_of_that_size(models, tmp_path, change):
    folder = resealed(models / "paper", tmp_path / "m", "encoder_settings", change)
    tracemalloc.start()
    try:
        with pytest.raises(ArtifactError):
            ReferenceDetector.load(folder)
        assert tracemalloc.get_traced_memory()[1] < 64 << 20
    finally:
        tracemalloc.stop()


def test_weights_of_another_shape_or_type_are_refused(models, tmp_path):
    for number, change in enumerate((cut("sketch.bias"), cast("sketch.bias", "f8"), lambda arrays: arrays.popitem())):
        with pytest.raises(ArtifactError, match="do not fit the network"):
            ReferenceDetector.load(resealed(models / "paper", tmp_path / str(number), "encoder", change))
