"""Random graph sets for property tests, and a cache folder of the tests' own."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import strategies as st

from graphglass.graphs.canonical import canonical_graph_set
from graphglass.graphs.graph_set import GraphSet
from graphglass.graphs.labels import label_codes

_TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\x00\r\n"), max_size=4)
_LABEL = st.one_of(st.integers(-5, 5), _TEXT)


@st.composite
def graph_sets(draw: st.DrawFn) -> GraphSet:
    """One to five graphs of one to seven nodes, with any choice of labels, attributes, names and classes."""
    counts = draw(st.lists(st.integers(1, 7), min_size=1, max_size=5))
    nodes, sources, targets, start = sum(counts), [], [], 0
    for count in counts:
        pair = st.tuples(st.integers(0, count - 1), st.integers(0, count - 1))
        for one, two in draw(st.lists(pair, max_size=10)):
            sources.append(start + one)
            targets.append(start + two)
        start += count
    names: dict[int, str] = {}
    options: dict[str, object] = {}
    if draw(st.booleans()):
        options["node_labels"] = label_codes(draw(st.lists(_LABEL, min_size=nodes, max_size=nodes)), names)
    if draw(st.booleans()):
        options["edge_labels"] = label_codes(
            draw(st.lists(_LABEL, min_size=len(sources), max_size=len(sources))), names
        )
    if draw(st.booleans()):
        width = draw(st.integers(1, 3))
        value = st.floats(width=32, allow_nan=False, allow_infinity=False)
        rows = draw(st.lists(st.lists(value, min_size=width, max_size=width), min_size=nodes, max_size=nodes))
        options["attributes"] = np.asarray(rows, dtype=np.float32)
        options["attribute_names"] = draw(st.sampled_from([(), ("charge", "mass", "x")]))[:width]
    if draw(st.booleans()):
        options["labels"] = draw(
            st.one_of(
                st.lists(st.integers(-3, 3), min_size=len(counts), max_size=len(counts)),
                st.lists(st.sampled_from(["good", "bad"]), min_size=len(counts), max_size=len(counts)),
            )
        )
    if draw(st.booleans()):
        options["node_names"] = [f"n{i}" for i in range(nodes)]
    if draw(st.booleans()):
        width = draw(st.integers(1, 2))
        value = st.floats(-1e12, 1e12)
        rows = draw(
            st.lists(st.lists(value, min_size=width, max_size=width), min_size=len(sources), max_size=len(sources))
        )
        options["edge_attributes"] = np.asarray(rows, dtype=np.float64).reshape(-1, width)
        options["edge_attribute_names"] = draw(st.sampled_from([(), ("amount", "time")]))[:width]
    options["directed"] = draw(st.booleans())
    value = st.one_of(st.none(), _TEXT, st.just('é, "x"')), st.integers(-(2**63), 2**63 - 1), st.booleans()
    options["columns"] = {
        name: draw(st.lists(st.one_of(values, st.none()), min_size=len(counts), max_size=len(counts)))
        for name, values in zip(draw(st.sampled_from([(), ("name", "mass", "label")])), value, strict=False)
    }
    ids = draw(st.lists(_TEXT.filter(bool), min_size=len(counts), max_size=len(counts), unique=True))
    return canonical_graph_set(
        counts,
        np.asarray(sources, dtype=np.int64),
        np.asarray(targets, dtype=np.int64),
        ids=ids,
        label_names=names,
        **options,  # type: ignore[arg-type]
    )


st.register_type_strategy(GraphSet, graph_sets())


@pytest.fixture(autouse=True)
def cache_folder(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRAPHGLASS_CACHE", str(tmp_path_factory.getbasetemp() / "cache"))
    monkeypatch.delenv("GRAPHGLASS_DATA", raising=False)
