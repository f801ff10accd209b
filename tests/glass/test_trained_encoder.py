import json

import numpy as np
import pytest
import torch

from graphglass.errors import ArtifactError, SchemaError
from graphglass.glass.network.schema import fit_schema
from graphglass.glass.trained_encoder import TrainedEncoder, encode_graphs, new_encoder
from graphglass.glass.training.config import TrainingConfig
from graphglass.structure.profile import profile


@pytest.fixture(scope="module")
def trained(make_graphs):
    graphs = make_graphs(count=10, labels=[0, 1])
    schema = fit_schema(graphs, profile(graphs))
    config = TrainingConfig(epochs=0, slices=(8, 16))
    return TrainedEncoder(new_encoder(schema, (8, 16), config).eval(), schema, config=config)


def test_rows_do_not_depend_on_the_batch(trained, make_graphs):
    graphs = make_graphs(count=12, seed=9, labels=[0, 1, 7])
    structure = profile(graphs)
    rows = encode_graphs(trained, graphs, structure)
    assert {size: part.shape for size, part in rows.items()} == {8: (12, 8), 16: (12, 16)}
    assert all(part.dtype == np.float32 for part in rows.values())
    chosen = np.array([7, 2])
    some = encode_graphs(trained, graphs[chosen], structure[chosen])
    for size, part in some.items():
        assert np.abs(part - rows[size][chosen]).max() <= 1e-6


def test_a_small_edge_budget_gives_the_same_rows(trained, make_graphs, monkeypatch):
    graphs = make_graphs(count=12, seed=9, labels=[0, 1])
    wide = encode_graphs(trained, graphs, profile(graphs))
    monkeypatch.setattr(TrainingConfig, "edge_budget", 30)
    cut = encode_graphs(trained, graphs, profile(graphs))
    for size, rows in wide.items():
        assert np.abs(rows - cut[size]).max() <= 1e-6


def test_no_graphs_give_no_rows(trained, make_graphs):
    graphs = make_graphs(count=3, labels=[0, 1])[:0]
    rows = encode_graphs(trained, graphs, profile(graphs))
    assert {size: part.shape for size, part in rows.items()} == {8: (0, 8), 16: (0, 16)}


def test_other_features_are_refused(trained, make_graphs):
    graphs = make_graphs(count=3)
    with pytest.raises(SchemaError, match="node labels"):
        encode_graphs(trained, graphs, profile(graphs))


def test_restored_encoder_gives_the_same_bits(trained, make_graphs):
    graphs = make_graphs(count=5, labels=[0, 1])
    again = TrainedEncoder.restore(trained.state(), json.loads(json.dumps(trained.to_json())))
    for size, part in encode_graphs(again, graphs, profile(graphs)).items():
        assert np.array_equal(part, encode_graphs(trained, graphs, profile(graphs))[size])
    assert (again.config, again.schema, again.history) == (trained.config, trained.schema, trained.history)


def test_broken_weights_are_refused(trained):
    state = trained.state()
    name = "sketch.weight"
    state[name][0, 0] = np.nan
    with pytest.raises(ArtifactError, match=name):
        TrainedEncoder.restore(state, trained.to_json())
    del state[name]
    with pytest.raises(ArtifactError, match="do not fit"):
        TrainedEncoder.restore(state, trained.to_json())


def test_drawing_weights_leaves_the_global_generator_alone(trained):
    before = torch.get_rng_state()
    first, second = (new_encoder(trained.schema, (8,), trained.config) for _ in range(2))
    assert torch.equal(torch.get_rng_state(), before)
    assert all(torch.equal(a, b) for a, b in zip(first.parameters(), second.parameters(), strict=True))
