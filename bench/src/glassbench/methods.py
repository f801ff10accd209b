"""Every method the benchmark can run, by name, loaded when it is asked for.

A name ``package.module:Class`` stands for a class of your own with ``fit`` and ``decision_function``. By design the
benchmark imports and runs that code, from the working directory or from what is installed.
"""

from __future__ import annotations

import inspect
import json
import os
import sys
from collections.abc import Callable, Collection, Iterable
from contextlib import suppress
from dataclasses import asdict
from difflib import get_close_matches
from importlib import import_module
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from graphglass.errors import BenchError
from graphglass.graphs.graph_set import GraphSet


class Detector(Protocol):
    """What a method must offer; a higher score means more anomalous."""

    def fit(self, graphs: GraphSet) -> Self:
        """Learn from normal graphs alone."""

    def decision_function(self, graphs: GraphSet) -> NDArray[np.float64]:
        """One score per graph, (graphs,)."""


Factory = Callable[[int], Detector]


def lazy(home: str, *, seeded: bool = True, **options: Any) -> Factory:
    """A factory that imports ``module:Class`` on first use and builds it with `options`.

    A `seeded` class takes the seed of the cell as ``random_state``.
    """
    module, _, name = home.partition(":")

    def build(seed: int) -> Detector:
        extra = {"random_state": seed} if seeded else {}
        detector: Detector = getattr(import_module(module), name)(**options, **extra)
        return detector

    return build


# One line per row of a table, in the order the tables show them.
METHODS: dict[str, Factory] = {
    "graphglass": lazy("graphglass.detector.graphglass:GraphGlass", seeded=False),
    "glass": lazy("graphglass.glass.estimator:GLASS"),
    "glass-plain": lazy("graphglass.glass.estimator:GLASS", details=()),
    "glass-untrained": lazy("graphglass.glass.estimator:GLASS", details=(), epochs=0),
    "size-knn": lazy("glassbench.baselines.knn:SizeKNN", seeded=False),
    "structure-knn": lazy("glassbench.baselines.knn:StructureKNN", seeded=False),
    "wl-cosine-knn": lazy("glassbench.baselines.knn:WLCosineKNN", seeded=False),
    "bag-knn": lazy("glassbench.baselines.knn:BagKNN", seeded=False),
    "netlsd-knn": lazy("glassbench.baselines.netlsd:NetLSDKNN", seeded=False),
    "pk-svm": lazy("glassbench.baselines.kernels:PropagationSVM"),
    "pk-if": lazy("glassbench.baselines.kernels:PropagationForest"),
    "wl-svm": lazy("glassbench.baselines.kernels:WLSVM", seeded=False),
    "wl-if": lazy("glassbench.baselines.kernels:WLForest"),
    "ocgin": lazy("glassbench.baselines.ocgin:OCGIN"),
    "glocalkd": lazy("glassbench.baselines.glocalkd:GLocalKD"),
    "ocgtl": lazy("glassbench.baselines.ocgtl:OCGTL"),
    "signet": lazy("glassbench.baselines.signet:SIGNET"),
    "signet-batch": lazy("glassbench.baselines.signet:SIGNETBatch"),
    "gladc": lazy("glassbench.baselines.gladc:GLADC"),
    "cvtgad": lazy("glassbench.baselines.cvtgad:CVTGAD"),
    "cvtgad-batch": lazy("glassbench.baselines.cvtgad:CVTGADBatch"),
    "muse": lazy("glassbench.baselines.muse:MUSE"),
    "uniform": lazy("glassbench.baselines.uniform:UniFORM"),
}

# Rows of `glassbench known`: they need known anomalies, so they appear nowhere else.
SUPERVISED: dict[str, Factory] = {
    f"{classifier}-{features}": lazy(
        "glassbench.baselines.supervised:LabelledClassifier", seeded=False, features=features, classifier=classifier
    )
    for features in ("wl", "structure")
    for classifier in ("logistic", "svm")
}

# A row of `glassbench contaminated` alone.
TRIMMED = {"graphglass-trimmed": lazy("glassbench.contaminated:TrimmedGraphGlass", seeded=False)}

GLASS = ("glass", "glass-plain", "glass-untrained")  # the paper's method, which reads text
TRAINING_FREE = ("size-knn", "structure-knn", "wl-cosine-knn", "bag-knn", "netlsd-knn")
KERNELS = ("pk-svm", "pk-if", "wl-svm", "wl-if")
# Parameters that no score depends on.
_NOT_SCORING = ("contamination", "device", "preset", "random_state", "verbose")
TRANSDUCTIVE = ("signet-batch", "cvtgad-batch")  # a graph's score depends on the graphs scored with it
_LATER = {"prompt": 1, "details": [], "weights": None}  # choices of GLASS that not every record names


def factory(name: str) -> Factory:
    """The factory of a method; an unknown name is refused."""
    known = METHODS | SUPERVISED | TRIMMED
    if is_own(name):
        return _own_factory(name)
    if name not in known:
        raise unknown("method", name, known)
    return known[name]


def is_own(name: str) -> bool:
    """Whether a method is code of the user's."""
    return ":" in name


def _own_factory(name: str) -> Factory:
    """A class named ``package.module:Class``; it gets the seed if it takes a ``random_state``."""
    module, _, title = name.partition(":")
    if os.getcwd() not in sys.path:  # as `python -m` does; a console script leaves it out
        sys.path.insert(0, os.getcwd())
    try:
        made = getattr(import_module(module), title)
    except (ImportError, AttributeError, ValueError) as error:
        raise BenchError(
            f"Method {name!r} must be package.module:Class, importable from here; found {error}. "
            "Run the command where the module is, or install it."
        ) from error
    missing = [needed for needed in ("fit", "decision_function") if not callable(getattr(made, needed, None))]
    if missing:
        raise BenchError(f"Method {name!r} needs fit and decision_function, found no {' and no '.join(missing)}.")
    return lazy(name, seeded="random_state" in inspect.signature(made).parameters)


def unknown(kind: str, name: str, known: Collection[str]) -> BenchError:
    """The error for a name that is none of `known`; it names the nearest one."""
    cases = {other.lower(): other for other in known}
    close = get_close_matches(name.lower(), cases, n=1)
    hint = f" Did you mean {cases[close[0]]!r}?" if close else ""
    return BenchError(f"Unknown {kind} {name!r}.{hint} The {kind}s are: {', '.join(known)}.")


def load_libraries(method: str) -> None:
    """Import here what takes ten seconds in the process of every cell; a fork finds it loaded."""
    if method in GLASS:
        for library in ("torch", "sentence_transformers"):
            with suppress(ImportError):  # a cell that needs it says so
                import_module(library)


def in_table_order(names: Iterable[str]) -> list[str]:
    """Method names in registry order; names of other origin follow alphabetically."""
    order = {name: place for place, name in enumerate(METHODS | SUPERVISED | TRIMMED)}
    return sorted(names, key=lambda name: (order.get(name, len(order)), name))


def configuration(detector: Detector) -> dict[str, Any]:
    """The settings a detector was built with, choices resolved, as JSON values; the seed belongs to the cell."""
    settings = dict(getattr(detector, "get_params", dict)())
    chosen = getattr(detector, "settings", lambda: None)()  # GLASS: what its choices stand for
    settings |= {} if chosen is None else asdict(chosen)
    shown = {name: value for name, value in settings.items() if name not in _NOT_SCORING}
    return named_choices(json.loads(json.dumps(shown, sort_keys=True, default=_plain)))


def named_choices(settings: dict[str, Any]) -> dict[str, Any]:
    """A configuration, as JSON values, without the later choices that it leaves as they were before there was one."""
    return {name: value for name, value in settings.items() if name not in _LATER or value != _LATER[name]}


def _plain(value: object) -> object:
    return value.item() if isinstance(value, np.generic) else str(value)
