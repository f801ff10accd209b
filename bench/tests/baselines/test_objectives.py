"""The loss of every deep method, by hand or by a second, naive computation."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional as F

import glassbench.baselines as baselines
from glassbench.baselines.cvtgad import CrossView, kernel_attention, node_contrast
from glassbench.baselines.gladc import decoded_propagation, structure_error
from glassbench.baselines.glocalkd import distillation_error
from glassbench.baselines.muse import balanced_pair_loss, feature_errors, pair_error_summary, sample_owners
from glassbench.baselines.node_inputs import InputSchema, graph_batch
from glassbench.baselines.ocgin import OCGIN, OCGINNetwork, squared_distance
from glassbench.baselines.ocgtl import ParallelGIN, one_class_error, transformation_error
from glassbench.baselines.signet import DualHypergraph, bottleneck_factors, relative_importance
from glassbench.baselines.uniform import energy_gap, langevin
from graphglass.graphs.canonical import canonical_graph_set


@pytest.fixture
def path():
    """Two graphs: the path 0-1-2 and the edge 3-4."""
    graphs = canonical_graph_set([3, 2], [0, 1, 3], [1, 2, 4])
    return graph_batch(graphs, InputSchema.of(graphs, "constant", 0))


@pytest.fixture
def several(make_graphs):
    graphs = make_graphs(4, "clique", 0)
    return graph_batch(graphs, InputSchema.of(graphs, "degree", 0))


def dense_graphs(batch):
    """Adjacency matrix and rows of each graph."""
    whole = batch.adjacency.to_dense()
    for first, last in zip(batch.node_offsets[:-1], batch.node_offsets[1:], strict=True):
        yield whole[first:last, first:last], slice(first, last)


def test_ocgin_is_the_squared_distance_to_the_mean_of_the_untrained_readouts(several, make_graphs):
    assert squared_distance(torch.tensor([[3.0, 4.0]]), torch.tensor([0.0, 1.0])).item() == 18.0
    torch.manual_seed(0)
    graphs = make_graphs(4, "clique", 0)
    network = OCGINNetwork(InputSchema.of(graphs, "degree", 0), OCGIN(hidden=4, layers=2))
    with torch.no_grad():
        expected = network.embed(several).mean(0)
        network.prepare(graph_batch(graphs, InputSchema.of(graphs, "degree", 0)))
    torch.testing.assert_close(network.centre, expected)
    assert not any(name.endswith("bias") for name, _ in network.named_parameters())


def test_glocalkd_by_hand(path):
    student = torch.tensor([[1.0, 0.0], [0.0, 0.0], [3.0, 0.0], [1.0, 1.0], [0.0, 0.0]])
    teacher = torch.zeros(5, 2)
    # nodes: mean over columns 0.5, 0, 4.5 | 1, 0; graphs: max is (3, 0) and (1, 1)
    expected = torch.tensor([4.5 + 2 * 5 / 3, 1 + 2 * 0.5])
    torch.testing.assert_close(distillation_error(student, teacher, path, balance=2.0), expected)


def test_ocgtl_by_hand():
    views = torch.tensor([[[3.0, 4.0], [0.0, 1.0]]])  # one graph, two views
    assert one_class_error(views, torch.zeros(2)).item() == 6.0
    reference = torch.tensor([[1.0, 0.0]])
    # cosines: view 1 to reference .6, view 2 to reference 0, between views .8
    expected = math.log(math.exp(0.6) + math.exp(0.8)) - 0.6 + math.log(1 + math.exp(0.8))
    assert transformation_error(views, reference, 1.0).item() == pytest.approx(expected, rel=1e-6)


def test_parallel_gins_are_separate_gins_without_additive_terms(several):
    torch.manual_seed(0)
    gins = ParallelGIN(several.features.shape[1], 4, 2, copies=3).eval()
    found = gins(several)
    closed = torch.eye(len(several.features)) + several.adjacency.to_dense()
    for k in range(3):
        x, out = several.features, []
        for layer in range(2):
            first = gins.enter.weight[4 * k : 4 * k + 4].T if layer == 0 else gins.weights[1, k]
            x = torch.relu(torch.relu(closed @ x @ first) @ gins.weights[2 * layer, k])
            out.append(torch.stack([x[rows].sum(0) for _, rows in dense_graphs(several)]))
        torch.testing.assert_close(found[:, k], torch.cat(out, 1), rtol=1e-4, atol=1e-4)
    assert not any("bias" in name for name, _ in gins.named_parameters())


@pytest.mark.parametrize("name", ["OCGIN", "OCGTL"])
def test_the_one_class_term_contracts(name, make_graphs):
    """Training draws normal graphs together; batch normalisation would keep their spread at every layer."""
    graphs = make_graphs(40, "ring", 0, labelled=False)
    spreads = []
    for steps in (1, 150):
        detector = getattr(baselines, name)(max_steps=steps, epochs=steps).fit(graphs)
        batch = graph_batch(graphs, detector.schema_)
        with torch.no_grad():
            network = detector.network_
            rows = network.embed(batch) if name == "OCGIN" else network.encoders(batch)[:, 1:]
            spreads.append(float((rows - network.centre).square().sum(-1).mean()))
        assert not any(isinstance(part, nn.BatchNorm1d) for part in network.modules())
    assert spreads[1] < 0.5 * spreads[0]


def test_signet_dual_hypergraph_averages_edges_through_their_ends(path):
    dual = DualHypergraph.of(path)
    assert (dual.tails.tolist(), dual.heads.tolist()) == ([0, 1, 3], [1, 2, 4])
    assert dual.owners.tolist() == [0, 0, 1]
    edges = torch.tensor([[6.0], [0.0], [9.0]], requires_grad=True)
    # node means: 6, 3, 0 | 9, 9; an edge averages itself and its two ends
    found = dual.spread(edges)
    torch.testing.assert_close(found.detach(), torch.tensor([[5.0], [1.0], [9.0]]))
    found[0].backward()
    # d/d e0 = (1 + 1/2 + 1) / 3, d/d e1 = (1/2) / 3
    torch.testing.assert_close(edges.grad, torch.tensor([[2.5 / 3], [0.5 / 3], [0.0]]))


def test_signet_bottleneck_scales_by_a_softmax_per_graph(path):
    logits = torch.tensor([0.0, math.log(2.0), 0.0, 1.0, 1.0])
    importance = relative_importance(logits, path)
    torch.testing.assert_close(importance[:3], logits[:3].softmax(0) / logits[:3].softmax(0).max())
    torch.testing.assert_close(importance[3:], torch.ones(2))
    torch.testing.assert_close(bottleneck_factors(importance), torch.tensor([1.0, 1.025, 1.0, 1.025, 1.025]))


def test_gladc_decoder_and_structure_error_agree_with_dense_pairs(several):
    torch.manual_seed(0)
    z = torch.randn(len(several.features), 3).softmax(1).sqrt()
    x = torch.randn(len(several.features), 2)
    spread, error = decoded_propagation(z, several)(x), structure_error(z, several)
    for i, (adjacency, rows) in enumerate(dense_graphs(several)):
        decoded = z[rows] @ z[rows].T
        torch.testing.assert_close(spread[rows], decoded @ x[rows] / decoded.sum(1, keepdim=True))
        absent = (adjacency == 0) & ~torch.eye(len(adjacency), dtype=torch.bool)
        expected = ((1 - decoded[adjacency == 1]) ** 2).mean() + (decoded[absent] ** 2).mean()
        torch.testing.assert_close(error[i], expected / 2)


def test_muse_pair_summary_agrees_with_dense_cross_entropy(several):
    torch.manual_seed(0)
    z = torch.randn(len(several.features), 3)
    mean, spread = pair_error_summary(z, several)
    for i, (adjacency, rows) in enumerate(dense_graphs(several)):
        known = adjacency + torch.eye(len(adjacency))
        errors = F.binary_cross_entropy_with_logits(z[rows] @ z[rows].T, known, reduction="none")
        torch.testing.assert_close(mean[i], errors.mean())
        torch.testing.assert_close(spread[i], errors.std(correction=0))


def test_muse_pair_loss_estimates_the_balanced_cross_entropy(several):
    torch.manual_seed(0)
    z = torch.randn(len(several.features), 3) / 2
    draws = [balanced_pair_loss(z, several, torch.rand(len(sample_owners(several)), 2)) for _ in range(400)]
    found, wobble = torch.stack(draws).mean(0), torch.stack(draws).std(0) / 20
    for i, (adjacency, rows) in enumerate(dense_graphs(several)):
        known = adjacency + torch.eye(len(adjacency))
        weight = (known == 0).sum() / known.sum()
        exact = F.binary_cross_entropy_with_logits(z[rows] @ z[rows].T, known, pos_weight=weight)
        assert abs(found[i] - exact) < 5 * wobble[i]  # five standard errors: wrong by chance once in a million


def test_muse_feature_error_is_one_minus_the_cosine():
    found = feature_errors(torch.tensor([[2.0, 0.0], [1.0, 1.0]]), torch.tensor([[1.0, 0.0], [-1.0, 1.0]]))
    torch.testing.assert_close(found, torch.tensor([0.0, 1.0]))


def test_cvtgad_node_contrast_by_hand():
    one = torch.tensor([[[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]], [[1.0, 0.0], [0.0, 0.0], [0.0, 0.0]]])
    real = torch.tensor([[True, True, False], [True, False, False]])
    # two orthogonal nodes, views equal: own similarity 1, other 0; the second graph has one node
    found = node_contrast(one, one, real, torch.tensor([2, 1]), 1.0)
    torch.testing.assert_close(found, torch.tensor([-1.0, 0.0]))
    # two nodes drawn from five: the one negative stands for four
    found = node_contrast(one[:1], one[:1], real[:1], torch.tensor([5]), 1.0)
    torch.testing.assert_close(found, torch.tensor([math.log(4) - 1]))


def test_cvtgad_kernel_attention_agrees_with_dense_weights(several):
    torch.manual_seed(0)
    queries, keys, values = torch.randn(3, len(several.features), 4)
    found = kernel_attention(queries, keys, values, several)
    for _, rows in dense_graphs(several):
        weights = (1 + F.elu(queries[rows])) @ (1 + F.elu(keys[rows])).T
        torch.testing.assert_close(found[rows], weights @ values[rows] / weights.sum(1, keepdim=True))


def test_cvtgad_kernel_attention_has_a_gradient_where_padded_places_have_none():
    """Each graph has a column of its own: padded places compare queries of one graph with keys of another, 0 / 0."""
    graphs = canonical_graph_set([2, 4], [0, 2, 3, 4], [1, 3, 4, 5])
    batch = graph_batch(graphs, InputSchema.of(graphs, "degree", 0))
    own = torch.where(batch.graph_of[:, None] == torch.arange(2), 1.0, -1000.0)
    queries, keys = own.clone().requires_grad_(), own.clone().requires_grad_()
    kernel_attention(queries, keys, torch.ones_like(own), batch).sum().backward()
    assert torch.isfinite(queries.grad).all()
    assert torch.isfinite(keys.grad).all()


def test_cvtgad_attention_weighs_by_the_other_view_and_reads_its_own(several):
    torch.manual_seed(0)
    attention = CrossView(4)
    one, two = torch.randn(2, 6, 4)
    found = attention.graphs([one, two])
    for i, (view, other) in enumerate([(one, two), (two, one)]):
        weights = (attention.queries[i](view) @ attention.keys[i](other).T / 2).softmax(dim=1)
        read = attention.project[i](weights @ attention.values[i](view))
        torch.testing.assert_close(found[i], attention.norms[i](view + read))
    nodes = list(torch.randn(2, len(several.features), 4))
    reached = attention.nodes(nodes, several)
    for i in (0, 1):
        read = kernel_attention(
            attention.queries[i](nodes[i]), attention.keys[i](nodes[1 - i]), attention.values[i](nodes[i]), several
        )
        torch.testing.assert_close(reached[i], attention.norms[i](nodes[i] + attention.project[i](read)))


def test_cvtgad_graph_attention_alone_reads_itself_and_the_references():
    torch.manual_seed(0)
    attention = CrossView(4)
    views = list(torch.randn(2, 6, 4))
    together = attention.graphs(views)
    alone = attention.graphs([v[:1] for v in views], [v[1:] for v in views])
    for one, all_of_them in zip(alone, together, strict=True):
        torch.testing.assert_close(one[0], all_of_them[0])


def test_muse_reads_attributes_beside_labels_and_all_layers(make_graphs):
    graphs = make_graphs(12, "ring", 0)
    random = np.random.default_rng(0)
    graphs = replace(
        graphs,
        attributes=random.normal(size=(graphs.node_count, 2)).astype(np.float32),
        attribute_names=("a", "b"),
    )
    other = replace(graphs, attributes=graphs.attributes[::-1].copy())
    detector = baselines.MUSE(epochs=2, hidden=8, layers=3, one_class_steps=2).fit(graphs)
    assert detector.schema_.width == 3 + 1 + 2
    assert detector.network_.feature_head[0].in_features == 3 * 8
    assert not np.allclose(detector.decision_function(graphs), detector.decision_function(other))
    assert baselines.OCGIN(max_steps=1).fit(graphs).schema_.width == 3 + 1


def test_uniform_energy_gap_and_langevin_steps_by_hand():
    found = energy_gap(torch.tensor([0.0]), torch.tensor([math.log(3.0)]))
    assert found.item() == pytest.approx(math.log(2) + math.log(4 / 3), rel=1e-6)
    start = torch.tensor([[2.0, -1.0]])
    # for the energy |h|^2 each step without noise multiplies by 1 - 2 * 0.1
    walked = langevin(start, lambda h: h.square().sum(1), steps=3, step=0.1, noise=0.0)
    torch.testing.assert_close(walked, start * 0.8**3)
    assert not walked.requires_grad
