"""One way to train on source domains, score with their references, and put other references in, for every method.

GLASS keeps its encoders and swaps references. A training-free or kernel method has nothing to keep: new references
are a new fit. Across domains labels and attributes mean different things, so these methods then compare structure
alone; GLASS decides for itself what it reads (:meth:`graphglass.GLASS.for_any_domain`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphglass.bench.methods import KERNELS, TRAINING_FREE, factory
from graphglass.bench.source_models import SourceEncoders
from graphglass.graphs import GraphSet, concatenate


class SourceModel:
    """A method fitted on the normal graphs of one or more source datasets.

    Parameters
    ----------
    encoders : SourceEncoders, optional
        Where trained encoders are kept; without it every model is trained again, to the same scores.
    """

    def __init__(
        self, method: str, seed: int, sources: Mapping[str, GraphSet], encoders: SourceEncoders | None = None
    ) -> None:
        self._method, self._seed = method, seed
        self._pool = concatenate([_named(name, part.structure_only()) for name, part in sources.items()])
        detector: Any = factory(method)(seed)
        self._swaps = hasattr(detector, "with_references")
        if not self._swaps:
            self._detector: Any = detector.fit(self._pool)
        else:
            self._detector = detector.fit(dict(sources)) if encoders is None else encoders.fit(detector, sources)

    @property
    def takes_references(self) -> bool:
        """Whether references can be exchanged without training."""
        return self._swaps or self._method in TRAINING_FREE + KERNELS

    def zero_shot(self, queries: GraphSet) -> NDArray[np.float64]:
        """Scores against the source references."""
        scores: NDArray[np.float64] = self._detector.decision_function(
            queries if self._swaps else queries.structure_only()
        )
        return scores

    def matched(self, references: GraphSet, queries: GraphSet) -> NDArray[np.float64]:
        """Scores against target references alone."""
        detector = self._detector.with_references(references) if self._swaps else self._fresh(references)
        scores: NDArray[np.float64] = detector.decision_function(queries)
        return scores

    def extended(self, shots: GraphSet, queries: GraphSet) -> NDArray[np.float64]:
        """Scores against the source references and a few trusted target normals; call with growing `shots`.

        GLASS keeps what earlier calls added, so `shots` are those not added before.
        """
        named = _named("shot", shots)
        if self._swaps:
            self._detector.add_references(named)
            return self.zero_shot(queries)
        self._pool = concatenate([self._pool, named.structure_only()])
        scores: NDArray[np.float64] = self._fresh(self._pool).decision_function(queries.structure_only())
        return scores

    def _fresh(self, references: GraphSet) -> Any:
        return factory(self._method)(self._seed).fit(references)


def _named(prefix: str, graphs: GraphSet) -> GraphSet:
    return replace(graphs, ids=tuple(f"{prefix}/{identifier}" for identifier in graphs.ids))
