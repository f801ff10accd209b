"""Run one piece of work in a child process: its peak memory is measured alone, and a crash ends nothing else."""

from __future__ import annotations

import multiprocessing
import sys
import traceback
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection
from typing import Any

from graphglass.errors import BenchError


def peak_memory() -> float:
    """The most resident memory this process ever had, in megabytes; NaN where the system does not say."""
    try:
        import resource
    except ImportError:
        return float("nan")
    unit = 1 if sys.platform == "darwin" else 1024
    return float(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 2**20)


def limit_threads(threads: int) -> None:
    """Hold BLAS, OpenMP, numba and torch to `threads` threads in this process."""
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    threadpool_limits(threads)
    if "numba" in sys.modules:
        import numba

        numba.set_num_threads(min(threads, numba.config.NUMBA_NUM_THREADS))
    if "torch" in sys.modules:
        import torch

        torch.set_num_threads(threads)


def stream(work: Callable[[], Iterator[Any]], *, threads: int = 1, isolate: bool = True) -> Iterator[Any]:
    """Yield what `work` yields, each with the peak memory so far in megabytes.

    In a forked child the memory is that of the child: the dataset it was given and what the work added. If the work
    raises or its process dies, a BenchError carries the reason.
    """
    if not isolate or "fork" not in multiprocessing.get_all_start_methods():
        limit_threads(threads)
        for value in work():
            yield value, peak_memory()
        return
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    child = context.Process(target=_serve, args=(sender, work, threads))
    child.start()
    sender.close()
    try:
        while True:
            try:
                kind, value = receiver.recv()
            except EOFError:
                child.join()
                reason = f"exit code {child.exitcode}; -9 is out of memory"
                raise BenchError(f"The process of this cell died ({reason}).") from None
            if kind == "done":
                return
            if kind == "error":
                raise BenchError(value)
            yield value
    finally:
        child.join(timeout=0.5)
        child.terminate()
        child.join()
        receiver.close()


def _serve(sender: Connection, work: Callable[[], Iterator[object]], threads: int) -> None:
    try:
        limit_threads(threads)
        for value in work():
            sender.send(("value", (value, peak_memory())))
        sender.send(("done", None))
    except Exception as error:
        frame = traceback.extract_tb(error.__traceback__)[-1]
        sender.send(("error", f"{type(error).__name__}: {error} (at {frame.filename}:{frame.lineno})"))
