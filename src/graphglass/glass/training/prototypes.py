"""Spherical prototypes of the normal graphs and the energy that shapes the space around them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
import torch
from torch import Tensor, nn

from graphglass.glass.network.encoder import unit_rows

_CLUSTERING_ROUNDS = 20


class SphericalPrototypes(nn.Module):
    """K unit directions per slice, followed by a moving average, each with a learned positive concentration.

    The directions are buffers: they are placed once from normal graphs (:meth:`initialise`) and then move only by
    :meth:`follow`. Gradients reach the concentrations and, through the energy, the graph encoder. There are `count`
    prototypes (K) per slice; `momentum` is the share of the old direction that an update keeps. Concentrations start at
    `concentration` and are cut at `largest`.
    """

    def __init__(
        self,
        slices: Sequence[int],
        count: int = 8,
        momentum: float = 0.999,
        *,
        concentration: float = 1.0,
        largest: float = math.inf,
    ) -> None:
        super().__init__()
        self.slices = tuple(slices)
        self.count = count
        self.momentum = momentum
        self.largest = largest
        raw = math.log(math.expm1(concentration))  # softplus(raw) = concentration
        self.raw_concentrations = nn.Parameter(torch.full((len(self.slices), count), raw))
        for size in self.slices:
            self.register_buffer(f"directions_{size}", unit_rows(torch.ones(count, size)))

    @property
    def concentrations(self) -> Tensor:
        """kappa > 0, (slices, K)."""
        return nn.functional.softplus(self.raw_concentrations).clamp(max=self.largest)

    def directions(self, size: int) -> Tensor:
        """mu of one slice, (K, slice), unit rows."""
        directions = getattr(self, f"directions_{size}")
        assert isinstance(directions, Tensor)
        return directions

    @torch.no_grad()
    def initialise(self, rows: Mapping[int, Tensor], seed: int) -> None:
        """Place the directions by spherical k-means of normal rows, {slice: (graphs, slice)}."""
        for position, size in enumerate(self.slices):
            random = np.random.default_rng([seed, position])
            self.directions(size).copy_(spherical_means(rows[size], self.count, random))

    @torch.no_grad()
    def place_far_apart(self, rows: Mapping[int, Tensor]) -> None:
        """Place the directions at normal rows, {slice: (graphs, slice)}, each the farthest from those before it."""
        for size in self.slices:
            self.directions(size).copy_(farthest_points(rows[size], self.count))

    @torch.no_grad()
    def follow(self, rows: Mapping[int, Tensor]) -> None:
        """Move every direction towards the mean of the normal rows nearest to it by cosine; one without rows stays."""
        for size in self.slices:
            directions = self.directions(size)
            assigned = (rows[size] @ directions.T).argmax(dim=1)  # (graphs,)
            chosen = nn.functional.one_hot(assigned, self.count).to(directions.dtype)  # (graphs, K)
            counts = chosen.sum(dim=0)[:, None]
            means = (chosen.T @ rows[size]) / counts.clamp(min=1.0)
            moved = unit_rows(self.momentum * directions + (1.0 - self.momentum) * means)
            directions.copy_(torch.where(counts > 0, moved, directions))

    def energy(self, rows: Mapping[int, Tensor]) -> Tensor:
        """E_proto of every graph, summed over slices, (graphs,); low close to a prototype."""
        concentrations = self.concentrations
        energies = [
            prototype_energy(rows[size], self.directions(size), concentrations[position])
            for position, size in enumerate(self.slices)
        ]
        return torch.stack(energies).sum(dim=0)


def prototype_energy(rows: Tensor, directions: Tensor, concentrations: Tensor) -> Tensor:
    r"""Hard-assignment energy of one slice (eq:proto_energy).

    .. math:: E_\mathrm{proto}^{(s)}(G) = -\max_{1 \le j \le K} \kappa_j^{(s)} \langle z^{(s)}(G), \mu_j^{(s)} \rangle

    Shapes: rows (graphs, slice), directions (K, slice), concentrations (K,) -> (graphs,).
    """
    return -((rows @ directions.T) * concentrations).amax(dim=1)


def prototype_loss(normal: Tensor, perturbed: Tensor, margin: float) -> Tensor:
    r"""Compactness of normal energies plus a margin to perturbed ones (eq:proto_loss).

    .. math::
        \frac{1}{|B|} \sum_{G \in B} \Big\{ \log\cosh E(G) + \big[m - (E(G^-) - E(G))\big]_+ \Big\}

    The energies of normal graphs and of their perturbations, (graphs,), are compared pair by pair.
    """
    size = normal.abs()
    # log cosh x = |x| + log(1 + exp(-2|x|)) - log 2 does not overflow.
    compact = size + torch.log1p(torch.exp(-2.0 * size)) - math.log(2.0)
    return (compact + torch.relu(margin - (perturbed - normal))).mean()


def spherical_means(rows: Tensor, count: int, random: np.random.Generator) -> Tensor:
    """Spherical k-means directions of unit rows, (count, slice).

    Starts from distant rows (k-means++ on cosine distance). With fewer distinct rows than prototypes some
    directions coincide, which is harmless: the energy takes a maximum.
    """
    chosen = [int(random.integers(len(rows)))]
    for _ in range(1, count):
        distance = (1.0 - rows @ rows[chosen].T).amin(dim=1).clamp(min=0.0).cpu().double().numpy()
        total = float(distance.sum())
        spread = distance / total if total > 1e-9 else np.full(len(rows), 1.0 / len(rows))
        chosen.append(int(random.choice(len(rows), p=spread)))
    directions = rows[chosen].clone()
    for _ in range(_CLUSTERING_ROUNDS):
        assigned = (rows @ directions.T).argmax(dim=1)
        members = nn.functional.one_hot(assigned, count).to(rows.dtype)
        filled = members.sum(dim=0)[:, None] > 0
        updated = torch.where(filled, unit_rows(members.T @ rows), directions)
        if torch.equal(updated, directions):
            break
        directions = updated
    return directions


def farthest_points(rows: Tensor, count: int) -> Tensor:
    """The first row, then always the row farthest by cosine from all chosen ones, (count, slice); rows may repeat."""
    chosen = [0]
    nearest = rows @ rows[0]
    for _ in range(1, count):
        chosen.append(int(nearest.argmin()))
        nearest = torch.maximum(nearest, rows @ rows[chosen[-1]])
    return rows[chosen]
