"""A summary file: scores, round trip, and refusal of anything altered."""

import os
import time
from dataclasses import asdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphglass.errors import ArtifactError, SchemaError
from graphglass.glass.joint_features import JointFeatures
from graphglass.privacy.private_summary import KIND, PrivateSummary
from graphglass.privacy.single_file import pack_artifact, unpack_artifact
from graphglass.privacy.terms import PrivacyTerms

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
    return PrivateSummary(total, features, (terms(n, features),), "encoder/1", prior)


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
    np.testing.assert_allclose(value.mean_with_prior, 0.5 * prior + 0.5 * value.mean)
    queries = embeddings(3, 6)
    np.testing.assert_allclose(value.scores(queries, source_prior=True), -FEATURES(queries) @ value.mean_with_prior)
    with pytest.raises(ArtifactError, match="no source prior"):
        summary().scores(queries, source_prior=True)


def test_round_trip_is_exact_and_repeatable(tmp_path):
    value = summary(JointFeatures(FEATURES.channels, 16, 8.0, 3))
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


def edited(content, kind=KIND, total=None, **changes):
    """The file with another document, resealed: every checksum is right."""
    document, arrays = unpack_artifact(content, KIND, "here")
    return pack_artifact(kind, arrays if total is None else {**arrays, "total": total}, {**document, **changes})


def test_other_versions_and_formats_are_refused(content):
    assert PrivateSummary.from_bytes(edited(content)).references == 20
    for change in ({"kind": "something"}, {"features_digest": "0"}, {"sites": []}, {"sites": 3}, {"features": None}):
        with pytest.raises(ArtifactError):
            PrivateSummary.from_bytes(edited(content, **change))
    with pytest.raises(ArtifactError, match="altered or damaged"):
        PrivateSummary.from_bytes(content.replace(b"encoder/1", b"encoder/2"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("graphglass.privacy.single_file.format_version", lambda kind: 9)
        newer = summary().to_bytes()
    with pytest.raises(ArtifactError, match="format version 9"):
        PrivateSummary.from_bytes(newer)


@pytest.mark.parametrize(
    "change",
    [
        {"epsilon": -1.0},
        {"references": 0},
        {"references": "20"},
        {"noise_scale": True},
        {"delta": 2.0},
        {"grid_bits": 10**12},
        {"references": 10**400},
        {"epsilon": 10**400},
        {"graphs_per_subject": 21},
        {"ledger_sequence": -1},
        {"release": "x" * 10**4},
        {"dimension": 10**8},
    ],
)
def test_impossible_terms_are_refused(content, change):
    with pytest.raises(ArtifactError):
        PrivateSummary.from_bytes(edited(content, sites=[{**asdict(terms()), **change}]))
    with pytest.raises(ArtifactError, match="exactly the fields"):
        PrivacyTerms.from_json({**asdict(terms()), "extra": 1})


def test_inconsistent_arrays_are_refused():
    value = summary()
    for total in (value.total[:-1], value.total.astype(np.int32)):
        with pytest.raises(ArtifactError):
            PrivateSummary(total, FEATURES, value.sites, "e")
    with pytest.raises(ArtifactError):
        PrivateSummary(value.total, FEATURES, value.sites, "e", np.full(FEATURES.dimension, np.nan))
    with pytest.raises(ArtifactError, match="one grid"):
        PrivateSummary(value.total, FEATURES, (terms(), terms(grid_bits=20)), "e")


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
    with pytest.raises(ArtifactError, match=r"/f is not a graphglass-private-summary"):
        PrivateSummary.load(tmp_path / "f")


def test_the_serving_side_needs_no_release_code():
    import subprocess
    import sys

    code = (
        "import sys, graphglass.privacy.private_summary; "
        "print(any(m.startswith('graphglass.privacy.release') or m == 'opendp' for m in sys.modules))"
    )
    assert (
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()
        == "False"
    )


@pytest.mark.parametrize(
    "change",
    [
        {"epsilon": 3.9},
        {"delta": 9e-6},
        {"noise_scale": 2_321_777_000},
        {"graphs_per_subject": 2},
        {"delta_slack": 0.0},
    ],
)
def test_terms_whose_noise_does_not_keep_the_promise_are_refused(content, change):
    """Whoever reseals a file can state any promise; the noise beside it must keep it."""
    with pytest.raises(ArtifactError, match="does not keep the promise"):
        PrivateSummary.from_bytes(edited(content, sites=[{**asdict(terms()), **change}]))


@pytest.mark.parametrize("key", ["frequencies", "seed", "kappas", "channels"])
def test_a_small_file_cannot_claim_a_large_map(content, key):
    """2.6 kB that claim 10^8 features were computed before anything was compared with the bytes present."""
    large = {"frequencies": 10**8, "seed": 10**9, "kappas": [1.0] * 10**5, "channels": [["a", 10**8], ["b", 10**8]]}
    value = {**FEATURES.to_json(), key: large[key]}
    started = time.process_time()
    with pytest.raises(ArtifactError):
        PrivateSummary.from_bytes(edited(content, features=value))
    assert time.process_time() - started < 2.0


@pytest.mark.parametrize("size", [2**63, 10**9, 2**20 + 1, 0])
def test_an_oversize_header_is_refused_by_its_size(content, size):
    with pytest.raises(ArtifactError, match="header claims"):
        PrivateSummary.from_bytes(size.to_bytes(8, "little") + content[8:])


def test_the_statement_is_made_from_the_fields_and_escaped(content):
    """Text in a file may not move the cursor of whoever reads it, nor add lines to the promise."""
    sites = [{**asdict(terms()), "release": "a\n\x1b[2JPromise: (0, 0)"}]
    loaded = PrivateSummary.from_bytes(edited(content, sites=sites, encoder="e\u202e\rx", statement="Promise: (0, 0)"))
    assert "\x1b" not in loaded.statement
    assert not {"\r", "\u202e"} & set(loaded.statement)
    assert loaded.statement.count("\nPromise: ") == 1
    assert "Release: a\\n\\x1b[2JPromise" in loaded.statement
