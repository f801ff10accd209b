"""What requests and answers look like on the wire."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, FailFast, Field, model_validator

MOST_FIELDS = 4096  # of one object
LONGEST_TEXT = 4000  # of a molecule as well, which is rejected by itself if it is longer
Text = Annotated[str, Field(max_length=LONGEST_TEXT)]
OWN_COLUMNS = "Values of your own, such as a name: returned with the result, never scored."
Name = Annotated[str, Field(min_length=1, max_length=200)]


class _Strict(BaseModel):
    """Told is the first fault of a request: a list of millions of them would hold everybody."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)

    @model_validator(mode="before")
    @classmethod
    def _few_fields(cls, value: object) -> object:
        if isinstance(value, dict):
            for found in (value, value.get("columns")):
                if isinstance(found, dict) and len(found) > MOST_FIELDS:
                    raise ValueError(f"an object may have {MOST_FIELDS} fields, found {len(found)}")
        return value


class Molecule(_Strict):
    """A molecule as SMILES."""

    smiles: str
    id: Name | None = None
    columns: dict[Name, Text | float | bool | None] = Field(default={}, description=OWN_COLUMNS)


class Graphs(_Strict):
    """Graphs as node-link records, molecules as SMILES, or both."""

    graphs: Annotated[list[dict[str, Any]], FailFast()] = Field(
        default=[], description='Node-link records: {"id", "nodes": [{"id", "label"}], "edges": [[0, 1]]}'
    )
    smiles: Annotated[list[str | Molecule], FailFast()] = []


class ScoreRequest(Graphs):
    alpha: float = Field(default=0.05, gt=0, lt=1, description="Flag graphs whose p-value is at most this.")


class ExplainRequest(Graphs):
    neighbours: int = Field(default=3, ge=0, le=10)
    nodes: bool = Field(default=True, description="Draw what each node and edge adds to the score.")


class Mark(_Strict):
    """What a reviewer said about one graph, as in a file of marks."""

    id: Name
    verdict: Literal["anomaly", "normal", "unsure"]
    reviewer: str = Field(default="", max_length=200)
    time: str = Field(default="", max_length=40)
    comment: Text = ""


class MarkRequest(_Strict):
    marks: list[Mark] = Field(default=[], max_length=20_000, description="In their order; a later one replaces others.")


class DriftRequest(_Strict):
    scores: list[float] = Field(min_length=1, max_length=20_000, description="In the order in which graphs arrived.")


class _Whole(BaseModel):
    """An answer in which no field is left out."""

    model_config = ConfigDict(json_schema_serialization_defaults_required=True)


class Rejected(BaseModel):
    position: int = Field(description="Counted from 0 over the request: node-link records, then molecules.")
    id: str
    reason: str


class Scored(BaseModel):
    id: str
    position: int = Field(
        description="Counted as for a rejected record: each record of a request has one or the other."
    )
    score: float
    rank: int
    p_value: float | None = Field(default=None, description="Absent for a private summary or a zero-shot model.")
    flagged: bool | None = None
    reference: bool = Field(default=False, description="Equals a reference, whose leave-one-out score it has.")
    known: bool = Field(default=False, description="Equals a known anomaly.")
    nodes: int
    edges: int
    columns: dict[str, Any] = Field(default={}, description=OWN_COLUMNS)


class ScoreAnswer(BaseModel):
    results: list[Scored]
    rejected: list[Rejected]
    model: str


class DriftAnswer(BaseModel):
    """Evidence that scores depend on the order of arrival; 100 is reached by chance in at most one of 100 streams."""

    evidence: list[float] = Field(description="After every score, as a power of ten; an alarm at 2 starts it again.")
    alarms: list[tuple[int, int]] = Field(description="Places of an alarm and of the probable beginning of the change.")


class Drawing(BaseModel):
    """A picture of a graph. Of a large graph the part around its most important node is drawn."""

    svg: str
    shown: int = Field(description="Nodes in the picture.")
    total: int = Field(description="Nodes of the graph.")


class NeighbourAnswer(BaseModel):
    """A normal reference or known anomaly near the graph."""

    id: str
    similarity: float
    families: dict[str, float] = Field(description="Similarity from 0 to 1 in every family of channels.")
    drawing: Drawing


class CauseAnswer(BaseModel):
    """One sentence, with the nodes and edges it is about; none of them where it is about the graph as a whole."""

    words: str
    share: float = Field(description="Percent of what raises the score.")
    nodes: list[int] = []
    edges: list[tuple[int, int]] = []


class ExplainAnswer(_Whole):
    id: str
    score: float
    p_value: float | None = None
    reference: bool = Field(default=False, description="A reference, compared with the others.")
    contributions: dict[str, float] = Field(description="By channel; they sum to the score.")
    shares: dict[str, float] = Field(default={}, description="Percent of what raises the score, by family of channels.")
    reasons: list[str] = Field(default=[], description="One sentence per cause, the strongest first.")
    drawing: Drawing
    neighbours: list[NeighbourAnswer] = []
    resembles: list[NeighbourAnswer] = Field(default=[], description="The nearest known anomalies.")
    causes: list[CauseAnswer] = Field(default=[], description="The reasons with their share of the score.")
    whole: float = Field(default=0.0, description="What of the score belongs to no node and no edge.")


class ReviewBegun(BaseModel):
    """Graphs that wait for a review."""

    review: str = Field(description="Names the review in later requests.")
    graphs: int
    rejected: list[Rejected] = []


class ReviewAnswer(_Whole):
    """A review after the marks so far."""

    ranking: list[str] = Field(
        description="Ids of all graphs, the most abnormal first by what is known now; copies of marked normals last."
    )
    next: str | None = Field(description="The first without a mark.")
    marked: int
    found: list[str] = Field(description="Ids of the anomalies found.")
    conflicts: list[str] = Field(description="Those of them that equal a normal reference; they teach nothing.")


class MapAnswer(BaseModel):
    """Positions of the references on a plane: the closer, the more similar."""

    ids: list[str]
    places: list[tuple[float, float]]
    anomaly_ids: list[str] = []
    anomaly_places: list[tuple[float, float]] = []


class PlaceAnswer(BaseModel):
    """Places of the graphs of a request on the map of the references."""

    ids: list[str]
    places: list[tuple[float, float]]
    rejected: list[Rejected] = []


class ReferenceAnswer(BaseModel):
    """A page of the ``listed`` references; scores are measured against ``total``, more where the set is indexed."""

    total: int
    listed: int
    references: list[dict[str, str | float]]


class AnomalyAnswer(BaseModel):
    """The known anomalies."""

    total: int
    anomalies: list[str]


class ChangeAnswer(BaseModel):
    total: int
    changed: list[str]
    rejected: list[Rejected] = []


class ModelAnswer(_Whole):
    kind: str
    method: str | None = None
    channels: list[str]
    references: int
    anomalies: int | None = Field(default=None, description="Known anomalies; absent where they are not supported.")
    private: bool
    statement: str | None = None
    smallest_p_value: float | None = None
    carries: list[str]
    fingerprint: str
    graphs_per_request: int


class TableColumns(BaseModel):
    """Names of the columns that hold the graphs of a table."""

    smiles_column: Name | None = None
    graph_column: Name | None = None
    source_column: Name | None = None
    target_column: Name | None = None
    id_column: Name | None = None


class FileAnswer(BaseModel):
    """The graphs of a file as other requests take them: node-link records, molecules as the SMILES of the file.

    ``columns`` of a graph are your own columns of the file.
    """

    format: str
    graphs: list[dict[str, Any]]
    rejected: list[Rejected]
