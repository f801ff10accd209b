"""From private reference graphs to a summary that may be published."""

from __future__ import annotations

import hashlib
import os
import shlex
import tempfile
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from graphglass.channels.patterns.wl import graph_hashes
from graphglass.errors import ArtifactError, InputError, LedgerError, ParameterError, PrivacyError
from graphglass.glass.joint_features import JointFeatures
from graphglass.graphs.graph_set import GraphSet
from graphglass.privacy.noise_scale import check_epsilon_delta
from graphglass.privacy.private_summary import PrivateSummary
from graphglass.privacy.release.accounts import Charge
from graphglass.privacy.release.graph_features import GraphFeatures, feature_map
from graphglass.privacy.release.ledger import Ledger
from graphglass.privacy.release.mechanism import GRID_BITS, Mechanism, to_grid
from graphglass.privacy.release.noise import discrete_gaussian
from graphglass.privacy.sketch_features import SketchFeatures
from graphglass.privacy.terms import MAX_REFERENCES, PrivacyTerms

if TYPE_CHECKING:
    from graphglass.glass.estimator import GLASS


def release(
    references: GraphSet,
    *,
    ledger: Ledger,
    dataset: str,
    epsilon: float,
    delta: float = 1e-5,
    graphs_per_subject: int = 1,
    model: GLASS | None = None,
    features: SketchFeatures | JointFeatures | None = None,
    source: GraphSet | None = None,
    release_id: str | None = None,
    output: str | os.PathLike[str] | None = None,
    disjoint: bool = False,
) -> PrivateSummary:
    """Summarise private graphs under (epsilon, delta)-differential privacy (prop:private_summary), once per
    release id.

    The charge is on disk before noise is drawn. An error before the charge costs nothing and is meant for
    the data holder's eyes only; a crash after it costs the budget.

    Parameters
    ----------
    references : GraphSet
        The private graphs. Their number becomes public.
    ledger : Ledger
        The ledger that pays.
    dataset : str
        The account in the ledger that pays.
    epsilon, delta : float
        The promise of this release.
    graphs_per_subject : int
        The most graphs one protected subject owns; all of them are protected together.
    model : GLASS, optional
        The paper's release: a detector whose encoders, the vocabulary of their input columns included, were fixed
        without the private graphs, as it was trained or with public references. Without a model the public sketch is
        released, in which nothing was trained.
    features : SketchFeatures or JointFeatures, optional
        The public map. Default: without a model a sketch whose sharpness follows from n and the promise
        (:meth:`SketchFeatures.for_budget`), with one the paper's map over its channels.
    source : GraphSet, optional
        Public graphs whose mean feature is stored beside the summary for shrinkage (eq:dp_mix).
    release_id : str, optional
        Asking again with the same id returns the stored summary and draws nothing.
    output : path, optional
        Where to write the summary. A file that exists is never replaced, except by the release it already holds.
    disjoint : bool
        Declare that graphs equal to those of another dataset of the ledger belong to other subjects. Otherwise a second
        name for released graphs is refused, since it would give them a second budget.

    Raises
    ------
    InputError
        If the output cannot be written or exists, before the charge.
    ArtifactError
        If the output cannot be written after all; the message says how to get the release, which the ledger keeps.
    PrivacyError
        If a reference graph is part of the model or was released under another name, the model's text encoder is
        remote, or a release id is reused for something else or was never finished.
    BudgetError
        If the dataset has too little budget left.

    Examples
    --------
    >>> from graphglass import Ledger, load_dataset, release
    >>> ledger = Ledger.create("ward.ledger")
    >>> _ = ledger.grant("ward", epsilon=4.0, delta=1e-5)
    >>> summary = release(load_dataset("MUTAG")[:60].without_labels(), ledger=ledger, dataset="ward", epsilon=2.0)
    >>> summary.references
    60
    """
    check_epsilon_delta("release", epsilon, delta)
    if release_id is not None and not release_id.strip():
        raise ParameterError("release", "release_id", "not empty; leave it out for a new one", release_id)
    if not isinstance(graphs_per_subject, int):
        raise ParameterError("release", "graphs_per_subject", "a whole number", graphs_per_subject)
    n = len(references)
    if not 1 <= n <= MAX_REFERENCES or not 1 <= graphs_per_subject <= n:
        raise ParameterError(
            "release", "references and graphs_per_subject", f"1 <= g <= n <= {MAX_REFERENCES}", (n, graphs_per_subject)
        )
    features_of = feature_map(model, features, references, epsilon, delta, graphs_per_subject)
    public = features_of.features
    mechanism = Mechanism(float(epsilon), float(delta), public.dimension, graphs_per_subject)
    encoder = None if model is None else model.encoder_fingerprint()
    promise: dict[str, Any] = {
        "epsilon": mechanism.epsilon,
        "delta": mechanism.delta,
        "references": n,
        "graphs_per_subject": graphs_per_subject,
        "noise_scale": mechanism.scale,
        "grid_bits": GRID_BITS,
    }
    request = promise | {
        "features": public.digest(),
        "encoder": encoder,
        "source": None if source is None else _digest(source),
        "disjoint": disjoint,
    }
    identifier = str(uuid.uuid4()) if release_id is None else release_id
    target = None if output is None else Path(output)
    if (charge := ledger.find(identifier)) is not None:
        return _stored(ledger, charge, dataset, request, target)
    if target is not None:
        refuse_output(target)
    if model is not None:
        _refuse_overlap(model, references)
    ledger.budget(dataset)  # an unknown dataset is refused before the work
    discrete_gaussian(mechanism.scale, 1)  # a machine without a sampler must fail before the charge, not after
    total = exact_sum(features_of, references)
    prior = None if source is None else features_of(source).mean(axis=0)

    charge = ledger.charge(
        dataset,
        identifier,
        mu_squared=mechanism.mu_squared,
        total_variation=mechanism.total_variation,
        request=request,
        fingerprints=[ledger.fingerprint(item) for item in graph_hashes(references)],
        disjoint=disjoint,
    )
    terms = PrivacyTerms(
        **promise,
        delta_slack=mechanism.delta_slack,
        dimension=mechanism.dimension,
        release=identifier,
        collection=ledger.collection(dataset),
        ledger_sequence=charge.sequence,
        ledger_head=charge.head,
    )
    summary = PrivateSummary(mechanism.noisy(total, discrete_gaussian), public, (terms,), encoder, prior)
    try:
        ledger.complete(identifier, summary.to_bytes())
    except LedgerError as error:
        raise LedgerError(
            f"{error} Release {identifier} was charged. If `glass private show` lists it as finished, its id returns "
            "it; otherwise its budget is lost."
        ) from error
    if target is not None:
        _write_output(target, summary, repeated=False)
    return summary


def exact_sum(features_of: GraphFeatures, references: GraphSet) -> NDArray[np.int64]:
    """Sum of the integer features, (P,)."""
    total = np.zeros(features_of.features.dimension, np.int64)
    for start in range(0, len(references), features_of.batch):
        total += to_grid(features_of(references[start : start + features_of.batch])).sum(axis=0)
    return total


def _digest(source: GraphSet) -> str:
    """sha256 over the public graphs rather than their mean feature, whose last bits differ between machines."""
    return hashlib.sha256("".join(sorted(source.content_hashes())).encode()).hexdigest()


def _refuse_overlap(model: GLASS, references: GraphSet) -> None:
    trained, hashes = model.training_hashes(), references.content_hashes()
    shared = [name for name, digest in zip(references.ids, hashes, strict=True) if digest in trained]
    if shared:
        names = ", ".join(shared[:3]) + (", ..." if len(shared) > 3 else "")
        raise PrivacyError(
            f"{len(shared)} of the reference graphs are part of the model ({names}): it was trained on them, or was "
            "given them as references (with_references, `glass references MODEL replace`), whose labels decide which "
            "columns the encoder reads. It would tell of them without noise. Release from the model as it was trained, "
            "give it public references with these labels first, or leave these graphs out."
        )


def _stored(
    ledger: Ledger, charge: Charge, dataset: str, request: dict[str, Any], target: Path | None
) -> PrivateSummary:
    if charge.dataset != dataset or dict(charge.request) != request:
        raise PrivacyError(f"Release id {charge.release!r} belongs to another request. Choose a new id.")
    content = ledger.artifact(charge.release)
    if content is None:
        raise PrivacyError(
            f"Release {charge.release!r} was charged but never finished. Its budget is spent, because its noise may "
            "have been drawn; use a new release id."
        )
    summary = PrivateSummary.from_bytes(content)
    if target is not None:
        _write_output(target, summary, repeated=True)
    return summary


def refuse_output(path: Path, stored: PrivateSummary | None = None) -> None:
    """Refuse a path that could not be written, or that holds something else than the ``stored`` summary."""
    if os.path.isdir(path):
        raise InputError(f"{path} is a directory. Name a file for the summary.")
    if os.path.lexists(path) and (stored is None or not _holds(path, stored)):
        held = "" if stored is None else f" and is not release {stored.sites[0].release}"
        raise InputError(f"{path} exists already{held}. A release never replaces another file: name a new one.")
    if not os.path.isdir(path.parent):
        raise InputError(f"{path} cannot be written: there is no folder {path.parent}. Create it or name another.")
    try:
        # What the write itself begins with. Permissions alone miss full, read-only and special file systems.
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}."):
            pass
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror}. Name another file.") from error


def _write_output(path: Path, summary: PrivateSummary, *, repeated: bool) -> None:
    """Write a release that the ledger keeps, or say how to get at it."""
    try:
        # Again: embedding the graphs may have taken hours since the first look.
        refuse_output(path, summary)
        summary.save(path)
    except (ArtifactError, InputError) as error:
        release = summary.sites[0].release
        raise ArtifactError(
            f"{error} Release {release} {'is' if repeated else 'was charged and is'} kept in the ledger: repeat the "
            f"request with --release-id {shlex.quote(release)} (release_id={release!r} in Python) and another output, "
            "at no further cost."
        ) from error


def _holds(path: Path, summary: PrivateSummary) -> bool:
    if not path.is_file():
        return False  # reading a pipe or a device could wait for ever
    try:
        return PrivateSummary.load(path).sites == summary.sites
    except ArtifactError:
        return False
