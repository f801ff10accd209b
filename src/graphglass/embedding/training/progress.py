"""Epochs, rate and time left on a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def epoch_progress(epochs: int, completed: int, *, show: bool) -> Iterator[Callable[[float], None]]:
    """Yields a function to call with the loss after each epoch; draws nothing unless asked and on a terminal."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    console = Console(stderr=True)
    if not (show and console.is_terminal):
        yield lambda loss: None
        return
    columns = (
        TextColumn("Training"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("epochs"),
        TextColumn("{task.fields[rate]} loss {task.fields[loss]}"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("training", total=epochs, completed=completed, loss="", rate="")

        def advance(loss: float) -> None:
            speed = bar.tasks[0].speed
            bar.update(task, advance=1, loss=f"{loss:.4f}", rate=f"{speed:.1f}/s" if speed else "")

        yield advance
