"""The features a release sums: of the public sketch, or of a trained model's codes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from graphglass.errors import ParameterError
from graphglass.glass.joint_features import MAIN_CHANNELS, JointFeatures
from graphglass.graphs.graph_set import GraphSet
from graphglass.privacy.sketch_features import SketchFeatures

if TYPE_CHECKING:
    from graphglass.glass.estimator import GLASS


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
        inputs: Any = graphs if self.model is None else local_codes(self.model, graphs)
        return self.features(inputs)


def local_codes(model: GLASS, graphs: GraphSet) -> dict[str, NDArray[Any]]:
    """Codes that leave no trace: the embedding cache is neither read nor written, and no endpoint is asked."""
    from graphglass.glass.encoders.embedding_cache import private_encoding

    with private_encoding():
        return model.channel_embeddings(graphs)


def feature_map(
    model: GLASS | None,
    features: SketchFeatures | JointFeatures | None,
    references: GraphSet,
    epsilon: float,
    delta: float,
    graphs_per_subject: int,
) -> GraphFeatures:
    """The map a release uses; see :func:`graphglass.privacy.release.publish.release`."""
    if model is None:
        if isinstance(features, JointFeatures):
            raise ParameterError("release", "features", "a sketch, or a map of codes beside a model", features)
        sketch = features or SketchFeatures.for_budget(len(references), epsilon, delta, graphs_per_subject)
        return GraphFeatures(sketch, None)
    if isinstance(features, SketchFeatures):
        raise ParameterError("release", "features", "a map of codes; the sketch needs no model", features)
    return GraphFeatures(features or default_features(local_codes(model, references[0])), model)


def default_features(embeddings: Mapping[str, NDArray[Any]]) -> JointFeatures:
    """The paper's map over the model's share of the main channels, or over all its channels if it has none of them."""
    main = tuple(channel for channel in MAIN_CHANNELS if channel[0] in embeddings)
    every = tuple((name, int(rows.shape[1])) for name, rows in sorted(embeddings.items()))
    return JointFeatures(main or every)
