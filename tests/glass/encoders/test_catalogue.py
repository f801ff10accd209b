from dataclasses import replace

from graphglass.glass.encoders import catalogue as module
from graphglass.glass.encoders.catalogue import catalogue


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


def test_glass_takes_a_language_encoder_where_one_is_installed(monkeypatch):
    from graphglass.glass.encoders import catalogue as module

    def only(*names):
        entries = [replace(entry, ready=entry.name in names) for entry in catalogue()]
        monkeypatch.setattr(module, "catalogue", lambda: entries)
        return module.preferred_encoder()

    assert only("numeric") == "numeric"
    monkeypatch.undo()
    assert only("numeric", "minilm") == "minilm"
    monkeypatch.undo()
    assert only("numeric", "minilm", "Qwen/Qwen3-Embedding-0.6B") == "Qwen/Qwen3-Embedding-0.6B"
