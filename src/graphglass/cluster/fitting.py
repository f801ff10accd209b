"""Fit on partitioned graphs: structure and anchors on the workers, training in one place."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from graphglass.cluster.parts import input_files
from graphglass.detector.estimator import GLASS
from graphglass.detector.views import text_anchors
from graphglass.graphs.graph_set import concatenate
from graphglass.graphs.read import read_graphs
from graphglass.language.text_encoder import load_encoder
from graphglass.structure.profile import join_profiles, profile
from graphglass.training.trainer import Domain


def fit_parts(
    client: Any, detector: GLASS, sources: Sequence[str | Path], *, checkpoint: Path | None = None, resume: bool = False
) -> GLASS:
    """Fit a detector on every graph of the parts; the result equals a fit on one machine, bit for bit.

    Parameters
    ----------
    client : distributed.Client
    detector : GLASS
        Unfitted; its settings are used.
    """
    settings = detector.resolved()
    files = [str(Path(name).absolute()) for name in input_files(sources)]
    prepared = client.gather(client.map(_prepare, files, encoder=settings.encoder, domain=detector.domain, retries=2))
    whole = Domain(
        concatenate([part.graphs for part in prepared]),
        join_profiles([part.profile for part in prepared]),
        np.concatenate([part.anchors for part in prepared]),
    )
    return detector.fit(whole, checkpoint=checkpoint, resume=resume)


def _prepare(source: str, encoder: str, domain: str) -> Domain:
    graphs = read_graphs(source, cache=False).without_labels()
    structure = profile(graphs)
    return Domain(graphs, structure, text_anchors(load_encoder(encoder), structure, domain))
