import networkx as nx
import numpy as np
import pytest
from scipy.special import comb
from scipy.stats import norm

from graphglass.structure.kernels.rayleigh import (
    DRAWN_NODES,
    NORMAL_QUANTILES,
    NORMAL_SQUARES,
    drawn_quantiles,
    laplacian_traces,
    moment_quantiles,
    probe_squares,
)
from graphglass.structure.profile import profile


def by_drawing(values):
    out = np.zeros(3)
    drawn_quantiles(values, *probe_squares(), out)
    return out


def by_moments(values):
    out = np.zeros(3)
    moment_quantiles(len(values), *((values**k).sum() for k in (1, 2, 3)), out)
    return out


@pytest.mark.parametrize("name", ["random 900", "tree 1200", "grid 600", "caveman", "star-like 1000", "parts"])
def test_drawing_and_moments_agree_at_the_switch(name, named, eigenvalues):
    graph = nx.convert_node_labels_to_integers(named(name).subgraph(range(DRAWN_NODES)))
    values = np.clip(eigenvalues(graph), 0, 2)
    drawn, settled = by_drawing(values), by_moments(values)
    deviation = (settled[2] - settled[0]) / (2 * NORMAL_QUANTILES[2])
    np.testing.assert_allclose(drawn, settled, atol=0.15 * deviation)
    assert deviation < 0.1


@pytest.mark.parametrize("n", [6, 40, 300])
def test_quantiles_equal_those_of_gaussian_probes_on_the_nodes(n, build):
    graph = nx.gnp_random_graph(n, 0.3, seed=n)
    laplacian = nx.normalized_laplacian_matrix(graph).toarray()
    probes = np.random.default_rng(0).standard_normal((n, 16 * 2000))
    quotients = ((laplacian @ probes) * probes).sum(axis=0) / (probes**2).sum(axis=0)
    expected = np.quantile(quotients.reshape(2000, 16), [0.1, 0.5, 0.9], axis=1).mean(axis=1)
    # 64 sets leave a standard error of about 0.04 deviations of one quotient.
    np.testing.assert_allclose(profile(build(graph)).sketch[0, 8:], expected, atol=0.2 * quotients.std())


@pytest.mark.parametrize("name", ["clique", "star", "two cliques", "random 500", "caveman", "parts", "no edges"])
def test_traces_equal_power_sums_of_the_spectrum(name, named, build, eigenvalues):
    graphs, values = build(named(name)), eigenvalues(named(name))
    *traces, complete = laplacian_traces(graphs.neighbour_offsets, graphs.neighbours, 10**9)
    np.testing.assert_allclose(traces, [values.sum(), (values**2).sum(), (values**3).sum()], rtol=1e-9, atol=1e-9)
    assert complete


def test_moments_of_the_quotient_are_exact():
    values = np.random.default_rng(5).uniform(0, 2, 7)
    probes = np.random.default_rng(6).standard_normal((7, 400_000)) ** 2
    quotients = values @ probes / probes.sum(axis=0)
    low, middle, high = by_moments(values)
    deviation = (high - low) / (2 * NORMAL_QUANTILES[2])
    assert deviation == pytest.approx(quotients.std(), rel=0.01)
    mean = values.mean()
    skewness = ((quotients - mean) ** 3).mean() / quotients.std() ** 3
    assert (middle - mean) / deviation * 6 / (NORMAL_SQUARES[1] - 1) == pytest.approx(skewness, abs=0.02)


def test_normal_constants_are_expected_order_statistics():
    def expected(rank, power):
        z = np.linspace(-9, 9, 4001)
        density = rank * comb(16, rank) * norm.cdf(z) ** (rank - 1) * norm.sf(z) ** (16 - rank) * norm.pdf(z)
        return np.trapezoid(z**power * density, z)

    for k, rank in enumerate((2, 8, 14)):
        assert (expected(rank, 1) + expected(rank + 1, 1)) / 2 == pytest.approx(NORMAL_QUANTILES[k], abs=1e-7)
        assert (expected(rank, 2) + expected(rank + 1, 2)) / 2 == pytest.approx(NORMAL_SQUARES[k], abs=1e-7)


def test_a_clique_and_a_single_node_have_no_spread(build):
    assert (profile(build(nx.empty_graph(1))).sketch[0, 8:] == 0).all()
    spectrum = np.full(50, 0.7)
    np.testing.assert_allclose(by_drawing(spectrum), 0.7, atol=1e-12)
    np.testing.assert_allclose(by_moments(spectrum), 0.7, atol=1e-7)
