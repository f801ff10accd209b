from graphglass.embedding.encoders import catalogue as module
from graphglass.embedding.encoders.catalogue import catalogue


def test_every_kind_is_listed_and_the_numeric_one_is_always_ready():
    entries = {entry.name: entry for entry in catalogue()}
    assert entries["numeric"].ready
    assert entries["numeric"].needs == "nothing"
    assert {"minilm", "Qwen/Qwen3-Embedding-0.6B", "Qwen/Qwen3-Embedding-8B"} <= set(entries)


def test_what_is_not_installed_is_not_ready(monkeypatch):
    monkeypatch.setattr(module, "find_spec", lambda name: None)
    ready = {entry.name for entry in catalogue() if entry.ready}
    assert "minilm" not in ready
    assert "numeric" in ready
