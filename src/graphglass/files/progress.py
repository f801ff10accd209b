"""The one progress bar: on a terminal a bar with rate and time left, elsewhere one line per stage."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Advance = Callable[..., None]  # advance(done=1, note="")
_REDRAW = 0.1  # seconds between two drawings of the bar


@contextmanager
def progress_bar(label: str, total: int, *, show: bool, completed: int = 0) -> Iterator[Advance]:
    """Yield ``advance(done=1, note="")``, to be called after every finished piece of work.

    Parameters
    ----------
    label : str
        The stage, such as ``Measuring structure``.
    total, completed : int
        Pieces of work in all, and those that an earlier run finished.
    show : bool
        Report on standard error. A terminal gets a bar that disappears at the end; a log file gets one line when the
        stage is done.
    """
    if not show:
        yield lambda done=1, note="": None
    elif sys.stderr.isatty():
        with _bar(label, total, completed) as advance:
            yield advance
    else:
        started = time.monotonic()
        yield lambda done=1, note="": None
        print(f"{label}: {total} done in {time.monotonic() - started:.1f} s", file=sys.stderr, flush=True)  # noqa: T201


@contextmanager
def _bar(label: str, total: int, completed: int) -> Iterator[Advance]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(),
        TextColumn("{task.fields[note]}"), TimeRemainingColumn(),
    )  # fmt: skip
    # No refresh thread: the benchmark forks worker processes while a bar is shown, and a thread must not be forked.
    with Progress(*columns, console=Console(stderr=True), transient=True, auto_refresh=False) as bar:
        task = bar.add_task(label, total=total, completed=completed, note="")
        drawn = 0.0

        def advance(done: int = 1, note: str = "") -> None:
            nonlocal drawn
            bar.advance(task, done)
            if time.monotonic() - drawn >= _REDRAW or not done:
                drawn = time.monotonic()
                speed = bar.tasks[0].speed
                bar.update(task, note=note or (f"{speed:.0f}/s" if speed else ""))
                bar.refresh()

        yield advance
