"""From graphs to codes: structure, words, anchors and graph codes, in one call."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphglass.channels.profiled_graphs import ProfiledGraphs
from graphglass.errors import ArtifactError
from graphglass.files.load import Artifact
from graphglass.glass.encoders.embedding_cache import encode_cached
from graphglass.glass.encoders.text_encoder import Fingerprint, TextEncoder, load_saved_encoder
from graphglass.glass.network.schema import FeatureSchema, frequent_labels
from graphglass.glass.prompt.graphdp import GraphDP, PromptContext, prompts_of
from graphglass.glass.slices import prefix_slice
from graphglass.glass.trained_encoder import TrainedEncoder, encode_graphs
from graphglass.graphs.graph_set import GraphSet
from graphglass.structure.profile import StructureProfile, profile


def text_prompts(
    encoder: TextEncoder, structure: StructureProfile, context: PromptContext | str, graphs: GraphSet | None = None
) -> GraphDP:
    """The prompts of these graphs as the encoder reads them best; a string is a domain in the single-domain regime.

    Version 2 of the prompt needs the graphs.
    """
    if isinstance(context, str):
        context = PromptContext(domain=context)
    # MiniLM reads whole levels better than digits; the others take numbers as the paper writes them.
    style = "levels" if encoder.fingerprint.name == "minilm" else "digits"
    return prompts_of(structure, replace(context, style=style), graphs)


def text_anchors(
    encoder: TextEncoder,
    structure: StructureProfile,
    context: PromptContext | str,
    *,
    graphs: GraphSet | None = None,
    progress: bool = False,
) -> NDArray[np.float32]:
    """The unit anchor of every graph's prompt (eq:textencoder)."""
    return encode_cached(encoder, text_prompts(encoder, structure, context, graphs), progress=progress)


@dataclass(frozen=True)
class Embedder:
    """The frozen encoders of a fitted detector; they stay the same whatever the references are.

    Attributes
    ----------
    text : TextEncoder
    graph : TrainedEncoder
    schema : FeatureSchema
        How the graphs of the current domain are put into the encoder's public columns.
    slices : tuple of int
    domain : str
        Named in the prompts.
    device : str
        Where graphs are encoded.
    context : PromptContext
        Phase, source domain and instruction of the prompts; its domain is that of the embedder.
    """

    text: TextEncoder
    graph: TrainedEncoder
    schema: FeatureSchema
    slices: tuple[int, ...]
    domain: str
    device: str = "cpu"
    context: PromptContext = field(default_factory=PromptContext)

    def __post_init__(self) -> None:
        object.__setattr__(self, "context", replace(self.context, domain=self.domain))

    def embed(self, graphs: GraphSet, *, progress: bool = False) -> ProfiledGraphs:
        """Structure and codes of every graph."""
        structure = profile(graphs, progress=progress)
        anchors = text_anchors(self.text, structure, self.context, graphs=graphs, progress=progress)
        return self.embed_profiled(graphs, structure, anchors)

    def embed_profiled(
        self, graphs: GraphSet, structure: StructureProfile, anchors: NDArray[np.float32]
    ) -> ProfiledGraphs:
        """The same, where structure and anchors are known already."""
        return ProfiledGraphs(graphs, structure, self.codes(graphs, structure, anchors))

    def codes(
        self, graphs: GraphSet, structure: StructureProfile, anchors: NDArray[np.float32]
    ) -> dict[str, NDArray[np.float32]]:
        """Unit rows ``text:D`` and ``graph:D`` of every graph and slice."""
        codes = {f"text:{size}": prefix_slice(anchors, size) for size in self.slices}
        rows = encode_graphs(self.graph, graphs, structure, schema=self.schema, device=self.device)
        return codes | {f"graph:{size}": part for size, part in rows.items()}

    def in_regime(self, phase: str, **settings: Any) -> Embedder:
        """The same encoders with the prompts of a deployment regime; settings are those of :class:`PromptContext`.

        Queries of zero-shot transfer take ``zero-shot-query`` with the domain of the source, trusted target normals
        ``few-shot-reference``, everything else ``single-reference``.
        """
        domain = settings.pop("domain", self.domain)
        context = PromptContext(domain, phase, self.context.style, version=self.context.version)
        return replace(self, domain=domain, context=replace(context, **settings))

    def for_transfer(self, domain: str, *, trusted: bool) -> Embedder:
        """Prompts of another domain's graphs: queries, or with ``trusted`` normal graphs that someone vouches for."""
        if trusted:
            return self.in_regime("few-shot-reference", domain=domain, trusted_normal=True)
        return self.in_regime("zero-shot-query", domain=domain, source_domain=self.domain)

    def for_domain(self, references: GraphSet) -> Embedder:
        """The same encoders for graphs like these references.

        References with exactly the features of the training graphs are read as the training graphs were. Any others
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
        return replace(self, schema=trained.opened().for_domain(labels))

    def for_any_domain(self) -> Embedder:
        """The same encoders for graphs of any domain: each keeps its labels and attributes in the public columns.

        Labels that are not small integers (hashed names) have no column here; :meth:`for_domain` gives them one. To
        compare structure alone, give graphs without labels and attributes (:meth:`GraphSet.structure_only`).
        """
        return replace(self, schema=self.graph.schema.opened())

    @property
    def fingerprint(self) -> str:
        """sha256 over everything that decides where a graph lands on the sphere."""
        total = hashlib.sha256(self.text.fingerprint.digest.encode())
        total.update(repr((self.slices, self.context, self.schema)).encode())
        if self.context.version != 1:
            total.update(f"version {self.context.version}".encode())
        for name, array in sorted(self.graph.state().items()):
            total.update(name.encode())
            total.update(np.ascontiguousarray(array).tobytes())
        return total.hexdigest()


def embedder_document(embedder: Embedder) -> dict[str, object]:
    """What :func:`load_embedder` needs besides the encoder's weights."""
    return {
        "slices": list(embedder.slices),
        "domain": embedder.domain,
        "prompt": embedder.context.version,
        "text_encoder": embedder.text.fingerprint.to_json(),
        "schema": embedder.schema.to_json(),
    }


def load_embedder(artifact: Artifact, encoder: TextEncoder | str | None, where: str) -> Embedder:
    """The frozen encoders of a saved detector; another text encoder than the saved one is refused."""
    document = artifact.documents["embedder"]
    expected = Fingerprint.from_json(document["text_encoder"])
    if isinstance(encoder, str) or encoder is None:
        encoder = load_saved_encoder(expected, encoder, where)
    text = encoder
    if text.fingerprint != expected:
        raise ArtifactError(
            f"{where} was made with text encoder {expected.name} (revision {expected.revision}, weights "
            f"{expected.weights[:12]}), but {text.fingerprint.name} (revision {text.fingerprint.revision}, weights "
            f"{text.fingerprint.weights[:12]}) is here. Use the same encoder, or fit again."
        )
    trained = TrainedEncoder.restore(artifact.tensors["encoder"], artifact.documents["encoder_settings"])
    schema = FeatureSchema.from_json(document["schema"])
    context = PromptContext(document["domain"], version=document.get("prompt", 1))
    return Embedder(text, trained, schema, tuple(document["slices"]), document["domain"], context=context)
