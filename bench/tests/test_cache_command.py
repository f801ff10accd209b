import numpy as np
import pytest
from typer.testing import CliRunner

from glassbench.cli import app
from graphglass.glass.encoders.embedding_cache import EmbeddingCache
from graphglass.glass.encoders.text_encoder import Fingerprint

RUNNER = CliRunner()


@pytest.fixture
def filled(tmp_path, monkeypatch):
    monkeypatch.setenv("GRAPHGLASS_CACHE", str(tmp_path))
    cache = EmbeddingCache()
    cache.store(Fingerprint("toy", "1", "t", "w", 4), ["a", "b"], np.eye(2, 4, dtype=np.float32))
    (tmp_path / "graphs" / "entry").mkdir(parents=True)
    (tmp_path / "graphs" / "entry" / "column").write_bytes(bytes(2**20))
    (tmp_path / "encoders" / "one").mkdir(parents=True)
    (tmp_path / "encoders" / "one" / "weights").write_bytes(bytes(2**21))
    return cache


def test_info_and_clear(filled):
    result = RUNNER.invoke(app, ["cache", "info"])
    assert result.exit_code == 0, result.output
    assert str(filled.path) in result.stdout
    assert "2  toy" in result.stdout
    assert "1.0 MiB of parsed datasets" in result.stdout
    assert "2.0 MiB of trained source encoders" in result.stdout
    assert RUNNER.invoke(app, ["cache", "clear"], input="n\n").exit_code == 1
    assert filled.path.exists()
    cleared = RUNNER.invoke(app, ["cache", "clear", "--yes"])
    assert cleared.exit_code == 0
    assert "Freed" in cleared.stdout
    assert not filled.path.exists()
    assert not (filled.path.parent / "graphs").exists()
    assert not (filled.path.parent / "encoders").exists()
    assert "0.0 MiB of embeddings" in RUNNER.invoke(app, ["cache", "info"]).stdout
