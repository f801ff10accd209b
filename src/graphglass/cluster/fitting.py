"""Fit on partitioned graphs: structure on the workers, references and training in one place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from graphglass.channels.profiled_graphs import ProfiledGraphs, measure_graphs
from graphglass.cluster.parts import input_files
from graphglass.detector.reference_detector import ReferenceDetector
from graphglass.errors import GraphError
from graphglass.graphs.concatenation import concatenate
from graphglass.graphs.graph_set import GraphSet
from graphglass.graphs.read import read_report
from graphglass.graphs.readers.rejects import logger
from graphglass.structure.profile import join_profiles


def fit_parts(
    client: Any,
    detector: ReferenceDetector,
    sources: Sequence[str | Path],
    *,
    strict: bool = False,
    complain: Callable[[str], None] = logger.warning,
    **options: Any,
) -> ReferenceDetector:
    """Fit a detector on every graph of the parts; the result equals a fit on one machine, bit for bit.

    Where parts use the same graph ids, such as ``line-1``, every id gets the file name of its part in front.

    Parameters
    ----------
    client : distributed.Client
    detector : ReferenceDetector
        Unfitted; its settings are used.
    strict : bool
        Stop at a record that cannot be used instead of leaving it out.
    complain : callable
        Called with a message about the records of a part that were left out.
    options : Any
        Further arguments of the detector's ``fit``.
    """
    files = [str(Path(name).absolute()) for name in input_files(sources)]
    prepared = client.gather(client.map(_prepare, files, strict=strict, retries=2))
    for _, left_out in prepared:
        if left_out is not None:
            complain(left_out)
    found = [(file, part) for file, (part, _) in zip(files, prepared, strict=True) if part is not None]
    if not found:
        raise GraphError(f"No graph could be read from {', '.join(files[:3])}{', ...' if len(files) > 3 else ''}.")
    graphs = concatenate(_with_unique_ids([(file, part.graphs) for file, part in found]))
    structure = join_profiles([part.profile for _, part in found])
    return detector.fit(ProfiledGraphs(graphs, structure), **options)


def _prepare(source: str, strict: bool) -> tuple[ProfiledGraphs | None, str | None]:
    """On a worker: the measured graphs of one part, None if it has none, and what was left out."""
    try:
        result = read_report(source, strict=strict)
    except GraphError as error:
        raise GraphError(f"{source}: {error}") from error
    left_out = f"{source}: {result.summary()}" if result.rejects else None
    if not len(result.graphs):
        return None, left_out
    return measure_graphs(result.graphs.without_labels()), left_out


def _with_unique_ids(parts: Sequence[tuple[str, GraphSet]]) -> list[GraphSet]:
    """The sets with ids that no two parts share."""
    uses = Counter(identifier for _, graphs in parts for identifier in graphs.ids)
    if max(uses.values()) == 1:
        return [graphs for _, graphs in parts]
    names = [Path(file).name for file, _ in parts]
    if len(set(names)) < len(names):
        names = [file for file, _ in parts]
    return [
        replace(graphs, ids=tuple(f"{name}/{identifier}" for identifier in graphs.ids))
        for name, (_, graphs) in zip(names, parts, strict=True)
    ]
