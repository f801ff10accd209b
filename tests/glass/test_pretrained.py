import hashlib
import json
import os
import shutil
import time
import warnings

import numpy as np
import pytest
from typer.testing import CliRunner

from graphglass import GLASS, GraphGlass, load_dataset
from graphglass.cli.app import app
from graphglass.errors import ArtifactError, InputError, ParameterError
from graphglass.glass import pretrained
from graphglass.glass.pretrained import FOLDER, NAMES, load_pretrained
from graphglass.graphs.datasets import find_dataset


@pytest.fixture(scope="module")
def molecules():
    return load_dataset("MUTAG")


@pytest.mark.parametrize("name", NAMES)
def test_every_encoder_is_small_and_has_a_card(name):
    found = load_pretrained(name)
    assert sum(path.stat().st_size for path in (FOLDER / name).iterdir()) < 2.5e6
    assert found.card["text"]["name"] == "numeric"
    assert len(found.trained_on) <= sum(entry["graphs"] for entry in found.card["datasets"].values())
    assert "MUTAG" not in found.card["datasets"]
    assert name in (FOLDER / "README.md").read_text()


def test_mutag_is_fitted_and_scored_within_ten_cpu_seconds(molecules):
    normal = molecules.labels == 1
    GLASS.pretrained("mol").fit(molecules[:5]).decision_function(molecules[:5])  # the first call compiles
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # nothing of MUTAG was seen in training
        detector = GLASS.pretrained("mol").fit(molecules[normal][:100])
    scores = detector.decision_function(molecules)
    assert time.process_time() - start < 10
    assert scores[~normal].mean() > scores[normal].mean()
    assert detector.p_values(molecules[:3]).shape == (3,)


def test_fitting_training_graphs_says_so():
    if not os.environ.get("GRAPHGLASS_DATA") or find_dataset("BZR") is None:
        pytest.skip("BZR is not in the data root")
    graphs = load_dataset("BZR")
    with pytest.warns(UserWarning, match="among the graphs this encoder was trained on .*BZR"):
        GLASS.pretrained("mol").fit(graphs)


def test_it_embeds_before_it_has_references_and_trains_nothing(molecules):
    detector = GLASS.pretrained("mol")
    before = detector.encoder_fingerprint()
    codes = detector.channel_embeddings(molecules[:4])
    assert np.allclose(np.linalg.norm(codes["graph:64"], axis=1), 1, atol=1e-5)
    other = detector.with_references(molecules[:30])
    assert other.decision_function(molecules[30:34]).shape == (4,)
    assert detector.encoder_fingerprint() == before


def test_zero_shot_ranks_another_domain_without_p_values(molecules):
    moved = GLASS.pretrained("mol").fit(molecules[:40]).for_any_domain()
    moved.domain = "social"
    others = molecules[40:50].structure_only()
    table = moved.score_table(others)
    assert np.isfinite(table.scores).all()
    assert table.p_values is None
    with pytest.raises(InputError, match="no p-values in zero-shot transfer"):
        moved.p_values(others)


def test_a_saved_model_scores_the_same(molecules, tmp_path):
    detector = GLASS.pretrained("mol", scorer="domain").fit(molecules[:40])
    detector.save(tmp_path / "model")
    again = GLASS.load(tmp_path / "model")
    assert np.array_equal(again.decision_function(molecules[40:50]), detector.decision_function(molecules[40:50]))
    assert again.weights == "mol"


def test_nothing_trains_it_again(molecules):
    detector = GLASS.pretrained("mol")
    with pytest.raises(InputError, match="trained already"):
        detector.fit_encoder(molecules[:10])
    with pytest.raises(InputError, match="leave out checkpoint"):
        detector.fit(molecules[:10], resume=True)
    for name, value in (("epochs", 10), ("slices", (64,)), ("details", ("gin",)), ("normalisation", "both")):
        with pytest.raises(ParameterError, match=f"'{name}' parameter of GLASS must be left out"):
            GLASS.pretrained("mol", **{name: value})


def test_weights_bring_their_text_encoder(molecules):
    by_name = GLASS(weights="mol", domain="mol").fit(molecules[:20])
    assert by_name.embedder_.text.fingerprint.name == "numeric"
    scores = GLASS.pretrained("mol").fit(molecules[:20]).decision_function(molecules[20:24])
    assert np.array_equal(by_name.decision_function(molecules[20:24]), scores)


def test_what_does_not_fit_is_refused(molecules, tmp_path, monkeypatch):
    with pytest.raises(ParameterError, match="mol, protein, social, all"):
        GLASS.pretrained("music")
    with pytest.raises(ParameterError, match="numeric"):
        GLASS("minilm", weights="mol").fit(molecules[:10])
    shutil.copytree(FOLDER / "mol", tmp_path / "mol")
    weights = next((tmp_path / "mol").glob("*.safetensors"))
    weights.write_bytes(weights.read_bytes()[:-1] + b"x")
    monkeypatch.setattr(pretrained, "FOLDER", tmp_path)
    with pytest.raises(ArtifactError):
        load_pretrained("mol")


def test_resealed_settings_are_one_clear_error(tmp_path, monkeypatch):
    """Whoever can write the folder can recompute the digests."""
    monkeypatch.setattr(pretrained, "FOLDER", tmp_path)
    for role, change in (("training", {"hashes": 7}), ("encoder_settings", {"slices": 5, "config": []})):
        shutil.copytree(FOLDER / "mol", tmp_path / "mol", dirs_exist_ok=True)
        manifest = json.loads((tmp_path / "mol" / "manifest.json").read_text())
        entry = manifest["files"][role]
        path = tmp_path / "mol" / entry["file"]
        content = json.dumps(json.loads(path.read_text()) | change).encode()
        path.write_bytes(content)
        entry.update(bytes=len(content), sha256=hashlib.sha256(content).hexdigest())
        (tmp_path / "mol" / "manifest.json").write_text(json.dumps(manifest))
        with pytest.raises(ArtifactError, match="damaged"):
            load_pretrained("mol")


def test_the_command_takes_one(tmp_path):
    lines = [json.dumps({"id": str(n), "nodes": n, "edges": [[i, i + 1] for i in range(n - 1)]}) for n in range(3, 9)]
    (tmp_path / "paths.jsonl").write_text("\n".join(lines))

    def fit(*options):
        arguments = ["fit", str(tmp_path / "paths.jsonl"), "-o", str(tmp_path / "model"), "--quiet", *options]
        return CliRunner().invoke(app, arguments)

    done = fit("--method", "glass", "--pretrained", "social")
    assert done.exit_code == 0, done.output
    assert GLASS.load(tmp_path / "model").weights == "social"
    assert "trains nothing" in str(fit("--force", "--method", "glass", "--pretrained", "mol", "--seed", "3").exception)
    assert "trains nothing" in str(
        fit("--force", "--method", "glass", "--pretrained", "mol", "--epochs", "3").exception
    )
    assert "--pretrained is for --method glass" in str(fit("--force", "--pretrained", "mol").exception)


def test_the_command_names_the_domain_of_zero_shot_queries(molecules, tmp_path):
    """The scorer by domains shows it: the text encoder of these weights reads no domain."""
    GLASS.pretrained("mol", scorer="domain").fit(molecules[:20]).save(tmp_path / "model")
    lines = [json.dumps({"id": str(n), "nodes": n, "edges": [[i, i + 1] for i in range(n - 1)]}) for n in range(3, 9)]
    (tmp_path / "paths.jsonl").write_text("\n".join(lines))

    def score(*options):
        asked = ["score", str(tmp_path / "model"), str(tmp_path / "paths.jsonl"), "--quiet", *options]
        return CliRunner().invoke(app, asked)

    first, second = (tmp_path / name for name in ("mol.csv", "protein.csv"))
    assert score("--zero-shot", "-o", str(first)).exit_code == 0
    assert score("--zero-shot", "--domain", "protein", "-o", str(second)).exit_code == 0
    assert first.read_text() != second.read_text()
    for options in (("--domain", "protein"), ("--domain", "protein", "--cluster", "local", "-o", str(tmp_path / "c"))):
        assert "with --zero-shot" in str(score(*options).exception)
    GraphGlass().fit(molecules[:20]).save(tmp_path / "plain")
    plain = ["score", str(tmp_path / "plain"), str(tmp_path / "paths.jsonl"), "--zero-shot", "--domain", "protein"]
    assert "models of GLASS" in str(CliRunner().invoke(app, plain).exception)
