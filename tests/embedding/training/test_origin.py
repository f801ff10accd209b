from dataclasses import replace

import pytest
import torch

from graphglass.embedding.network.schema import fit_schema
from graphglass.embedding.trained_encoder import TrainedEncoder, new_encoder
from graphglass.embedding.training.config import TrainingConfig
from graphglass.structure.profile import profile


@pytest.fixture
def origin(make_graphs):
    graphs = make_graphs(count=4)
    schema = fit_schema(graphs, profile(graphs))

    def of(config):
        return TrainedEncoder(new_encoder(schema, (8, 16), config), schema, config=config).origin

    return of


def test_it_follows_seed_settings_and_fixed_values(origin, monkeypatch):
    config = TrainingConfig(epochs=3, slices=(8, 16))
    known = origin(config)
    assert known == origin(config) == origin(replace(config, device="cuda"))
    others = [origin(replace(config, **change)) for change in ({"seed": 1}, {"epochs": 4}, {"learning_rate": 1e-3})]
    monkeypatch.setattr(TrainingConfig, "margin", 2.0)
    assert len({known, *others, origin(config)}) == 5


def test_it_follows_how_the_initial_weights_are_drawn(origin, monkeypatch):
    """A second draw of the same layers, as a change of library once made it, is another network for the same seed."""
    config = TrainingConfig(epochs=3, slices=(8, 16))
    known = origin(config)
    plain = torch.nn.Linear.reset_parameters

    def twice(layer):
        plain(layer)
        plain(layer)

    monkeypatch.setattr(torch.nn.Linear, "reset_parameters", twice)
    assert origin(config) != known
