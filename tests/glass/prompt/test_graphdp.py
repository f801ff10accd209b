import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphglass.errors import GlassError, GraphError, ParameterError
from graphglass.glass.prompt.graphdp import INSTRUCTIONS, GraphDP, PromptContext, graphdp, query_of
from graphglass.graphs.canonical import canonical_graph_set
from graphglass.structure.profile import StructureProfile, profile

GOLDEN = {
    "triangle": (
        (3, [(0, 1), (1, 2), (0, 2)]),
        (
            "nodes=3; edges=3; density=1.000; components=1; degree_mean=2.00; degree_std=0.00; degree_q=2/2/2; "
            "degree_entropy=0.00; clustering=1.00/0.00; transitivity=1.00; "
            "motifs=triangles:1, fourcycles:0, density:0.33; "
            "core=max:2; spectral=gap:1.50, "
        ),
    ),
    "four-cycle": (
        (4, [(0, 1), (1, 2), (2, 3), (3, 0)]),
        (
            "nodes=4; edges=4; density=0.667; components=1; degree_mean=2.00; degree_std=0.00; degree_q=2/2/2; "
            "degree_entropy=0.00; clustering=0.00/0.00; transitivity=0.00; "
            "motifs=triangles:0, fourcycles:1, density:0.25; "
            "core=max:2; spectral=gap:1.00, "
        ),
    ),
    # Degrees 4,1,1,1,1: mean 8/5, variance 36/25, entropy -(.8 ln .8 + .2 ln .2).
    "star": (
        (5, [(0, 1), (0, 2), (0, 3), (0, 4)]),
        (
            "nodes=5; edges=4; density=0.400; components=1; degree_mean=1.60; degree_std=1.20; degree_q=1/1/1; "
            "degree_entropy=0.50; clustering=0.00/0.00; transitivity=0.00; "
            "motifs=triangles:0, fourcycles:0, density:0.00; "
            "core=max:1; spectral=gap:1.00, "
        ),
    ),
    # A triangle and an edge: clustering 1,1,1,0,0; the second eigenvalue is the second component's zero.
    "two components": (
        (5, [(0, 1), (1, 2), (0, 2), (3, 4)]),
        (
            "nodes=5; edges=4; density=0.400; components=2; degree_mean=1.60; degree_std=0.49; degree_q=1/2/2; "
            "degree_entropy=0.67; clustering=0.60/0.49; transitivity=1.00; "
            "motifs=triangles:1, fourcycles:0, density:0.20; "
            "core=max:2; spectral=gap:0.00, "
        ),
    ),
}


@pytest.mark.parametrize("name", GOLDEN)
def test_golden_prompt(name, describe):
    (nodes, edges), body = GOLDEN[name]
    structure = describe(nodes, edges)
    low, middle, high = structure.sketch[0, -3:]
    prompt = graphdp(structure, domain="protein")[0]
    assert prompt == (
        "Instruct: Encode this graph description for graph-level anomaly detection.\n"
        f"Query: domain=protein; phase=single-reference; {body}rayleigh_q:{low:.2f}/{middle:.2f}/{high:.2f}."
    )


def test_the_papers_own_example_is_reproduced():
    values = [62, 145, 0.0764, 1, 4.68, 1.4, 1.71, 2, 4, 6, 0.18, 0.07, 0.2, 38, 91, 2.08, 5, 0.12, 0.08, 0.31, 0.66]
    prompts = GraphDP(np.array([values]), PromptContext(domain="protein"))
    assert query_of(prompts[0]) == (
        "domain=protein; phase=single-reference; nodes=62; edges=145; density=0.076; components=1; degree_mean=4.68; "
        "degree_std=1.40; degree_q=2/4/6; degree_entropy=1.71; clustering=0.18/0.07; transitivity=0.20; "
        "motifs=triangles:38, fourcycles:91, density:2.08; core=max:5; spectral=gap:0.12, rayleigh_q:0.08/0.31/0.66."
    )


def test_levels_are_whole_steps_on_public_scales(describe):
    query = graphdp(describe(3, [(0, 1), (1, 2), (0, 2)]), style="levels", instruction=None)[0]
    # Three nodes: log2(1 + 3) / 0.2 = 10. Transitivity one: 1 / 0.05 = 20.
    assert "nodes=10; edges=10;" in query
    assert "transitivity=20;" in query
    assert "." not in query.rstrip(".")


def test_a_single_node_and_no_edges_has_a_prompt(describe):
    prompt = graphdp(describe(1, []))[0]
    assert "nodes=1; edges=0; density=0.000; components=1;" in prompt
    assert "nan" not in prompt


@st.composite
def _graphs(draw):
    nodes = draw(st.integers(2, 12))
    pairs = st.tuples(st.integers(0, nodes - 1), st.integers(0, nodes - 1))
    edges = [pair for pair in draw(st.lists(pairs, max_size=30)) if pair[0] != pair[1]]
    return nodes, edges, draw(st.permutations(range(nodes)))


@settings(max_examples=30, deadline=None)
@given(_graphs(), st.sampled_from(["digits", "levels"]))
def test_node_order_does_not_change_the_prompt(graph, style):
    nodes, edges, order = graph
    sources, targets = [a for a, _ in edges], [b for _, b in edges]
    plain = canonical_graph_set([nodes], sources, targets)
    moved = canonical_graph_set([nodes], [order[a] for a in sources], [order[b] for b in targets])
    first, second = graphdp(profile(plain), style=style), graphdp(profile(moved), style=style)
    np.testing.assert_allclose(first.fields, second.fields, atol=1e-9)
    if not _near_rounding(first, style):
        assert first[0] == second[0]


def _near_rounding(prompts, style):
    """Whether a last-digit difference of an eigenvalue could flip a printed digit."""
    nudged = [GraphDP(np.maximum(prompts.fields + shift, 0), prompts.context)[0] for shift in (-1e-8, 1e-8)]
    return nudged[0] != nudged[1]


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.text(st.characters(codec="ascii", categories=("L", "N")), min_size=3), min_size=3, max_size=3),
    st.lists(st.integers(-(10**6), 10**6), min_size=3, max_size=3),
    st.lists(st.integers(0, 10**6), min_size=9, max_size=9),
    st.permutations(range(3)),
)
def test_no_label_id_or_position_reaches_a_prompt(ids, labels, node_labels, order):
    sizes, sources, targets = [3, 4, 2], [0, 1, 3, 4, 5, 7], [1, 2, 4, 5, 6, 8]
    bare = list(graphdp(profile(canonical_graph_set(sizes, sources, targets))))
    names = tuple(f"{name}-{i}" for i, name in enumerate(ids))
    dressed = canonical_graph_set(
        sizes, sources, targets, ids=names, labels=labels, node_labels=node_labels,
        attributes=np.array(node_labels, np.float32)[:, None], edge_labels=node_labels[:6],
    )  # fmt: skip
    assert list(graphdp(profile(dressed))) == bare
    moved = list(graphdp(profile(dressed[np.array(order)])))
    assert moved == [bare[i] for i in order]


def test_context_follows_the_papers_examples(describe):
    structure = describe(3, [(0, 1), (1, 2)])
    query = graphdp(structure, domain="protein", phase="zero-shot-query", source_domain="mol", instruction=None)[0]
    assert query.startswith("domain=protein; phase=zero-shot-query; source_domain=mol; nodes=3;")
    few = graphdp(structure, domain="protein", phase="few-shot-reference", trusted_normal=True, instruction=None)[0]
    assert few.startswith("domain=protein; phase=few-shot-reference; trusted_normal=true; nodes=3;")
    invariant = graphdp(structure, instruction="domain-invariant")
    assert invariant[0].startswith("Instruct: Encode domain-invariant structural features of a graph.")
    assert invariant.instruction == INSTRUCTIONS["domain-invariant"]
    assert invariant.queries == [query_of(invariant[0])]


@pytest.mark.parametrize(
    "settings",
    [
        {"domain": "protein; label=1"},
        {"domain": ""},
        {"domain": "a\nb"},
        {"domain": 3},
        {"phase": "test"},
        {"style": "words"},
        {"source_domain": "mol"},
        {"phase": "zero-shot-query", "source_domain": "x y"},
        {"trusted_normal": True},
        {"phase": "few-shot-reference", "trusted_normal": False},
        {"instruction": "Find the anomaly."},
    ],
)
def test_bad_settings_are_refused(settings, describe):
    with pytest.raises(ParameterError):
        graphdp(describe(2, [(0, 1)]), **settings)


def test_a_damaged_profile_is_refused(describe):
    good = describe(3, [(0, 1), (1, 2)])
    for bad in (np.nan, np.inf, -1.0):
        aggregates = np.array(good.aggregates)
        aggregates[0, 2] = bad
        damaged = StructureProfile(good.node_offsets, good.descriptors, aggregates, good.sketch, good.estimated)
        with pytest.raises(GraphError, match="density"):
            graphdp(damaged)


def test_it_is_a_frozen_sequence(fifty_prompts):
    assert len(fifty_prompts) == len(list(fifty_prompts)) == 50
    assert fifty_prompts[-1] == list(fifty_prompts)[-1] == fifty_prompts[np.int64(49)]
    assert isinstance(fifty_prompts[3:5], GraphDP)
    assert list(fifty_prompts[np.array([4, 2])]) == [fifty_prompts[4], fifty_prompts[2]]
    with pytest.raises(IndexError):
        fifty_prompts[50]
    with pytest.raises(ValueError, match="read-only"):
        fifty_prompts.fields[0, 0] = 1
    with pytest.raises(GlassError):
        GraphDP(np.zeros((2, 3)), PromptContext())
