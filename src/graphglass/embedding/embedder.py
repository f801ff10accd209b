"""From graphs to evidence: structure, words, anchors and graph codes, in one call."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from graphglass.channels.profiled_graphs import ProfiledGraphs
from graphglass.embedding.encoders.embedding_cache import encode_cached
from graphglass.embedding.encoders.text_encoder import TextEncoder
from graphglass.embedding.network.schema import FeatureSchema, frequent_labels
from graphglass.embedding.prompt.graphdp import graphdp
from graphglass.embedding.trained_encoder import TrainedEncoder, encode_graphs
from graphglass.graphs.graph_set import GraphSet
from graphglass.sphere.slices import prefix_slice
from graphglass.structure.profile import LTD_NAMES, StructureProfile, profile


def text_anchors(
    encoder: TextEncoder, structure: StructureProfile, domain: str, *, progress: bool = False
) -> NDArray[np.float32]:
    """The unit anchor of every graph's prompt (eq:textencoder).

    References and queries share one phase, so that a text distance speaks of structure and not of roles.
    """
    # MiniLM reads whole levels better than digits; the others take numbers as the paper writes them.
    style = "levels" if encoder.fingerprint.name == "minilm" else "digits"
    prompts = graphdp(structure, domain=domain, phase="single-reference", style=style)
    return encode_cached(encoder, prompts, progress=progress)


@dataclass(frozen=True)
class Embedder:
    """The frozen encoders of a fitted detector; whatever the references are, these stay.

    Attributes
    ----------
    schema : FeatureSchema
        How the graphs of the current domain are put into the encoder's public columns.
    """

    text: TextEncoder
    graph: TrainedEncoder
    schema: FeatureSchema
    slices: tuple[int, ...]
    domain: str
    device: str = "cpu"

    def evidence(self, graphs: GraphSet, *, progress: bool = False) -> ProfiledGraphs:
        """Structure and codes of every graph."""
        structure = profile(graphs, progress=progress)
        return self.evidence_from(graphs, structure, text_anchors(self.text, structure, self.domain, progress=progress))

    def evidence_from(
        self, graphs: GraphSet, structure: StructureProfile, anchors: NDArray[np.float32]
    ) -> ProfiledGraphs:
        """The same, where structure and anchors are known already."""
        codes = {f"text:{size}": prefix_slice(anchors, size) for size in self.slices}
        rows = encode_graphs(self.graph, graphs, structure, schema=self.schema, device=self.device)
        codes |= {f"graph:{size}": part for size, part in rows.items()}
        return ProfiledGraphs(graphs, structure, codes)

    def for_domain(self, references: GraphSet) -> Embedder:
        """The same encoders, reading graphs like these references.

        References that carry exactly what the encoder was trained on are read as the training graphs were. Any others
        take their own labels and attributes into the same public columns.
        """
        trained = self.graph.schema
        labels = frequent_labels(references)
        if (
            not trained.is_open
            and set(references.attribute_names) == set(trained.attribute_names)
            and trained.labelled == (references.node_labels is not None)
            and set(labels) <= set(trained.vocabulary or ())
        ):
            return replace(self, schema=trained)
        return replace(self, schema=self._open().for_domain(labels))

    def for_any_domain(self) -> Embedder:
        """The same encoders, reading graphs of whatever domain by structure and nothing else."""
        return replace(self, schema=self._open().for_domain(()))

    def _open(self) -> FeatureSchema:
        trained = self.graph.schema
        if trained.is_open:
            return trained
        shared = len(LTD_NAMES)
        return replace(
            trained,
            vocabulary=None,
            attribute_names=(),
            labelled=False,
            centre=trained.centre[:shared],
            scale=trained.scale[:shared],
            is_open=True,
        )

    @property
    def fingerprint(self) -> str:
        """sha256 over everything that decides where a graph lands on the sphere."""
        total = hashlib.sha256(self.text.fingerprint.digest.encode())
        total.update(repr((self.slices, self.domain, self.schema)).encode())
        for name, array in sorted(self.graph.state().items()):
            total.update(name.encode())
            total.update(np.ascontiguousarray(array).tobytes())
        return total.hexdigest()
