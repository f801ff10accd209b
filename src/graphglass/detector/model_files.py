"""A fitted detector as a directory of safetensors and JSON, and back."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from graphglass.channels.fusion import Fusion
from graphglass.channels.profiled_graphs import ProfiledGraphs
from graphglass.detector.graph_arrays import (
    PROFILE_ARRAYS,
    check_channels,
    check_graphs,
    check_profile,
    check_types,
    restored,
    stored_arrays,
    stored_names,
)
from graphglass.detector.indexed_scorer import IndexedScorer
from graphglass.detector.known_anomalies import KnownAnomalies
from graphglass.detector.model_card import model_card
from graphglass.detector.reference_index import ReferenceIndex
from graphglass.detector.scorer import ReferenceScorer
from graphglass.errors import ArtifactError, GlassError
from graphglass.files.atomic import write_whole
from graphglass.files.load import Artifact, load_artifact
from graphglass.files.save import save_artifact
from graphglass.graphs.graph_schema import GraphSchema
from graphglass.graphs.graph_set import GraphSet
from graphglass.graphs.reading import ReadingOptions
from graphglass.structure.profile import StructureProfile

if TYPE_CHECKING:
    from graphglass.detector.reference_detector import ReferenceDetector

KIND = "graphglass-detector"
CARD = "README.md"
# The class that wrote a model, and its home; a model names no other code.
METHODS = {"GraphGlass": "graphglass.detector.graphglass", "GLASS": "graphglass.glass.estimator"}

Detector = TypeVar("Detector", bound="ReferenceDetector")


def save_detector(detector: ReferenceDetector, path: str | Path) -> None:
    """Write everything a fitted detector needs, and a model card."""
    references, scorer = detector.references_, detector.scorer_
    tensors, documents = detector._saved()
    tensors |= {
        "references": _graph_arrays(references),
        "channels": {"reference_scores": scorer.reference_scores}
        | {f"{channel.name}/{key}": value for channel in scorer.channels for key, value in channel.saved().items()},
    }
    document: dict[str, Any] = {
        "method": type(detector).__name__,
        "params": detector.get_params(),
        "fusion": scorer.fusion.to_json(),
        "schema": scorer.schema.to_json(),
        "structure_only": scorer.structure_only,
        "zero_shot": scorer.zero_shot,
        "repeated": scorer.repeated,
        "reading": None if scorer.reading is None else scorer.reading.to_json(),
    }
    documents |= {"detector": document, "reference_names": stored_names(references.graphs)}
    if scorer.known is not None:
        anomalies = scorer.known.graphs
        tensors |= {"anomalies": _graph_arrays(anomalies), "second_side": scorer.known.arrays()}
        documents["anomaly_names"] = stored_names(anomalies.graphs)
    files = {}
    if isinstance(scorer, IndexedScorer):
        document["index"] = scorer.index.facts()
        tensors["channels"]["calibrated"] = scorer.calibrated
        tensors["all_references"] = stored_arrays(scorer.graphs)
        documents["all_reference_names"] = stored_names(scorer.graphs)
        files["index"] = scorer.index.path
    save_artifact(path, KIND, tensors=tensors, documents=documents, files=files)
    try:
        write_whole(Path(path) / CARD, model_card(detector).encode())
    except OSError as error:
        raise ArtifactError(f"The model is saved in {path}, but not its card {CARD}: {error.strerror}.") from error


def load_detector(cls: type[Detector], path: str | Path, **options: Any) -> Detector:
    """Rebuild a detector of this class or of one derived from it; nothing is trained or fitted."""
    artifact = load_artifact(path, KIND)
    try:
        return _rebuild(cls, artifact, str(path), options)
    except GlassError:
        raise
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, ArithmeticError, RuntimeError) as error:
        raise ArtifactError(f"{path} is not a complete detector ({type(error).__name__}: {error}).") from error


def _unfitted(cls: type[Detector], document: dict[str, Any], where: str) -> Detector:
    """A detector with the parameters of the model, of the class that wrote it."""
    params, name = document["params"], document.get("method")
    if name is None:  # written by 0.2.0, where one class was both methods
        if params["preset"] != "default":
            raise ArtifactError(
                f"{where} is a model of the paper preset of version 0.2.0, which 0.3.0 does not read. Fit it "
                "again with GLASS, or `glass fit --method glass`."
            )
        name, params = "GraphGlass", {key: params[key] for key in ("contamination", "verbose")}
    if name not in METHODS:
        raise ArtifactError(f"{where} is a model of {name!r}; this version knows {', '.join(METHODS)}.")
    method = getattr(import_module(METHODS[name]), name)
    if not issubclass(method, cls):
        raise ArtifactError(f"{where} is a {name} model, not one of {cls.__name__}. Load it with {name}.load.")
    params |= {key: tuple(params[key]) for key in ("slices", "details") if key in params}
    detector: Detector = method(**params)
    return detector


def _rebuild(cls: type[Detector], artifact: Artifact, where: str, options: dict[str, object]) -> Detector:
    document = artifact.documents["detector"]
    detector = _unfitted(cls, document, where)
    detector._restore(artifact, where, **options)
    references = _profiled(artifact.tensors["references"], artifact.documents["reference_names"])
    stored = artifact.tensors["channels"]
    indexed = "index" in document
    if document.get("reading") is not None:
        reading = ReadingOptions.from_json(document["reading"])
        references = replace(references, graphs=replace(references.graphs, reading=reading))
    every = references.graphs
    if indexed:
        every = _graphs(artifact.tensors["all_references"], artifact.documents["all_reference_names"])
        every = replace(every, reading=references.graphs.reading)
    check_channels(stored, len(references), len(every))
    channels = detector._channels()
    for channel in channels:
        prefix = f"{channel.name}/"
        names = [name for name in stored if name.startswith(prefix)]
        # Taken out: what a channel does not keep is freed before the next one.
        channel.load({name[len(prefix) :]: stored.pop(name) for name in names}, references)
    schema = GraphSchema.of(references.graphs)
    if schema.to_json() != document["schema"]:
        raise ArtifactError(f"{where} has references of another kind than its settings say. Fit and save it again.")
    state: dict[str, Any] = {
        "references": references,
        "channels": tuple(channel for channel in channels if channel.has_data),
        "fusion": Fusion.from_json(document["fusion"]),
        "reference_scores": stored["reference_scores"],
        "schema": schema,
        "structure_only": document["structure_only"],
        "zero_shot": document.get("zero_shot", False),
        "repeated": document.get("repeated", 0),
    }
    if indexed:
        index = ReferenceIndex.open(artifact.files["index"], document["index"])
        scorer: ReferenceScorer = IndexedScorer(**state, all_graphs=every, index=index, calibrated=stored["calibrated"])
    else:
        scorer = ReferenceScorer(**state)
    if "anomalies" in artifact.tensors:
        anomalies = _profiled(artifact.tensors["anomalies"], artifact.documents["anomaly_names"])
        known = KnownAnomalies.restore(anomalies, scorer.channels, artifact.tensors["second_side"])
        scorer = replace(scorer, known=known)
    detector._use(scorer)
    # Whatever the checks above missed fails here, and not in the middle of somebody's scores.
    detector.decision_function(references.graphs[int(np.argmin(references.graphs.sizes))])
    return detector


def _graph_arrays(profiled: ProfiledGraphs) -> dict[str, NDArray[Any]]:
    return (
        stored_arrays(profiled.graphs)
        | {name: getattr(profiled.profile, name) for name in PROFILE_ARRAYS}
        | {f"code/{name}": rows for name, rows in profiled.codes.items()}
    )


def _graphs(arrays: dict[str, NDArray[Any]], names: dict[str, object]) -> GraphSet:
    check_types(arrays)
    graphs = restored(arrays, names)
    check_graphs(graphs)
    return graphs


def _profiled(arrays: dict[str, NDArray[Any]], names: dict[str, object]) -> ProfiledGraphs:
    """The inverse of :func:`_graph_arrays` and :func:`stored_names`."""
    graphs = _graphs(arrays, names)
    structure = StructureProfile(graphs.node_offsets, **{name: arrays[name] for name in PROFILE_ARRAYS})
    codes = {key.removeprefix("code/"): rows for key, rows in arrays.items() if key.startswith("code/")}
    profiled = ProfiledGraphs(graphs, structure, codes)
    check_profile(profiled)
    return profiled
