from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
from sklearn.base import clone

from graphglass import GLASS, GraphGlass, ReferenceDetector
from graphglass.detector.model_card import model_card, model_facts
from graphglass.errors import EncoderError, GraphError, InputError, NotFittedError, ParameterError, SchemaError
from graphglass.graphs.canonical import canonical_graph_set
from graphglass.graphs.concatenation import concatenate


def test_alone_equals_in_a_batch(fitted, queries):
    together = fitted.decision_function(queries)
    alone = np.concatenate([fitted.decision_function(graph) for graph in queries])
    assert np.allclose(alone, together, atol=1e-6)
    assert np.allclose(fitted.decision_function(queries[::-1]), together[::-1], atol=1e-6)


def test_node_order_does_not_matter(fitted, queries, reordered):
    scores = fitted.decision_function(queries)
    for i in range(0, len(queries), 5):
        assert fitted.decision_function(reordered(queries[i], i))[0] == pytest.approx(scores[i], abs=1e-6)


def test_labels_and_ids_do_not_reach_the_score(fitted, queries):
    disguised = replace(queries, ids=tuple(f"x{i}" for i in range(len(queries))), labels=queries.labels[::-1])
    assert np.array_equal(fitted.decision_function(disguised), fitted.decision_function(queries))


def test_equal_seeds_give_equal_bits(normals, queries):
    one, two = (
        GLASS(encoder="numeric", epochs=2, random_state=7).fit(normals).decision_function(queries) for _ in range(2)
    )
    other = GLASS(encoder="numeric", epochs=2, random_state=8).fit(normals).decision_function(queries)
    assert np.array_equal(one, two)
    assert not np.array_equal(one, other)


def test_pyod_attributes(fitted, normals, queries):
    assert fitted.decision_scores_.shape == (len(normals),)
    assert fitted.threshold_ == np.quantile(fitted.decision_scores_, 0.9)
    assert fitted.labels_.sum() == (fitted.decision_scores_ > fitted.threshold_).sum()
    assert set(fitted.predict(queries)) <= {0, 1}
    assert np.array_equal(fitted.predict(queries), fitted.decision_function(queries) > fitted.threshold_)


def test_the_threshold_follows_its_setting_before_and_after_saving(normals, queries, tmp_path):
    detector = GraphGlass().fit(normals)
    before = detector.threshold_
    detector.set_params(contamination=0.5)
    assert detector.threshold_ < before
    detector.save(tmp_path / "model")
    loaded = ReferenceDetector.load(tmp_path / "model")
    assert loaded.threshold_ == detector.threshold_
    assert np.array_equal(loaded.predict(queries), detector.predict(queries))
    with pytest.raises(ParameterError, match="contamination"):
        _ = detector.set_params(contamination=0.7).threshold_


@pytest.mark.parametrize("ask", ["p_values", "decision_function", "score_table"])
def test_an_answer_belongs_to_one_state_of_the_references(normals, queries, monkeypatch, ask):
    """The references change while the queries are measured, as another thread would change them."""
    detector, other = GraphGlass().fit(normals[:20]), GraphGlass().fit(normals[20:])

    def answer():
        found = getattr(detector, ask)(queries)
        return found.p_values if ask == "score_table" else found

    expected, measured = answer(), GraphGlass._measure

    def change(self, *arguments, **options):
        queries = measured(self, *arguments, **options)
        detector.scorer_ = other.scorer_
        return queries

    monkeypatch.setattr(GraphGlass, "_measure", change)
    assert np.array_equal(answer(), expected)
    assert not np.array_equal(answer(), expected)


def test_p_values_and_flags_agree(fitted, queries):
    p_values = fitted.p_values(queries)
    assert ((p_values > 0) & (p_values <= 1)).all()
    assert np.array_equal(fitted.predict(queries, alpha=0.2) == 1, p_values <= 0.2)
    assert (np.diff(p_values[np.argsort(fitted.decision_function(queries))]) <= 0).all()
    assert (fitted.select(queries, alpha=0.9) <= (p_values <= 0.9)).all()


def test_references_swap_without_training(fitted, normals, queries):
    moved = fitted.with_references(queries[:12])
    assert len(moved.references_) == 12
    assert len(fitted.references_) == len(normals)
    if isinstance(fitted, GLASS):
        before = fitted.embedder_.graph.state()
        assert all(np.array_equal(before[name], value) for name, value in moved.embedder_.graph.state().items())
    assert np.array_equal(fitted.with_references(normals).decision_function(queries), fitted.decision_function(queries))


def test_a_trusted_normal_lowers_its_own_score(normals, queries):
    detector = GraphGlass().fit(normals)
    before = detector.decision_function(queries)
    strange = int(np.argmax(before))
    detector.add_references(queries[strange])
    assert len(detector.references_) == len(normals) + 1
    assert detector.decision_function(queries)[strange] < before[strange]
    detector.remove_references([queries.ids[strange]])
    assert np.allclose(detector.decision_function(queries), before, atol=1e-9)


def test_reference_errors(fitted, normals):
    with pytest.raises(InputError, match=f"Reference id '{normals.ids[0]}' is taken already"):
        fitted.add_references(normals[0])
    with pytest.raises(InputError, match="There is no reference 'nobody'"):
        fitted.remove_references("nobody")
    with pytest.raises(InputError, match="There is no reference 'nobody'"):
        fitted.remove_references(["nobody"])
    with pytest.raises(InputError, match="would leave 0 references, and at least 2 are needed"):
        fitted.remove_references(list(normals.ids))
    with pytest.raises(InputError, match="would leave 1 reference, and at least 2 are needed"):
        fitted.remove_references(list(normals.ids[1:]))
    with pytest.raises(InputError, match="at least one normal graph"):
        fitted.with_references(normals[:0])


def test_one_reference_and_fewer_than_k(fitted, queries):
    with pytest.warns(UserWarning, match=r"every p-value is 0\.5 or 1"):
        single = fitted.with_references(queries[:1])
    for count, few in ((1, single), (2, fitted.with_references(queries[:2]))):
        assert np.isfinite(few.decision_function(queries)).all()
        assert few.p_values(queries).min() >= 1 / (count + 1)


def test_duplicate_references_are_fine(fitted, queries):
    twice = queries[np.repeat(np.arange(6), 3)]
    moved = fitted.with_references(replace(twice, ids=tuple(map(str, range(18)))))
    scores = moved.decision_function(queries)
    assert np.isfinite(scores).all()
    assert scores[:6].max() <= scores[6:].max()


def test_zero_shot_scores_graphs_of_another_kind(fitted, queries):
    zero_shot = fitted.for_any_domain()
    plain = queries.structure_only()
    assert np.isfinite(zero_shot.decision_function(plain)).all()
    same = np.allclose(zero_shot.decision_function(plain), zero_shot.decision_function(queries))
    assert same == (isinstance(fitted, GraphGlass))  # the paper keeps labels in its public columns
    fewer = fitted.for_any_domain().remove_references(fitted.references_.graphs.ids[:2])
    assert np.isfinite(fewer.decision_function(queries)).all()


def test_a_few_normal_graphs_of_another_domain_bring_no_p_values_back(fitted, normals):
    """Among the references of the source they are outliers: nearly all of their like would be flagged."""
    others = [nx.barabasi_albert_graph(40, 3, seed=i) for i in range(8)]
    few = fitted.for_any_domain().add_references(others[:2])
    assert few.score_table(others[2:]).p_values is None
    for asked in (few.p_values, few.predict, few.select):
        with pytest.raises(InputError, match=r"zero-shot transfer.*with_references"):
            asked(others[2:])
    assert few.explain(others[2]).p_value is None
    assert "p-value" not in few.explain(others[2]).headline
    facts = model_facts(few)
    assert facts["zero-shot"] == "a ranking alone"
    assert not facts.keys() & {"threshold", "smallest p-value"}
    assert "| level |" not in model_card(few)
    assert few.with_references(others[:6]).p_values(others[6:]).min() > 0.1


def test_structure_alone_means_without_attributes(fitted, normals):
    width = np.random.default_rng(0).normal(size=(normals.node_count, 2)).astype(np.float32)
    rich = replace(normals, attributes=width, attribute_names=("a", "b"))
    options = {} if isinstance(fitted, GraphGlass) else {"epochs": 1, "encoder": "numeric", "features": "structure"}
    zero_shot = type(fitted)(**options).fit(rich).for_any_domain()
    assert (zero_shot.decision_function(rich) == zero_shot.decision_function(rich.structure_only())).all()
    if isinstance(fitted, GLASS):
        own = zero_shot._queries(rich, zero_shot.scorer_).codes["graph:64"]
        assert np.allclose(own, zero_shot.references_.codes["graph:64"], atol=1e-6)


def test_wide_attributes_and_many_labels_are_read(normals):
    generator = np.random.default_rng(0)
    rich = replace(
        normals,
        attributes=generator.normal(size=(normals.node_count, 150)).astype(np.float32),
        attribute_names=tuple(f"a{i}" for i in range(150)),
        node_labels=generator.integers(0, 300, normals.node_count),
    )
    detector = GraphGlass().fit(rich[:30])
    assert np.isfinite(detector.decision_function(rich[30:40])).all()
    assert np.isfinite(detector.with_references(rich[30:50]).decision_function(rich[:10])).all()


def test_encoders_without_references_ask_for_them(normals):
    bare = GLASS(encoder="numeric", epochs=1).fit_encoder(normals[:10])
    for call in (bare.decision_function, bare.p_values, bare.explain, bare.add_references):
        with pytest.raises(NotFittedError, match="with_references"):
            call(normals[:1])
    with pytest.raises(NotFittedError, match="with_references"):
        bare.for_any_domain()
    with pytest.raises(NotFittedError, match="not fitted"):
        GraphGlass().add_references(normals[:1])


def test_no_graph_in_memory_is_left_out_of_the_scores():
    detector = GraphGlass().fit([nx.cycle_graph(n) for n in range(4, 12)])
    with pytest.raises(GraphError, match="graph-1"):
        detector.decision_function([nx.path_graph(4), nx.Graph(), nx.path_graph(5)])


def test_made_up_ids_count_on_and_given_ids_must_be_new():
    detector = GraphGlass().fit([nx.cycle_graph(n) for n in range(4, 8)])
    detector.add_references([nx.path_graph(4), nx.path_graph(5)]).add_references(nx.path_graph(6))
    assert detector.references_.graphs.ids[4:] == ("graph-0.2", "graph-1.2", "graph-0.3")
    named = nx.path_graph(7)
    named.graph["id"] = "mine"
    detector.add_references(named)
    with pytest.raises(GraphError, match="'mine' is taken"):
        detector.add_references(named)


def test_a_graph_without_edges_lacks_no_edge_label(fitted, normals):
    assert normals.edge_labels is not None
    lone = canonical_graph_set([2], [], [], node_labels=[0, 0])
    alone = fitted.decision_function(lone)
    unbound = replace(lone, edge_labels=np.zeros(0, np.int64), ids=("lone",))
    beside = concatenate([unbound, normals[:3].without_labels()])
    assert alone[0] == pytest.approx(fitted.decision_function(beside)[0], abs=1e-6)


def test_domains_with_text_labels_train_together(normals):
    text = [nx.path_graph(n) for n in range(4, 9)]
    for graph in text:
        nx.set_node_attributes(graph, {node: "bank" if node else "shop" for node in graph}, "label")
    detector = GraphGlass().fit({"mol": normals[:10], "pay": text})
    assert np.isfinite(detector.decision_function(text)).all()


def test_several_domains_train_one_encoder(normals, queries):
    ring = canonical_graph_set([6, 7, 8], [*range(6), *range(6, 13), *range(13, 21)],
                               [1, 2, 3, 4, 5, 0, 7, 8, 9, 10, 11, 12, 6, 14, 15, 16, 17, 18, 19, 20, 13])  # fmt: skip
    detector = GraphGlass().fit({"mol": normals, "rings": ring})
    assert len(detector.references_) == len(normals) + 3
    assert "rings/0" in detector.references_.graphs.ids
    assert np.isfinite(detector.decision_function(ring)).all()
    assert np.isfinite(detector.with_references(normals).decision_function(queries)).all()


def test_clone_and_params():
    detector = GLASS(encoder="numeric", k=7, slices=(64, 128), random_state=4)
    copy = clone(detector)
    assert copy.get_params() == detector.get_params()
    assert clone(detector).set_params(k=9).k == 9


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"encoder": "numeric", "k": 0}, "'k' parameter of GLASS"),
        ({"encoder": "numeric", "scorer": "magic"}, "'scorer' parameter of GLASS"),
        ({"encoder": "numeric", "slices": ()}, "'slices' parameter of GLASS"),
        ({"contamination": 0.9}, "'contamination' parameter of G"),
        ({"encoder": "numeric", "normalisation": "none"}, "normalisation"),
    ],
)
def test_bad_parameters(normals, params, message):
    with pytest.raises(ParameterError, match=message):
        (GLASS if "encoder" in params else GraphGlass)(**params).fit(normals)


def test_a_missing_encoder_says_how_to_get_it(normals):
    with pytest.raises(EncoderError, match="nobody/nothing"):
        GLASS(encoder="nobody/nothing").fit(normals)


def test_bad_calls(fitted, normals, queries):
    with pytest.raises(InputError, match="at least 2 normal graphs, found 1"):
        GraphGlass().fit(normals[:1])
    with pytest.raises(NotFittedError, match="not fitted yet"):
        GraphGlass().decision_function(normals)
    with pytest.raises(NotFittedError, match="not fitted yet"):
        GraphGlass().contributions(normals)
    with pytest.raises(ParameterError, match="'alpha' parameter of G"):
        fitted.score_table(queries, alpha=5)
    with pytest.raises(InputError, match="no graph to score"):
        fitted.decision_function(queries[:0])
    with pytest.raises(SchemaError, match="must carry what the references carry"):
        fitted.decision_function(queries.structure_only())
    with pytest.raises(ParameterError, match="'alpha' parameter"):
        fitted.predict(queries, alpha=2)
    with pytest.raises(InputError, match="takes one graph, found 24"):
        fitted.explain(queries)


def test_score_variants(fitted, queries):
    if isinstance(fitted, GraphGlass):
        pytest.skip("codes are GLASS's")
    variants = fitted.score_variants(queries)
    assert set(variants) == {"graph", "text", "fusion", "vmf", "sms", "fixed", "domain", "glass", "glass raw"}
    assert all(np.isfinite(scores).all() for scores in variants.values())
    assert np.allclose(variants["glass"], fitted.decision_function(queries), atol=1e-9)


def test_new_encoders_forget_the_references_of_the_old_ones(normals, tmp_path):
    detector = GLASS(encoder="numeric", epochs=1).fit(normals[:10])
    detector.fit_encoder(normals[10:20])
    with pytest.raises(NotFittedError, match="no references"):
        detector.decision_function(normals[:2])
    with pytest.raises(NotFittedError, match="no references"):
        detector.save(tmp_path / "model")


def test_a_graph_has_the_same_bits_alone_and_among_others(normals):
    detector = GraphGlass().fit(normals[:30])
    together = detector.decision_function(normals[30:45])
    alone = np.concatenate([detector.decision_function(graph) for graph in normals[30:45]])
    np.testing.assert_array_equal(alone, together)


def test_attributes_are_matched_by_name(normals):
    values = np.random.default_rng(0).normal(size=(normals.node_count, 2)).astype(np.float32)
    named = replace(normals, attributes=values, attribute_names=("amount", "age"))
    swapped = replace(normals, attributes=values[:, ::-1], attribute_names=("age", "amount"))
    detector = GraphGlass().fit(named[:20])
    np.testing.assert_array_equal(detector.decision_function(named[20:25]), detector.decision_function(swapped[20:25]))
    with pytest.raises(SchemaError, match="amount, age"):
        detector.decision_function(replace(named[20:25], attribute_names=("amount", "height")))


def test_a_report_without_p_values_has_no_column_for_them(fitted, queries, tmp_path):
    page = tmp_path / "report.html"
    for detector, columns in ((fitted, 1), (fitted.for_any_domain(), 0)):
        detector.report(page, queries[:3], explained=1)
        written = page.read_text()
        assert written.count('<th scope="col" class="p_value">') == columns
        assert written.count('<th scope="col" class="flagged">') == columns
        assert ">nan<" not in written
