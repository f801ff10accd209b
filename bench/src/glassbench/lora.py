"""Frozen text anchors against LoRA adapters in the text encoder (tab:lora), a diagnostic; results keep text frozen.

Three scores per run, all by the paper's scorer. ``frozen``: the fully trained model. ``warm-up``: the graph encoder
after alignment alone, without perturbed graphs, text still frozen. ``tuned``: from the warm-up model only low-rank
adapters in the text encoder are trained, to bring each reference's anchor to its (fixed) graph code; anchors are then
encoded again.
"""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glassbench.jobs import Job, Outcome, Plan
from glassbench.metrics import evaluate
from glassbench.protocols import blind
from glassbench.records import Cell
from glassbench.single import built, dataset_jobs
from graphglass.channels.profiled_graphs import ProfiledGraphs
from graphglass.errors import BenchError, MissingExtraError
from graphglass.glass.encoders.sentence_model import minilm_folder
from graphglass.graphs.graph_set import GraphSet

METHOD = "glass-plain"


@dataclass(frozen=True)
class LoraSettings:
    """One configuration for all datasets, that of the authors' public code; it scores its last epoch, not the best.

    Attributes
    ----------
    rank, alpha : int
        Size and scale of the adapters, in the projections of every attention layer.
    dropout : float
        Share of an adapter's inputs that a step leaves out.
    epochs, warm_up_epochs : int
        Passes over the references with adapters, and graph-side epochs before them.
    batch_size, batches_per_step : int
        Texts read together, and batches whose gradients one step adds up.
    """

    rank: int = 16
    alpha: int = 32
    dropout: float = 0.05
    epochs: int = 50
    warm_up_epochs: int = 50
    learning_rate: float = 1e-5
    batch_size: int = 32
    batches_per_step: int = 2


# BERT's names and those of Qwen3.
ATTENTION_PROJECTIONS = r".*\.(query|key|value|attention\.output\.dense|[qkvo]_proj)"


def lora_jobs(plan: Plan, encoder: str) -> list[Job]:
    """One job per dataset and seed; `encoder` is ``minilm`` or a directory that sentence-transformers loads."""
    settings = LoraSettings()

    def measure(method: str, cell: Cell) -> Outcome:
        graphs, parts = plan.task(cell)
        references, queries = blind(graphs, parts.references), blind(graphs, parts.test)
        start = time.perf_counter()
        frozen = built(method, cell, encoder=encoder).fit(references)
        warm = built(method, cell, encoder=encoder, epochs=settings.warm_up_epochs, prototypes=False).fit(references)
        fitted = time.perf_counter()
        scores = {"frozen": frozen.decision_function(queries), "warm-up": warm.decision_function(queries)}
        scored = time.perf_counter()
        scores["tuned"] = tuned_scores(warm, references, queries, encoder, settings, parts.seed)
        seconds = {"fit": fitted - start, "score": scored - fitted, "tune": time.perf_counter() - scored}
        variants = {name: evaluate(values, parts.anomalous) for name, values in scores.items()}
        return Outcome(cell, variants["tuned"], seconds, parts.counts, parts.classes, variants)

    return dataset_jobs(replace(plan, methods=[METHOD]), measure, {"lora": asdict(settings)}, encoder=[encoder])


def tuned_scores(
    detector: Any, references: GraphSet, queries: GraphSet, encoder: str, settings: LoraSettings, seed: int
) -> NDArray[np.float64]:
    """Scores after the text encoder's adapters were trained on the references' graph codes."""
    from graphglass.detector.scorer import ReferenceScorer
    from graphglass.glass.embedder import text_prompts
    from graphglass.glass.slices import prefix_slice

    embedder = detector.embedder_
    known, asked = embedder.embed(references), embedder.embed(queries)
    slices = tuple(embedder.slices)

    def texts(graphs: ProfiledGraphs) -> list[str]:
        # What the frozen encoder reads, its instruction included where it follows one.
        read: list[str] = embedder.text.read(text_prompts(embedder.text, graphs.profile, embedder.context))
        return read

    model = _adapted(encoder, settings, seed)
    _tune(model, texts(known), {size: known.codes[f"graph:{size}"] for size in slices}, settings, seed)

    def retold(graphs: ProfiledGraphs) -> ProfiledGraphs:
        rows = np.asarray(model.encode(texts(graphs), show_progress_bar=False), dtype=np.float32)
        return replace(graphs, codes={**graphs.codes, **{f"text:{size}": prefix_slice(rows, size) for size in slices}})

    return ReferenceScorer.fit(retold(known), detector._channels(), detector._fuse).scores(retold(asked))


def _adapted(encoder: str, settings: LoraSettings, seed: int) -> Any:
    """The sentence encoder with fresh adapters; only these can change."""
    try:
        import torch
        from peft import LoraConfig
        from sentence_transformers import SentenceTransformer
    except ImportError as error:
        raise MissingExtraError("The LoRA diagnostic", "bench") from error
    torch.manual_seed(seed)
    folder = str(minilm_folder()) if encoder == "minilm" else encoder
    try:
        model = SentenceTransformer(folder, local_files_only=True, device="cpu")
    except Exception as error:
        raise BenchError(
            "LoRA needs 'minilm' or a directory with an encoder that sentence-transformers loads; "
            f"found {encoder!r}: {error}"
        ) from error
    model.add_adapter(
        LoraConfig(
            r=settings.rank,
            lora_alpha=settings.alpha,
            lora_dropout=settings.dropout,
            target_modules=ATTENTION_PROJECTIONS,
        )
    )
    return model


def _tune(
    model: Any, texts: list[str], targets: dict[int, NDArray[np.float32]], settings: LoraSettings, seed: int
) -> None:
    """Minimise one minus the cosine of anchors and graph codes over all slices (the alignment term of eq:align)."""
    import torch

    for name, weight in model.named_parameters():
        weight.requires_grad_("lora" in name)
    trainable = [weight for weight in model.parameters() if weight.requires_grad]
    optimiser = torch.optim.AdamW(trainable, lr=settings.learning_rate, weight_decay=1e-4)
    codes = {size: torch.from_numpy(np.asarray(rows, dtype=np.float32)) for size, rows in targets.items()}
    order = np.random.default_rng(seed)
    prepare = getattr(model, "preprocess", None) or model.tokenize  # its name before sentence-transformers 5.4
    model.train()
    for _ in range(settings.epochs):
        shuffled = order.permutation(len(texts))
        starts = range(0, len(texts), settings.batch_size)
        for count, first in enumerate(starts, start=1):
            rows = shuffled[first : first + settings.batch_size]
            features = prepare([texts[row] for row in rows])
            anchors = model(features)["sentence_embedding"]
            loss = torch.zeros(())
            for size, graph in codes.items():
                prefix = torch.nn.functional.normalize(anchors[:, :size], dim=1)
                loss = loss + (1 - (prefix * graph[torch.from_numpy(rows)]).sum(dim=1)).mean() / len(codes)
            torch.autograd.backward(loss / settings.batches_per_step)
            if count % settings.batches_per_step == 0 or count == len(starts):
                optimiser.step()
                optimiser.zero_grad()
    model.eval()
