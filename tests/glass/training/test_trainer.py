from dataclasses import replace

import numpy as np
import pytest
import torch

from graphglass.errors import ArtifactError, GlassError, InputError, ParameterError
from graphglass.glass.trained_encoder import encode_graphs
from graphglass.glass.training import trainer
from graphglass.glass.training.config import AUTHORS, TrainingConfig
from graphglass.glass.training.trainer import Domain, learning_rate, prototype_weight, train
from graphglass.structure.profile import profile

CONFIG = TrainingConfig(epochs=6, slices=(8, 16), learning_rate=1e-3, seed=3)


@pytest.fixture(scope="module", autouse=True)
def small_runs():
    """The paper's fixed numbers, made small: every part of the schedule falls into six epochs."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {"warmup_epochs": 2, "ramp_epochs": 2, "hidden": 16, "batch_size": 8}.items():
            patch.setattr(TrainingConfig, name, value)
        yield


@pytest.fixture(scope="module")
def normals(make_graphs):
    return make_graphs(count=20, seed=1, labels=[0, 1, 2])


@pytest.fixture(scope="module")
def structure(normals):
    return profile(normals)


@pytest.fixture(scope="module")
def anchors(structure):
    """Directions that the structure determines, so that there is something to align with."""
    mixing = np.random.default_rng(0).standard_normal((structure.aggregates.shape[1], 16))
    return np.tanh(np.log1p(structure.aggregates) @ mixing).astype(np.float32)


@pytest.fixture(scope="module")
def uninterrupted(normals, structure, anchors):
    return train(Domain(normals, structure, anchors), CONFIG)


def same_bits(first, second):
    one, two = first.state(), second.state()
    return one.keys() == two.keys() and all(np.array_equal(one[name], two[name]) for name in one)


def test_alignment_falls_and_curves_are_complete(normals, structure, anchors):
    config = replace(CONFIG, epochs=30, prototype_weight=0.0)
    history = train(Domain(normals, structure, anchors), config).history
    assert len(history) == 30
    assert history.alignment[-1] < 0.5 * history.alignment[0]
    for loss, alignment, gram in zip(history.loss, history.alignment, history.gram, strict=True):
        assert loss == pytest.approx(alignment + 0.01 * gram, rel=1e-5)


def test_prototypes_follow_the_schedule(uninterrupted):
    history = uninterrupted.history
    assert history.prototype_weight == pytest.approx((0, 0, 0.15, 0.3, 0.3, 0.3))
    assert history.prototype[:2] == (0, 0)
    assert min(history.prototype[2:]) > 0


def test_a_seed_repeats_and_another_differs(normals, structure, anchors, uninterrupted):
    state = torch.get_rng_state(), np.random.get_state()[1].copy()  # noqa: NPY002
    again = train(Domain(normals, structure, anchors), CONFIG)
    assert torch.equal(torch.get_rng_state(), state[0])
    assert np.array_equal(np.random.get_state()[1], state[1])  # noqa: NPY002
    assert same_bits(again, uninterrupted)
    assert again.history == uninterrupted.history
    assert not same_bits(train(Domain(normals, structure, anchors), replace(CONFIG, seed=4)), uninterrupted)


@pytest.mark.parametrize("epoch", [0, 1, 2, 4, 5])
def test_interrupted_and_resumed_equals_uninterrupted(
    normals, structure, anchors, uninterrupted, tmp_path, monkeypatch, epoch
):
    step, calls = trainer._Run.step, []

    def interrupted(run, *arguments):
        calls.append(len(run.history))
        if calls.count(epoch) == 2:  # inside the epoch, after one of its steps
            raise KeyboardInterrupt
        return step(run, *arguments)

    monkeypatch.setattr(trainer._Run, "step", interrupted)
    with pytest.raises(KeyboardInterrupt):
        train(Domain(normals, structure, anchors), CONFIG, checkpoint_dir=tmp_path)
    monkeypatch.setattr(trainer._Run, "step", step)
    resumed = train(Domain(normals, structure, anchors), CONFIG, checkpoint_dir=tmp_path, resume=True)
    assert same_bits(resumed, uninterrupted)
    assert resumed.history == uninterrupted.history


def test_checkpoints_are_written_on_the_way_and_at_the_end(
    normals, structure, anchors, uninterrupted, tmp_path, monkeypatch
):
    monkeypatch.setattr(TrainingConfig, "checkpoint_every", 4)
    first = train(Domain(normals, structure, anchors), CONFIG, checkpoint_dir=tmp_path)
    finished = train(Domain(normals, structure, anchors), CONFIG, checkpoint_dir=tmp_path, resume=True)
    assert same_bits(first, uninterrupted)
    assert same_bits(finished, uninterrupted)


def test_resuming_another_run_is_refused(normals, structure, anchors, tmp_path):
    train(Domain(normals, structure, anchors), CONFIG, checkpoint_dir=tmp_path)
    with pytest.raises(ArtifactError, match="another configuration"):
        train(Domain(normals, structure, anchors), replace(CONFIG, epochs=7), checkpoint_dir=tmp_path, resume=True)
    with pytest.raises(ArtifactError, match="other training graphs"):
        train(Domain(normals, structure, anchors + 1), CONFIG, checkpoint_dir=tmp_path, resume=True)


def test_a_diverging_loss_is_named(normals, structure, anchors):
    config = replace(CONFIG, learning_rate=1e30)
    with pytest.raises(GlassError, match="Training diverged in epoch"):
        train(Domain(normals, structure, anchors), config)


def test_unusable_input_is_refused(normals, structure, anchors):
    with pytest.raises(InputError, match="at least 2"):
        train(Domain(normals[:1], structure[:1], anchors[:1]), CONFIG)
    with pytest.raises(InputError, match="one row per graph"):
        train(Domain(normals, structure, anchors[:-1]), CONFIG)
    with pytest.raises(InputError, match="NaN"):
        train(Domain(normals, structure, np.full_like(anchors, np.nan)), CONFIG)
    with pytest.raises(InputError, match="at least one domain"):
        train([], CONFIG)


def test_resuming_needs_a_folder_and_training_a_device(normals, structure, anchors):
    with pytest.raises(ParameterError, match="checkpoint_dir"):
        train(Domain(normals, structure, anchors), CONFIG, resume=True)
    with pytest.raises(ParameterError, match="device"):
        train(Domain(normals, structure, anchors), replace(CONFIG, device="abacus"))


def test_no_epochs_keep_the_initial_weights(normals, structure, anchors):
    untrained = train(Domain(normals, structure, anchors), replace(CONFIG, epochs=0))
    assert len(untrained.history) == 0
    assert not untrained.encoder.training


def test_slices_stop_at_the_anchor_dimension(normals, structure, anchors):
    trained = train(Domain(normals, structure, anchors[:, :12]), replace(CONFIG, epochs=1))
    assert trained.slices == (8, 12)


def test_graphs_of_one_node_train(anchors, make_graphs):
    lone = make_graphs(count=2, largest=1)
    trained = train(Domain(lone, profile(lone), anchors[:2]), CONFIG)
    assert np.isfinite(encode_graphs(trained, lone, profile(lone))[8]).all()


def test_one_encoder_reads_several_domains(normals, structure, anchors, make_graphs):
    other = make_graphs(count=10, seed=7, attributes=3)
    domains = [Domain(normals, structure, anchors), Domain(other, profile(other), anchors[:10])]
    trained = train(domains, CONFIG)
    assert trained.schema.is_open
    third = make_graphs(count=4, seed=8, labels=[0, 30], attributes=1)
    for graphs in (normals, other, third):
        rows = encode_graphs(trained, graphs, profile(graphs))
        assert np.allclose(np.linalg.norm(rows[16], axis=1), 1, atol=1e-6)
    named = trained.schema.for_domain([0, 30])
    assert encode_graphs(trained, third, profile(third), schema=named)[8].shape == (4, 8)


def test_schedules_by_hand(monkeypatch):
    for name, value in {"warmup_epochs": 20, "ramp_epochs": 20}.items():
        monkeypatch.setattr(TrainingConfig, name, value)
    config = TrainingConfig(epochs=100, learning_rate=3e-6)
    assert learning_rate(config, 0) == pytest.approx(3e-6)
    assert learning_rate(config, 50) == pytest.approx(2e-6)
    assert learning_rate(config, 100) == pytest.approx(1e-6)
    assert [prototype_weight(config, epoch) for epoch in (19, 20, 39, 99)] == pytest.approx([0, 0.015, 0.3, 0.3])


THEIRS = replace(CONFIG, authors=AUTHORS)


def test_the_authors_details_resume_to_the_same_bits(normals, structure, anchors, tmp_path, monkeypatch):
    """With dropout, whose draws belong to the epoch."""
    whole = train(Domain(normals, structure, anchors), THEIRS)
    step = trainer._Run.step

    def interrupted(run, *arguments):
        if len(run.history) == 4:
            raise KeyboardInterrupt
        return step(run, *arguments)

    monkeypatch.setattr(trainer._Run, "step", interrupted)
    with pytest.raises(KeyboardInterrupt):
        train(Domain(normals, structure, anchors), THEIRS, checkpoint_dir=tmp_path)
    monkeypatch.setattr(trainer._Run, "step", step)
    assert same_bits(train(Domain(normals, structure, anchors), THEIRS, checkpoint_dir=tmp_path, resume=True), whole)


@pytest.mark.parametrize("detail", AUTHORS)
def test_every_detail_changes_the_training(normals, structure, anchors, uninterrupted, detail):
    other = train(Domain(normals, structure, anchors), replace(CONFIG, authors=(detail,)))
    assert other.history != uninterrupted.history


def test_clipping_bounds_the_gradient(normals, structure, anchors, monkeypatch):
    lengths = []
    monkeypatch.setattr(torch.nn.utils, "clip_grad_norm_", lambda weights, most: lengths.append(most))
    train(Domain(normals, structure, anchors), replace(CONFIG, epochs=1, authors=("clipping",)))
    assert lengths == [1.0, 1.0, 1.0]
