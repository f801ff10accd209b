"""From private reference graphs to a summary that may be published."""

from __future__ import annotations

import hashlib
import os
import secrets
import shlex
import tempfile
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from graphglass.errors import (
    ArtifactError,
    InputError,
    LedgerError,
    ParameterError,
    PrivacyError,
)
from graphglass.glass.joint_features import MAIN_CHANNELS, JointFeatures
from graphglass.graphs.graph_set import GraphSet
from graphglass.privacy.noise_scale import check_epsilon_delta
from graphglass.privacy.private_summary import PrivateSummary
from graphglass.privacy.record_form import RecordForm
from graphglass.privacy.release.accounts import Charge
from graphglass.privacy.release.ledger import Ledger
from graphglass.privacy.release.mechanism import GRID_BITS, Mechanism, discrete_gaussian, to_grid
from graphglass.privacy.release.records import PrivateRecords, identities, read_records
from graphglass.privacy.sketch_features import SketchFeatures
from graphglass.privacy.terms import MAX_REFERENCES, PrivacyTerms

if TYPE_CHECKING:
    from graphglass.glass.estimator import GLASS


def release(
    references: object,
    *,
    ledger: Ledger,
    dataset: str,
    epsilon: float,
    delta: float = 1e-5,
    form: RecordForm | None = None,
    model: GLASS | None = None,
    features: SketchFeatures | JointFeatures | None = None,
    source: object = None,
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
    references : path, GraphSet, sequence of graphs, or PrivateRecords
        The private graphs, read record by record (:func:`graphglass.privacy.release.records.read_records`). Their
        number becomes public.
    ledger : Ledger
        The ledger that pays.
    dataset : str
        The account in the ledger that pays. It fixes how many graphs one protected subject owns.
    epsilon, delta : float
        The promise of this release.
    form : RecordForm, optional
        The declared form of the records; one that differs becomes the zero row. Published with the release.
    model : GLASS, optional
        The paper's release: a detector whose encoders, the vocabulary of their input columns included, were fixed
        without the private graphs, as it was trained or with public references. Without a model the public sketch is
        released, in which nothing was trained.
    features : SketchFeatures or JointFeatures, optional
        The public map. Default: without a model a sketch whose sharpness follows from n and the promise
        (:meth:`SketchFeatures.for_budget`), with one the paper's map over its channels.
    source : as references, optional
        Public graphs whose mean feature is stored with the summary for shrinkage (eq:dp_mix). They must not be among
        the references.
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
        If a reference graph is part of the model or of the public graphs, or was released under another name, the
        model's text encoder is remote, or a release id is reused for something else or was never finished.
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
    graphs_per_subject = ledger.budget(dataset).graphs_per_subject  # an unknown dataset is refused before the work
    records = _records(references, form, model)
    n = records.count
    if not graphs_per_subject <= n <= MAX_REFERENCES:
        least = f"at least as many graphs as a subject owns, {graphs_per_subject}"
        raise InputError(f"A release takes {least}, and at most {MAX_REFERENCES:,}. Found {n}.")
    features_of = feature_map(model, features, n, epsilon, delta, graphs_per_subject)
    public = features_of.features
    mechanism = Mechanism(float(epsilon), float(delta), public.dimension, graphs_per_subject)
    encoder = None if model is None else model.encoder_fingerprint()
    published = None if source is None else _records(source, form, model)
    promise: dict[str, Any] = {
        "epsilon": mechanism.epsilon,
        "delta": mechanism.delta,
        "references": n,
        "graphs_per_subject": graphs_per_subject,
        "noise_scale": mechanism.scale,
        "grid_bits": GRID_BITS,
    }
    request = promise | {
        "form": records.form.to_json(),
        "features": public.digest(),
        "encoder": encoder,
        "source": None if published is None else _digest(published),
        "disjoint": disjoint,
    }
    identifier = str(uuid.uuid4()) if release_id is None else release_id
    target = None if output is None else Path(output)
    if (charge := ledger.find(identifier)) is not None:
        return _stored(ledger, charge, dataset, request, target)
    if target is not None:
        refuse_output(target)
    if model is not None:
        _refuse_overlap(model, records)
    hashes = [item for group in records.groups for item in identities(group)]
    if published is not None:
        _refuse_private_source(published, hashes)
    discrete_gaussian(mechanism.scale, 1)  # a machine without a sampler must fail before the charge, not after
    total = exact_sum(features_of, records)
    prior = None if published is None else _mean(features_of, published)
    # The number of fingerprints is part of the published chain: records that became zero rows have random ones.
    fingerprints = [ledger.fingerprint(item) for item in hashes]
    fingerprints += [secrets.token_bytes(16) for _ in range(n - records.readable)]

    charge = ledger.charge(
        dataset,
        identifier,
        mu_squared=mechanism.mu_squared,
        total_variation=mechanism.total_variation,
        request=request,
        fingerprints=fingerprints,
        disjoint=disjoint,
    )
    terms = PrivacyTerms(
        **promise,
        delta_slack=mechanism.delta_slack,
        form=str(records.form),
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


@dataclass(frozen=True)
class GraphFeatures:
    """From graphs to feature rows: by the sketch, or by a model's codes without cache and endpoint."""

    features: SketchFeatures | JointFeatures
    model: GLASS | None

    @property
    def batch(self) -> int:
        """Graphs that may be computed together without one row depending on another.

        The sketch is integer arithmetic on one graph. In a batch of a model the last bits of one graph's code may
        depend on the size of its neighbours in memory, and then replacing one graph would move more than one row.
        """
        return 512 if self.model is None else 1

    def __call__(self, graphs: GraphSet) -> NDArray[np.float64]:
        try:
            inputs: Any = graphs if self.model is None else local_codes(self.model, graphs)
            return self.features(inputs)
        except (ImportError, PrivacyError):
            raise  # of the installation or the model, whatever the records are
        except Exception:  # no record may stop a release: one that has no features is the zero row
            if len(graphs) > 1:
                return np.concatenate([self(graphs[i]) for i in range(len(graphs))])
            return np.zeros((1, self.features.dimension))

    def rows(self, records: PrivateRecords) -> Iterator[NDArray[np.float64]]:
        """Feature rows of the readable records, in batches."""
        for group in records.groups:
            for start in range(0, len(group), self.batch):
                yield self(group[start : start + self.batch])


def local_codes(model: GLASS, graphs: GraphSet) -> dict[str, NDArray[Any]]:
    """Codes that leave no trace: the embedding cache is neither read nor written, and no endpoint is asked."""
    from graphglass.glass.encoders.embedding_cache import private_encoding

    with private_encoding():
        return model.channel_embeddings(graphs)


def feature_map(
    model: GLASS | None,
    features: SketchFeatures | JointFeatures | None,
    references: int,
    epsilon: float,
    delta: float,
    graphs_per_subject: int,
) -> GraphFeatures:
    """The map a release of so many references uses; see :func:`release`."""
    if model is None:
        if isinstance(features, JointFeatures):
            raise ParameterError("release", "features", "a sketch, or a map of codes with a model", features)
        sketch = features or SketchFeatures.for_budget(references, epsilon, delta, graphs_per_subject)
        return GraphFeatures(sketch, None)
    if isinstance(features, SketchFeatures):
        raise ParameterError("release", "features", "a map of codes; the sketch needs no model", features)
    return GraphFeatures(features or default_features(model.embedder_.slices), model)


def default_features(slices: Sequence[int]) -> JointFeatures:
    """The paper's map over the model's share of the main channels, or over all its channels if it has none of them."""
    every = tuple((f"{view}:{size}", size) for view in ("graph", "text") for size in slices)
    return JointFeatures(tuple(channel for channel in MAIN_CHANNELS if channel in every) or every)


def exact_sum(features_of: GraphFeatures, records: PrivateRecords) -> NDArray[np.int64]:
    """Sum of the integer features, (P,)."""
    total = np.zeros(features_of.features.dimension, np.int64)
    for rows in features_of.rows(records):
        total += to_grid(rows).sum(axis=0)
    return total


def _mean(features_of: GraphFeatures, published: PrivateRecords) -> NDArray[np.float64]:
    """The mean feature of public graphs."""
    if not published.readable:
        raise InputError("No record of the public graphs has the declared form. Leave --public out, or repair them.")
    return np.asarray(np.sum([rows.sum(axis=0) for rows in features_of.rows(published)], axis=0) / published.readable)


def _records(source: object, form: RecordForm | None, model: GLASS | None) -> PrivateRecords:
    if isinstance(source, PrivateRecords):
        return source
    return read_records(source, form, whole=model is not None)


def _digest(source: PrivateRecords) -> str:
    """sha256 over the public graphs rather than their mean feature, whose last bits differ between machines."""
    hashes = sorted(item for group in source.groups for item in group.content_hashes())
    return hashlib.sha256("".join(hashes).encode()).hexdigest()


def _refuse_private_source(published: PrivateRecords, hashes: list[str]) -> None:
    """The mean of the public graphs is published without noise."""
    private = set(hashes)
    shared = sum(item in private for group in published.groups for item in identities(group))
    if shared:
        raise PrivacyError(
            f"{shared} of the {published.count} public graphs are among the private ones, and the mean of public "
            "graphs is published without noise. Name public graphs that were chosen without the private ones; do not "
            "just remove these, for what is missing would show what is private."
        )


def _refuse_overlap(model: GLASS, records: PrivateRecords) -> None:
    trained = model.training_hashes()
    shared = [
        name
        for group in records.groups
        for name, digest in zip(group.ids, group.content_hashes(), strict=True)
        if digest in trained
    ]
    if shared:
        names = "record " + ", ".join(shared[:3]) + (", ..." if len(shared) > 3 else "")
        raise PrivacyError(
            f"{len(shared)} of the reference graphs are part of the model ({names}): it was trained on them, or was "
            "given them as references (with_references, `glass references MODEL replace`), whose labels decide which "
            "columns the encoder reads. It would show them without noise. Release from the model as it was trained, "
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
    if os.path.islink(path):
        raise InputError(f"{path} is a link. Name the file itself.")
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
