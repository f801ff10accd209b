"""Trained encoders of GLASS, each trained once and kept on disk for every benchmark that asks for it.

Only the trained encoder is kept, never references or anything fitted on them. How graphs are scored may change between
two runs without either using files of the other.
"""

from __future__ import annotations

import hashlib
import json
import logging
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import graphglass
from glassbench.fingerprint import fingerprint
from glassbench.methods import configuration
from graphglass.errors import ArtifactError, BenchError
from graphglass.files import cache_root
from graphglass.files.atomic import locked
from graphglass.files.load import load_artifact
from graphglass.files.save import save_artifact
from graphglass.graphs.graph_set import GraphSet

if TYPE_CHECKING:
    from graphglass.glass.estimator import GLASS
    from graphglass.glass.trained_encoder import TrainedEncoder

KIND = "graphglass-source-encoder"
# What training depends on among a detector's settings; scoring settings may differ between users of one encoder.
_TRAINING = (
    "encoder", "slices", "epochs", "learning_rate", "normalisation", "prototypes", "prompt", "details", "domain",
)  # fmt: skip
Sources = GraphSet | Mapping[str, GraphSet]
log = logging.getLogger(__name__)


class SourceEncoders:
    """A folder of trained encoders (default: ``encoders`` in the cache), shared by processes.

    A second process waits for the first to finish training.
    """

    def __init__(self, folder: str | Path | None = None) -> None:
        self.folder = Path(folder) if folder is not None else cache_root() / "encoders"

    def fit(self, detector: GLASS, sources: Sources) -> GLASS:
        """``detector.fit(sources)`` to the same bits; training is skipped where its outcome is known."""
        from graphglass.glass.training.references import prepare

        graphs: Any = sources if isinstance(sources, GraphSet) else dict(sources)
        domains = prepare(graphs, detector.settings(), detector.domain)
        return detector.fit(domains, trained=self._kept(detector, identity(detector, sources), domains))

    def fit_encoder(
        self, detector: GLASS, sources: Mapping[str, GraphSet], *, instruction: str = "phase-aware"
    ) -> GLASS:
        """``detector.fit_encoder(sources)`` in the same way; prompts are read and will be read with `instruction`."""
        from graphglass.glass.prompt.graphdp import PromptContext
        from graphglass.glass.training.references import prepare

        context = PromptContext(detector.domain, instruction=instruction)
        domains = prepare(dict(sources), detector.settings(), context)
        key = identity(detector, sources) | {"instruction": instruction}
        fitted = detector.fit_encoder(domains, trained=self._kept(detector, key, domains))
        fitted.embedder_ = fitted.embedder_.in_regime(context.phase, instruction=instruction)
        return fitted

    def _kept(self, detector: GLASS, key: dict[str, Any], graphs: Any) -> TrainedEncoder:
        """The encoder read from the folder, or trained and put there; an interrupted training goes on."""
        path = self._path(key)
        with self._only_one(path):
            trained = _stored(path)
            if trained is None:
                unfinished = path.with_suffix(".unfinished")
                trained = detector.fit_encoder(graphs, checkpoint=unfinished, resume=True).embedder_.graph
                documents = {"identity": key, "encoder_settings": trained.to_json()}
                shutil.rmtree(path, ignore_errors=True)
                save_artifact(path, KIND, tensors={"encoder": trained.state()}, documents=documents)
                shutil.rmtree(unfinished, ignore_errors=True)
        return trained

    def _path(self, key: Mapping[str, object]) -> Path:
        return self.folder / hashlib.sha256(json.dumps(key, sort_keys=True).encode()).hexdigest()[:32]

    @contextmanager
    def _only_one(self, path: Path) -> Iterator[None]:
        # What happens inside the block is not the folder's fault: only its own errors are reported as such.
        lock = path.with_suffix(".locked")
        try:
            lock.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise BenchError(
                f"Encoders cannot be kept in {self.folder}: {error}. Name another with --cache."
            ) from error
        with locked(lock):
            yield


def _stored(path: Path) -> TrainedEncoder | None:
    """A stored encoder; None if there is none, or if it is unusable, which removes it."""
    from graphglass.glass.trained_encoder import TrainedEncoder

    if not path.exists():
        return None
    try:
        found = load_artifact(path, KIND)
        return TrainedEncoder.restore(found.tensors["encoder"], found.documents["encoder_settings"])
    except (ArtifactError, KeyError) as error:
        log.warning("%s is unusable and is made again: %s", path, error)
        shutil.rmtree(path, ignore_errors=True)
        return None


def identity(detector: GLASS, sources: Sources) -> dict[str, object]:
    """Everything the trained weights depend on, as JSON values, the code by its fingerprint.

    The graphs enter by content and in order, which covers data, pool, protocol, direction and the split's seed.
    """
    from graphglass.glass.encoders.text_encoder import load_encoder

    settings = configuration(detector)
    pool = _digest(sources) if isinstance(sources, GraphSet) else [[k, _digest(part)] for k, part in sources.items()]
    return {
        "code": fingerprint("glass"),
        "instruction": "phase-aware",
        "training": {name: settings[name] for name in _TRAINING if name in settings},
        "text": load_encoder(settings["encoder"]).fingerprint.digest,
        "seed": detector.random_state,
        "sources": pool,
        "versions": {"graphglass": graphglass.__version__, "torch": version("torch")},
    }


def _digest(graphs: GraphSet) -> str:
    """sha256 over every graph in order, and the names of its attributes and labels."""
    names = repr((graphs.attribute_names, sorted(graphs.label_names.items()))).encode()
    return hashlib.sha256(names + bytes.fromhex("".join(graphs.content_hashes()))).hexdigest()
