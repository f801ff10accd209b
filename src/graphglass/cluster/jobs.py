"""Run a job over many parts on a cluster: resumable, and as exact as one process."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

from graphglass.cluster.parts import Outcome, list_parts, score_part
from graphglass.errors import ClusterError
from graphglass.files.load import artifact_digest
from graphglass.files.progress import progress_bar

T = TypeVar("T")
R = TypeVar("R")
# Parts under way per worker: enough to keep it busy, few enough that a failure is seen early.
_AHEAD = 3
_PATIENCE = 5  # seconds between looks at the scheduler


def score_parts(
    client: Any,
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
    where = str(model) if "://" in str(model) else str(Path(model).absolute())
    work = partial(score_part, model=where, digest=artifact_digest(where), strict=strict)
    folder = Path(output)
    if folder.exists() and not folder.is_dir():
        raise ClusterError(f"{folder} is a file; results of many parts need a directory.")
    folder.mkdir(parents=True, exist_ok=True)
    parts, outcomes = list_parts(sources, folder), []
    with progress_bar("Parts", len(parts), show=progress) as advance:
        for part, outcome, reason in on_workers(client, work, parts, ahead=_AHEAD, retries=2):
            outcomes.append(Outcome(part, error=f"{part.source}: {reason}") if outcome is None else outcome)
            advance()
    return sorted(outcomes, key=lambda outcome: outcome.part.source)


def on_workers(
    client: Any, work: Callable[[T], R], items: Iterable[T], *, ahead: int, retries: int = 0
) -> Iterator[tuple[T, R | None, str]]:
    """Every item as its work ends on a worker, with the result, or None and the reason: one failure stops no other.

    Only `ahead` items per worker are taken from `items` at a time.
    """
    from distributed import KilledWorker

    waiting, pending = iter(items), dict[Any, T]()

    def launch(count: int) -> None:
        for item in islice(waiting, count):
            pending[client.submit(work, item, pure=False, retries=retries)] = item

    launch(ahead * max(1, len(client.scheduler_info()["workers"])))
    while pending:
        for future in _next_finished(client, pending):
            item, result, reason = pending.pop(future), None, ""
            launch(1)
            try:
                result = future.result()
            except KilledWorker as error:
                reason = f"every worker that took it died ({error})"
            except Exception as error:
                reason = f"{type(error).__name__}: {error}"
            yield item, result, reason


def _next_finished(client: Any, pending: Iterable[Any]) -> list[Any]:
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
        "The scheduler does not answer any more. What is finished is kept: start a scheduler and run the same command "
        "again."
    )
