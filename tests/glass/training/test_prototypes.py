import math

import numpy as np
import pytest
import torch

from graphglass.glass.network.encoder import unit_rows
from graphglass.glass.training.prototypes import (
    SphericalPrototypes,
    farthest_points,
    prototype_energy,
    prototype_loss,
    spherical_means,
)


def drawn(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def test_energy_by_hand():
    rows = torch.tensor([[1.0, 0.0], [0.6, 0.8]])
    directions = torch.tensor([[1.0, 0.0], [0.0, 1.0]])
    energy = prototype_energy(rows, directions, torch.tensor([1.0, 2.0]))
    assert energy.tolist() == pytest.approx([-1.0, -1.6])


def test_energy_sums_over_slices():
    prototypes = SphericalPrototypes((2, 3), count=2)
    rows = {2: unit_rows(torch.ones(1, 2)), 3: unit_rows(torch.ones(1, 3))}
    assert prototypes.concentrations.detach().numpy() == pytest.approx(np.ones((2, 2)))
    assert prototypes.energy(rows).item() == pytest.approx(-2.0)


def test_loss_by_hand():
    normal, perturbed = torch.tensor([-1.0, 0.0]), torch.tensor([-0.5, 3.0])
    first = math.log(math.cosh(1.0)) + (1.0 - 0.5)
    assert prototype_loss(normal, perturbed, margin=1.0).item() == pytest.approx(first / 2)


def test_log_cosh_of_a_large_energy_is_finite():
    far = torch.tensor([-1000.0], requires_grad=True)
    loss = prototype_loss(far, far.detach() + 5, margin=1.0)
    loss.backward()
    assert loss.item() == pytest.approx(1000 - math.log(2))
    assert far.grad.item() == pytest.approx(-1.0)


def test_gradients():
    rows, concentrations = drawn(4, 3).requires_grad_(), (drawn(2).abs() + 0.5).requires_grad_()
    directions = unit_rows(drawn(2, 3, seed=1))
    other = unit_rows(drawn(4, 3, seed=2))

    def loss(a, b):
        return prototype_loss(
            prototype_energy(unit_rows(a), directions, b), prototype_energy(other, directions, b), margin=0.7
        )

    assert torch.autograd.gradcheck(loss, (rows, concentrations))


def test_moving_average_by_hand():
    prototypes = SphericalPrototypes((2,), count=2, momentum=0.5)
    prototypes.directions(2).copy_(torch.tensor([[1.0, 0.0], [-1.0, 0.0]]))
    prototypes.follow({2: torch.tensor([[0.6, 0.8], [0.6, -0.8], [0.0, 1.0]])})
    # All three rows are nearest to the first; their mean is (0.4, 1/3).
    expected = unit_rows(torch.tensor([[0.5 + 0.2, 0.5 / 3]]))
    assert torch.allclose(prototypes.directions(2)[:1], expected)
    assert prototypes.directions(2)[1].tolist() == [-1.0, 0.0]


def test_means_find_separate_bundles():
    random = np.random.default_rng(0)
    centres = np.eye(4)[:3]
    rows = unit_rows(torch.from_numpy(np.repeat(centres, 20, 0) + 0.05 * random.standard_normal((60, 4))))
    found = spherical_means(rows, 3, np.random.default_rng(1))
    similarity = (found @ torch.from_numpy(centres).T).amax(dim=0)
    assert (similarity > 0.99).all()
    assert torch.allclose(found.norm(dim=1), torch.ones(3, dtype=torch.float64))


def test_fewer_rows_than_prototypes():
    found = spherical_means(unit_rows(torch.ones(2, 3)), 8, np.random.default_rng(0))
    assert torch.allclose(found, unit_rows(torch.ones(8, 3)))


def test_initialising_is_repeatable_and_directions_take_no_gradient():
    rows = {3: unit_rows(drawn(30, 3)).float()}
    first, second = SphericalPrototypes((3,), 4), SphericalPrototypes((3,), 4)
    first.initialise(rows, seed=5)
    second.initialise(rows, seed=5)
    assert torch.equal(first.directions(3), second.directions(3))
    assert [name for name, _ in first.named_parameters()] == ["raw_concentrations"]


def test_concentrations_start_where_asked_and_are_cut():
    prototypes = SphericalPrototypes((2,), count=2, concentration=math.log(11), largest=50)
    assert prototypes.concentrations.detach().numpy() == pytest.approx(2.3979, abs=1e-4)
    with torch.no_grad():
        prototypes.raw_concentrations.fill_(80.0)
    assert prototypes.concentrations.tolist() == [[50, 50]]


def test_farthest_points_by_hand():
    turns = torch.deg2rad(torch.tensor([0.0, 10.0, 90.0, 200.0]))
    rows = torch.stack([turns.cos(), turns.sin()], dim=1)
    # From 0 the farthest is 200; then 90 is 90 and 110 degrees away from the two, 10 only 10; then 10 remains.
    assert torch.equal(farthest_points(rows, 4), rows[[0, 3, 2, 1]])
    assert torch.equal(farthest_points(rows[:1], 2), rows[[0, 0]])
