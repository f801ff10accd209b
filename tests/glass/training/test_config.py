import json
from dataclasses import FrozenInstanceError, replace

import pytest

from graphglass.errors import ParameterError
from graphglass.glass.training.config import AUTHORS, TrainingConfig


def test_defaults_are_the_paper_settings():
    config = TrainingConfig()
    assert (config.epochs, config.learning_rate, config.final_learning_rate) == (150, 5e-5, 1e-6)
    assert (config.weight_decay, config.batch_size, config.gram_weight) == (1e-4, 64, 0.01)
    assert (config.prototypes, config.prototype_momentum, config.prototype_weight) == (8, 0.999, 0.3)
    assert (config.warmup_epochs, config.ramp_epochs, config.slices) == (20, 20, (64, 128, 256, 512))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("epochs", -1), ("epochs", 1.5), ("epochs", True), ("seed", -1), ("learning_rate", 0),
        ("learning_rate", float("nan")), ("prototype_weight", -0.1), ("prototype_weight", float("inf")),
        ("slices", ()), ("slices", (128, 64)), ("slices", (64, 64)), ("slices", (1,)), ("normalisation", "none"),
    ],
)  # fmt: skip
def test_values_outside_the_range_are_refused(name, value):
    with pytest.raises(ParameterError, match="TrainingConfig"):
        TrainingConfig(**{name: value})


def test_frozen_and_round_trip():
    config = TrainingConfig(epochs=3, slices=(16, 32))
    assert TrainingConfig.from_json(json.loads(json.dumps(config.to_json()))) == config
    with pytest.raises(FrozenInstanceError):
        config.epochs = 4
    with pytest.raises(ParameterError, match="speed"):
        TrainingConfig.from_json({"speed": 1})


def test_prototypes_can_be_switched_off():
    assert TrainingConfig().uses_prototypes
    assert not TrainingConfig(prototype_weight=0).uses_prototypes
    assert not TrainingConfig(epochs=20).uses_prototypes


def test_every_setting_has_the_fixed_values_and_not_the_device(monkeypatch):
    config = TrainingConfig(epochs=3)
    known = config.every_setting()
    assert known == replace(config, device="cuda").every_setting()
    monkeypatch.setattr(TrainingConfig, "gram_weight", 2.0)
    assert config.every_setting() == known | {"gram_weight": 2.0}


def test_details_of_the_authors_code():
    ours, theirs = TrainingConfig(), TrainingConfig(authors=AUTHORS)
    assert (ours.margin, theirs.margin) == (1.0, 0.5)
    assert [theirs.graphs_per_step(count) for count in (100, 256, 257)] == [100, 256, 64]
    assert TrainingConfig(authors=()).graphs_per_step(100) == 64
    assert TrainingConfig.from_json(json.loads(json.dumps(theirs.to_json()))) == theirs
    with pytest.raises(ParameterError, match="authors"):
        TrainingConfig(authors=("speed",))
