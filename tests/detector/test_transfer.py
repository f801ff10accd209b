"""What GLASS reads of graphs from another domain."""

import copy
from dataclasses import replace

import numpy as np
import pytest

from graphglass import GLASS
from graphglass.errors import ParameterError
from graphglass.glass.prompt.graphdp import PromptContext


@pytest.fixture(scope="module")
def domains(normals):
    return {"one": normals[:12], "two": normals[12:24]}


def relabelled(graphs):
    return replace(graphs, node_labels=(graphs.node_labels + 1) % 7)


@pytest.fixture(scope="module")
def fitted(domains):
    return {
        features: GLASS(encoder="numeric", epochs=1, features=features).fit(domains)
        for features in ("kept", "structure")
    }


def test_labels_of_another_domain_count_unless_structure_alone_is_asked_for(fitted, queries):
    other = relabelled(queries)
    for features, detector in fitted.items():
        same = np.allclose(detector.decision_function(queries), detector.decision_function(other), atol=1e-9)
        assert same == (features == "structure")


def test_a_reference_of_a_pooled_domain_is_its_own_nearest(fitted, domains):
    """References and queries are put into the same columns."""
    codes = fitted["kept"]._queries(domains["two"], fitted["kept"].scorer_).codes["graph:64"]
    known = fitted["kept"].references_.codes["graph:64"][12:]
    np.testing.assert_allclose(codes, known, atol=1e-6)


def test_prompts_name_the_regime_of_transfer(fitted, queries, monkeypatch):
    seen: list[PromptContext] = []
    detector = fitted["kept"]

    def record(encoder, structure, context, **_):
        seen.append(context)
        return np.eye(1024, dtype=np.float32)[np.zeros(len(structure), int)]

    monkeypatch.setattr("graphglass.glass.embedder.text_anchors", record)
    target = copy.copy(detector).set_params(domain="protein")
    for one in (detector, target):
        one._queries(queries[:2], one.scorer_)
        one._queries(queries[:2], one.scorer_, trusted=True)
    target.with_references(queries[:2])
    assert [(one.domain, one.phase, one.source_domain, one.trusted_normal) for one in seen] == [
        ("graph", "zero-shot-query", "graph", None),
        ("graph", "few-shot-reference", None, True),
        ("protein", "zero-shot-query", "graph", None),
        ("protein", "few-shot-reference", None, True),
        ("protein", "single-reference", None, None),
    ]


def test_an_unknown_choice_of_features_is_refused():
    with pytest.raises(ParameterError, match="kept, structure"):
        GLASS(features="some").settings()
