"""The work on one part; each function depends on its arguments alone, so that any worker can run it."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from graphglass.channels.calibration import conformal_p_values
from graphglass.cluster.parts import Part
from graphglass.detector.glass import GLASS
from graphglass.errors import GlassError
from graphglass.graphs.graph_set import GraphSet
from graphglass.graphs.read import read_report
from graphglass.storage.atomic import replacing
from graphglass.structure.profile import profile

# Graphs scored at a time inside a part: bounds a worker's memory whatever the size of its parts.
CHUNK = 10_000
_METADATA = b"graphglass-part"


@dataclass(frozen=True)
class Outcome:
    """How the work on a part ended: ``error`` if it has no result, ``rejects`` if records were left out."""

    part: Part
    graphs: int = 0
    rejected: int = 0
    seconds: float = 0.0
    skipped: bool = False
    error: str | None = None
    rejects: str | None = None


Columns = dict[str, Any]


def score_columns(graphs: GraphSet, model: str, digest: str) -> Columns:
    """Ids, scores and p-values of every graph."""
    detector = _detector(model, digest)
    chunks = [detector.decision_function(graphs[i : i + CHUNK]) for i in range(0, len(graphs), CHUNK)]
    scores = np.concatenate([np.zeros(0), *chunks])  # a part may hold no graph that can be read
    return {
        "id": list(graphs.ids),
        "score": scores,
        "p_value": conformal_p_values(scores, detector.decision_scores_),
    }


def describe_columns(graphs: GraphSet) -> Columns:
    """Ids, aggregates and spectral sketch of every graph."""
    return profile(graphs).columns(graphs.ids)


def score_part(part: Part, model: str, digest: str, *, strict: bool = False) -> Outcome:
    """Score one part unless its result is there already."""
    return _run(part, {"job": "score", "model": digest}, lambda graphs: score_columns(graphs, model, digest), strict)


def describe_part(part: Part, *, strict: bool = False) -> Outcome:
    """Describe one part unless its result is there already."""
    return _run(part, {"job": "describe"}, describe_columns, strict)


def _run(part: Part, job: Mapping[str, str], compute: Callable[[GraphSet], Columns], strict: bool) -> Outcome:
    import pyarrow as pa
    import pyarrow.parquet as pq

    start = time.perf_counter()
    try:
        # A result that may lack records does not count as one of a strict job.
        how = {"strict": True} if strict else {}
        stamp = json.dumps({**job, **how, "source": _state(part.source)}, sort_keys=True).encode()
        if _finished(part.output, stamp):
            return Outcome(part, skipped=True)
        result = read_report(part.source, strict=strict, cache=False)
        columns = compute(result.graphs)
        # Ids are text even where there are none, so that all parts have one schema.
        table = pa.table({**columns, "id": pa.array(columns["id"], pa.string())})
        with replacing(Path(part.output)) as temporary:
            pq.write_table(table.replace_schema_metadata({_METADATA: stamp}), temporary, write_page_checksum=True)
    except (GlassError, OSError) as error:
        return Outcome(part, error=f"{part.source}: {error}")
    rejects = f"{part.source}: {result.summary()}" if result.rejects else None
    return Outcome(part, len(result.graphs), len(result.rejects), time.perf_counter() - start, rejects=rejects)


def _state(source: str) -> list[int]:
    status = Path(source).stat()
    return [status.st_size, status.st_mtime_ns]


def _finished(output: str, stamp: bytes) -> bool:
    """Whether the result of exactly this job is on disk, with every row undamaged."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    if not Path(output).is_file():
        return False
    try:
        metadata: Mapping[bytes, bytes] = pq.read_schema(output).metadata or {}
        if metadata.get(_METADATA) != stamp:
            return False
        pq.read_table(output, page_checksum_verification=True)
    except (pa.ArrowException, OSError, ValueError):
        return False
    return True


@lru_cache(maxsize=1)
def _detector(model: str, digest: str) -> GLASS:
    # The digest is part of the key, so that a worker that lives on never scores with an older model.
    return GLASS.load(model)
