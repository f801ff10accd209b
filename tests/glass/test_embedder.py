from dataclasses import replace

import numpy as np
import pytest

from graphglass.glass.embedder import Embedder, text_prompts
from graphglass.glass.encoders.text_encoder import load_encoder
from graphglass.glass.network.schema import fit_schema, open_schema
from graphglass.glass.trained_encoder import TrainedEncoder, new_encoder
from graphglass.glass.training.config import TrainingConfig
from graphglass.structure.profile import profile

CONFIG = TrainingConfig(epochs=0, slices=(8, 16), normalisation="graph")


def embedder_of(schema):
    trained = TrainedEncoder(new_encoder(schema, (8, 16), CONFIG).eval(), schema, config=CONFIG)
    return Embedder(load_encoder("numeric"), trained, schema, (8, 16), "mol")


@pytest.fixture(scope="module")
def labelled(make_graphs):
    return make_graphs(count=6, labels=[0, 2, 5], attributes=2)


def graph_codes(embedder, graphs):
    return embedder.embed(graphs).codes["graph:16"]


def test_the_prompts_name_the_regime(make_graphs):
    graphs = make_graphs(count=2)
    embedder = embedder_of(open_schema([profile(graphs)]))
    reader = embedder.text

    def opening(one):
        return text_prompts(reader, profile(graphs), one.context)[0].split("; nodes=")[0].split("Query: ")[1]

    assert opening(embedder) == "domain=mol; phase=single-reference"
    query = embedder.in_regime("zero-shot-query", domain="protein", source_domain="mol")
    assert opening(query) == "domain=protein; phase=zero-shot-query; source_domain=mol"
    shot = embedder.in_regime("few-shot-reference", domain="protein", trusted_normal=True)
    assert opening(shot) == "domain=protein; phase=few-shot-reference; trusted_normal=true"
    private = embedder.in_regime("single-reference", instruction="domain-invariant")
    assert text_prompts(reader, profile(graphs), private.context)[0].startswith("Instruct: Encode domain-invariant")
    assert len({one.fingerprint for one in (embedder, query, shot, private)}) == 4


def test_another_domain_keeps_its_labels_and_attributes(labelled):
    """Transfer changes the references, not the features; structure alone is a choice of the caller."""
    embedder = embedder_of(fit_schema(labelled, profile(labelled), normalisation="graph"))
    moved = embedder.for_any_domain()
    own = graph_codes(embedder, labelled)
    np.testing.assert_allclose(graph_codes(moved, labelled), own, atol=1e-6)
    np.testing.assert_allclose(graph_codes(embedder.for_domain(labelled), labelled), own, atol=1e-6)
    bare = graph_codes(moved, labelled.structure_only())
    assert np.abs(bare - own).max() > 1e-3


def test_references_with_fewer_labels_are_placed_as_in_training(labelled):
    """A label keeps its column when the references of a domain lack some of the other labels."""
    embedder = embedder_of(open_schema([profile(labelled)], normalisation="graph"))
    seen = labelled.node_labels
    kept = replace(labelled, node_labels=np.where(seen == 2, 5, seen))
    np.testing.assert_allclose(
        graph_codes(embedder.for_domain(kept), kept), graph_codes(embedder.for_any_domain(), kept), atol=1e-6
    )


def test_a_code_does_not_depend_on_the_other_queries(make_graphs):
    graphs = make_graphs(count=5, labels=[1, 10**12, -(10**12)])
    embedder = embedder_of(open_schema([profile(graphs)], normalisation="graph")).for_any_domain()
    together = graph_codes(embedder, graphs)
    alone = np.concatenate([graph_codes(embedder, graphs[i]) for i in range(len(graphs))])
    np.testing.assert_allclose(together, alone, atol=1e-6)
