"""RecordForm: how every record of private graphs is read, declared before any of them is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphglass.errors import ParameterError
from graphglass.graphs.graph_set import GraphSet

LABEL_TYPES = ("any", "none", "number", "text")


@dataclass(frozen=True)
class RecordForm:
    """What a record may carry, and where it stands. All of it is public and chosen without the private records.

    With the defaults every record is read as it stands, by itself. A record that has another form than the one declared
    becomes the zero row.

    Attributes
    ----------
    node_label_type, edge_label_type : {"any", "none", "number", "text"}
        Which labels a record must have. ``any`` takes those it has, or none.
    directed : bool or None
        Whether edges have a direction; None takes what each record states.
    attributes : tuple of str or None
        The node attributes that a model reads; None takes those a record has. A sketch reads none.
    node_label, edge_label : str
        Properties or columns with the labels of nodes and edges.
    smiles_column : str or None
        Column of a table of molecules; None is the one called smiles, or the only one that ends so.
    graph_column, source_column, target_column : str
        Columns of an edge table.
    """

    node_label_type: str = "any"
    edge_label_type: str = "any"
    directed: bool | None = None
    attributes: tuple[str, ...] | None = None
    node_label: str = "label"
    edge_label: str = "label"
    smiles_column: str | None = None
    graph_column: str = "graph_id"
    source_column: str = "source"
    target_column: str = "target"

    def __post_init__(self) -> None:
        for name in ("node_label_type", "edge_label_type"):
            if getattr(self, name) not in LABEL_TYPES:
                raise ParameterError("RecordForm", name, f"one of {', '.join(LABEL_TYPES)}", getattr(self, name))

    def fits(self, record: GraphSet) -> bool:
        """Whether a record of one graph has the labels that the form declares."""
        found = ((record.node_labels, self.node_label_type), (record.edge_labels, self.edge_label_type))
        return all(wanted in ("any", _label_type(codes, record.label_names)) for codes, wanted in found)

    def to_json(self) -> dict[str, Any]:
        """The fields as plain values."""
        return asdict(self) | {"attributes": None if self.attributes is None else list(self.attributes)}

    def __str__(self) -> str:
        """The form in words, for the statement."""
        direction = {None: "as each record states", True: "every edge has one", False: "no edge has one"}[self.directed]
        parts = [
            f"node labels {self.node_label_type}", f"edge labels {self.edge_label_type}", f"direction {direction}",
            "attributes as each record has them" if self.attributes is None
            else f"attributes {', '.join(self.attributes) or 'none'}",
        ]  # fmt: skip
        plain = RecordForm()
        named = ("node_label", "edge_label", "smiles_column", "graph_column", "source_column", "target_column")
        parts += [f"{name} {getattr(self, name)}" for name in named if getattr(self, name) != getattr(plain, name)]
        return "; ".join(parts)


def _label_type(codes: NDArray[np.int64] | None, texts: Mapping[int, str]) -> str:
    if codes is None:
        return "none"
    text = {int(code) in texts for code in np.unique(codes)}
    return "mixed" if len(text) > 1 else "text" if True in text else "number"
