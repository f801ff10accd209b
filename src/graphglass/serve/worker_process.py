"""A worker process for slow requests, killed on timeout."""

from __future__ import annotations

import multiprocessing
import resource
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

from graphglass.errors import InputError
from graphglass.serve.queues import WorkThread

_SECONDS_TO_START = 120
_TOO_MUCH_MEMORY = "Working on this request took more memory than it may. Send a smaller graph."


class WorkerProcess:
    """Runs one function at a time in another process, which starts with the first one.

    Parameters
    ----------
    seconds : float
        Time for one function; then its process is killed and TimeoutError raised.
    waiting : int
        Functions in line before new ones are refused.
    """

    def __init__(self, *, seconds: float, waiting: int) -> None:
        self._seconds = seconds
        self.line = WorkThread("glass-worker", waiting)
        self._process: Any = None
        self._pipe: Any = None
        self._changing = threading.Lock()  # the process may be stopped while it starts

    async def run(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """What the function returns; everything is sent between the processes by pickle."""
        return await self.line.run(self._ask, function, arguments)

    def start(self) -> None:
        """Start the process before the first function comes; this does not wait for it."""
        self.line.executor.submit(self._start)

    def stop(self) -> None:
        self._end()  # what runs now fails at once
        self.line.stop()
        self._end()  # a process that was started meanwhile

    def _ask(self, function: Callable[..., object], arguments: tuple[object, ...]) -> object:
        self._start()
        try:
            self._pipe.send((function, arguments))
            answered = self._pipe.poll(self._seconds)
            failed, outcome = self._pipe.recv() if answered else (True, TimeoutError())
        except (EOFError, OSError) as error:
            self._end()
            raise InputError(_TOO_MUCH_MEMORY) from error
        if not answered:
            self._end()
        if failed:
            raise outcome
        return outcome

    def _start(self) -> None:
        if self._process is not None and self._process.is_alive():
            return
        # Not forked: the service has threads, whose locks a copy would keep for ever.
        context = multiprocessing.get_context("spawn")
        with self._changing:
            self._pipe, theirs = context.Pipe()
            self._process = context.Process(target=_work, args=(theirs,), daemon=True, name="glass-worker")
            self._process.start()
            theirs.close()
        if not self._pipe.poll(_SECONDS_TO_START):
            self._end()
            raise TimeoutError
        self._pipe.recv()

    def _end(self) -> None:
        with self._changing:
            if self._process is not None:
                self._process.kill()
                self._process.join()
                self._pipe.close()
                self._process = None


def _work(pipe: Any) -> None:
    """Do what is asked until the service has gone."""
    # A person who has opened the inspector waits for a file first; what scores is imported when it is needed.
    import_module("graphglass.serve.graph_files")
    pipe.send("ready")
    while True:
        try:
            function, arguments = pipe.recv()
        except EOFError:
            return
        try:
            outcome = False, function(*arguments)
        except MemoryError:
            outcome = True, InputError(_TOO_MUCH_MEMORY)
        except Exception as error:
            outcome = True, error
        pipe.send(outcome)


@contextmanager
def memory_limit(most: int) -> Iterator[None]:
    """Within it, this process gets at most so many bytes more than it has; a MemoryError beyond."""
    before = resource.getrlimit(resource.RLIMIT_DATA)
    pages = int(Path("/proc/self/statm").read_text().split()[5])
    resource.setrlimit(resource.RLIMIT_DATA, (pages * resource.getpagesize() + most, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, before)
