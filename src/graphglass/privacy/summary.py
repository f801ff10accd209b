"""PrivateSummary: a released, noisy mean of reference features, and the scores it gives."""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphglass.errors import ArtifactError, ParameterError
from graphglass.privacy.joint_features import JointFeatures
from graphglass.privacy.terms import PrivacyTerms
from graphglass.storage.atomic import write_whole

FORMAT = "graphglass-private-summary"
VERSION = 1
# A summary is kilobytes; anything of this size is something else.
MAX_BYTES = 256 * 2**20
SHRINKAGE = 32


@dataclass(frozen=True, eq=False)
class PrivateSummary:
    """What a site publishes instead of its reference graphs. Everything in it may be shown to anyone.

    Attributes
    ----------
    total : int64 (P,)
        Sum of the reference features plus noise, in grid units.
    features : JointFeatures
        The public map queries go through.
    sites : tuple of PrivacyTerms
        One entry per release; more than one after a merge of disjoint sites.
    encoder : str
        Fingerprint of the model whose embeddings the features are made of.
    statement : str
        The promise in plain words.
    prior : float64 (P,) or None
        Mean feature of public source graphs, for shrinkage.
    """

    total: NDArray[np.int64]
    features: JointFeatures
    sites: tuple[PrivacyTerms, ...]
    encoder: str
    statement: str
    prior: NDArray[np.float64] | None = None

    def __post_init__(self) -> None:
        width = self.features.dimension
        if not self.sites or len({site.grid_bits for site in self.sites}) != 1:
            raise ArtifactError("A private summary needs at least one site, and one grid for all of them.")
        if any(site.dimension != width for site in self.sites) or self.total.shape != (width,):
            raise ArtifactError(f"A private summary over {width} features has a total of shape {self.total.shape}.")
        if self.total.dtype != np.int64:
            raise ArtifactError(f"The total of a private summary must be int64, found {self.total.dtype}.")
        if self.prior is not None and (self.prior.shape != (width,) or not np.isfinite(self.prior).all()):
            raise ArtifactError("The source prior of the private summary has another shape or is not finite.")
        for name in ("total", "prior"):
            if (value := getattr(self, name)) is not None:
                view = value.view()
                view.flags.writeable = False
                object.__setattr__(self, name, view)

    @property
    def references(self) -> int:
        """Graphs summarised over all sites."""
        return sum(site.references for site in self.sites)

    @property
    def mean(self) -> NDArray[np.float64]:
        """The noisy mean feature (eq:dp_release), (P,)."""
        return self.total / (self.references * 2.0 ** self.sites[0].grid_bits)

    @property
    def sigma(self) -> float:
        """Standard deviation of the noise per coordinate of :attr:`mean`, and of the noise in any score."""
        noise = math.sqrt(sum(site.noise_scale**2 for site in self.sites))
        return noise / (self.references * 2.0 ** self.sites[0].grid_bits)

    def mixed_mean(self, n0: float = SHRINKAGE) -> NDArray[np.float64]:
        """The mean shrunk toward the source prior with weight n / (n + n0) on the private part (eq:dp_mix),
        (P,).
        """
        if self.prior is None:
            raise ArtifactError(
                "This private summary carries no source prior. Release it with public source graphs to have one."
            )
        if not (math.isfinite(n0) and n0 >= 0):
            raise ParameterError("PrivateSummary.mixed_mean", "n0", "a number of at least 0", n0)
        weight = self.references / (self.references + n0)
        return (1.0 - weight) * self.prior + weight * self.mean

    def scores(
        self, embeddings: Mapping[str, NDArray[Any]], *, source_prior: bool = False, n0: float = SHRINKAGE
    ) -> NDArray[np.float64]:
        """Minus the approximate kernel density at each query (eq:dp_score); higher is more anomalous, (n,).

        Parameters
        ----------
        embeddings : mapping of channel name to (n, width)
            Query embeddings by the model the summary was released with.
        source_prior : bool
            Shrink toward the source prior first (eq:dp_mix).
        """
        return -(self.features(embeddings) @ (self.mixed_mean(n0) if source_prior else self.mean))

    def contributions(
        self, embeddings: Mapping[str, NDArray[Any]], *, source_prior: bool = False, n0: float = SHRINKAGE
    ) -> dict[str, NDArray[np.float64]]:
        """The scores split by channel; the parts of a graph add up to its score."""
        mean = self.mixed_mean(n0) if source_prior else self.mean
        return {name: -part for name, part in self.features.by_channel(embeddings, mean).items()}

    def check_encoder(self, fingerprint: str) -> None:
        """Refuse a model other than the one the summary was released with."""
        if fingerprint != self.encoder:
            raise ArtifactError(
                f"The summary was released with encoder {self.encoder}, the model has {fingerprint}. "
                "Scores would mean nothing; use the model the summary names."
            )

    def to_bytes(self) -> bytes:
        """The summary as one safetensors file: arrays, and a manifest with their sha256."""
        from safetensors.numpy import save

        arrays: dict[str, NDArray[Any]] = {"total": self.total, **self.features.arrays()}
        if self.prior is not None:
            arrays["prior"] = self.prior
        arrays = {name: np.ascontiguousarray(value) for name, value in arrays.items()}
        manifest = {
            "format": FORMAT,
            "version": VERSION,
            "encoder": self.encoder,
            "features": self.features.to_json(),
            "features_digest": self.features.digest(),
            "sites": [site.to_json() for site in self.sites],
            "statement": self.statement,
            "sha256": {name: hashlib.sha256(value.tobytes()).hexdigest() for name, value in sorted(arrays.items())},
        }
        text = json.dumps(manifest, sort_keys=True)
        # One metadata key: the order of several would change from run to run, and equal summaries must be equal files.
        return bytes(save(arrays, metadata={"manifest": hashlib.sha256(text.encode()).hexdigest() + text}))

    @classmethod
    def from_bytes(cls, content: bytes) -> PrivateSummary:
        """Read :meth:`to_bytes`; anything altered, truncated or of another version is refused."""
        manifest, arrays = _unpack(content)
        features = JointFeatures.from_json(manifest["features"], arrays)
        summary = cls(
            total=arrays["total"],
            features=features,
            sites=tuple(PrivacyTerms.from_json(site) for site in manifest["sites"]),
            encoder=str(manifest["encoder"]),
            statement=str(manifest["statement"]),
            prior=arrays.get("prior"),
        )
        if features.digest() != manifest["features_digest"]:
            raise ArtifactError("This installation derives other public frequencies than the summary was made with.")
        return summary

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the summary; the file appears whole or not at all."""
        try:
            write_whole(Path(path), self.to_bytes())
        except OSError as error:
            raise ArtifactError(f"{path} cannot be written: {error.strerror}.") from error

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> PrivateSummary:
        """Read and verify a summary file."""
        target = Path(path)
        try:
            if target.stat().st_size > MAX_BYTES:
                raise ArtifactError("The file is larger than any private summary.")
            return cls.from_bytes(target.read_bytes())
        except OSError as error:
            raise ArtifactError(f"The private summary {target} cannot be read: {error.strerror}.") from error
        except ArtifactError as error:
            raise ArtifactError(f"{target}: {error}") from error


def _unpack(content: bytes) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    from safetensors import SafetensorError
    from safetensors.numpy import load

    try:
        header = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])
        sha256, text = header["__metadata__"]["manifest"][:64], header["__metadata__"]["manifest"][64:]
        manifest = json.loads(text)
        arrays = load(content)
        intact = hashlib.sha256(text.encode()).hexdigest() == sha256
        if manifest["format"] != FORMAT or manifest["version"] != VERSION:
            raise ArtifactError(
                f"Expected {FORMAT} version {VERSION}, found {manifest['format']} version {manifest['version']}. "
                "Use the GraphGlass version that wrote it."
            )
        expected = {name: hashlib.sha256(value.tobytes()).hexdigest() for name, value in arrays.items()}
        needed = {"features", "features_digest", "sites", "encoder", "statement"}
        if not intact or expected != manifest["sha256"] or not needed <= set(manifest) or "total" not in arrays:
            raise ArtifactError("The private summary does not match its checksums: it was altered or damaged.")
    except (ValueError, KeyError, TypeError, AttributeError, SafetensorError) as error:
        raise ArtifactError("This is not a private summary, or it is damaged.") from error
    return manifest, arrays
