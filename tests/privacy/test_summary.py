"""A summary file: scores, round trip, and refusal of anything altered."""

import json
import os

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.numpy import load, save

from graphglass.errors import ArtifactError, ParameterError, SchemaError
from graphglass.privacy.joint_features import JointFeatures
from graphglass.privacy.public_map import PublicMap
from graphglass.privacy.summary import PrivateSummary
from graphglass.privacy.terms import PrivacyTerms

RNG = np.random.default_rng(0)
FEATURES = JointFeatures((("graph:64", 64), ("text:64", 64)), frequencies=16)


def embeddings(n, seed=0, shift=0.0):
    rng, out = np.random.default_rng(seed), {}
    for name, width in FEATURES.channels:
        rows = rng.standard_normal((n, width)) * 0.3 + np.linspace(-1, 1, width) * (1 - shift)
        out[name] = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return out


def terms(n=20, features=FEATURES, **changes):
    values = {
        "epsilon": 4.0, "delta": 1e-5, "delta_slack": 1e-16, "references": n, "graphs_per_subject": 1,
        "noise_scale": 2_321_777_500, "grid_bits": 30, "dimension": features.dimension, "release": "r",
        "collection": "c",
        "ledger_sequence": 2, "ledger_head": "f" * 64, **changes,
    }  # fmt: skip
    return PrivacyTerms(**values)


def summary(features=FEATURES, prior=None, n=20):
    mean = features(embeddings(n)).mean(axis=0)
    total = np.rint(mean * n * 2.0**30).astype(np.int64)
    return PrivateSummary(total, features, (terms(n, features),), "encoder/1", "A promise.\n", prior)


@pytest.fixture
def content():
    return summary().to_bytes()


def test_score_is_minus_the_kernel_density():
    queries = embeddings(5, seed=1)
    wide = JointFeatures(FEATURES.channels, frequencies=8192)
    kernel = np.mean(
        [np.exp(4.0 * (queries[name] @ embeddings(20)[name].T - 1)).mean(axis=1) for name in queries], axis=0
    )
    np.testing.assert_allclose(summary(wide).scores(queries), -kernel, atol=0.02)


def test_strangers_score_higher():
    value = summary()
    assert value.scores(embeddings(50, 2)).max() < value.scores(embeddings(50, 3, shift=2.0)).min()


def test_score_does_not_depend_on_batch_mates():
    queries = embeddings(9, seed=4)
    alone = [summary().scores({name: rows[i : i + 1] for name, rows in queries.items()})[0] for i in range(9)]
    np.testing.assert_allclose(summary().scores(queries), alone, rtol=1e-12)


def test_contributions_add_up():
    queries = embeddings(6, seed=5)
    parts = summary().contributions(queries)
    assert list(parts) == ["graph:64", "text:64"]
    np.testing.assert_allclose(sum(parts.values()), summary().scores(queries), atol=1e-12)


def test_shrinkage_weights():
    prior = np.linspace(-0.1, 0.1, FEATURES.dimension)
    value = summary(prior=prior, n=32)
    np.testing.assert_allclose(value.mixed_mean(), 0.5 * prior + 0.5 * value.mean)
    np.testing.assert_allclose(value.mixed_mean(0), value.mean)
    queries = embeddings(3, 6)
    np.testing.assert_allclose(value.scores(queries, source_prior=True), -FEATURES(queries) @ value.mixed_mean())
    with pytest.raises(ArtifactError, match="no source prior"):
        summary().scores(queries, source_prior=True)
    with pytest.raises(ParameterError):
        value.mixed_mean(-1)


def test_round_trip_is_exact_and_repeatable(tmp_path):
    maps = {"graph:64": PublicMap.whitening(RNG.standard_normal((100, 64)), rank=8)}
    value = summary(JointFeatures(FEATURES.channels, 16, (1.0, 8.0), 3, True, maps), prior=None)
    value.save(tmp_path / "summary")
    loaded = PrivateSummary.load(tmp_path / "summary")
    assert loaded.to_bytes() == value.to_bytes() == (tmp_path / "summary").read_bytes()
    assert loaded.sites == value.sites
    assert loaded.statement == value.statement
    queries = embeddings(4, 7)
    np.testing.assert_array_equal(loaded.scores(queries), value.scores(queries))
    assert not loaded.total.flags.writeable


@settings(max_examples=50, deadline=None)
@given(st.data())
def test_any_changed_byte_is_refused_or_harmless(data):
    original = summary()
    content = bytearray(original.to_bytes())
    position = data.draw(st.integers(0, len(content) - 1))
    content[position] ^= 1 << data.draw(st.integers(0, 7))
    try:
        loaded = PrivateSummary.from_bytes(bytes(content))
    except ArtifactError:
        return
    assert loaded.to_bytes() == original.to_bytes()  # e.g. a changed space in the header


@pytest.mark.parametrize("cut", [0, 7, 100, -1])
def test_truncated_files_are_refused(content, cut):
    with pytest.raises(ArtifactError):
        PrivateSummary.from_bytes(content[:cut])


def edited(content, **changes):
    """The file with another manifest whose own checksum is right."""
    import hashlib

    header = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])
    manifest = {**json.loads(header["__metadata__"]["manifest"][64:]), **changes}
    text = json.dumps(manifest, sort_keys=True)
    return save(load(content), metadata={"manifest": hashlib.sha256(text.encode()).hexdigest() + text})


def test_other_versions_and_formats_are_refused(content):
    assert PrivateSummary.from_bytes(edited(content)).references == 20
    for change in ({"version": 2}, {"format": "something"}, {"features_digest": "0"}, {"sha256": {}}, {"sites": []}):
        with pytest.raises(ArtifactError):
            PrivateSummary.from_bytes(edited(content, **change))


@pytest.mark.parametrize(
    "change", [{"epsilon": -1.0}, {"references": 0}, {"references": "20"}, {"noise_scale": True}, {"delta": 2.0}]
)
def test_impossible_terms_are_refused(content, change):
    with pytest.raises(ArtifactError):
        PrivateSummary.from_bytes(edited(content, sites=[{**terms().to_json(), **change}]))
    with pytest.raises(ArtifactError, match="exactly the fields"):
        PrivacyTerms.from_json({**terms().to_json(), "extra": 1})


def test_inconsistent_arrays_are_refused():
    value = summary()
    for total in (value.total[:-1], value.total.astype(np.int32)):
        with pytest.raises(ArtifactError):
            PrivateSummary(total, FEATURES, value.sites, "e", "s")
    with pytest.raises(ArtifactError):
        PrivateSummary(value.total, FEATURES, value.sites, "e", "s", np.full(FEATURES.dimension, np.nan))
    with pytest.raises(ArtifactError, match="one grid"):
        PrivateSummary(value.total, FEATURES, (terms(), terms(grid_bits=20)), "e", "s")


def test_another_model_is_refused():
    summary().check_encoder("encoder/1")
    with pytest.raises(ArtifactError, match="encoder/2"):
        summary().check_encoder("encoder/2")


def test_queries_of_another_shape_are_refused():
    queries = embeddings(3)
    with pytest.raises(SchemaError, match="no such channel"):
        summary().scores({"graph:64": queries["graph:64"]})
    with pytest.raises(SchemaError, match="shape"):
        summary().scores({**queries, "text:64": queries["text:64"][:, :8]})
    with pytest.raises(SchemaError, match="same graphs"):
        summary().scores({**queries, "text:64": queries["text:64"][:2]})


def test_missing_file_and_failed_write(tmp_path):
    with pytest.raises(ArtifactError, match="cannot be read"):
        PrivateSummary.load(tmp_path / "absent")
    with pytest.raises(ArtifactError, match="cannot be written"):
        summary().save(tmp_path / "no directory" / "s")
    (tmp_path / "f").write_bytes(b"old")

    def fail(*_):
        raise OSError(28, "No space left on device")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "replace", fail)
        with pytest.raises(ArtifactError, match="No space"):
            summary().save(tmp_path / "f")
    assert [path.name for path in tmp_path.iterdir()] == ["f"]
    assert (tmp_path / "f").read_bytes() == b"old"
    with pytest.raises(ArtifactError, match=r"/f: This is not a private summary"):
        PrivateSummary.load(tmp_path / "f")


def test_the_serving_side_needs_no_release_code():
    import subprocess
    import sys

    code = (
        "import sys, graphglass.privacy.summary; "
        "print(any(m.startswith('graphglass.privacy.release') or m == 'opendp' for m in sys.modules))"
    )
    assert (
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()
        == "False"
    )
