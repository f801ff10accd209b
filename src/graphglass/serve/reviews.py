"""Reviews that pages hold with a service: graphs come in parts, then marks, and each mark moves the ranking."""

from __future__ import annotations

import secrets
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from graphglass.detector.graphglass import GraphGlass
from graphglass.detector.review import Mark, Review
from graphglass.errors import InputError, LimitError
from graphglass.graphs.concatenation import concatenate
from graphglass.graphs.graph_set import GraphSet
from graphglass.serve import schemas
from graphglass.serve.request_graphs import ServeLimits
from graphglass.serve.service import Service

MOST_REVIEWS = 4  # held at once; of 5,000 graphs each they take about 100 MB


class UnknownReviewError(InputError):
    """A review that the service does not hold, or no longer."""


@dataclass
class _Pool:
    """Graphs of one review; the review itself begins with the first marks."""

    service: Service
    sets: list[GraphSet] = field(default_factory=list)
    ids: set[str] = field(default_factory=set)
    seconds: float = 0.0
    review: Review | None = None


class Reviews:
    """The last few reviews. Marks are kept by the pages: a review that was dropped is sent again, with its marks.

    Parameters
    ----------
    bounds : ServeLimits
    """

    def __init__(self, bounds: ServeLimits) -> None:
        self._bounds = bounds
        self._pools: OrderedDict[str, _Pool] = OrderedDict()

    def add(
        self, name: str | None, service: Service, read: tuple[GraphSet, list[schemas.Rejected]], seconds: float
    ) -> schemas.ReviewBegun:
        """Graphs that take this much estimated time to measure, for a review that is held, or for a new one."""
        graphs, rejected = read
        if name is None:
            if not isinstance(service.model, GraphGlass):
                raise InputError(
                    "A review learns from known anomalies, which only a GraphGlass model with references can."
                )
            pool = _Pool(service)
        else:
            pool = self._pool(name, service)
        if pool.review is not None:
            raise InputError("This review has begun, and takes no more graphs. Begin another one.")
        if twice := next((identifier for identifier in graphs.ids if identifier in pool.ids), None):
            raise InputError(f"Two graphs of this review have the id {twice!r}. Give every graph its own.")
        most, work = self._bounds.file_graphs, self._bounds.work_seconds
        if len(pool.ids) + len(graphs) > most or pool.seconds + seconds > work:
            raise LimitError(
                f"A review may hold {most} graphs that take {work:g} seconds to measure. Review fewer or smaller ones, "
                "or use `glass review`."
            )
        pool.sets.append(replace(graphs, node_names=None))
        pool.ids.update(graphs.ids)
        pool.seconds += seconds
        if name is None:  # graphs that were refused displace nobody's review
            name = secrets.token_urlsafe(16)
            self._pools[name] = pool
            if len(self._pools) > MOST_REVIEWS:
                self._pools.popitem(last=False)
        return schemas.ReviewBegun(review=name, graphs=len(pool.ids), rejected=rejected)

    def mark(self, name: str, service: Service, marks: Sequence[schemas.Mark]) -> schemas.ReviewAnswer:
        """Take marks and rank again; the first call measures the graphs. Marks of other graphs are left out."""
        pool = self._pool(name, service)
        if pool.review is None:
            if not pool.sets:
                raise InputError("This review holds no graph. Send graphs first.")
            assert isinstance(pool.service.model, GraphGlass)
            pool.review, pool.sets = Review(pool.service.model, concatenate(pool.sets)), []
        review = pool.review
        for mark in marks:
            review.take(Mark(**mark.model_dump()))
        following, ids = review.next(), review.ranking().ids
        return schemas.ReviewAnswer(
            ranking=[ids[place] for place in review.order],
            next=None if following is None else following.ids[0],
            marked=len(review.marks),
            found=list(review.found),
            conflicts=list(review.conflicts),
        )

    def _pool(self, name: str, service: Service) -> _Pool:
        pool = self._pools.get(name)
        if pool is None or pool.service.digest != service.digest:
            self._pools.pop(name, None)
            raise UnknownReviewError(
                "This review is no longer held: the model changed, the service started again, or newer reviews took "
                "its place. Send its graphs and marks again."
            )
        self._pools.move_to_end(name)
        return pool
