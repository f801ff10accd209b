import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphglass.errors import ParameterError, SchemaError
from graphglass.glass.network.schema import FeatureSchema, fit_schema, open_schema
from graphglass.graphs.canonical import canonical_graph_set
from graphglass.structure.profile import LTD_NAMES, profile


def triangle(labels=None, attributes=None, names=()):
    return canonical_graph_set(
        [3], [0, 1, 2], [1, 2, 0], node_labels=labels, attributes=attributes, attribute_names=names
    )


def schema_of(graphs, **options):
    return fit_schema(graphs, profile(graphs), **options)


def test_a_label_has_the_column_of_its_value_and_attributes_grow_from_the_end():
    graphs = triangle([7, 3, 7], [[1.0, 2.0]] * 3, ("a", "b"))
    schema = schema_of(graphs)
    assert schema.vocabulary == (3, 7)
    assert schema.layout(graphs).all.tolist() == [*range(9), 9 + 3, 9 + 7, 127, 126]
    assert schema.one_hot(graphs).tolist() == [[0, 1], [1, 0], [0, 1]]


def test_unknown_label_has_a_zero_row():
    schema = schema_of(triangle([3, 7, 9]))
    assert schema.one_hot(triangle([9, 8, 100])).tolist() == [[0, 0, 1], [0, 0, 0], [0, 0, 0]]
    assert schema.one_hot(triangle([-5, 3, 4])).tolist() == [[0, 0, 0], [1, 0, 0], [0, 0, 0]]


def test_attributes_are_matched_by_name():
    schema = schema_of(triangle(None, [[1.0, 2.0]] * 3, ("a", "b")))
    assert schema.attribute_values(triangle(None, [[1.0, 2.0]] * 3, ("b", "a"))).tolist() == [[2, 1]] * 3


@pytest.mark.parametrize(
    ("query", "message"),
    [
        (triangle([0, 1, 2]), "no attributes"),
        (triangle([0, 1, 2], [[1.0]] * 3, ("a",)), "1 attributes"),
        (triangle([0, 1, 2], [[1.0, 1.0]] * 3, ("a", "c")), "'c'"),
        (triangle(None, [[1.0, 2.0]] * 3, ("a", "b")), "with node labels"),
    ],
)
def test_other_features_are_refused(query, message):
    schema = schema_of(triangle([0, 1, 2], [[1.0, 2.0]] * 3, ("a", "b")))
    with pytest.raises(SchemaError, match=message):
        schema.layout(query)


def test_labels_on_an_unlabelled_model_are_refused():
    with pytest.raises(SchemaError, match="without node labels"):
        schema_of(triangle()).layout(triangle([1, 2, 3]))


def test_wide_attributes_fill_64_columns():
    wide = triangle([0, 1, 2], np.random.default_rng(0).normal(size=(3, 300)))
    schema = schema_of(wide)
    assert schema.attribute_values(wide).shape == (3, 64)
    assert schema.layout(wide).all.tolist() == [*range(12), *range(127, 63, -1)]
    assert len(schema.attribute_names) == 300


def test_of_too_many_labels_the_most_frequent_have_a_column():
    labels = [*range(200), *range(100, 200)]  # the upper half twice
    graphs = canonical_graph_set([300], np.arange(299), np.arange(1, 300), node_labels=labels)
    schema = schema_of(graphs)
    assert schema.vocabulary == (*range(19), *range(100, 200))
    assert schema.one_hot(graphs).sum() == 19 + 200


def test_exceeding_the_public_width_is_refused():
    with pytest.raises(SchemaError, match="128 public columns"):
        open_schema([profile(triangle())]).for_domain(range(120))


def test_reference_statistics_by_hand():
    graphs = triangle(None, [[1.0], [3.0], [5.0]], ("a",))
    schema = schema_of(graphs)
    # Every node of a triangle has degree 2 and no spread: the unit stays.
    assert schema.centre[0] == pytest.approx(np.log(3.0))
    assert schema.scale[0] == 1.0
    assert schema.centre[-1] == pytest.approx(3.0)
    assert schema.scale[-1] == pytest.approx(np.sqrt(8 / 3))
    view = schema.reference_view(np.full((1, 9), np.e - 1), np.zeros((1, 0)), np.array([[1e30]]))
    assert view[0, 0] == pytest.approx(1 - np.log(3.0))
    assert view[0, -1] == 100.0


@pytest.mark.parametrize("normalisation", ["graph", "reference", "both"])
def test_json_round_trip(normalisation):
    schema = schema_of(triangle([0, 1, 5], [[0.1], [0.2], [0.7]], ("a",)), normalisation=normalisation)
    assert FeatureSchema.from_json(json.loads(json.dumps(schema.to_json()))) == schema
    assert schema.input_width == (256 if normalisation == "both" else 128)


def test_json_without_a_field_is_refused():
    value = schema_of(triangle()).to_json()
    del value["centre"]
    with pytest.raises(SchemaError, match="centre"):
        FeatureSchema.from_json(value)


def test_unknown_normalisation_is_refused():
    with pytest.raises(ParameterError, match="normalisation"):
        schema_of(triangle(), normalisation="batch")


def test_open_schema_reads_any_domain_by_label_value():
    schema = open_schema([profile(triangle())])
    assert schema.layout(triangle()).all.tolist() == list(range(9))
    labelled = triangle([0, 4, 2], [[1.0]] * 3)
    assert schema.layout(labelled).all.tolist() == [*range(9), 9, 11, 13, 127]
    assert schema.layout(labelled).reference.tolist() == [*range(9), 9, 11, 13]
    assert schema.one_hot(labelled)[1].tolist() == [0, 0, 1]


def test_a_hashed_label_has_no_column_until_its_domain_is_declared():
    schema = open_schema([profile(triangle())])
    graphs = triangle([10**9, 5, 6])
    assert schema.one_hot(graphs).tolist() == [[0, 0], [1, 0], [0, 1]]
    declared = schema.for_domain([10**9, 5])
    assert declared.layout(graphs).all.tolist() == list(range(11))
    assert declared.one_hot(graphs).tolist() == [[0, 1], [1, 0], [0, 0]]


@settings(max_examples=30, deadline=None)
@given(labels=st.lists(st.integers(0, 118), min_size=3, max_size=3), missing=st.integers(0, 118))
def test_training_references_and_queries_share_one_placement(labels, missing):
    """Wherever a schema comes from, a label is put into the same public column."""
    graphs = triangle(labels)

    def columns(schema):
        filled = schema.layout(graphs).all[len(LTD_NAMES) :]
        return {
            int(label): int(filled[row.argmax()]) for label, row in zip(labels, schema.one_hot(graphs), strict=True)
        }

    opened = open_schema([profile(graphs)])
    placed = [schema_of(graphs), opened, opened.for_domain(labels), opened.for_domain([*labels, missing])]
    assert all(columns(schema) == {label: len(LTD_NAMES) + label for label in labels} for schema in placed)
    assert columns(schema_of(graphs).opened()) == columns(opened)


def test_every_domain_weighs_the_same_in_open_statistics():
    single = canonical_graph_set([1], [], [])
    many = profile(triangle())
    schema = open_schema([profile(single), many, many])
    assert schema.centre[0] == pytest.approx(2 / 3 * np.log(3.0))
