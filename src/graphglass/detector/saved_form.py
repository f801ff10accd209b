"""A fitted detector as a directory of safetensors and JSON, and back."""

from __future__ import annotations

import os
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from graphglass.channels.codes import SphereChannel
from graphglass.channels.fusion import Fusion
from graphglass.channels.profiled_graphs import ProfiledGraphs
from graphglass.detector.large_references import LargeReferences
from graphglass.detector.reference_scorer import ReferenceScorer, build_channels
from graphglass.detector.settings import Settings
from graphglass.embedding.embedder import Embedder
from graphglass.embedding.encoders.text_encoder import Fingerprint, TextEncoder, load_encoder
from graphglass.embedding.network.schema import FeatureSchema
from graphglass.embedding.trained_encoder import TrainedEncoder
from graphglass.errors import ArtifactError, GlassError
from graphglass.graphs.graph_set import GraphSet
from graphglass.sphere.reference_index import ReferenceIndex
from graphglass.storage.load import Artifact, load_artifact
from graphglass.storage.manifest import MANIFEST
from graphglass.storage.save import save_artifact
from graphglass.structure.profile import StructureProfile

if TYPE_CHECKING:
    from graphglass.detector.glass import GLASS

KIND = "graphglass-detector"
_GRAPH_ARRAYS = (
    "node_offsets", "neighbour_offsets", "neighbours", "node_labels", "attributes", "edge_labels", "removed",
)  # fmt: skip
_PROFILE_ARRAYS = ("descriptors", "aggregates", "sketch", "estimated")


def save_detector(detector: GLASS, path: str | Path) -> None:
    """Write everything a fitted detector needs; see :func:`graphglass.storage.save.save_artifact`."""
    references, views, scorer = detector.references_, detector.embedder_, detector.scorer_
    graphs, large = references.graphs, scorer.large
    save_artifact(
        path,
        KIND,
        tensors={
            "encoder": views.graph.state(),
            "references": _present(graphs, _GRAPH_ARRAYS)
            | _present(references.profile, _PROFILE_ARRAYS)
            | {f"code/{name}": rows for name, rows in references.codes.items()},
            "channels": {"reference_scores": scorer.reference_scores}
            | ({} if large is None else {"places": large.places})
            | _channel_arrays(scorer),
        },
        documents={
            "detector": {
                "params": _plain(detector.get_params()),
                "settings": asdict(detector.settings_),
                "fusion": scorer.fusion.to_json(),
                "carried": list(scorer.schema),
                "mixed": scorer.mixed,
                **({} if large is None else {"index": {name: item.facts() for name, item in large.indexes.items()}}),
                **embedder_document(views),
            },
            "encoder_settings": views.graph.to_json(),
            "reference_names": {
                "ids": list(graphs.ids),
                "attributes": list(graphs.attribute_names),
                "labels": {str(code): name for code, name in graphs.label_names.items()},
                "nodes": None if graphs.node_names is None else graphs.node_names.tolist(),
            },
            "training": {"hashes": sorted(detector.training_hashes_)},
        },
        files={} if large is None else {_role(name): item.path for name, item in large.indexes.items()},
    )


def embedder_document(views: Embedder) -> dict[str, Any]:
    """What :func:`load_embedder` needs besides the encoder's weights."""
    return {
        "slices": list(views.slices),
        "domain": views.domain,
        "text_encoder": views.text.fingerprint.to_json(),
        "schema": views.schema.to_json(),
    }


def load_embedder(artifact: Artifact, encoder: TextEncoder | None, where: str) -> Embedder:
    """The frozen encoders of a saved detector; another text encoder than the saved one is refused."""
    document = artifact.documents["detector"]
    expected = Fingerprint.from_json(document["text_encoder"])
    text = encoder or load_encoder(expected.name)
    if text.fingerprint != expected:
        raise ArtifactError(
            f"{where} was made with text encoder {expected.name} (revision {expected.revision}, weights "
            f"{expected.weights[:12]}), but {text.fingerprint.name} (revision {text.fingerprint.revision}, weights "
            f"{text.fingerprint.weights[:12]}) is here. Use the same encoder, or fit again."
        )
    trained = TrainedEncoder.restore(artifact.tensors["encoder"], artifact.documents["encoder_settings"])
    schema = FeatureSchema.from_json(document["schema"])
    return Embedder(text, trained, schema, tuple(document["slices"]), document["domain"])


def load_detector(cls: type[GLASS], path: str | Path, encoder: TextEncoder | None) -> GLASS:
    """Rebuild a detector; nothing is trained or fitted."""
    artifact = load_artifact(path, KIND)
    try:
        return _rebuild(cls, artifact, encoder, str(path))
    except GlassError:
        raise
    except (KeyError, TypeError, ValueError, IndexError, RuntimeError) as error:
        raise ArtifactError(f"{path} is not a complete detector ({type(error).__name__}: {error}).") from error


def _rebuild(cls: type[GLASS], artifact: Artifact, encoder: TextEncoder | None, where: str) -> GLASS:
    document = artifact.documents["detector"]
    params = document["params"]
    params["slices"] = None if params["slices"] is None else tuple(params["slices"])
    detector = cls(**params)
    settings = Settings(**{**document["settings"], "slices": tuple(document["settings"]["slices"])})
    views = load_embedder(artifact, encoder, where)
    detector._keep(views, settings, frozenset(artifact.documents["training"]["hashes"]))
    references = _references(artifact)
    stored = artifact.tensors["channels"]
    large = None
    if "index" in document:
        facts = document["index"].items()
        indexes = {name: ReferenceIndex.open(artifact.files[_role(name)], item) for name, item in facts}
        large = LargeReferences(references, stored["places"], indexes)
    channels = build_channels(settings, views.slices)
    for channel in channels:
        if isinstance(channel, SphereChannel):
            channel.fit(references)
            if large is not None:
                channel.search_in(large.indexes[channel.name], large.places)
        else:
            prefix = f"{channel.name}/"
            channel.restore({key[len(prefix) :]: value for key, value in stored.items() if key.startswith(prefix)})
    nodes, edges, attributes = document["carried"]
    scorer = ReferenceScorer(
        channels,
        Fusion.from_json(document["fusion"]),
        stored["reference_scores"],
        (nodes, edges, tuple(attributes)),
        document["mixed"],
        large,
    )
    detector._refer_to(references, mixed=scorer.mixed, scorer=scorer)
    return detector


def _references(artifact: Artifact) -> ProfiledGraphs:
    arrays, names = artifact.tensors["references"], artifact.documents["reference_names"]
    columns: dict[str, Any] = {name: arrays[name] for name in _GRAPH_ARRAYS if name in arrays}
    graphs = GraphSet(
        **columns,
        ids=tuple(names["ids"]),
        attribute_names=tuple(names["attributes"]),
        label_names={int(code): name for code, name in names["labels"].items()},
        node_names=None if names["nodes"] is None else np.asarray(names["nodes"], dtype=np.str_),
    )
    structure = StructureProfile(graphs.node_offsets, **{name: arrays[name] for name in _PROFILE_ARRAYS})
    codes = {key.removeprefix("code/"): rows for key, rows in arrays.items() if key.startswith("code/")}
    return ProfiledGraphs(graphs, structure, codes)


def _channel_arrays(scorer: ReferenceScorer) -> dict[str, NDArray[Any]]:
    # A spherical channel's state is the references' code, which is stored already.
    return {
        f"{channel.name}/{key}": value
        for channel in scorer.channels
        if not isinstance(channel, SphereChannel)
        for key, value in channel.state().items()
    }


def _role(code: str) -> str:
    return f"index_{code.replace(':', '_')}"


def _present(owner: object, names: tuple[str, ...]) -> dict[str, NDArray[Any]]:
    return {name: value for name in names if (value := getattr(owner, name)) is not None}


def _plain(params: dict[str, Any]) -> dict[str, Any]:
    return {name: list(value) if isinstance(value, tuple) else value for name, value in params.items()}


def refuse_unless_writable(path: Path) -> None:
    """Find out before a long fit whether its result could be written."""
    if path.exists() and (not path.is_dir() or (any(path.iterdir()) and not (path / MANIFEST).is_file())):
        raise ArtifactError(f"{path} exists and is not a model. Choose a new directory, or a model to replace.")
    parent = path.absolute().parent
    if not parent.is_dir():
        raise ArtifactError(f"{parent} does not exist. Create it, or choose another place for the model.")
    if not os.access(parent, os.W_OK):
        raise ArtifactError(f"{parent} cannot be written to. Choose another place for the model.")
