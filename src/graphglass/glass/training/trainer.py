"""Train a graph encoder on normal graphs: alignment, Gram penalty, prototypes; a fixed number of epochs."""

from __future__ import annotations

import copy
import hashlib
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from graphglass.errors import ArtifactError, GlassError, InputError, ParameterError
from graphglass.files.progress import progress_bar
from graphglass.glass.network.features import graph_inputs
from graphglass.glass.network.graph_batch import GraphBatch, epoch_batches, join_batches
from graphglass.glass.network.schema import FeatureSchema, fit_schema, frequent_labels, open_schema
from graphglass.glass.slices import available_slices, prefix_slice
from graphglass.glass.trained_encoder import TrainedEncoder, all_rows, new_encoder
from graphglass.glass.training import checkpoint as checkpoints
from graphglass.glass.training.checkpoint import TrainingHistory
from graphglass.glass.training.config import LARGEST_SINGLE_BATCH, LONGEST_GRADIENT, TrainingConfig
from graphglass.glass.training.losses import alignment_loss, gram_penalty
from graphglass.glass.training.perturbation import perturb, rewire_mask_or_shuffle
from graphglass.glass.training.prototypes import SphericalPrototypes, prototype_loss
from graphglass.graphs.graph_set import GraphSet
from graphglass.structure.profile import StructureProfile
from graphglass.structure.profile import profile as profile_of


@dataclass(frozen=True, eq=False)
class Domain:
    """Normal graphs of one domain with their structure and text anchors, float (graphs, D_text)."""

    graphs: GraphSet
    profile: StructureProfile
    anchors: NDArray[np.float32]


def train(
    domains: Domain | Sequence[Domain],
    config: TrainingConfig | None = None,
    *,
    checkpoint_dir: str | Path | None = None,
    resume: bool = False,
    progress: bool = False,
    on_epoch: Callable[[TrainedEncoder], None] | None = None,
) -> TrainedEncoder:
    """Train an encoder on at least two normal graphs of one domain, or on several domains.

    Several have different labels and attributes and share the public columns: the schema is open, so the encoder also
    reads domains that it was not trained on.

    Parameters
    ----------
    domains : Domain, or a sequence of them
    config : TrainingConfig, optional
    checkpoint_dir : path, optional
        Where the state is written every ``config.checkpoint_every`` epochs and when training is interrupted.
    resume : bool
        Continue from the checkpoint, if there is one, to the same bits an uninterrupted run gives.
    progress : bool
        Show epochs and losses on standard error.
    on_epoch : callable, optional
        Called after every epoch with the encoder so far. For diagnostics; it must not change the encoder.
    """
    config = config or TrainingConfig()
    if isinstance(domains, Domain):
        schema = fit_schema(domains.graphs, domains.profile, normalisation=config.normalisation)
        domains = [domains]
    elif domains:
        schema = open_schema([domain.profile for domain in domains], normalisation=config.normalisation)
    else:
        raise InputError("Training needs at least one domain of normal graphs; none was given.")
    if resume and checkpoint_dir is None:
        raise ParameterError("train", "checkpoint_dir", "a folder when resume is True", checkpoint_dir)
    run = _Run(domains, schema, config)
    folder = Path(checkpoint_dir) if checkpoint_dir is not None else None
    if resume and folder is not None:
        run.resume(folder)
    saved = run.snapshot() if folder is not None else None
    try:
        with progress_bar("Training epochs", config.epochs, show=progress, completed=len(run.history)) as advance:
            while len(run.history) < config.epochs:
                run.epoch()
                advance(note=f"loss {run.history.loss[-1]:.4f}")
                if on_epoch is not None:
                    on_epoch(TrainedEncoder(copy.deepcopy(run.encoder).cpu().eval(), schema, run.history, config))
                if folder is not None:
                    saved = run.snapshot()
                    if len(run.history) % config.checkpoint_every == 0 or len(run.history) == config.epochs:
                        checkpoints.write(folder, saved)
    except KeyboardInterrupt:
        # An epoch cut short leaves half-made weights; the last complete epoch is what resumes to the same bits.
        if folder is not None and saved is not None:
            checkpoints.write(folder, saved)
        raise
    return TrainedEncoder(run.encoder.cpu().eval(), schema, run.history, config)


class _Run:
    """The moving parts of one training run; one call of :meth:`epoch` is one epoch."""

    def __init__(self, domains: Sequence[Domain], schema: FeatureSchema, config: TrainingConfig) -> None:
        self.config = config
        self.device = _device(config.device)
        anchors = _joined_anchors(domains)
        slices = available_slices(config.slices, anchors.shape[1])
        inputs = join_batches([graph_inputs(d.graphs, d.profile, _schema_of(d, schema)) for d in domains])
        self.cost = inputs.cost()
        self.inputs = inputs.to(self.device)
        self.negatives = _negatives(domains, schema, config).to(self.device) if config.uses_prototypes else None
        self.anchors = {size: torch.from_numpy(prefix_slice(anchors, size)).to(self.device) for size in slices}
        self.encoder = new_encoder(schema, slices, config).to(self.device)
        kappa, most = (math.log(11.0), 50.0) if "concentration" in config.authors else (1.0, math.inf)
        self.prototypes = SphericalPrototypes(
            slices, config.prototypes, config.prototype_momentum, concentration=kappa, largest=most
        ).to(self.device)
        self.modules = {"encoder": self.encoder, "prototypes": self.prototypes}
        self.history = TrainingHistory()
        self.data = _fingerprint(inputs, anchors)
        self.weights = [*self.encoder.parameters(), *self.prototypes.parameters()]
        rate, decay = config.learning_rate, config.weight_decay
        self.optimiser = torch.optim.AdamW(self.weights, lr=rate, weight_decay=decay, fused=True)

    def epoch(self) -> None:
        """One pass over the normal graphs (eq:train_obj)."""
        started, config, epoch = time.perf_counter(), self.config, len(self.history)
        rate, weight = learning_rate(config, epoch), prototype_weight(config, epoch)
        for group in self.optimiser.param_groups:
            group["lr"] = rate
        totals = torch.zeros(4, dtype=torch.float64, device=self.device)
        batches = epoch_batches(
            self.cost,
            graphs=config.graphs_per_step(len(self.cost)),
            budget=config.edge_budget,
            seed=config.seed,
            epoch=epoch,
        )
        # Dropout draws from a state of this epoch alone: a resumed run draws the same.
        with torch.random.fork_rng(devices=[self.device] if self.device.type == "cuda" else []):
            torch.manual_seed(int(np.random.SeedSequence([config.seed, epoch]).generate_state(1)[0]))
            if weight > 0 and epoch == config.warmup_epochs:
                self.place_prototypes()
            self.encoder.train()
            for batch in batches:
                totals += len(batch) * self.step(torch.from_numpy(batch).to(self.device), weight)
        means = dict(zip(("loss", "alignment", "gram", "prototype"), (totals / len(self.inputs)).tolist(), strict=True))
        if not math.isfinite(loss := means["loss"]):
            raise GlassError(
                f"Training diverged in epoch {epoch + 1}: the loss is {loss}. Lower the learning rate "
                f"({config.learning_rate}) or look for extreme attributes in the training graphs."
            )
        spent = time.perf_counter() - started
        self.history = self.history.extended(**means, prototype_weight=weight, learning_rate=rate, seconds=spent)

    def step(self, batch: Tensor, weight: float) -> Tensor:
        """One optimiser step; returns (loss, alignment, gram, prototype) without gradients."""
        self.optimiser.zero_grad(set_to_none=True)
        rows = self.encoder(self.inputs.take(batch))
        alignment = alignment_loss(rows, {size: anchor[batch] for size, anchor in self.anchors.items()})
        gram = gram_penalty(self.encoder.projections.weights)
        loss = alignment + self.config.gram_weight * gram
        prototype = torch.zeros_like(loss)
        if weight > 0 and self.negatives is not None:
            # Read with the running statistics, perturbed graphs leave no trace in them, but meet the margin at once.
            self.encoder.train("training-mode" in self.config.authors)
            perturbed = self.encoder(self.negatives.take(batch))
            self.encoder.train()
            energies = self.prototypes.energy(rows), self.prototypes.energy(perturbed)
            prototype = prototype_loss(*energies, self.config.margin)
            loss = loss + weight * prototype
        torch.autograd.backward(loss)
        if "clipping" in self.config.authors:
            torch.nn.utils.clip_grad_norm_(self.weights, LONGEST_GRADIENT)
        self.optimiser.step()
        if weight > 0:
            self.prototypes.follow({size: part.detach() for size, part in rows.items()})
        return torch.stack([loss, alignment, gram, prototype]).detach().double()

    def place_prototypes(self) -> None:
        """Initial prototypes from the rows of normal graphs."""
        if "farthest-point" not in self.config.authors:
            self.prototypes.initialise(all_rows(self.encoder, self.inputs, self.config), self.config.seed)
            return
        first = torch.arange(min(len(self.inputs), LARGEST_SINGLE_BATCH), device=self.device)
        self.encoder.train()
        with torch.no_grad():
            self.prototypes.place_far_apart(self.encoder(self.inputs.take(first)))

    def snapshot(self) -> checkpoints.Checkpoint:
        """The state after the last completed epoch."""
        return checkpoints.Checkpoint.of(self.modules, self.optimiser, self.config, self.history, self.data)

    def resume(self, folder: Path) -> None:
        """Continue a run of the same configuration on the same data."""
        found = checkpoints.read(folder)
        if found is None:
            return
        if found.config != self.config or found.data != self.data:
            what = "another configuration" if found.config != self.config else "other training graphs or anchors"
            raise ArtifactError(
                f"The checkpoint in {folder} belongs to {what}. Resume with the original ones, or train without resume."
            )
        found.restore(self.modules, self.optimiser)
        self.history = found.history


def learning_rate(config: TrainingConfig, epoch: int) -> float:
    """The cosine from ``learning_rate`` to ``final_learning_rate`` at an epoch counted from 0."""
    share = 0.5 * (1.0 + math.cos(math.pi * epoch / config.epochs))
    return config.final_learning_rate + (config.learning_rate - config.final_learning_rate) * share


def prototype_weight(config: TrainingConfig, epoch: int) -> float:
    """lambda_proto of eq:train_obj at an epoch: zero in the warm-up, then a linear ramp to its full value."""
    if not config.uses_prototypes or epoch < config.warmup_epochs:
        return 0.0
    return config.prototype_weight * min(1.0, (epoch - config.warmup_epochs + 1) / max(1, config.ramp_epochs))


def _device(name: str) -> torch.device:
    try:
        return torch.empty(0, device=name).device
    except (RuntimeError, AssertionError) as error:  # torch asserts that it was built for the device
        raise ParameterError("TrainingConfig", "device", "a device that torch can use here", name) from error


def _schema_of(domain: Domain, schema: FeatureSchema) -> FeatureSchema:
    return schema.for_domain(frequent_labels(domain.graphs)) if schema.is_open else schema


def _negatives(domains: Sequence[Domain], schema: FeatureSchema, config: TrainingConfig) -> GraphBatch:
    parts = []
    for position, domain in enumerate(domains):
        seed = config.seed + position
        if "perturbations" in config.authors:
            changed, _ = rewire_mask_or_shuffle(domain.graphs, seed=seed)
        else:
            changed, _ = perturb(domain.graphs, strength=config.perturbation_strength, seed=seed)
        parts.append(graph_inputs(changed, profile_of(changed), _schema_of(domain, schema)))
    return join_batches(parts)


def _joined_anchors(domains: Sequence[Domain]) -> NDArray[np.float32]:
    for domain in domains:
        rows = np.asarray(domain.anchors)
        if rows.ndim != 2 or len(rows) != len(domain.graphs):
            raise InputError(
                f"Anchors must be ({len(domain.graphs)}, dimension), one row per graph, found {rows.shape}."
            )
        if not np.isfinite(rows).all():
            raise InputError("Anchors hold NaN or infinite values. Encode the prompts again.")
    anchors = np.concatenate([np.asarray(domain.anchors, np.float32) for domain in domains])
    if len(anchors) < 2:
        raise InputError(f"Training needs at least 2 normal graphs, found {len(anchors)}.")
    return anchors


def _fingerprint(inputs: GraphBatch, anchors: NDArray[np.float32]) -> str:
    digest = hashlib.sha256(np.ascontiguousarray(anchors).tobytes())
    for part in (inputs.features, inputs.columns, inputs.node_offsets, inputs.neighbours, inputs.sketch):
        assert part is not None
        digest.update(part.cpu().contiguous().numpy().tobytes())
    return digest.hexdigest()
