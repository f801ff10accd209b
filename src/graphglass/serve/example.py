"""Graphs to try a service with: some of its references, and graphs that are unlike them."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from graphglass.graphs.graph_set import GraphSet
from graphglass.serve import schemas
from graphglass.serve.graph_files import as_items

_MOLECULES = {
    "perfluorohexane": "FC(F)(F)C(F)(F)C(F)(F)C(F)(F)C(F)(F)C(F)(F)F",
    "ferrocene": "[CH-]1C=CC=C1.[CH-]1C=CC=C1.[Fe+2]",
}


def example_request(references: GraphSet) -> schemas.Graphs:
    """The references and, of molecules, two unusual ones; of other graphs, one with a hub, and one as a chain."""
    items = list(as_items(references, references.ids))
    if all("smiles" in item for item in items):
        more = [{"id": name, "smiles": smiles} for name, smiles in _MOLECULES.items()]
        return schemas.Graphs(smiles=[schemas.Molecule(**item) for item in (*items, *more)])
    records = [item for item in items if "smiles" not in item]
    largest = max(records, key=lambda record: len(record["nodes"]))
    changed = [_changed(largest, "with a hub", hub=True), _changed(largest, "as a chain", hub=False)]
    return schemas.Graphs(graphs=[*records, *changed])


def _changed(record: dict[str, Any], what: str, *, hub: bool) -> dict[str, Any]:
    """The same nodes, with edges from the first node to all others added, or with edges along the list alone."""
    names = [node["id"] for node in record["nodes"]]
    pairs = [(names[0], name) for name in names[1:]] if hub else list(pairwise(names))
    like = next(iter(record["edges"]), None)
    label = {"label": like["label"]} if isinstance(like, dict) else {}
    added = [{"source": one, "target": two, **label} for one, two in pairs]
    return {**record, "id": f"{record['id']} {what}", "edges": [*record["edges"], *added] if hub else added}
