"""The private benchmark on generated datasets, and its scores recomputed by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from glassbench import private_series as private
from glassbench.figures import draw
from glassbench.group_tables import short_tables
from glassbench.jobs import Plan
from glassbench.private_series import (
    Features,
    averaged,
    density_scores,
    measure,
    neighbour_scores,
    private_jobs,
    within_width,
)
from glassbench.private_tables import macro
from glassbench.records import Purpose, Results
from glassbench.runner import run_jobs
from glassbench.source_models import SourceEncoders
from glassbench.tables import tables
from graphglass import GLASS
from graphglass.channels.neighbours import mean_distance
from graphglass.errors import BenchError, PrivacyError
from graphglass.glass.joint_features import MAIN_CHANNELS, JointFeatures

NAMES = [name for name, _ in MAIN_CHANNELS]


def codes(rng: np.random.Generator, rows: int, shift: float = 0.0) -> dict[str, Any]:
    found = {}
    for view in ("graph", "text"):
        base = rng.normal(size=(rows, 512)) + shift
        for width in (64, 128, 256, 512):
            part = base[:, :width]
            found[f"{view}:{width}"] = (part / np.linalg.norm(part, axis=1, keepdims=True)).astype(np.float32)
    return found


def test_slices_wider_than_the_encoder_become_its_full_width(sides: Any) -> None:
    _, references, _, _ = sides
    narrow = {
        f"{view}:{width}": references[f"{view}:512"][:, :width]
        for view in ("graph", "text")
        for width in (64, 128, 256, 384)
    }
    every = within_width(private.DIAGNOSTICS["all four slices"], narrow)
    assert dict(every.channels) == {name: rows.shape[1] for name, rows in narrow.items()}
    assert every(narrow).shape == (40, every.dimension)
    assert within_width(private.DIAGNOSTICS["all four slices"], references) == private.DIAGNOSTICS["all four slices"]


@pytest.fixture
def sides() -> tuple[dict[str, Any], dict[str, Any], dict[str, Any], Any]:
    rng = np.random.default_rng(0)
    usual, odd = codes(rng, 20), codes(rng, 9, 0.4)
    queries = {name: np.concatenate([usual[name], odd[name]]) for name in usual}
    return codes(rng, 30), codes(rng, 40), queries, np.arange(29) >= 20


def test_neighbours_and_densities_by_hand(sides: Any) -> None:
    _, references, queries, _ = sides
    angles = [np.sort(np.arccos(np.clip(queries[n].astype(float) @ references[n].T, -1, 1)))[:, :5] for n in NAMES]
    np.testing.assert_allclose(
        neighbour_scores(queries, references, NAMES), np.mean([a.mean(axis=1) for a in angles], axis=0), atol=1e-6
    )
    cosines = [np.sort(1 - queries[n].astype(float) @ references[n].T)[:, :5] for n in NAMES]
    np.testing.assert_allclose(  # eq:knn_distance
        neighbour_scores(queries, references, NAMES, mean_distance),
        np.mean([c.mean(axis=1) for c in cosines], axis=0),
        atol=1e-6,
    )
    kernels = [np.exp(4.0 * (queries[n].astype(float) @ references[n].T - 1)) for n in NAMES]
    exact = density_scores(JointFeatures(), queries, references)
    np.testing.assert_allclose(exact, -np.mean(kernels, axis=(0, 2)), atol=2e-5)
    rows = Features.of(JointFeatures(frequencies=4096), references, references, queries)
    sketch = rows.release(40, float("inf"), "x").scores(rows.queries)
    assert np.abs(sketch[0] - density_scores(JointFeatures(), queries, references)).max() < 0.02


def test_noise_is_seeded_by_condition_and_grows_with_sites(sides: Any) -> None:
    source, references, queries, _ = sides
    rows = Features.of(JointFeatures(), source, references, queries)
    one, same, other = (rows.release(32, 4.0, place) for place in ("a", "a", "b"))
    assert (one.means == same.means).all()
    assert (one.means != other.means).any()
    assert rows.release(32, 4.0, "a", sites=4).sigma == pytest.approx(2 * one.sigma)
    exact = rows.references[:32].mean(axis=0)
    assert np.std(one.means - exact) == pytest.approx(one.sigma, rel=0.05)
    mixed = one.with_prior(rows.prior, 32)
    for simulated in (one, mixed):
        with pytest.raises(PrivacyError, match="protects nobody"):
            simulated.save("summary")
    np.testing.assert_allclose(mixed.means, 0.5 * rows.prior + 0.5 * one.means)


def test_draws_are_averaged() -> None:
    truth = np.array([False, False, True, True])
    metrics = averaged(np.array([[0.0, 1.0, 2.0, 3.0], [3.0, 2.0, 1.0, 0.0]]), truth)
    assert metrics["auroc"] == 50.0
    assert metrics["auroc_sd"] == pytest.approx(np.std([100.0, 0.0], ddof=1))
    assert "auroc_sd" not in averaged(np.array([[0.0, 1.0, 2.0, 3.0]]), truth)


@pytest.mark.slow
def test_every_condition_is_there(sides: Any) -> None:
    source, references, queries, truth = sides
    found = measure(source, references, queries, truth, "place")
    assert {"source-nn", "target-nn", "target-nn n=32", "graph eps=4", "kappa=16 eps=4"} <= set(found)
    assert {"exact", "source", "no noise", "eps=1", "eps=2", "eps=4", "eps=8", "eps=4 +source"} <= set(found)
    assert {"J=4 eps=4 +source", "n=8 eps=4", "n=8 eps=4 +source", "n=8 no noise"} <= set(found)
    assert not [name for name in found if "n=64" in name]  # only 40 references
    assert found == measure(source, references, queries, truth, "place")


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        private, "factory", lambda name: lambda seed: GLASS(encoder="numeric", epochs=1, random_state=seed)
    )


def run(data: Any, folder: Path, cache: Path) -> int:
    plan = Plan(data, ["IMDB-BINARY", "DD"], ["glass"], seeds=(0,), encoders=SourceEncoders(cache))
    jobs = private_jobs(plan, sources=["mol"])
    results = Results.create(folder, Purpose("private", "minority"))
    return run_jobs(jobs, results, data, progress=False, isolate=False)


@pytest.mark.slow
def test_cells_resume_and_tables(data: Any, small: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "r"
    original, calls = private.measure, []

    def breaks(*arguments: Any) -> Any:
        calls.append(1)
        if len(calls) == 2:
            raise BenchError("interrupted")
        return original(*arguments)

    monkeypatch.setattr(private, "measure", breaks)
    with pytest.raises(BenchError, match="1 cells finished"):
        run(data, folder, tmp_path / "c")
    first = Results.open(folder).records()
    assert run(data, folder, tmp_path / "c") == 1
    assert run(data, folder, tmp_path / "c") == 0
    records = Results.open(folder).records()
    assert records[0] == first[0]
    assert {record["cell"]["dataset"] for record in records} == {"DD", "IMDB-BINARY"}
    for record in records:
        assert record["counts"]["summarised"] == 24
        assert record["metrics"]["auroc"] == record["variants"]["eps=4"]["auroc"]
        assert "private" in record["configuration"]
        assert set(record["data"]) >= {"AIDS", "MUTAG", "NCI1"}
    text = "\n".join(table.render() for table in tables(str(folder)))
    for label in (
        "tab:dp_all",
        "tab:dp_modalities",
        "tab:dp_resolution",
        "tab:dp_extra",
        "66.8",
        "*mol → D&D, published*",
    ):
        assert label in text
    own = {("mol", r["cell"]["dataset"]): [r] for r in records}
    mean = macro(own, "target-nn", "auroc")
    expected = np.mean([record["variants"]["target-nn"]["auroc"] for record in records])
    assert mean is not None
    assert mean.mean == pytest.approx(expected)  # type: ignore[union-attr]
    assert "auprc" not in "".join(table.title for table in tables(str(folder), metric="fpr95"))
    (short,) = short_tables(folder)
    assert "macro average" in short.title
    assert {row.name for row in short.rows} >= {"target 5-NN", "summary"}
    (picture,) = draw(folder, tmp_path / "f")
    assert picture.stat().st_size > 10_000


def test_embeddings_are_those_of_the_unadapted_source_model(data: Any, small: None, tmp_path: Path) -> None:
    """Nothing is fitted on the target: its graphs are read alone and in any company to the same codes."""
    encoders = SourceEncoders(tmp_path)
    sources = {name: data.get(name)[:8].without_labels() for name in ("AIDS", "MUTAG")}
    detector = encoders.fit_encoder(GLASS(encoder="numeric", epochs=1), sources)
    target = data.get("PROTEINS").without_labels()
    whole = detector.channel_embeddings(target)
    alone = [detector.channel_embeddings(target[i]) for i in range(5)]
    for name, rows in whole.items():
        np.testing.assert_allclose(np.concatenate([one[name] for one in alone]), rows[:5], atol=1e-6)


def test_other_methods_are_refused(data: Any) -> None:
    with pytest.raises(BenchError, match="no private release"):
        private_jobs(Plan(data, ["DD"], ["size-knn"], seeds=(0,)))


@pytest.mark.slow
def test_releases_without_a_model_are_measured_beside_the_detector(data: Any, tmp_path: Path) -> None:
    jobs = private_jobs(Plan(data, ["IMDB-BINARY", "DD"], ["graphglass"], seeds=(0,)), sources=["mol"])
    results = Results.create(tmp_path / "r", Purpose("private", "minority"))
    assert run_jobs(jobs, results, data, progress=False, isolate=False) == 2
    for record in results.records():
        wanted = {"detector", "5-nn", "no noise", "eps=1", "eps=2", "eps=4", "eps=8"}
        assert {f"{part} {name}" for part in ("n=128", "all") for name in wanted} == set(record["variants"])
        assert record["metrics"]["auroc"] == record["variants"]["n=128 eps=4"]["auroc"]
    (table,) = tables(str(tmp_path / "r"))
    assert "public sketch without a model" in table.title
    assert len(table.rows) == 6
    (short,) = short_tables(tmp_path / "r")
    assert [row.name for row in short.rows] == [
        "mean of 2 settings, 128 references",
        "mean of 2 settings, all references",
    ]
