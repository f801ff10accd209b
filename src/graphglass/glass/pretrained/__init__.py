"""Trained encoders that come with the package; README.md is their card, `glassbench pretrain` makes them."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphglass.errors import ArtifactError, GlassError, ParameterError
from graphglass.files.load import load_artifact
from graphglass.glass.salted_hashes import SaltedHashes
from graphglass.graphs.graph_set import GraphSet

if TYPE_CHECKING:
    from graphglass.glass.embedder import Embedder
    from graphglass.glass.trained_encoder import TrainedEncoder

KIND = "graphglass-pretrained"
DOMAINS = ("mol", "protein", "social")  # names that the paper's prompts have for them
NAMES = (*DOMAINS, "all")
FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class PretrainedEncoder:
    """A trained encoder, the graphs it was trained on as hashes, and its card.

    The card has ``datasets`` (graphs and sha256 of each), ``seed``, ``settings``, and ``text``, the fingerprint of the
    text encoder that it is aligned with.
    """

    encoder: TrainedEncoder
    trained_on: SaltedHashes
    card: dict[str, Any]

    @property
    def domain(self) -> str:
        """What prompts name as the domain of its graphs."""
        name: str = self.card["name"]
        return name if name in DOMAINS else "graph"

    def embedder(self, text: str, domain: str, device: str = "cpu") -> Embedder:
        """This encoder and its text encoder, which `text` must name, for graphs of any domain."""
        from graphglass.glass.embedder import Embedder
        from graphglass.glass.encoders.text_encoder import load_encoder

        aligned = self.card["text"]
        if text != aligned["name"] or (loaded := load_encoder(text)).fingerprint.to_json() != aligned:
            raise ParameterError("GLASS", "encoder", f"{aligned['name']!r}, which these weights are aligned with", text)
        return Embedder(loaded, self.encoder, self.encoder.schema, self.encoder.slices, domain, device)

    def say_what_it_has_seen(self, references: GraphSet) -> None:
        """Warn if references are among the training graphs: scores of graphs like these are then no honest test."""
        seen = sum(digest in self.trained_on for digest in references.content_hashes())
        if seen:
            names = ", ".join(self.card["datasets"])
            warnings.warn(
                f"{seen} of {len(references)} references are among the graphs this encoder was trained on ({names}). "
                "Scores are valid, but an evaluation on that data is not one of unseen data.",
                stacklevel=4,
            )


def load_pretrained(name: str) -> PretrainedEncoder:
    """The encoder of a name in :data:`NAMES`; its files are compared with their digests."""
    from graphglass.glass.trained_encoder import TrainedEncoder

    if name not in NAMES:
        raise ParameterError("GLASS", "weights", f"one of {', '.join(NAMES)}", name)
    found = load_artifact(FOLDER / name, KIND)
    try:
        encoder = TrainedEncoder.restore(found.tensors["encoder"], found.documents["encoder_settings"])
        return PretrainedEncoder(encoder, SaltedHashes.from_json(found.documents["training"]), found.documents["card"])
    except GlassError:
        raise
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, ArithmeticError, RuntimeError) as error:
        raise ArtifactError(f"The encoder {name!r} is damaged ({error}). Install graphglass again.") from error


def pretrained_embedder(fingerprint: str) -> Embedder | None:
    """The encoders of this package with this fingerprint, as they come; None if it is of other encoders."""
    found = map(load_pretrained, NAMES)
    opened = (one.embedder(one.card["text"]["name"], one.domain) for one in found)
    return next((embedder for embedder in opened if embedder.fingerprint == fingerprint), None)
