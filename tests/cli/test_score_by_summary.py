"""From a fitted model and a private release to `glass score --summary`, with the real encoder and the real noise."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from graphglass import GLASS, ReferenceDetector, write_json_lines
from graphglass.cli.app import app
from graphglass.errors import ArtifactError, InputError, ServeError
from graphglass.privacy.private_summary import PrivateSummary
from graphglass.privacy.release.records import identities
from graphglass.privacy.summary_detector import SummaryDetector

pytest.importorskip("opendp")


def glass(*arguments):
    return CliRunner().invoke(app, [str(item) for item in arguments])


@pytest.fixture(scope="module")
def place(tmp_path_factory, normals, queries):
    """A model trained on public graphs, and two releases about others: with and without a source prior."""
    folder = tmp_path_factory.mktemp("summary")
    write_json_lines(normals[:20], folder / "public.jsonl")
    write_json_lines(normals[20:], folder / "private.jsonl")
    private = set(identities(normals[20:]))  # some molecules are equal
    source = [i for i, item in enumerate(identities(normals[:20])) if item not in private]
    write_json_lines(normals[source], folder / "source.jsonl")
    write_json_lines(queries, folder / "queries.jsonl")
    trained = ("--method", "glass", "--encoder", "numeric", "--epochs", 1)
    for command in (
        ("fit", folder / "public.jsonl", "-o", folder / "model", *trained),
        ("private", "budget", "create", folder / "l.db", "--dataset", "d", "--epsilon", 12),
        *(
            ("private", "release", folder / "private.jsonl", "--model", folder / "model", "--ledger", folder / "l.db",
             "--epsilon", 4, "-o", folder / name, *options)
            for name, options in (("plain", ()), ("prior", ("--public", folder / "source.jsonl")))
        ),
    ):  # fmt: skip
        result = glass(*command)
        assert result.exit_code == 0, (result.output, result.exception)
    return folder


def scores(path):
    return np.array([json.loads(line)["score"] for line in path.read_text().splitlines()])


@pytest.mark.parametrize(("name", "prior"), [("plain", False), ("prior", True)])
def test_scores_are_the_noisy_density(place, queries, name, prior):
    out = place / f"{name}.jsonl"
    options = ["--source-prior"] if prior else []
    result = glass("score", place / "model", place / "queries.jsonl", "--summary", place / name, *options, "-o", out)
    assert result.exit_code == 0, (result.output, result.exception)
    summary = PrivateSummary.load(place / name)
    features = summary.features(ReferenceDetector.load(place / "model").channel_embeddings(queries))
    mean = summary.total / (20 * 2.0**30)
    if prior:
        mean = 32 / 52 * summary.prior + 20 / 52 * mean
    np.testing.assert_allclose(scores(out), -features @ mean, atol=1e-9)
    row = json.loads(out.read_text().splitlines()[0])
    assert not {"p_value", "flagged"} & set(row)  # they would need the private references


def test_a_ranking_on_the_screen(place):
    result = glass("score", place / "model", place / "queries.jsonl", "--summary", place / "plain", "--top", 2)
    assert result.exit_code == 0, result.output
    assert "24 graphs" in result.output


def test_what_is_refused(place, normals):
    base = ("score", place / "model", place / "queries.jsonl", "--summary", place / "plain")
    assert isinstance(glass(*base, "--source-prior").exception, ArtifactError)  # it carries none
    for more in (("--references", place / "public.jsonl"), ("--zero-shot",), ("--report", place / "r.html")):
        assert isinstance(glass(*base, *more).exception, InputError)
    GLASS(encoder="numeric", epochs=1, random_state=5).fit(normals[:20]).save(place / "other")
    other = glass("score", place / "other", place / "queries.jsonl", "--summary", place / "plain")
    assert isinstance(other.exception, ArtifactError)
    assert "was released with encoder" in str(other.exception)
    assert not (place / "r.html").exists()
    alone = glass("score", place / "model", place / "queries.jsonl", "--source-prior").exception
    assert isinstance(alone, InputError)
    assert "--summary" in str(alone)


def test_serve_refuses_options_that_would_have_no_effect(place):
    SummaryDetector.of(PrivateSummary.load(place / "prior"), ReferenceDetector.load(place / "model")).save(
        place / "released"
    )
    for options, reason in (
        ((place / "plain", "--summary", place / "prior"), "holds a summary already"),
        ((place / "released", "--summary", place / "prior"), "holds a summary already"),
        ((place / "released", "--source-prior"), "for good"),
        ((place / "model", "--source-prior"), "is for a private summary"),
    ):
        error = glass("serve", *options, "--port", 0).exception
        assert isinstance(error, ServeError), options
        assert reason in str(error)


def test_a_summary_of_sketches_needs_no_model(place, queries):
    made = glass(
        "private",
        "release",
        place / "private.jsonl",
        "--ledger",
        place / "l.db",
        "--epsilon",
        2,
        "-o",
        place / "sketch",
    )
    assert made.exit_code == 0, (made.output, made.exception)
    result = glass("score", place / "sketch", place / "queries.jsonl", "-o", place / "sketch.jsonl")
    assert result.exit_code == 0, (result.output, result.exception)
    np.testing.assert_allclose(scores(place / "sketch.jsonl"), PrivateSummary.load(place / "sketch").scores(queries))
    assert "needs that model" in str(glass("score", place / "plain", place / "queries.jsonl").exception)
    both = glass("score", place / "sketch", place / "queries.jsonl", "--summary", place / "plain").exception
    assert "is a private summary" in str(both)


def test_a_packaged_encoder_needs_no_model(place, normals, queries):
    """The paper's release without training: the reader finds the encoder in the package."""
    base = ("private", "release", place / "private.jsonl", "--ledger", place / "l.db", "--epsilon", 1)
    for clash in (("--model", place / "model"), ("--sharpness", 2)):
        refused = glass(*base, "--pretrained", "mol", *clash, "-o", place / "no")
        assert "use one of them" in str(refused.exception)
    done = glass(*base, "--pretrained", "mol", "-o", place / "codes")
    assert done.exit_code == 0, (done.output, done.exception)
    result = glass("score", place / "codes", place / "queries.jsonl", "-o", place / "by-codes.jsonl")
    assert result.exit_code == 0, (result.output, result.exception)
    summary, model = PrivateSummary.load(place / "codes"), GLASS.pretrained("mol")
    assert summary.encoder == model.encoder_fingerprint()
    np.testing.assert_allclose(
        scores(place / "by-codes.jsonl"), summary.scores(model.channel_embeddings(queries)), atol=1e-9
    )
    # References decide the label columns: with private ones in it the model is refused.
    model.fit(normals[20:]).save(place / "fitted")
    refused = glass(*base, "--model", place / "fitted", "-o", place / "no")
    assert "part of the model" in str(refused.exception)
