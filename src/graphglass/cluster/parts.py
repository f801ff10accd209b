"""The parts of a job, and the work on one of them, which depends on its arguments alone and runs on any worker."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from glob import glob
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphglass.detector.reference_detector import ReferenceDetector
from graphglass.errors import GlassError, InputError
from graphglass.files.atomic import replacing
from graphglass.files.load import artifact_digest
from graphglass.graphs.graph_set import GraphSet
from graphglass.graphs.read import read_report
from graphglass.graphs.reading import input_order

if TYPE_CHECKING:
    import pyarrow as pa

    from graphglass.detector.scored_graphs import ScoredGraphs

SUFFIXES = (".parquet", ".jsonl", ".jsonl.gz")
# Graphs scored at a time inside a part: bounds a worker's memory whatever the size of its parts.
CHUNK = 10_000
_METADATA = b"graphglass-part"


@dataclass(frozen=True)
class Part:
    """One input file and the Parquet file its results go to."""

    source: str
    output: str


@dataclass(frozen=True)
class Outcome:
    """How the work on a part ended: ``error`` if it has no result, ``rejects`` if records were left out."""

    part: Part
    graphs: int = 0
    rejected: int = 0
    skipped: bool = False
    error: str | None = None
    rejects: str | None = None


def input_files(sources: Sequence[str | Path]) -> list[str]:
    """Files, folders and patterns as part files; each holds whole graphs, in Parquet or JSON Lines."""
    found: list[str] = []
    for source in map(str, sources):
        if Path(source).is_dir():
            names = sorted(str(path) for path in Path(source).iterdir() if path.name.endswith(SUFFIXES))
        elif Path(source).is_file():
            names = [source]
        else:
            names = sorted(glob(source))
        if not names:
            raise InputError(f"{source} matches no part. Parts are files ending in {', '.join(SUFFIXES)}.")
        found += names
    wrong = next((name for name in found if not name.endswith(SUFFIXES)), None)
    if wrong is not None:
        raise InputError(f"{wrong} is not a part: parts end in {', '.join(SUFFIXES)}. Convert it with write_parquet.")
    return found


def list_parts(sources: Sequence[str | Path], output: Path) -> list[Part]:
    """Pair every input with ``output/NAME.parquet``; two inputs of one name, or an input as output, are refused."""
    parts: dict[str, Part] = {}
    inputs = input_files(sources)
    read = {Path(source).resolve(): source for source in inputs}
    for source in inputs:
        name = Path(source).name
        stem = next(name.removesuffix(suffix) for suffix in reversed(SUFFIXES) if name.endswith(suffix))
        if stem in parts:
            raise InputError(f"{source} and {parts[stem].source} would write to one file. Rename one of them.")
        if (target := output / f"{stem}.parquet").resolve() in read:
            raise InputError(f"The result of {source} would replace the part {target}. Choose another output folder.")
        parts[stem] = Part(str(Path(source).absolute()), str(target.absolute()))
    return list(parts.values())


def score_part(part: Part, model: str, digest: str, *, strict: bool = False) -> Outcome:
    """Score one part unless its result is there already."""
    import pyarrow.parquet as pq

    try:
        # A result that may lack records does not count as one of a strict job.
        how = {"strict": True} if strict else {}
        status = Path(part.source).stat()
        state = [status.st_size, status.st_mtime_ns]
        stamp = json.dumps({"job": "score", "model": digest, **how, "source": state}, sort_keys=True).encode()
        if _finished(part.output, stamp):
            return Outcome(part, skipped=True)
        detector = _detector(model, digest)
        result = read_report(part.source, strict=strict, reading=detector.scorer_.reading)
        table = _scored_rows(detector, result.graphs)
        with replacing(Path(part.output)) as temporary:
            pq.write_table(table.replace_schema_metadata({_METADATA: stamp}), temporary, write_page_checksum=True)
    except (GlassError, OSError) as error:
        return Outcome(part, error=f"{part.source}: {error}")
    rejects = f"{part.source}: {result.summary()}" if result.rejects else None
    return Outcome(part, len(result.graphs), len(result.rejects), rejects=rejects)


def _scored_rows(detector: ReferenceDetector, graphs: GraphSet) -> pa.Table:
    """Scores, p-values and marks of every record, in the order of the input; the error of one that was not read."""
    import pyarrow as pa

    # Types are stated: all parts have one schema, also those without graphs.
    schema = pa.schema({
        "id": pa.string(), "score": pa.float64(), "p_value": pa.float64(), "reference": pa.bool_(),
        "error": pa.string(),
    })  # fmt: skip

    def p_values(table: ScoredGraphs) -> Any:
        return pa.nulls(len(table), pa.float64()) if table.p_values is None else table.p_values

    tables = [detector.score_table(graphs[i : i + CHUNK]) for i in range(0, len(graphs), CHUNK)]
    rows = [
        pa.table([list(t.ids), t.scores, p_values(t), t.reference, pa.nulls(len(t), pa.string())], schema=schema)
        for t in tables
    ]
    lost = [{"id": reject.id, "error": reject.reason} for reject in graphs.rejected]
    joined = pa.concat_tables([*rows, pa.Table.from_pylist(lost, schema)])
    return joined.take(pa.array(input_order(len(graphs), graphs.rejected)))


def _finished(output: str, stamp: bytes) -> bool:
    """Whether the result of exactly this job is on disk, with every row undamaged."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        found = (pq.read_schema(output).metadata or {}).get(_METADATA) == stamp
        if found:
            pq.read_table(output, page_checksum_verification=True)
    except (pa.ArrowException, OSError, ValueError):
        return False
    return bool(found)


@lru_cache(maxsize=1)
def _detector(model: str, digest: str) -> ReferenceDetector:
    # The digest is part of the key: a worker that lives on never scores with an older model.
    before = artifact_digest(model)
    detector = ReferenceDetector.load(model)
    if {before, artifact_digest(model)} != {digest}:
        raise InputError(f"{model} was replaced while this job ran. Run the command again.")
    return detector
