"""GraphEncoder: graph inputs -> graph code -> unit rows per slice."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from graphglass.embedding.network.features import GraphInputs
from graphglass.embedding.network.gin import AGGREGATIONS, Aggregation, GraphIsomorphismNetwork, adjacency
from graphglass.embedding.network.projections import SliceHeads
from graphglass.embedding.network.readout import mean_max
from graphglass.errors import ParameterError
from graphglass.structure.profile import SKETCH_NAMES


class Canonicalisation(nn.Module):
    """The small MLP of eq:canon on zero-padded public columns.

    Zero columns add nothing to a linear layer, so the first product reads only the columns that are filled.
    """

    def __init__(self, width: int, hidden: int) -> None:
        super().__init__()
        self.first = nn.Linear(width, hidden)
        self.second = nn.Linear(hidden, hidden)

    def forward(self, features: Tensor, columns: Tensor) -> Tensor:
        """Canonical node features, (nodes, hidden)."""
        weight = self.first.weight.index_select(1, columns)  # (hidden, used)
        return self.second(torch.relu(nn.functional.linear(features, weight, self.first.bias)))


class GraphEncoder(nn.Module):
    """The trained graph view: canonical features, GIN, readout with spectral sketch, one head per slice.

    Parameters
    ----------
    input_width : int
        Public feature columns (128, or 256 when two normalisations stand side by side).
    slices : sequence of int
        Dimensions of the text slices to project on.
    hidden : int, default 128
        Width H of every layer; the graph code has 2 H + 11 entries.
    layers : int, default 3
    aggregation : {"sum", "mean"}, default "sum"
    """

    def __init__(
        self,
        input_width: int,
        slices: Sequence[int],
        *,
        hidden: int = 128,
        layers: int = 3,
        aggregation: Aggregation = "sum",
    ) -> None:
        super().__init__()
        if aggregation not in AGGREGATIONS:
            raise ParameterError("GraphEncoder", "aggregation", f"one of {AGGREGATIONS}", aggregation)
        sketch = len(SKETCH_NAMES)
        self.slices = tuple(slices)
        self.code_width = 2 * hidden + sketch  # D_g
        self.canonicalisation = Canonicalisation(input_width, hidden)
        self.network = GraphIsomorphismNetwork(hidden, layers, aggregation)
        self.sketch = nn.Linear(sketch, sketch)
        self.projections = SliceHeads(self.code_width, self.slices)

    def nodes(self, inputs: GraphInputs) -> Tensor:
        """Node representations h^(L), (nodes, hidden)."""
        return self.network(self.canonicalisation(inputs.features, inputs.columns), adjacency(inputs))

    def code(self, inputs: GraphInputs) -> Tensor:
        """The graph evidence code [readout; projected spectral sketch] of eq:graphcode, (graphs, 2 H + 11)."""
        return torch.cat([mean_max(self.nodes(inputs), inputs.sizes), self.sketch(inputs.sketch)], dim=1)

    def forward(self, inputs: GraphInputs) -> dict[int, Tensor]:
        """Unit rows per slice, {slice: (graphs, slice)}."""
        return self.projections(self.code(inputs))
