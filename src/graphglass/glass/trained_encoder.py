"""A trained encoder, and the embeddings it gives."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from graphglass.errors import ArtifactError
from graphglass.glass.network.encoder import GraphEncoder
from graphglass.glass.network.features import graph_inputs
from graphglass.glass.network.graph_batch import GraphBatch
from graphglass.glass.network.schema import FeatureSchema
from graphglass.glass.training.checkpoint import TrainingHistory
from graphglass.glass.training.config import TrainingConfig
from graphglass.graphs.graph_set import GraphSet
from graphglass.structure.profile import StructureProfile


@dataclass(frozen=True, eq=False)
class TrainedEncoder:
    """A graph encoder after training, and how it was trained."""

    # In evaluation mode: BatchNorm uses its running statistics, so a row does not depend on its batch.
    encoder: GraphEncoder
    schema: FeatureSchema
    history: TrainingHistory = field(default_factory=TrainingHistory)
    config: TrainingConfig = field(default_factory=TrainingConfig)

    @cached_property
    def exact(self) -> GraphEncoder:
        """The encoder in double precision: rounding that depends on the batch stays far below a float32 row."""
        return copy.deepcopy(self.encoder).double().eval()

    @property
    def slices(self) -> tuple[int, ...]:
        """Slice dimensions of the embeddings."""
        return self.encoder.slices

    def state(self) -> dict[str, NDArray[Any]]:
        """Weights and BatchNorm statistics as named arrays."""
        return {name: value.detach().cpu().numpy().copy() for name, value in self.encoder.state_dict().items()}

    def to_json(self) -> dict[str, Any]:
        """Everything but the arrays, as plain values."""
        return {
            "slices": list(self.slices),
            "schema": self.schema.to_json(),
            "history": self.history.to_json(),
            "config": self.config.to_json(),
        }

    @classmethod
    def restore(cls, state: Mapping[str, NDArray[Any]], value: Mapping[str, Any]) -> TrainedEncoder:
        """The encoder that :meth:`state` and :meth:`to_json` describe.

        Nothing is allocated for the sizes that ``value`` claims: the arrays present must have them.
        """
        schema = FeatureSchema.from_json(value["schema"])
        config = TrainingConfig.from_json(value["config"])
        if len(value["slices"]) > len(state):
            raise ArtifactError(f"The encoder settings name {len(value['slices'])} slices for {len(state)} arrays.")
        with torch.device("meta"):
            encoder = _network(schema, tuple(value["slices"]), config)
        claimed = {name: (tuple(part.shape), part.dtype) for name, part in encoder.state_dict().items()}
        tensors = {name: torch.from_numpy(np.array(array)) for name, array in state.items()}
        for name, (shape, _) in claimed.items():
            if shape == () and name in tensors and tensors[name].shape == (1,):  # a file has no arrays without axes
                tensors[name] = tensors[name][0]
        for name in sorted(claimed.keys() | tensors.keys()):
            found = (tuple(tensors[name].shape), tensors[name].dtype) if name in tensors else "nothing"
            if claimed.get(name) != found:
                raise ArtifactError(
                    f"The encoder weights do not fit the network they describe: {name!r} should be "
                    f"{claimed.get(name, 'absent')}, found {found}. Train the model again."
                )
            if not bool(torch.isfinite(tensors[name]).all()):
                raise ArtifactError(f"The encoder weights {name!r} hold NaN or infinite values. Train the model again.")
        encoder.load_state_dict(tensors, assign=True)
        return cls(encoder.eval(), schema, TrainingHistory.from_json(value["history"]), config)


def new_encoder(schema: FeatureSchema, slices: tuple[int, ...], config: TrainingConfig) -> GraphEncoder:
    """An encoder with initial weights drawn from the configuration's seed; the global generators are left alone."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(config.seed)
        return _network(schema, slices, config)


def _network(schema: FeatureSchema, slices: tuple[int, ...], config: TrainingConfig) -> GraphEncoder:
    return GraphEncoder(schema.input_width, slices, hidden=config.hidden, layers=config.layers, authors=config.authors)


def encode_graphs(
    trained: TrainedEncoder,
    graphs: GraphSet,
    profile: StructureProfile,
    *,
    schema: FeatureSchema | None = None,
    device: str = "cpu",
) -> dict[int, NDArray[np.float32]]:
    """Unit rows of every graph per slice, {slice: float32 (graphs, slice)}.

    A row depends on its graph alone, not on the other graphs or on the node order. Graphs that are not read as the
    training graphs were have their own schema: an open one with the labels of their domain
    (:meth:`FeatureSchema.for_domain`).
    """
    inputs = graph_inputs(graphs, profile, schema or trained.schema).to(device)
    encoder = trained.exact.to(device)
    rows = {size: np.zeros((len(graphs), size), np.float32) for size in trained.slices}
    with torch.inference_mode():
        for chosen, batch in inputs.pieces(trained.config.edge_budget):
            for size, part in encoder(batch.double()).items():
                rows[size][chosen.cpu().numpy()] = part.cpu().numpy()
    return rows


def all_rows(encoder: GraphEncoder, inputs: GraphBatch, config: TrainingConfig) -> dict[int, Tensor]:
    """Embeddings of all inputs with the running statistics, {slice: (graphs, slice)}."""
    training = encoder.training
    encoder.eval()
    with torch.no_grad():
        parts = [encoder(batch) for _, batch in inputs.pieces(config.edge_budget)]
    encoder.train(training)
    return {size: torch.cat([part[size] for part in parts]) for size in encoder.slices}
