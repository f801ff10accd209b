"""Run a job over many parts on a cluster: resumable, and as exact as one process."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import CancelledError
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from graphglass.cluster.parts import (
    Outcome,
    Part,
    list_parts,
    score_part,
)
from graphglass.errors import ClusterError
from graphglass.files.load import artifact_digest
from graphglass.files.progress import progress_bar

# Parts under way per worker: enough to keep it busy, few enough that a failure is seen early.
_AHEAD = 3
_PATIENCE = 5  # seconds between looks at the scheduler


def score_parts(
    client: object,
    model: str | Path,
    sources: Sequence[str | Path],
    output: str | Path,
    *,
    strict: bool = False,
    progress: bool = False,
) -> list[Outcome]:
    """Score every part into ``output/NAME.parquet``; finished parts are skipped.

    A part that fails is reported in its outcome and the others continue. Files appear whole or not at all, so a
    worker, the scheduler or this process may die at any time: the next call computes what is missing.

    Parameters
    ----------
    client : distributed.Client
    model : path or URL of a saved detector, readable by every worker
    sources : sequence of paths
        Parts, folders or patterns of parts.
    output : path
        A folder.
    strict : bool
        A part with a record that cannot be used fails.
    progress : bool
        Show progress on standard error.
    """
    where = _reachable(model)
    work = partial(score_part, model=where, digest=artifact_digest(where), strict=strict)
    return _run(client, work, sources, output, progress)


def _reachable(model: str | Path) -> str:
    text = str(model)
    return text if "://" in text else str(Path(text).absolute())


def _run(
    client: Any, work: Callable[[Part], Outcome], sources: Sequence[str | Path], output: str | Path, progress: bool
) -> list[Outcome]:
    from distributed import KilledWorker

    folder = Path(output)
    if folder.exists() and not folder.is_dir():
        raise ClusterError(f"{folder} is a file; results of many parts need a directory.")
    folder.mkdir(parents=True, exist_ok=True)
    waiting = iter(parts := list_parts(sources, folder))
    ahead = _AHEAD * max(1, len(client.scheduler_info()["workers"]))
    pending: dict[Any, Part] = {}
    outcomes = []

    def launch(count: int) -> None:
        for part in islice(waiting, count):
            pending[client.submit(work, part, pure=False, retries=2)] = part

    with progress_bar("Parts", len(parts), show=progress) as advance:
        launch(ahead)
        while pending:
            for future in _next_finished(client, pending):
                part = pending.pop(future)
                try:
                    outcomes.append(future.result())
                except Exception as error:  # one part that fails does not stop the others
                    died = f"every worker that took it died ({error})"
                    reason = died if isinstance(error, KilledWorker) else f"{type(error).__name__}: {error}"
                    outcomes.append(Outcome(part, error=f"{part.source}: {reason}"))
                advance()
                launch(1)
    return sorted(outcomes, key=lambda outcome: outcome.part.source)


def _next_finished(client: Any, pending: Mapping[Any, Part]) -> list[Any]:
    """Wait for some of the futures. A client whose scheduler has died would wait for ever."""
    from distributed import wait

    while client.status == "running":
        try:
            return list(wait(list(pending), timeout=_PATIENCE, return_when="FIRST_COMPLETED").done)
        except TimeoutError:
            continue
        except CancelledError:  # by the client, when the connection is lost
            break
    raise ClusterError(
        "The scheduler does not answer any more. Finished parts are kept: start a scheduler and run the same command "
        "again."
    )
