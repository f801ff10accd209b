"""PrivateSummary: a released, noisy mean of reference features, the scores it gives, and the sum of several."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphglass.errors import ArtifactError, ParameterError, PrivacyError
from graphglass.files.atomic import write_whole
from graphglass.glass.joint_features import JointFeatures
from graphglass.privacy.single_file import pack_artifact, unpack_artifact
from graphglass.privacy.sketch_features import SketchFeatures
from graphglass.privacy.terms import PrivacyTerms, statement

Features = JointFeatures | SketchFeatures
KIND = "graphglass-private-summary"
MAPS: dict[str, type[Features]] = {"codes": JointFeatures, "sketch": SketchFeatures}
# A summary is kilobytes; anything of this size is something else.
MAX_BYTES = 64 * 2**20
SHRINKAGE = 32


@dataclass(frozen=True, eq=False)
class PrivateSummary:
    """What a site publishes instead of its reference graphs. Everything in it may be shown to anyone.

    Attributes
    ----------
    total : int64 (P,)
        Sum of the reference features plus noise, in grid units.
    features : SketchFeatures or JointFeatures
        The public map queries go through: the sketch, or the paper's map of a model's codes.
    sites : tuple of PrivacyTerms
        One entry per release; more than one after a merge of disjoint sites.
    encoder : str or None
        Fingerprint of the model whose codes the features are made of; None for the sketch, which needs no model.
    prior : float64 (P,) or None
        Mean feature of public source graphs, for shrinkage.
    """

    total: NDArray[np.int64]
    features: Features
    sites: tuple[PrivacyTerms, ...]
    encoder: str | None = None
    prior: NDArray[np.float64] | None = None

    def __post_init__(self) -> None:
        width = self.features.dimension
        if (self.encoder is None) != (self.features.kind == "sketch"):
            raise ArtifactError("A private summary of codes names its encoder; one of sketches has none.")
        if not self.sites or len({site.grid_bits for site in self.sites}) != 1:
            raise ArtifactError("A private summary needs at least one site, and one grid for all of them.")
        if any(site.dimension != width for site in self.sites) or self.total.shape != (width,):
            raise ArtifactError(f"The private summary has {self.total.shape} values for {width} features.")
        if self.total.dtype != np.int64:
            raise ArtifactError(f"The private summary must hold 64-bit integers, found {self.total.dtype}.")
        if self.prior is not None and (self.prior.shape != (width,) or not np.isfinite(self.prior).all()):
            raise ArtifactError("The source prior of the summary has another shape or is not finite.")
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

    @property
    def statement(self) -> str:
        """The promise in plain words, made from the verified fields."""
        return statement(self.sites, self.features, self.encoder)

    @property
    def mean_with_prior(self) -> NDArray[np.float64]:
        """The mean shrunk toward the source prior (eq:dp_mix), (P,)."""
        if self.prior is None:
            raise ArtifactError(
                "This private summary carries no source prior. Release it with public source graphs to have one."
            )
        return shrunk(self.mean, self.prior, self.references)

    def scores(self, inputs: object, *, source_prior: bool = False) -> NDArray[np.float64]:
        """Anomaly scores by the approximate kernel density at each query (eq:dp_score); higher is more anomalous, (n,).

        Parameters
        ----------
        inputs : GraphSet, or mapping of channel name to (n, width)
            What :attr:`features` takes: the queries, or their codes by the model the summary was released with.
        source_prior : bool
            Shrink toward the source prior first (eq:dp_mix).
        """
        return np.asarray(np.sum(list(self.contributions(inputs, source_prior=source_prior).values()), axis=0))

    def contributions(self, inputs: Any, *, source_prior: bool = False) -> dict[str, NDArray[np.float64]]:
        """The scores split by block or channel; the parts of a graph add up to its score."""
        mean = self.mean_with_prior if source_prior else self.mean
        return self.features.contributions(self.features(inputs), mean, self.sigma)

    def check_encoder(self, fingerprint: str | None) -> None:
        """Refuse a model other than the one the summary was released with; None where there is none."""
        if self.encoder is not None and fingerprint != self.encoder:
            raise ArtifactError(
                f"The summary was released with encoder {self.encoder}; found {fingerprint or 'no model'}. "
                "Scoring needs that model."
            )

    def to_bytes(self) -> bytes:
        """The summary as one file; equal summaries are equal files."""
        arrays: dict[str, NDArray[Any]] = {"total": self.total}
        if self.prior is not None:
            arrays["prior"] = self.prior
        document = {
            "encoder": self.encoder,
            "kind": self.features.kind,
            "features": self.features.to_json(),
            "features_digest": self.features.digest(),
            "sites": [asdict(site) for site in self.sites],
        }
        return pack_artifact(KIND, arrays, document)

    @classmethod
    def from_bytes(cls, content: bytes, where: str = "The file") -> PrivateSummary:
        """Read :meth:`to_bytes`; anything altered, truncated or of another version is refused."""
        document, arrays = unpack_artifact(content, KIND, where)
        try:
            summary = cls(
                total=arrays["total"],
                features=MAPS[document["kind"]].from_json(document["features"]),
                sites=tuple(PrivacyTerms.from_json(site) for site in document["sites"]),
                encoder=None if document["encoder"] is None else str(document["encoder"]),
                prior=arrays.get("prior"),
            )
            expected = document["features_digest"]
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise ArtifactError(f"{where} is not a complete private summary ({error!r}).") from error
        # Only now: the claimed size of the map is that of the values present, so computing it costs no more than they.
        if summary.features.digest() != expected:
            raise ArtifactError(
                f"This installation derives another public map than {where} was made with. Use the versions of "
                "GraphGlass and NumPy that wrote it."
            )
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
                raise ArtifactError(f"{target} is larger than any private summary.")
            return cls.from_bytes(target.read_bytes(), str(target))
        except OSError as error:
            raise ArtifactError(f"The private summary {target} cannot be read: {error.strerror}.") from error


def shrunk(mean: NDArray[np.float64], prior: NDArray[np.float64], references: int) -> NDArray[np.float64]:
    """A mean of n references, or several (draws, P), with weight n / (n + 32) and the rest on a public mean."""
    weight = references / (references + SHRINKAGE)
    return (1.0 - weight) * prior + weight * mean


def merge(summaries: Sequence[PrivateSummary], *, disjoint: bool) -> PrivateSummary:
    """Add up the releases of sites with disjoint graphs and subjects; the noise variances add up too.

    Weighted by size, the noise of J equal sites is the square root of J times that of one central release.
    This is post-processing: each graph keeps the promise of its own site.

    Parameters
    ----------
    summaries : sequence of PrivateSummary
        At least two, with the same public features and encoder.
    disjoint : bool
        The caller's declaration that no graph and no subject is in two sites. It is recorded; it cannot be
        checked.

    Examples
    --------
    >>> from graphglass import Ledger, load_dataset, merge, release
    >>> from graphglass.privacy.sketch_features import SketchFeatures
    >>> graphs, ledger = load_dataset("MUTAG").without_labels(), Ledger.create("two-sites.ledger")
    >>> sites = {"north": graphs[:50], "south": graphs[50:100]}
    >>> accounts = [ledger.grant(name, epsilon=4.0, delta=1e-5) for name in sites]
    >>> options = {"ledger": ledger, "epsilon": 4.0, "features": SketchFeatures(sharpness=2), "disjoint": True}
    >>> merge([release(sites[name], dataset=name, **options) for name in sites], disjoint=True).references
    100
    """
    if len(summaries) < 2:
        raise ParameterError("merge", "summaries", "at least two summaries", len(summaries))
    if not disjoint:
        raise PrivacyError(
            "Sites that share graphs or subjects compose: their losses add up. Only disjoint sites can be merged; "
            "declare that they are."
        )
    first = summaries[0]
    for other in summaries[1:]:
        if other.features.digest() != first.features.digest() or other.encoder != first.encoder:
            raise PrivacyError(
                "Summaries can be merged only if they share encoder and public features; these do not. Sketches of "
                "sites with different numbers of graphs need one --sharpness."
            )
    sites = tuple(site for summary in summaries for site in summary.sites)
    for name, values in (("release", [s.release for s in sites]), ("dataset", [s.collection for s in sites])):
        if len(set(values)) != len(values):
            raise PrivacyError(f"Two of the summaries are about the same {name}: they are not disjoint.")
    priors = [None if summary.prior is None else summary.prior.tobytes() for summary in summaries]
    return PrivateSummary(
        total=np.sum([summary.total for summary in summaries], axis=0, dtype=np.int64),
        features=first.features,
        sites=sites,
        encoder=first.encoder,
        prior=first.prior if len(set(priors)) == 1 else None,
    )
