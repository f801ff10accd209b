"""Graphs to try a service with: some of its references, and copies of them that are made unusual."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from graphglass.graphs.graph_set import GraphSet
from graphglass.graphs.readers.json_lines import json_records


def example_records(references: GraphSet) -> list[dict[str, Any]]:
    """Node-link records of the references, then one of them with a hub, and one as a chain."""
    records = list(json_records(references))
    largest = max(records, key=lambda record: len(record["nodes"]))
    return [*records, _changed(largest, "with a hub", hub=True), _changed(largest, "as a chain", hub=False)]


def _changed(record: dict[str, Any], what: str, *, hub: bool) -> dict[str, Any]:
    """The same nodes, with edges from the first node to all others added, or with edges along the list alone."""
    names = [node["id"] for node in record["nodes"]]
    pairs = [(names[0], name) for name in names[1:]] if hub else list(pairwise(names))
    like = next(iter(record["edges"]), None)
    label = {"label": like["label"]} if isinstance(like, dict) else {}
    added = [{"source": one, "target": two, **label} for one, two in pairs]
    return {**record, "id": f"{record['id']} {what}", "edges": [*record["edges"], *added] if hub else added}
