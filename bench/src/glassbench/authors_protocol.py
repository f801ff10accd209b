"""The protocol of the authors' public code: the test set chooses the epoch, a weight and the rule that is reported.

Everything under this protocol is test-selected. It says where published figures come from and is no result of a method;
its records have a benchmark name that no honest table reads.

What is done. The class with the fewest graphs is anomalous, ``RandomState(seed)`` draws 80% of the others as
references. The encoder is looked at before training, after epoch 1 and after every fifth epoch. A look scores the test
set by six rules: ``graph`` and ``text`` (nearest references, slices concatenated), ``ensemble`` (their sum; the share
of the graph side, one of eleven, is the best on the test set), ``fusion`` (both sides concatenated), ``energy``
(nearest prototype) and ``sms`` (kernel densities in units of their test deviation; the share is chosen as well). The
selected epoch has the highest ``ensemble``; training counts as ended when that did not rise for 40 epochs. Twenty-four
further rules are eight weightings of the channels times three scales: ``raw`` distances, ``cdf`` (share of the
references' leave-one-out distances below), ``z`` (in their mean and deviation). Of the eight, ``fixed``,
``reliability`` and ``domain`` are the authors'; ``uniform``, ``dimension``, ``widest``, ``graph`` and ``text`` fill the
places of five that are not described. Prototypes are placed for ``energy`` alone and do not enter the training.

Record of a cell (benchmark ``authors``, protocol ``authors``, method ``glass``, cell ``{dataset, seed}``); others
have records like those of the benchmark ``single``::

    metrics    of the figure the authors' script reports: best of six rules at the selected epoch
    counts     references, test_normal, test_anomalous, selected_epoch, stopped_epoch, last_epoch
    variants   {"untrained: RULE", "selected: RULE", "last: RULE": {"auroc": percent}} for all thirty rules, such as
               "selected: domain z" or "last: reliability z", and for "best of six" and "best of 24" at each
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from glassbench.jobs import Job, Outcome, Plan
from glassbench.protocols import Split, blind
from glassbench.records import Cell
from glassbench.single import built, dataset_cell, dataset_jobs
from graphglass.channels.neighbours import mean_distance, nearest
from graphglass.errors import BenchError
from graphglass.glass.code_channel import kde_score
from graphglass.glass.scoring_rules import domain_weights, fixed_weights, reliability_weights
from graphglass.glass.slices import normalise, prefix_slice
from graphglass.graphs.graph_set import GraphSet

if TYPE_CHECKING:
    from graphglass import GLASS
    from graphglass.glass.trained_encoder import TrainedEncoder

SIX = ("graph", "text", "ensemble", "fusion", "energy", "sms")
WEIGHTINGS = ("fixed", "reliability", "domain", "uniform", "dimension", "widest", "graph", "text")
SCALES = ("raw", "cdf", "z")
TWENTY_FOUR = tuple(f"{weighting} {scale}" for weighting in WEIGHTINGS for scale in SCALES)
STEP, PATIENCE = 5, 40  # epochs
SHARES = np.linspace(0, 1, 11)
_K, _PROTOTYPES = 5, 8
Codes = Mapping[str, NDArray[np.float32]]
Scores = NDArray[np.float64]


def look_epochs(epochs: int) -> tuple[int, ...]:
    """The epochs after which the test set is looked at."""
    return tuple(sorted({0, min(1, epochs), *range(STEP, epochs + 1, STEP), epochs}))


def selected_epoch(ensemble: Mapping[int, float], patience: int = PATIENCE) -> tuple[int, int]:
    """The epoch kept, and the one at which training would have stopped, of test AUROCs by epoch."""
    best, *others = sorted(ensemble)
    stopped = best
    for stopped in others:
        if ensemble[stopped] > ensemble[best]:
            best = stopped
        elif stopped - best >= patience:
            break
    return best, stopped


@dataclass(frozen=True)
class Side:
    """Codes of one view, graph or text, of references and queries, and the distances between them."""

    view: str
    references: Codes
    queries: Codes

    @property
    def names(self) -> list[str]:
        """The channels of this view, narrowest slice first."""
        return [name for name in self.references if name.startswith(self.view)]

    @cached_property
    def whole(self) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """All slices side by side as unit rows, of references and queries."""
        joined = [np.concatenate([codes[n] for n in self.names], axis=1) for codes in (self.references, self.queries)]
        return normalise(joined[0]), normalise(joined[1])

    @cached_property
    def distances(self) -> dict[str, tuple[Scores, Scores]]:
        """Per channel: distances of the queries, and leave-one-out distances of the references."""
        return {name: _distances(self.references[name], self.queries[name]) for name in self.names}

    @cached_property
    def together(self) -> tuple[Scores, Scores]:
        """The same with the slices concatenated."""
        return _distances(*self.whole)

    @cached_property
    def density(self) -> Scores:
        """Kernel densities, in units of their own deviation over the queries, with weights D / sum D."""
        widths = np.array([self.references[name].shape[1] for name in self.names], float)
        total = np.zeros(len(self.queries[self.names[0]]))
        for name, share in zip(self.names, widths / widths.sum(), strict=True):
            rows = self.references[name].astype(np.float64)
            cosine = (rows @ rows.T)[np.triu_indices(len(rows), 1)]
            concentration = 1 / max(1 - float(np.median(cosine)), 1e-6)
            scores = kde_score(self.queries[name], self.references[name], concentration)
            total += share * _standardised(scores, scores)
        return total


def fitted_sides(detector: GLASS, queries: GraphSet) -> tuple[Side, Side]:
    """The graph side of a fitted detector, and the text side."""
    known, asked = detector.references_.codes, detector.channel_embeddings(queries)
    return Side("graph", known, asked), Side("text", known, asked)


def honest_rules(graph: Side, text: Side, domain: str) -> dict[str, Scores]:
    """Scores of the queries by the rules that read no test label: four of the six and the twenty-four."""
    found = {"graph": graph.together[0], "text": text.together[0]}
    found["fusion"] = _distances(*(np.hstack(pair) / np.sqrt(2) for pair in zip(graph.whole, text.whole, strict=True)))[
        0
    ]
    found["energy"] = _energy(graph)
    slices = [graph.references[name].shape[1] for name in graph.names]
    distances = graph.distances | text.distances
    scaled = {
        "raw": {name: far for name, (far, _) in distances.items()},
        "cdf": {n: np.searchsorted(np.sort(own), far, side="right") / len(own) for n, (far, own) in distances.items()},
        "z": {name: _standardised(far, own) for name, (far, own) in distances.items()},
    }
    for weighting, weights in _weightings(graph, text, slices, domain).items():
        for scale, channels in scaled.items():
            found[f"{weighting} {scale}"] = np.sum([weights[name] * channels[name] for name in weights], axis=0)
    return found


def look(graph: Side, text: Side, domain: str, anomalous: NDArray[np.bool_]) -> dict[str, float]:
    """AUROC in percent of every rule, of those with a share at the best share, and the best of six and of 24."""
    found = {rule: _auroc(scores, anomalous) for rule, scores in honest_rules(graph, text, domain).items()}
    sides = [_standardised(*side.together) for side in (graph, text)]
    found["ensemble"] = max(_auroc(share * sides[0] + (1 - share) * sides[1], anomalous) for share in SHARES)
    found["sms"] = max(_auroc(s * graph.density + (1 - s) * text.density, anomalous) for s in SHARES)
    best = {"best of six": max(found[rule] for rule in SIX), "best of 24": max(found[rule] for rule in TWENTY_FOUR)}
    return found | best


def authors_cell(detector: GLASS, references: GraphSet, queries: GraphSet, parts: Split, cell: Cell) -> Outcome:
    """Train once and look at the test set on the way."""
    from graphglass.glass.trained_encoder import encode_graphs
    from graphglass.glass.training.references import prepare, training_config
    from graphglass.glass.training.trainer import train

    sets: Any = [prepare(graphs, detector.settings(), detector.domain) for graphs in (references, queries)]
    config = training_config(detector.settings(), sets[0].anchors.shape[1], seed=detector.random_state)
    # The text side stays the same in every epoch.
    text = Side("text", *({f"text:{n}": prefix_slice(part.anchors, n) for n in config.slices} for part in sets))
    epochs = look_epochs(config.epochs)
    found: dict[int, dict[str, float]] = {}

    def see(trained: TrainedEncoder) -> None:
        if (epoch := len(trained.history)) in epochs:
            rows = [encode_graphs(trained, part.graphs, part.profile) for part in sets]
            graph = Side("graph", *({f"graph:{n}": codes for n, codes in own.items()} for own in rows))
            found[epoch] = look(graph, text, detector.domain, parts.anomalous)

    start = time.perf_counter()
    see(train(sets[0], replace(config, epochs=0)))
    train(sets[0], config, on_epoch=see)
    selected, stopped = selected_epoch({epoch: rules["ensemble"] for epoch, rules in found.items()})
    counts = parts.counts | {"selected_epoch": selected, "stopped_epoch": stopped, "last_epoch": config.epochs}
    places = {"untrained": 0, "selected": selected, "last": config.epochs}
    variants = {f"{at}: {rule}": {"auroc": v} for at, epoch in places.items() for rule, v in found[epoch].items()}
    metrics = {"auroc": found[selected]["best of six"]}
    return Outcome(cell, metrics, {"fit": time.perf_counter() - start}, counts, parts.classes, variants)


def authors_jobs(plan: Plan, encoder: str = "minilm") -> list[Job]:
    """One job per dataset, method and seed; methods other than ``glass`` are fitted and scored as everywhere."""
    if plan.flip:
        raise BenchError("The authors' protocol has one direction; leave out --flip.")

    def measure(method: str, cell: Cell) -> Outcome:
        graphs, parts = plan.task(cell)
        detector = built(method, cell)
        if method not in ("glass", "glass-plain"):
            return dataset_cell(graphs, parts, detector, cell, encoders=plan.encoders)
        detector.set_params(encoder=encoder)
        return authors_cell(detector, blind(graphs, parts.references), blind(graphs, parts.test), parts, cell)

    said = {"selection": "test", "encoder": encoder}
    return [
        replace(job, settings=job.settings | said) if job.method in ("glass", "glass-plain") else job
        for job in dataset_jobs(plan, measure)
    ]


def _weightings(graph: Side, text: Side, slices: Sequence[int], domain: str) -> dict[str, dict[str, float]]:
    fixed, widths = fixed_weights(slices), np.array(slices, float)
    names = list(fixed)

    def halves(shares: NDArray[np.float64]) -> dict[str, float]:
        return {
            f"{side}:{size}": share / 2
            for size, share in zip(slices, shares, strict=True)
            for side in ("graph", "text")
        }

    return {
        "fixed": fixed,
        "reliability": reliability_weights({**graph.references, **text.references}, slices, _K),
        "domain": domain_weights(slices, domain),
        "uniform": dict.fromkeys(names, 1 / len(names)),
        "dimension": halves(widths / widths.sum()),
        "widest": halves((widths == widths.max()).astype(float)),
        "graph": {name: weight for name, weight in fixed.items() if name.startswith("graph")},
        "text": {name: weight for name, weight in fixed.items() if name.startswith("text")},
    }


def _energy(side: Side) -> Scores:
    """Negative cosine to the nearest of eight far-apart reference rows, summed over slices."""
    import torch

    from graphglass.glass.training.prototypes import farthest_points

    total = np.zeros(len(side.queries[side.names[0]]))
    for name in side.names:
        places = farthest_points(torch.from_numpy(np.asarray(side.references[name])), _PROTOTYPES).numpy()
        total -= (side.queries[name].astype(np.float64) @ places.T.astype(np.float64)).max(axis=1)
    return total


def _distances(references: NDArray[Any], queries: NDArray[Any]) -> tuple[Scores, Scores]:
    far = mean_distance(nearest(queries, references, _K)[0])
    return far, mean_distance(nearest(references, references, _K, exclude_self=True)[0])


def _standardised(values: Scores, by: Scores) -> Scores:
    scale = float(by.std())
    return np.asarray((values - by.mean()) / (scale if scale > 1e-12 else 1.0))


def _auroc(scores: Scores, anomalous: NDArray[np.bool_]) -> float:
    """By ranks: a cell takes about 1,600 of these."""
    count = int(anomalous.sum())
    below = rankdata(scores)[anomalous].sum() - count * (count + 1) / 2
    return 100.0 * float(below / (count * (len(scores) - count)))
