"""Affine heads that place a graph code on the sphere of each text slice."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn


def unit_rows(rows: Tensor) -> Tensor:
    """Rows of unit length; a row without a direction becomes the first axis, as on the text side."""
    norms = torch.linalg.vector_norm(rows, dim=1, keepdim=True)
    directionless = norms <= torch.finfo(rows.dtype).tiny
    if bool(directionless.any()):
        axis = torch.zeros_like(rows[:1])
        axis[0, 0] = 1
        rows = torch.where(directionless, axis, rows)
        norms = torch.where(directionless, torch.ones_like(norms), norms)
    return rows / norms


class SliceHeads(nn.Module):
    r"""One affine projection per slice, normalised (eq:graphslice).

    .. math:: z^{(s)}(G) = \frac{W^{(s)} h_g(G) + b^{(s)}}{\lVert W^{(s)} h_g(G) + b^{(s)} \rVert_2}

    Shapes: code (graphs, width) -> {slice: (graphs, slice)}.
    """

    def __init__(self, width: int, slices: Sequence[int]) -> None:
        super().__init__()
        self.slices = tuple(slices)
        self.heads = nn.ModuleList(nn.Linear(width, size) for size in self.slices)

    @property
    def weights(self) -> list[Tensor]:
        """W of every head, (slice, width)."""
        return [head.get_parameter("weight") for head in self.heads]

    def forward(self, code: Tensor) -> dict[int, Tensor]:
        """Unit rows per slice."""
        return {size: unit_rows(head(code)) for size, head in zip(self.slices, self.heads, strict=True)}
