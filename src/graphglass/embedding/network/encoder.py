"""GraphEncoder: graph inputs -> graph code -> unit rows per slice."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from graphglass.embedding.network.gin import GIN
from graphglass.embedding.network.graph_batch import GraphBatch
from graphglass.embedding.network.projections import SliceHeads
from graphglass.embedding.network.readout import mean_max
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
    """The trained graph side: canonical features, GIN, readout with spectral sketch, one head per slice.

    Parameters
    ----------
    input_width : int
        Public feature columns (128, or 256 with two normalisations side by side).
    slices : sequence of int
        Dimensions of the text slices to project on.
    hidden : int, default 128
        Width H of every layer; the graph code has 2 H + 11 entries.
    layers : int, default 3
    """

    def __init__(self, input_width: int, slices: Sequence[int], *, hidden: int = 128, layers: int = 3) -> None:
        super().__init__()
        sketch = len(SKETCH_NAMES)
        self.slices = tuple(slices)
        self.code_width = 2 * hidden + sketch  # D_g
        self.canonicalisation = Canonicalisation(input_width, hidden)
        self.network = GIN(hidden, hidden, layers, norm="inside", last_relu=False)
        self.sketch = nn.Linear(sketch, sketch)
        self.projections = SliceHeads(self.code_width, self.slices)

    def nodes(self, batch: GraphBatch) -> Tensor:
        """Node representations h^(L), (nodes, hidden)."""
        assert batch.columns is not None
        return self.network(self.canonicalisation(batch.features, batch.columns), batch.adjacency)[-1]

    def code(self, batch: GraphBatch) -> Tensor:
        """The graph code [readout; projected spectral sketch] of eq:graphcode, (graphs, 2 H + 11)."""
        return torch.cat([mean_max(self.nodes(batch), batch.sizes), self.sketch(batch.sketch)], dim=1)

    def forward(self, batch: GraphBatch) -> dict[int, Tensor]:
        """Unit rows per slice, {slice: (graphs, slice)}."""
        return self.projections(self.code(batch))
