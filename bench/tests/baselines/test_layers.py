"""Layers against dense algebra."""

import torch

from glassbench.baselines.layers import GCN, normalised, padded_block, pool, size_blocks
from glassbench.baselines.node_inputs import InputSchema, graph_batch


def batch_of(graphs):
    return graph_batch(graphs, InputSchema.of(graphs, "degree", 0))


def test_pooling_reduces_each_graph_and_has_gradients(make_graphs):
    batch = batch_of(make_graphs(3, "ring", 0))
    x = torch.randn(len(batch.features), 2, requires_grad=True)
    parts = torch.split(x, batch.sizes.tolist())
    torch.testing.assert_close(pool(x, batch), torch.stack([p.sum(0) for p in parts]))
    torch.testing.assert_close(pool(x, batch, "mean"), torch.stack([p.mean(0) for p in parts]))
    torch.testing.assert_close(pool(x, batch, "max"), torch.stack([p.max(0).values for p in parts]))
    pool(x, batch, "mean").sum().backward()
    torch.testing.assert_close(x.grad, (1 / batch.sizes)[batch.graph_of][:, None].expand(-1, 2))


def test_convolutions_agree_with_dense_ones_whichever_side_is_narrower(make_graphs):
    batch = batch_of(make_graphs(2, "ring", 0))
    root = (batch.degrees + 1).rsqrt()
    dense = (batch.adjacency.to_dense() + torch.eye(len(root))) * root[:, None] * root
    for width in (2, 9):
        gcn = GCN(batch.features.shape[1], width)
        expected = dense @ batch.features @ gcn.maps[0].weight.T + gcn.maps[0].bias
        torch.testing.assert_close(gcn(batch.features, normalised(batch)), expected)


def test_padding_and_blocks_lose_no_node(make_graphs):
    batch = batch_of(make_graphs(9, "ring", 3))
    x = torch.randn(len(batch.features), 3)
    groups = list(size_blocks(batch.sizes, pairs=2500))
    assert sorted(torch.cat(groups).tolist()) == list(range(9))
    assert all(len(g) == 1 or len(g) * int(batch.sizes[g].max()) ** 2 <= 2500 for g in groups)
    rows, real = padded_block(x, batch, groups[0])
    torch.testing.assert_close(rows[real], torch.cat([x[batch.graph_of == g] for g in groups[0]]))
    assert not rows[~real].any()
