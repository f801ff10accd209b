"""The estimator every deep baseline is: batches, and a seeded training loop of fixed length."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from torch import Tensor, nn

from glassbench.baselines.node_inputs import InputSchema, graph_batch
from graphglass.errors import GlassError, InputError, NotFittedError, ParameterError
from graphglass.glass.network.graph_batch import GraphBatch
from graphglass.graphs.graph_set import GraphSet

SCORED_AT_ONCE = 100_000  # nodes plus edge ends; bounds memory whatever the sizes of the graphs


class Network(nn.Module, ABC):
    """What a method adds: a score per graph and a loss to minimise. Everything learned is a parameter or a buffer."""

    def prepare(self, inputs: GraphBatch) -> None:
        """Before the first step: set what depends on the untrained network and the training graphs."""

    def loss(self, batch: GraphBatch) -> Tensor:
        """The training objective of a batch, a scalar; the mean score unless a method has another."""
        return self.scores(batch).mean()

    def finish(self, inputs: GraphBatch) -> None:
        """After the last step, in evaluation mode: keep what scoring needs of the training graphs."""

    @abstractmethod
    def scores(self, batch: GraphBatch) -> Tensor:
        """Higher is more anomalous, (graphs,). Must not depend on which graphs share the batch."""

    def scores_apart(self, batches: Iterable[GraphBatch]) -> Tensor:
        """Scores of graphs that are scored alone, (graphs,)."""
        return torch.cat([self.scores(batch) for batch in batches])

    # Scores of graphs that transductive methods compare with one another.
    scores_together = scores_apart


@dataclass(kw_only=True, eq=False, repr=False)
class DeepDetector(BaseEstimator, ABC):  # type: ignore[misc]
    """Base of the deep baselines. A method adds its own settings as fields; all are keyword arguments.

    A run takes ``epochs`` passes over the training graphs, or ``max_steps`` optimiser steps if those come first. Both
    are fixed in advance and the last state is kept: no validation labels, no best epoch. Given ``random_state`` a fit
    repeats bit for bit on one machine, whatever its number of threads, and torch's global state is left as it was.

    Attributes
    ----------
    history_ : list of float
        Mean training loss of each epoch.
    steps_ : int
        Optimiser steps taken.
    """

    unlabelled: ClassVar[Literal["degree", "constant"]] = "degree"
    walks: ClassVar[int] = 0
    joined: ClassVar[bool] = False  # whether nodes have their labels and attributes side by side
    transductive: ClassVar[bool] = False  # whether a score depends on the graphs scored with it
    network: ClassVar[type[Network]]  # made of the schema and the detector itself, whose settings it reads

    epochs: int
    max_steps: int | None = 300
    batch_size: int = 128
    learning_rate: float = 1e-3
    weight_decay: float = 0.0
    random_state: int = 0

    def fit(self, graphs: GraphSet, y: object = None) -> Self:
        """Learn from normal graphs; ``y`` is ignored and there for scikit-learn's sake."""
        self._check_settings()
        if len(graphs) < 2:
            raise InputError(f"{type(self).__name__} needs at least 2 training graphs, found {len(graphs)}.")
        self.schema_ = InputSchema.of(graphs, self.unlabelled, self.walks, joined=self.joined)
        inputs = graph_batch(graphs, self.schema_)
        with torch.random.fork_rng(devices=[]), one_thread():
            torch.manual_seed(self.random_state)
            self.network_ = self.network(self.schema_, self)
            with torch.no_grad():
                self.network_.prepare(inputs)
            self._train(inputs)
            self.network_.eval()
            self.network_.finish(inputs)
        return self

    def _train(self, inputs: GraphBatch) -> None:
        parameters = [p for p in self.network_.parameters() if p.requires_grad]
        optimiser = torch.optim.Adam(parameters, lr=self.learning_rate, weight_decay=self.weight_decay)
        self.history_, self.steps_ = [], 0
        self.network_.train()
        for _ in range(self.epochs):
            total, seen = 0.0, 0
            for chosen in self._shuffled(len(inputs)):
                if self.steps_ == self.max_steps:
                    break
                loss = self.network_.loss(inputs.take(torch.from_numpy(chosen)))
                optimiser.zero_grad()
                torch.autograd.backward(loss)
                optimiser.step()
                self.steps_ += 1
                total, seen = total + loss.item() * len(chosen), seen + len(chosen)
            if not seen:
                break
            self.history_.append(total / seen)
            if not np.isfinite(total):
                raise GlassError(f"Training {type(self).__name__} diverged. Lower 'learning_rate' and fit again.")

    def _shuffled(self, count: int) -> list[NDArray[np.int64]]:
        # Equal parts rather than a short last batch: batch normalisation and contrast need company.
        order = torch.randperm(count).numpy()
        parts = min(round(count / self.batch_size), count // 2)
        return np.array_split(order, max(1, parts))

    def decision_function(self, graphs: GraphSet) -> NDArray[np.float64]:
        """One score per graph, higher is more anomalous, (graphs,).

        It does not depend on which graphs are scored together, unless the method is transductive. Such a method
        compares the graphs with one another and refuses a single one.
        """
        network = self._fitted()
        if not len(graphs):
            return np.zeros(0)
        if self.transductive and len(graphs) < 2:
            raise InputError(
                f"{type(self).__name__} is transductive: it compares graphs that are scored together, found one. "
                "Score several at once, or use the inductive method of the same paper."
            )
        inputs = graph_batch(graphs, self.schema_)
        with torch.no_grad(), one_thread():
            batches = (batch for _, batch in inputs.pieces(SCORED_AT_ONCE))
            score = network.scores_together if self.transductive else network.scores_apart
            scores = score(batches)
        return scores.numpy().astype(np.float64)

    def _fitted(self) -> Network:
        if not hasattr(self, "network_"):
            raise NotFittedError(f"{type(self).__name__} is not fitted. Call fit with normal graphs first.")
        return self.network_

    def _check_settings(self) -> None:
        settings: dict[str, Any] = self.get_params()
        for name, value in settings.items():
            if name in ("weight_decay", "random_state"):
                fits, expected = value >= 0, "at least 0"
            elif name == "max_steps" and value is None:
                continue
            elif isinstance(getattr(type(self), name, None), float):
                fits, expected = isinstance(value, int | float) and value > 0, "above 0"
            else:
                least = 2 if name == "references" else 1  # one reference has nothing to contrast with
                fits, expected = isinstance(value, int) and value >= least, f"an integer of at least {least}"
            if not fits:
                raise ParameterError(type(self).__name__, name, expected, value)


@contextmanager
def one_thread() -> Iterator[None]:
    """torch on one thread: sums over several are rounded by their number, and training amplifies it."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
