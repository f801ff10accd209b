"""Kernel detectors: the kernels against GraKeL, the detectors' contract."""

from __future__ import annotations

import warnings
from types import ModuleType

import numpy as np
import pytest
from numpy.typing import NDArray

from glassbench.baselines.histograms import histograms
from glassbench.baselines.kernels import (
    WLSVM,
    PropagationForest,
    PropagationSVM,
    WLForest,
    bin_offsets,
    cauchy_projection,
    propagated_codes,
)
from graphglass.errors import InputError, NotFittedError
from graphglass.graphs.datasets import load_dataset
from graphglass.graphs.graph_set import GraphSet

DETECTORS = (WLSVM, WLForest, PropagationSVM, PropagationForest)


@pytest.fixture(scope="module")
def molecules() -> GraphSet:
    return load_dataset("MUTAG")[:60].without_labels()


@pytest.fixture
def grakel() -> ModuleType:
    """The kernels of GraKeL, which has no release for Python 3.13 and newer."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pytest.importorskip("grakel.kernels")


def grakel_input(graphs: GraphSet) -> list[list[object]]:
    result: list[list[object]] = []
    for one in graphs:
        edges = {(int(a), int(b)): 1.0 for a, b in zip(one.end_nodes, one.neighbours, strict=True)}
        assert one.node_labels is not None
        result.append([edges, {i: int(label) for i, label in enumerate(one.node_labels)}])
    return result


def test_wl_kernel_equals_grakel(molecules: GraphSet, grakel: ModuleType) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        reference = grakel.WeisfeilerLehman(n_iter=3, normalize=True, base_graph_kernel=grakel.VertexHistogram)
        fitted = reference.fit_transform(grakel_input(molecules[:40]))
        unseen = reference.transform(grakel_input(molecules[40:]))
    kernel = WLSVM(rounds=3)
    known = kernel._histograms(molecules[:40])
    np.testing.assert_allclose(known.similarities(known), fitted, atol=1e-9)
    queries = kernel._histograms(molecules[40:], known.vocabulary)
    np.testing.assert_allclose(queries.similarities(known), unseen, atol=1e-9)


def test_propagation_kernel_equals_grakel(molecules: GraphSet, grakel: ModuleType) -> None:
    """With GraKeL's own random directions and shifts our bins give its kernel matrix."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        reference = grakel.Propagation(t_max=4, w=0.05, M="TV", random_state=3, normalize=True)
        expected = reference.fit_transform(grakel_input(molecules))

    def projection(labels: NDArray[np.int64], t: int) -> NDArray[np.float64]:
        columns = [reference._enum_labels[int(label)] for label in labels]
        return np.asarray(reference._u[t])[columns]

    codes = propagated_codes(molecules, projection, np.array(reference._b), 0.05)
    found = histograms(codes, molecules.node_offsets)
    np.testing.assert_allclose(found.similarities(found), expected, atol=1e-9)


def test_projection_depends_on_seed_round_and_label_alone() -> None:
    project = cauchy_projection(5)
    assert project(np.array([4, -2, 4]), 1)[0] == project(np.array([-2, 9, 4]), 1)[2]
    assert project(np.array([4]), 1) != project(np.array([4]), 2)
    assert project(np.array([4]), 1) != cauchy_projection(6)(np.array([4]), 1)
    values = project(np.arange(4000), 0)
    assert abs(np.median(values)) < 0.1  # a standard Cauchy has median 0 and quartiles at -1 and 1
    assert abs(np.quantile(values, 0.75) - 1) < 0.15
    offsets = bin_offsets(1, 5, 0.01)
    assert (offsets >= 0).all()
    assert (offsets < 0.01).all()


@pytest.mark.parametrize("make", DETECTORS)
def test_scores_are_inductive_and_repeatable(make: type[WLSVM], molecules: GraphSet) -> None:
    detector = make().fit(molecules[:40])
    together = detector.decision_function(molecules[40:])
    alone = np.concatenate([detector.decision_function(molecules[i]) for i in range(40, 60)])
    np.testing.assert_allclose(together, alone, atol=1e-9)
    np.testing.assert_array_equal(together, make().fit(molecules[:40]).decision_function(molecules[40:]))


@pytest.mark.parametrize("make", DETECTORS)
def test_stars_are_anomalous_among_molecules(make: type[WLSVM], molecules: GraphSet) -> None:
    from graphglass.graphs.canonical import canonical_graph_set
    from graphglass.graphs.concatenation import concatenate

    stars = [
        canonical_graph_set([n + 1], [0] * n, range(1, n + 1), ids=[f"s{n}"], node_labels=[5] + [6] * n,
                            edge_labels=[0] * n)
        for n in range(12, 22)
    ]  # fmt: skip
    detector = make().fit(molecules[:40])
    normal = detector.decision_function(molecules[40:])
    odd = detector.decision_function(concatenate(stars))
    assert (odd[:, None] > normal[None, :]).mean() > 0.9


@pytest.mark.parametrize("make", DETECTORS)
def test_misuse(make: type[WLSVM], molecules: GraphSet) -> None:
    with pytest.raises(NotFittedError):
        make().decision_function(molecules)
    with pytest.raises(InputError):
        make().fit(molecules[:0])


def test_settings_are_reported() -> None:
    assert WLSVM(nu=0.2).get_params() == {"rounds": 3, "nu": 0.2}
    assert PropagationSVM(width=0.5).get_params() == {"rounds": 5, "width": 0.5, "nu": 0.1}
    assert PropagationForest().get_params()["n_estimators"] == 100
