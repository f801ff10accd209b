"""FeatureSchema: which public column every node feature occupies, and how it is normalised."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphglass.errors import ParameterError, SchemaError
from graphglass.graphs.attributes import WIDEST, attribute_columns, narrow
from graphglass.graphs.graph_set import GraphSet
from graphglass.graphs.labels import columns_of, frequent
from graphglass.structure.profile import LTD_NAMES, StructureProfile

PUBLIC_WIDTH = 128  # columns a domain may fill; fixed in advance, so no data set can widen a model
Normalisation = Literal["graph", "reference", "both"]
NORMALISATIONS = ("graph", "reference", "both")
# Beyond this many deviations a value says "far outside" and nothing more; the bound keeps the network finite.
_FAR = 100.0


class Layout(NamedTuple):
    """Public columns of one domain."""

    all: NDArray[np.int64]  # LTD, labels, attributes
    reference: NDArray[np.int64]  # the columns that also have a reference view


@dataclass(frozen=True)
class FeatureSchema:
    """The features a model reads, in a fixed number of public columns.

    Columns 0..8 hold the local topology descriptors, one-hot node labels the columns after them, attributes the last
    columns from the right, and the columns between are zero. A label's column is its own value where all labels of the
    domain fit, and its rank among them otherwise (hashed names); this holds in training, for references and for
    queries of every regime. More attributes than :data:`~graphglass.graphs.attributes.WIDEST` are combined into that
    many columns. Labels and attributes that would overlap exceed the public width and are refused.
    """

    # Node labels that have a column; the one-hot row of any other label is zero. None in an open schema, where every
    # label has one whose value fits.
    vocabulary: tuple[int, ...] | None
    attribute_names: tuple[str, ...]
    labelled: bool  # whether graphs carry node labels
    # ``graph`` standardises every column over the nodes of its own graph (the paper),
    # which removes absolute scale. ``reference`` standardises log(1 + descriptor) and attributes with statistics of the
    # training graphs and leaves one-hot columns as they are. ``both`` gives the network the two side by side.
    normalisation: Normalisation
    centre: tuple[float, ...]  # reference statistics of the descriptors, then of the attributes
    scale: tuple[float, ...]
    # An open schema belongs to an encoder that reads several domains: any labels and attributes are read, and
    # attributes have no reference statistics because their meaning differs by domain.
    is_open: bool = False
    width: int = PUBLIC_WIDTH  # public columns of one view

    def __post_init__(self) -> None:
        if self.normalisation not in NORMALISATIONS:
            raise ParameterError("FeatureSchema", "normalisation", f"one of {NORMALISATIONS}", self.normalisation)
        labels = len(self.vocabulary) if self.vocabulary is not None else 0
        self._check_width(labels, len(self.attribute_names))

    @property
    def input_width(self) -> int:
        """Columns the encoder's first layer has: one public width per view."""
        return self.width * (2 if self.normalisation == "both" else 1)

    def for_domain(self, vocabulary: Sequence[int]) -> FeatureSchema:
        """An open schema that knows the labels of one domain; needed where they are not small integers."""
        return replace(self, vocabulary=tuple(sorted(set(vocabulary))), labelled=bool(vocabulary), is_open=True)

    def opened(self) -> FeatureSchema:
        """The schema for graphs of any domain."""
        if self.is_open:
            return replace(self, vocabulary=None)
        centre, scale = self.centre[: len(LTD_NAMES)], self.scale[: len(LTD_NAMES)]
        return FeatureSchema(None, (), False, self.normalisation, centre, scale, is_open=True, width=self.width)

    def layout(self, graphs: GraphSet) -> Layout:
        """The public columns that these graphs fill; refuses graphs the schema does not fit."""
        attributes = self._attribute_names(graphs)
        labels = self._labels(graphs)[1]
        self._check_width(len(labels), len(attributes))
        structural = np.concatenate([np.arange(len(LTD_NAMES)), len(LTD_NAMES) + labels])
        given = self.width - 1 - np.arange(min(len(attributes), WIDEST))
        everything = np.concatenate([structural, given])
        return Layout(everything, structural if self.is_open else everything)

    def one_hot(self, graphs: GraphSet) -> NDArray[np.float64]:
        """Node labels as indicator columns, (nodes, labels)."""
        vocabulary, _ = self._labels(graphs)
        rows = np.zeros((graphs.node_count, len(vocabulary)))
        if len(vocabulary) and graphs.node_labels is not None:
            columns = columns_of(graphs.node_labels, vocabulary)
            known = np.flatnonzero(columns < len(vocabulary))
            rows[known, columns[known]] = 1.0
        return rows

    def attribute_values(self, graphs: GraphSet) -> NDArray[np.float64]:
        """Attributes in the schema's order, (nodes, at most WIDEST)."""
        names = self._attribute_names(graphs)
        if graphs.attributes is None or not names:
            return np.zeros((graphs.node_count, 0))
        order = [graphs.attribute_names.index(name) for name in names]
        return narrow(graphs.attributes[:, order].astype(np.float64))

    def reference_view(
        self, descriptors: NDArray[np.float64], labels: NDArray[np.float64], attributes: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Features on the scale of the training graphs, bounded at 100 deviations."""
        values = [np.log1p(descriptors)] if self.is_open else [np.log1p(descriptors), attributes]
        scaled = (np.concatenate(values, axis=1) - np.asarray(self.centre)) / np.asarray(self.scale)
        np.clip(scaled, -_FAR, _FAR, out=scaled)
        split = len(LTD_NAMES)
        return np.concatenate([scaled[:, :split], labels, scaled[:, split:]], axis=1)

    def to_json(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return asdict(self)

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> FeatureSchema:
        """The schema that :meth:`to_json` wrote."""
        try:
            known: dict[str, Any] = {key: tuple(v) if isinstance(v, list) else v for key, v in value.items()}
            return cls(**known)
        except TypeError as error:
            raise SchemaError(f"A feature schema needs exactly the fields of FeatureSchema: {error}.") from error

    def _attribute_names(self, graphs: GraphSet) -> tuple[str, ...]:
        found = graphs.attribute_names if graphs.attributes is not None else ()
        if self.is_open or len(graphs) == 0:
            return found
        if set(found) != set(self.attribute_names):
            raise SchemaError(
                f"The model reads {_listed(self.attribute_names)}; the graphs carry {_listed(found)}. Give the graphs "
                "the attributes the model was trained on, or train a model on graphs like these."
            )
        return self.attribute_names

    def _labels(self, graphs: GraphSet) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The labels that have a column, ascending, and their columns counted from the first label column."""
        has_labels = graphs.node_labels is not None
        if not self.is_open and len(graphs) and has_labels != self.labelled:
            raise SchemaError(
                f"The model was trained on graphs {'with' if self.labelled else 'without'} node labels; these are "
                f"{'labelled' if has_labels else 'not labelled'}. Read them the way the training graphs were read."
            )
        room = _room(graphs, self.width)
        if self.vocabulary is None:
            present = np.unique(graphs.node_labels) if graphs.node_labels is not None else np.zeros(0, np.int64)
            present = present[(present >= 0) & (present < room)].astype(np.int64)
            return present, present
        vocabulary = np.asarray(self.vocabulary, np.int64)
        by_value = len(vocabulary) == 0 or (vocabulary[0] >= 0 and vocabulary[-1] < room)
        return vocabulary, vocabulary if by_value else np.arange(len(vocabulary))

    def _check_width(self, labels: int, attributes: int) -> None:
        columns = min(attributes, WIDEST)
        needed = len(LTD_NAMES) + labels + columns
        if needed > self.width:
            raise SchemaError(
                f"Node features must fit {self.width} public columns: {len(LTD_NAMES)} descriptors + {labels} node "
                f"labels + {columns} attributes need {needed}. Declare fewer labels; those left out have no column."
            )


def fit_schema(graphs: GraphSet, profile: StructureProfile, *, normalisation: Normalisation = "both") -> FeatureSchema:
    """The schema of one domain: its sorted label vocabulary, attributes, and reference statistics over all nodes."""
    values = np.concatenate([np.log1p(profile.descriptors), attribute_columns(graphs)], axis=1)
    return FeatureSchema(
        vocabulary=None if graphs.node_labels is None else frequent_labels(graphs),
        attribute_names=graphs.attribute_names if graphs.attributes is not None else (),
        labelled=graphs.node_labels is not None,
        normalisation=normalisation,
        centre=tuple(values.mean(axis=0).tolist()),
        scale=_scale(values.std(axis=0)),
    )


def frequent_labels(graphs: GraphSet) -> tuple[int, ...]:
    """The node labels that get a column, sorted: all of them, or the most frequent where there are too many."""
    if graphs.node_labels is None:
        return ()
    return tuple(frequent([graphs.node_labels], _room(graphs, PUBLIC_WIDTH)).tolist())


def _room(graphs: GraphSet, width: int) -> int:
    """Columns that the labels of these graphs may fill."""
    return width - len(LTD_NAMES) - min(len(graphs.attribute_names), WIDEST)


def open_schema(profiles: Sequence[StructureProfile], *, normalisation: Normalisation = "both") -> FeatureSchema:
    """The schema of an encoder for several domains; every domain has equal weight in the descriptor statistics."""
    domains = [np.log1p(profile.descriptors) for profile in profiles]
    mean = np.mean([values.mean(axis=0) for values in domains], axis=0)
    variance = np.maximum(np.mean([(values**2).mean(axis=0) for values in domains], axis=0) - mean**2, 0.0)
    return FeatureSchema(None, (), False, normalisation, tuple(mean.tolist()), _scale(np.sqrt(variance)), is_open=True)


def _scale(deviation: NDArray[np.float64]) -> tuple[float, ...]:
    # A column that is constant in training keeps its unit: a query that differs there must stay visible.
    return tuple(np.where(deviation > 1e-9, deviation, 1.0).tolist())


def _listed(names: tuple[str, ...]) -> str:
    return f"{len(names)} attributes {list(names[:6])}{'...' if len(names) > 6 else ''}" if names else "no attributes"
