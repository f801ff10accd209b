"""PyTorch Geometric data."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch_geometric.data import Batch, Data, HeteroData, InMemoryDataset
from torch_geometric.transforms import ToUndirected

from graphglass.errors import GraphError
from graphglass.graphs.read import read_graphs, read_report

EDGES = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])


def data(**changes: Any) -> Data:
    return Data(**{"x": torch.eye(3), "edge_index": EDGES, "y": torch.tensor([1]), **changes})


class Shelf(InMemoryDataset):
    def __init__(self, items: list[Data]) -> None:
        super().__init__()
        self.data, self.slices = self.collate(items)


def test_features_labels_and_classes() -> None:
    one_hot = torch.tensor([[1, 0], [1, 0], [0, 1], [0, 1]])
    elements = torch.tensor([[6, 6, 8], [6, 7, 8]])
    graphs = read_graphs([data(edge_attr=one_hot, z=row) for row in elements])
    assert graphs.ids == ("graph-0", "graph-1")
    assert graphs.attribute_names == ("attribute_0", "attribute_1", "attribute_2")
    assert graphs.edge_labels is not None
    assert graphs.edge_labels.tolist() == [0, 0, 1, 1] * 2
    assert graphs.node_labels is not None
    assert graphs.node_labels.tolist() == [6, 6, 8, 6, 7, 8]
    assert graphs.labels is not None
    assert graphs.labels.tolist() == [1, 1]
    assert not graphs.removed.any()


def test_single_list_batch_and_dataset_agree() -> None:
    items = [data(), data(x=torch.ones(3, 3))]
    wanted = read_graphs(items).content_hashes()
    assert read_graphs(Batch.from_data_list(items)).content_hashes() == wanted
    assert read_graphs(Shelf(items)).content_hashes() == wanted
    assert read_graphs(items[0]).content_hashes() == wanted[:1]
    assert read_graphs(iter(items)).content_hashes() == wanted


def test_isolated_nodes_and_plain_edges() -> None:
    graphs = read_graphs([Data(edge_index=EDGES, num_nodes=5), Data(edge_index=EDGES)])
    assert graphs.sizes.tolist() == [5, 3]
    assert graphs.attributes is None
    assert graphs.labels is None


def test_whole_and_continuous_edge_attributes() -> None:
    whole = read_graphs(data(edge_attr=torch.tensor([4.0, 4.0, 5.0, 5.0])))
    assert whole.edge_labels is not None
    assert whole.edge_labels.tolist() == [4, 4, 5, 5]
    assert read_graphs(data(edge_attr=torch.rand(4, 3))).edge_labels is None


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (data(edge_index=torch.tensor([[0], [3]])), r"an edge names node 3, but the nodes are 0..2"),
        (data(edge_index=torch.tensor([[0], [-1]])), "an edge names node -1"),
        (data(edge_index=torch.tensor([0, 1])), "shape (2, edges)"),
        (data(edge_index=torch.tensor([[0.5], [1.0]])), "whole numbers"),
        (data(x=torch.tensor([[float("nan")]] * 3)), "x of node 0 is NaN or infinite"),
        (data(x=torch.eye(3) * float("inf")), "NaN or infinite"),
        (data(x=torch.eye(2), num_nodes=3), "one row for each of the 3 nodes"),
        (data(x=torch.ones(3, 2)), "2 attributes"),
        (data(edge_attr=torch.ones(1)), "one row for each of the 4 edges"),
        (Data(x=torch.zeros(0, 3), edge_index=torch.zeros(2, 0, dtype=torch.long)), "no nodes"),
        (HeteroData(), "no nodes"),
    ],
)
def test_bad_data_is_left_out(bad: Data, reason: str) -> None:
    result = read_report([data(), data(), bad])
    assert result.graphs.ids == ("graph-0", "graph-1")
    assert result.rejects[0].position == 2
    assert reason in result.rejects[0].reason
    with pytest.raises(GraphError):
        read_graphs([data(), data(), bad], strict=True)


def hetero(papers: int, authors: int) -> HeteroData:
    graph = HeteroData(y=torch.tensor([1]), venue="x")
    graph["paper"].x = torch.arange(2.0 * papers).reshape(papers, 2)
    if authors:
        graph["author"].x = torch.full((authors, 1), 7.0)
        graph["author", "writes", "paper"].edge_index = torch.tensor([[0] * papers, list(range(papers))])
        graph["author", "writes", "paper"].edge_attr = torch.full((papers, 1), 0.5)
    graph["paper", "cites", "paper"].edge_index = torch.tensor([[0], [1]])
    return graph


def test_types_become_labels_and_keep_their_columns() -> None:
    graphs = read_graphs([hetero(3, 2), hetero(2, 0)], keep="venue")
    assert graphs.sizes.tolist() == [5, 2]
    assert [graphs.label_names[code] for code in graphs.node_labels.tolist()] == ["paper"] * 3 + ["author"] * 2 + [
        "paper"
    ] * 2
    assert graphs.attribute_names == ("paper_0", "paper_1", "author_0")
    assert graphs.attributes[3].tolist() == [0, 0, 7]
    assert graphs.attributes[4:6].tolist() == [[0, 0, 7], [0, 1, 0]]
    edges = graphs.edge_list()
    found = sorted(graphs.label_names[code] for code in edges.labels.tolist())
    assert found == ["author writes paper"] * 3 + ["paper cites paper"] * 2
    assert graphs.edge_attribute_names == ("author_writes_paper_0",)
    assert graphs.directed
    assert graphs.labels.tolist() == [1, 1]
    assert graphs.columns["venue"].tolist() == ["x", "x"]
    both = read_graphs(ToUndirected()(hetero(3, 2)))
    assert not both.directed
    assert {both.label_names[code] for code in both.edge_labels.tolist()} == {
        "author writes paper",
        "paper cites paper",
    }
    assert read_graphs(Batch.from_data_list([hetero(3, 2), hetero(3, 2)])).sizes.tolist() == [5, 5]
    broken = hetero(3, 2)
    broken["author"].x[0] = float("nan")
    assert "x of node 0 is NaN" in read_report(broken).rejects[0].reason
    broken = hetero(3, 2)
    broken["paper", "cites", "paper"].edge_index[0] = 9
    assert "leaves the 3 nodes of type 'paper'" in read_report(broken).rejects[0].reason


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda data: data["user", "buys", "item"].update({"edge_index": torch.tensor([[0], [3]])}), "the 2 nodes"),
        (lambda data: data["user", "buys", "shop"].update({"edge_index": torch.tensor([[0], [0]])}), "the 0 nodes"),
        (lambda data: data["user", "buys", "item"].update({"edge_index": torch.tensor([[0.5], [0]])}), "whole numbers"),
        (lambda data: data["user", "buys", "item"].update({"edge_attr": "text"}), "one row for each"),
        (lambda data: data["user"].update({"num_nodes": -1, "x": None}), "must not be negative"),
        (lambda data: data["user"].update({"num_nodes": 10**12, "x": None}), "max_nodes_per_graph"),
        (lambda data: data["item"].update({"x": torch.tensor(1.0)}), "do not fit together"),
        (lambda data: data["item"].update({"x": torch.ones(2, 1).to_sparse()}), "do not fit together"),
    ],
)  # fmt: skip
def test_a_hetero_graph_that_does_not_fit_is_rejected(change, reason):
    """An index past its own type must not be read as a node of the next one."""
    data = HeteroData()
    data["item"].x, data["user"].x = torch.ones(2, 1), torch.ones(3, 1)
    data["user", "buys", "item"].edge_index = torch.tensor([[0, 2], [1, 0]])
    other = data.clone()
    change(other)
    result = read_report([data, other])
    assert len(result.graphs) == 1
    assert reason in result.rejects[0].reason
