"""Training of GLASS: from normal graphs to the frozen encoders that give codes."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from graphglass.channels.profiled_graphs import ProfiledGraphs, measure_graphs
from graphglass.detector.reference_sets import graph_set, refuse_too_few, union
from graphglass.errors import MissingExtraError
from graphglass.glass.prompt.graphdp import PromptContext
from graphglass.glass.settings import GlassSettings
from graphglass.glass.slices import available_slices
from graphglass.glass.training.config import TrainingConfig
from graphglass.structure.profile import join_profiles

if TYPE_CHECKING:
    from graphglass.glass.embedder import Embedder
    from graphglass.glass.trained_encoder import TrainedEncoder
    from graphglass.glass.training.trainer import Domain


def prepare(
    graphs: Any, settings: GlassSettings, domain: str | PromptContext, *, progress: bool = False
) -> Domain | dict[str, Domain]:
    """Structure and text anchors of normal graphs, or of every domain of a mapping."""
    if find_spec("torch") is None:
        raise MissingExtraError("GLASS", "glass")
    from graphglass.glass.embedder import text_anchors
    from graphglass.glass.encoders.text_encoder import load_encoder
    from graphglass.glass.training.trainer import Domain

    if isinstance(graphs, Mapping):
        return {name: cast(Domain, prepare(part, settings, domain, progress=progress)) for name, part in graphs.items()}
    if isinstance(graphs, Domain):
        return graphs
    measured = graphs
    if not isinstance(graphs, ProfiledGraphs):
        measured = measure_graphs(graph_set(graphs), progress=progress)
    if isinstance(domain, str):
        domain = PromptContext(domain, version=settings.prompt)
    text = load_encoder(settings.encoder)
    anchors = text_anchors(text, measured.profile, domain, graphs=measured.graphs, progress=progress)
    return Domain(measured.graphs, measured.profile, anchors)


def train_embedder(
    domains: Domain | dict[str, Domain],
    settings: GlassSettings,
    domain: str,
    *,
    seed: int,
    progress: bool,
    checkpoint: str | Path | None = None,
    resume: bool = False,
    trained: TrainedEncoder | None = None,
) -> Embedder:
    """Train the graph encoder against the frozen text anchors; with ``trained`` nothing is left to train."""
    from graphglass.glass.embedder import Embedder
    from graphglass.glass.encoders.text_encoder import load_encoder
    from graphglass.glass.training.trainer import train

    text = load_encoder(settings.encoder)
    if trained is None:
        parts = list(domains.values()) if isinstance(domains, dict) else [domains]
        refuse_too_few(sum(len(part.graphs) for part in parts))
        config = training_config(settings, text.dimension, seed=seed)
        several_or_one = parts if isinstance(domains, dict) else domains
        trained = train(several_or_one, config, checkpoint_dir=checkpoint, resume=resume, progress=progress)
    context = PromptContext(domain, version=settings.prompt)
    return Embedder(text, trained, trained.schema, trained.slices, domain, settings.device, context)


def training_config(settings: GlassSettings, dimension: int, *, seed: int) -> TrainingConfig:
    """How a training runs against text anchors of this dimension."""
    return TrainingConfig(
        slices=available_slices(settings.slices, dimension),
        epochs=settings.epochs,
        learning_rate=settings.learning_rate,
        prototype_weight=TrainingConfig.prototype_weight if settings.prototypes else 0.0,
        authors=settings.details,
        normalisation=settings.normalisation,  # type: ignore[arg-type]  # checked by the configuration
        device=settings.device,
        seed=seed,
    )


def references_from(
    embedder: Embedder, domains: Domain | dict[str, Domain], *, keep_features: bool
) -> tuple[ProfiledGraphs, bool]:
    """The training graphs as references, and whether queries may come from any domain."""
    if not isinstance(domains, dict):
        return embedder.embed_profiled(domains.graphs, domains.profile, domains.anchors), False
    pooled = union({name: part.graphs for name, part in domains.items()})
    structure = join_profiles([part.profile for part in domains.values()])
    if not keep_features:
        anchors = np.concatenate([part.anchors for part in domains.values()])
        return embedder.for_any_domain().embed_profiled(pooled, structure, anchors), True
    codes = [
        embedder.for_domain(part.graphs).codes(part.graphs, part.profile, part.anchors) for part in domains.values()
    ]
    return ProfiledGraphs(
        pooled, structure, {name: np.concatenate([p[name] for p in codes]) for name in codes[0]}
    ), True
