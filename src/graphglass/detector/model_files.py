"""A fitted detector as a directory of safetensors and JSON, and back."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from graphglass.channels.fusion import Fusion
from graphglass.channels.profiled_graphs import ProfiledGraphs
from graphglass.detector.array_checks import (
    GRAPH_ARRAYS,
    PROFILE_ARRAYS,
    check_channels,
    check_graphs,
    check_profile,
    check_types,
)
from graphglass.detector.known_anomalies import KnownAnomalies
from graphglass.detector.large_references import LargeReferences
from graphglass.detector.model_card import model_card
from graphglass.detector.reference_index import ReferenceIndex
from graphglass.detector.scorer import ReferenceScorer, build_channels, graph_schema
from graphglass.errors import ArtifactError, GlassError, MissingExtraError
from graphglass.files.atomic import write_whole
from graphglass.files.load import Artifact, load_artifact
from graphglass.files.manifest import MANIFEST
from graphglass.files.save import refuse_url, save_artifact
from graphglass.glass.salted_hashes import SaltedHashes
from graphglass.graphs.graph_set import GraphSet
from graphglass.structure.profile import StructureProfile

if TYPE_CHECKING:
    from graphglass.detector.glass import GLASS
    from graphglass.glass.embedder import Embedder
    from graphglass.glass.encoders.text_encoder import TextEncoder

KIND = "graphglass-detector"
CARD = "README.md"


def save_detector(detector: GLASS, path: str | Path) -> None:
    """Write everything a fitted detector needs, and a model card."""
    references, embedder, scorer = detector.references_, detector.embedder_, detector.scorer_
    graphs, large = references.graphs, scorer.large
    tensors = {
        "references": _graph_arrays(references),
        "channels": {"reference_scores": scorer.reference_scores}
        | ({} if large is None else {"calibrated": large.calibrated})
        | {f"{channel.name}/{key}": value for channel in scorer.channels for key, value in channel.saved().items()},
    }
    if scorer.known is not None:
        anomalies = scorer.known.graphs
        tensors["anomalies"] = _graph_arrays(anomalies)
        tensors["second_side"] = scorer.known.arrays()
    document: dict[str, Any] = {
        "params": _plain(detector.get_params()),
        "fusion": scorer.fusion.to_json(),
        "schema": list(scorer.schema),
        "structure_only": scorer.structure_only,
    }
    documents: dict[str, Any] = {
        "detector": document,
        "reference_names": _names(graphs),
    }
    if scorer.known is not None:
        documents["anomaly_names"] = _names(scorer.known.graphs.graphs)
    if large is not None:
        document["index"] = large.index.facts()
        tensors["all_references"] = _present(large.graphs, GRAPH_ARRAYS)
        documents["all_reference_names"] = _names(large.graphs)
    if embedder is not None:
        tensors["encoder"] = embedder.graph.state()
        documents["embedder"] = embedder_document(embedder)
        documents["encoder_settings"] = embedder.graph.to_json()
        documents["training"] = detector.training_hashes_.to_json()
    files = {} if large is None else {"index": large.index.path}
    save_artifact(path, KIND, tensors=tensors, documents=documents, files=files)
    try:
        write_whole(Path(path) / CARD, model_card(detector).encode())
    except OSError as error:
        raise ArtifactError(f"The model is saved in {path}, but not its card {CARD}: {error.strerror}.") from error


def embedder_document(embedder: Embedder) -> dict[str, Any]:
    """What :func:`load_embedder` needs besides the encoder's weights."""
    return {
        "slices": list(embedder.slices),
        "domain": embedder.domain,
        "text_encoder": embedder.text.fingerprint.to_json(),
        "schema": embedder.schema.to_json(),
    }


def load_embedder(artifact: Artifact, encoder: TextEncoder | str | None, where: str) -> Embedder:
    """The frozen encoders of a saved detector; another text encoder than the saved one is refused."""
    if find_spec("torch") is None:
        raise MissingExtraError(f"{where}, a model of preset='paper',", "paper")
    from graphglass.glass.embedder import Embedder
    from graphglass.glass.encoders.text_encoder import Fingerprint, load_saved_encoder
    from graphglass.glass.network.schema import FeatureSchema
    from graphglass.glass.trained_encoder import TrainedEncoder

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
    return Embedder(text, trained, schema, tuple(document["slices"]), document["domain"])


def load_detector(cls: type[GLASS], path: str | Path, encoder: TextEncoder | str | None) -> GLASS:
    """Rebuild a detector; nothing is trained or fitted."""
    artifact = load_artifact(path, KIND)
    try:
        return _rebuild(cls, artifact, encoder, str(path))
    except GlassError:
        raise
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, ArithmeticError, RuntimeError) as error:
        raise ArtifactError(f"{path} is not a complete detector ({type(error).__name__}: {error}).") from error


def _rebuild(cls: type[GLASS], artifact: Artifact, encoder: TextEncoder | str | None, where: str) -> GLASS:
    document = artifact.documents["detector"]
    params = document["params"]
    params["slices"] = None if params["slices"] is None else tuple(params["slices"])
    detector = cls(**params)
    detector.embedder_, detector.training_hashes_ = None, SaltedHashes()
    if "embedder" in artifact.documents:
        detector.embedder_ = load_embedder(artifact, encoder, where)
        detector.training_hashes_ = SaltedHashes.from_json(artifact.documents["training"])
    references = _profiled(artifact.tensors["references"], artifact.documents["reference_names"])
    stored = artifact.tensors["channels"]
    every = references.graphs
    if "index" in document:
        every = _graphs(artifact.tensors["all_references"], artifact.documents["all_reference_names"])
    check_channels(stored, len(references), len(every))
    slices = () if detector.embedder_ is None else detector.embedder_.slices
    channels = build_channels(detector.settings(), slices)
    for channel in channels:
        prefix = f"{channel.name}/"
        names = [name for name in stored if name.startswith(prefix)]
        # Taken out, so that what a channel does not keep is freed before the next one.
        channel.load({name[len(prefix) :]: stored.pop(name) for name in names}, references)
    channels = tuple(channel for channel in channels if channel.has_data)
    large = None
    if "index" in document:
        large = LargeReferences(
            every, ReferenceIndex.open(artifact.files["index"], document["index"]), stored["calibrated"]
        )
    schema = graph_schema(references.graphs)
    if [list(part) if isinstance(part, tuple) else part for part in schema] != document["schema"]:
        raise ArtifactError(f"{where} has references of another kind than its settings say. Fit and save it again.")
    scorer = ReferenceScorer(
        references,
        channels,
        Fusion.from_json(document["fusion"]),
        stored["reference_scores"],
        schema,
        document["structure_only"],
        large,
    )
    if "anomalies" in artifact.tensors:
        anomalies = _profiled(artifact.tensors["anomalies"], artifact.documents["anomaly_names"])
        known = KnownAnomalies.restore(anomalies, channels, artifact.tensors["second_side"], references, large)
        scorer = replace(scorer, known=known)
    detector._use(scorer)
    # Whatever the checks above missed fails here, and not in the middle of somebody's scores.
    detector.decision_function(references.graphs[int(np.argmin(references.graphs.sizes))])
    return detector


def _graph_arrays(profiled: ProfiledGraphs) -> dict[str, NDArray[Any]]:
    return (
        _present(profiled.graphs, GRAPH_ARRAYS)
        | _present(profiled.profile, PROFILE_ARRAYS)
        | {f"code/{name}": rows for name, rows in profiled.codes.items()}
    )


def _names(graphs: GraphSet) -> dict[str, Any]:
    return {
        "ids": list(graphs.ids),
        "attributes": list(graphs.attribute_names),
        "edge_attributes": list(graphs.edge_attribute_names),
        "labels": {str(code): name for code, name in graphs.label_names.items()},
        "codes": {owner: list(names.items()) for owner, names in graphs.code_names.items()},
        "nodes": None if graphs.node_names is None else graphs.node_names.tolist(),
    }


def _graphs(arrays: dict[str, NDArray[Any]], names: dict[str, Any]) -> GraphSet:
    check_types(arrays)
    columns: dict[str, Any] = {name: arrays[name] for name in GRAPH_ARRAYS if name in arrays}
    graphs = GraphSet(
        **columns,
        ids=tuple(names["ids"]),
        attribute_names=tuple(names["attributes"]),
        edge_attribute_names=tuple(names["edge_attributes"]),
        label_names={int(code): name for code, name in names["labels"].items()},
        code_names={owner: dict(map(tuple, pairs)) for owner, pairs in names.get("codes", {}).items()},
        node_names=None if names["nodes"] is None else np.asarray(names["nodes"], dtype=np.str_),
    )
    check_graphs(graphs)
    return graphs


def _profiled(arrays: dict[str, NDArray[Any]], names: dict[str, Any]) -> ProfiledGraphs:
    """The inverse of :func:`_graph_arrays` and :func:`_names`."""
    graphs = _graphs(arrays, names)
    structure = StructureProfile(graphs.node_offsets, **{name: arrays[name] for name in PROFILE_ARRAYS})
    codes = {key.removeprefix("code/"): rows for key, rows in arrays.items() if key.startswith("code/")}
    profiled = ProfiledGraphs(graphs, structure, codes)
    check_profile(profiled)
    return profiled


def _present(owner: object, names: Iterable[str]) -> dict[str, NDArray[Any]]:
    return {name: value for name in names if (value := getattr(owner, name)) is not None}


def _plain(params: dict[str, Any]) -> dict[str, Any]:
    return {name: list(value) if isinstance(value, tuple) else value for name, value in params.items()}


def refuse_unless_writable(path: Path) -> None:
    """Find out before a long fit whether its result could be written."""
    refuse_url(path)
    if path.exists() and (not path.is_dir() or (any(path.iterdir()) and not (path / MANIFEST).is_file())):
        raise ArtifactError(f"{path} exists and is not a model. Choose a new directory, or a model to replace.")
    parent = path.absolute().parent
    if not parent.is_dir():
        raise ArtifactError(f"{parent} does not exist. Create it, or choose another place for the model.")
    if not os.access(parent, os.W_OK):
        raise ArtifactError(f"{parent} cannot be written to. Choose another place for the model.")
