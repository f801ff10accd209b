"""What requests and answers look like on the wire."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

Text = Annotated[str, Field(max_length=4000)]
Name = Annotated[str, Field(min_length=1, max_length=200)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)


class Molecule(_Strict):
    """A molecule as SMILES."""

    smiles: Text
    id: Name | None = None


class Graphs(_Strict):
    """Graphs as node-link records, molecules as SMILES, or both."""

    graphs: list[dict[str, Any]] = Field(
        default=[], description='Node-link records: {"id", "nodes": [{"id", "label"}], "edges": [[0, 1]]}'
    )
    smiles: list[Text | Molecule] = []


class ScoreRequest(Graphs):
    alpha: float = Field(default=0.05, gt=0, lt=1, description="Flag graphs whose p-value is at most this.")


class ExplainRequest(Graphs):
    neighbours: int = Field(default=3, ge=0, le=10)
    nodes: bool = Field(default=True, description="Attribute the score to nodes, at the cost of one scoring per node.")


class Rejected(BaseModel):
    position: int = Field(description="Counted from 0 over the request: node-link records, then molecules.")
    id: str
    reason: str


class Scored(BaseModel):
    id: str
    score: float
    rank: int
    p_value: float | None = Field(default=None, description="Absent where a private summary is served.")
    flagged: bool | None = None
    nodes: int
    edges: int


class ScoreAnswer(BaseModel):
    results: list[Scored]
    rejected: list[Rejected]
    model: str


class Drawing(BaseModel):
    """Places in the unit square, labels and edges of a graph."""

    places: list[tuple[float, float]]
    names: list[str]
    labels: list[str]
    edges: list[tuple[int, int]]
    attribution: list[float] | None = None
    shown: int
    total: int


class NeighbourAnswer(BaseModel):
    id: str
    similarity: float
    drawing: Drawing


class FieldAnswer(BaseModel):
    name: str
    value: float
    reference_median: float
    reference_low: float
    reference_high: float
    deviation: float
    words: str


class ExplainAnswer(BaseModel):
    id: str
    score: float
    p_value: float | None
    contributions: dict[str, float]
    drawing: Drawing
    neighbours: list[NeighbourAnswer]
    fields: list[FieldAnswer]
    place: tuple[float, float] | None
    rejected: list[Rejected]


class MapAnswer(BaseModel):
    """The references on the flat map of the sphere."""

    ids: list[str]
    places: list[tuple[float, float]]


class ReferenceAnswer(BaseModel):
    """A page of the ``listed`` references; scores are measured against ``total``, more where the set is indexed."""

    total: int
    listed: int
    references: list[dict[str, str | float]]


class ChangeAnswer(BaseModel):
    total: int
    changed: list[str]
    rejected: list[Rejected] = []


class ModelAnswer(BaseModel):
    kind: str
    preset: str | None
    domain: str | None
    text_encoder: str | None
    channels: list[str]
    references: int
    private: bool
    statement: str | None
    smallest_p_value: float | None
    carries: list[str]
    fingerprint: str
    graphs_per_request: int
