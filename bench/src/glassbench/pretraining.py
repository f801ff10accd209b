"""Train the encoders that come with the package, and measure each on datasets that it has not seen.

A source is a sample of a public dataset, drawn without looking at its classes. ``mol`` leaves MUTAG out, which demo and
pages use. A figure on a dataset among the sources comes from an encoder that was trained without it.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from glassbench.datasets import DOMAINS, Datasets, data_hash
from glassbench.jobs import Job, Outcome, Plan, cell_jobs
from glassbench.metrics import evaluate
from glassbench.protocols import blind
from glassbench.records import Cell, Results
from glassbench.table_entries import dataset_order, dataset_values, grouped, make_table, means_note
from glassbench.table_model import Row, Table
from graphglass.files.save import save_artifact
from graphglass.glass.pretrained import KIND, NAMES, PretrainedEncoder
from graphglass.glass.salted_hashes import SaltedHashes
from graphglass.graphs.graph_set import GraphSet
from graphglass.structure.profile import profile

if TYPE_CHECKING:
    from graphglass.glass.training.config import TrainingConfig

SOURCES: dict[str, tuple[str, ...]] = {
    "mol": ("AIDS", "BZR", "COX2", "DHFR", "NCI1"),
    "protein": ("DD", "ENZYMES", "PROTEINS"),
    "social": ("COLLAB", "IMDB-BINARY", "REDDIT-BINARY"),
}
SOURCES["all"] = SOURCES["mol"] + SOURCES["protein"] + SOURCES["social"]
GRAPHS = {"mol": 150, "protein": 250, "social": 250, "all": 80}  # per dataset
LARGEST = 200  # nodes
EPOCHS, SEED, TEXT = 60, 0, "numeric"


def sample(graphs: GraphSet, count: int) -> GraphSet:
    """At most `count` graphs of at most 200 nodes, without their classes."""
    small = np.flatnonzero(graphs.sizes <= LARGEST)
    return blind(graphs, np.sort(np.random.default_rng(SEED).permutation(small)[:count]))


def pretrain(
    name: str, datasets: Datasets, *, without: str | None = None, config: TrainingConfig | None = None
) -> PretrainedEncoder:
    """Train the encoder of a name on its sources, or on all of them but one."""
    from graphglass.glass.embedder import text_anchors
    from graphglass.glass.encoders.text_encoder import load_encoder
    from graphglass.glass.training.config import TrainingConfig
    from graphglass.glass.training.trainer import Domain, train

    # Without prototypes: a sample drawn without classes has no normal graphs to be compact around.
    config = config or TrainingConfig(epochs=EPOCHS, normalisation="graph", prototype_weight=0.0, seed=SEED)
    text, domains, listed = load_encoder(TEXT), [], {}
    for dataset in SOURCES[name]:
        if dataset != without:
            graphs = datasets.get(dataset)
            chosen = sample(graphs, GRAPHS[name])
            shape = profile(chosen)
            domains.append(Domain(chosen, shape, text_anchors(text, shape, DOMAINS[dataset])))
            listed[dataset] = {"graphs": len(chosen), "of": len(graphs), "sha256": data_hash(graphs)}
    trained = train(domains, config)
    trained = replace(trained, history=replace(trained.history, seconds=(0.0,) * len(trained.history)))
    card = {
        "name": name, "datasets": listed, "largest_graph": LARGEST, "seed": config.seed,
        "settings": config.every_setting(), "text": text.fingerprint.to_json(),
    }  # fmt: skip
    hashes = SaltedHashes.of(digest for domain in domains for digest in domain.graphs.content_hashes())
    return PretrainedEncoder(trained, hashes, card)


def write(made: PretrainedEncoder, folder: Path) -> None:
    """Put an encoder where :func:`graphglass.glass.pretrained.load_pretrained` finds it."""
    documents: Mapping[str, Any] = {
        "card": made.card, "encoder_settings": made.encoder.to_json(), "training": made.trained_on.to_json(),
    }  # fmt: skip
    save_artifact(folder, KIND, tensors={"encoder": made.encoder.state()}, documents=documents)


def pretrained_jobs(plan: Plan, weights: Sequence[str] = NAMES) -> list[Job]:
    """One job per dataset, encoder and seed; an encoder that saw the dataset is trained again without it."""
    from graphglass import GLASS
    from graphglass.glass.pretrained import load_pretrained

    made: dict[tuple[str, str | None], PretrainedEncoder] = {}

    def encoder(name: str, dataset: str) -> PretrainedEncoder:
        without = dataset if dataset in SOURCES[name] else None
        if (name, without) not in made:
            made[name, without] = (
                load_pretrained(name) if without is None else pretrain(name, plan.datasets, without=without)
            )
        return made[name, without]

    def measure(method: str, cell: Cell) -> Outcome:
        graphs, parts = plan.task(cell)
        dataset, name = str(cell["dataset"]), str(cell["weights"])
        references, queries = blind(graphs, parts.references), blind(graphs, parts.test)
        found = encoder(name, dataset)
        start = time.perf_counter()
        detector = GLASS(TEXT, domain=DOMAINS.get(dataset, "graph"))
        fitted = detector.fit_encoder(references, trained=found.encoder).with_references(references)
        middle = time.perf_counter()
        scores = fitted.decision_function(queries)
        seconds = {"fit": middle - start, "score": time.perf_counter() - middle}
        return Outcome(cell, evaluate(scores, parts.anomalous), seconds, parts.counts, parts.classes)

    return cell_jobs(plan, measure, {"encoder": TEXT, "domain": "of the dataset"}, weights=list(weights), together=True)


def pretrained_table(results: Results, metric: str = "auroc") -> Table:
    """One row per encoder, one column per dataset; no encoder has seen the dataset it is measured on."""
    groups = grouped(results.records(), lambda record: str(record["cell"]["weights"]))
    values = {name: dataset_values(own, metric) for name, own in groups.items()}
    columns = dataset_order(name for row in values.values() for name in row)
    rows = [Row(name, tuple(values[name].get(column) for column in columns)) for name in NAMES if name in values]
    note = "An encoder whose sources hold the dataset was trained again without it."
    return make_table(results, metric, ("encoder", *columns), rows, [means_note(results), note])
