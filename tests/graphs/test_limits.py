"""Limits say what was found, what is allowed, and how to allow more."""

from __future__ import annotations

import pytest

from graphglass.errors import LimitError, ParameterError
from graphglass.graphs.limits import Limits


def test_the_message_names_the_setting() -> None:
    with pytest.raises(LimitError, match=r"Graphs: found 11, the limit max_graphs is 10.*Limits\(max_graphs=...\)"):
        Limits(max_graphs=10).check("max_graphs", 11, "Graphs")
    Limits(max_graphs=10).check("max_graphs", 10, "Graphs")


def test_one_graph_may_reach_but_not_pass_the_bound() -> None:
    limits = Limits(max_nodes_per_graph=5, max_edges_per_graph=7)
    assert limits.graph_excess(5, 7) is None
    assert limits.graph_excess(6, 7) == "6 nodes, the limit max_nodes_per_graph is 5"
    assert limits.graph_excess(5, 8) == "8 edges, the limit max_edges_per_graph is 7"


@pytest.mark.parametrize("value", [0, -1, 1.5])
def test_limits_are_positive_whole_numbers(value: float) -> None:
    with pytest.raises(ParameterError, match="max_nodes"):
        Limits(max_nodes=value)  # type: ignore[arg-type]
