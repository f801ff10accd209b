"""One summary from the releases of several sites."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from graphglass.errors import ParameterError, PrivacyError
from graphglass.privacy.private_summary import PrivateSummary


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
