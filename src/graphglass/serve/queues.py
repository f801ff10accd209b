"""Batches requests for scoring; changes and map requests use separate queues."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

T = TypeVar("T")


class BusyError(Exception):
    """The line is full; try again later."""


class WorkThread:
    """A thread that runs one function at a time and refuses new ones while ``most`` are waiting."""

    def __init__(self, name: str, most: int) -> None:
        self.executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix=name)
        self._most = most
        self.waiting = 0

    @property
    def full(self) -> bool:
        return self.waiting >= self._most

    async def run(self, function: Callable[..., T], *arguments: Any) -> T:
        if self.full:
            raise BusyError
        self.waiting += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self.executor, function, *arguments)
        finally:
            self.waiting -= 1

    def stop(self) -> None:
        self.executor.shutdown(wait=True, cancel_futures=True)


class Batcher:
    """Collects waiting requests and answers them together.

    While one batch is being scored, the next one gathers: a lone request waits for nothing, and many requests share the
    cost. A graph's score does not depend on its batch.

    Parameters
    ----------
    work : callable
        Takes the requests of a batch and gives each an answer, or the exception to raise for it.
    size : callable
        How many graphs a request brings.
    batch_graphs : int
        Graphs after which a batch is full.
    waiting : int
        Requests in line before new ones are turned away.
    """

    def __init__(
        self,
        work: Callable[[Sequence[Any]], Sequence[Any]],
        *,
        size: Callable[[Any], int],
        batch_graphs: int,
        waiting: int,
    ) -> None:
        self._work, self._size, self._batch_graphs = work, size, batch_graphs
        self._line: asyncio.Queue[tuple[Any, asyncio.Future[Any]]] = asyncio.Queue(maxsize=waiting)
        self._task: asyncio.Task[None] | None = None
        self._scoring = WorkThread("glass", waiting)
        # Building a changed model may take minutes. Meanwhile the scoring thread answers with the old one.
        self._changes = WorkThread("glass-change", waiting)
        # So may fitting the map of a large model. Only what needs the map waits for it.
        self._maps = WorkThread("glass-map", waiting)
        # Anything else to do with the model, never at the same time as a batch; changes of it, one at a time; and
        # whatever needs the map.
        self.run, self.change, self.place = self._scoring.run, self._changes.run, self._maps.run
        self.batches = 0

    @property
    def waiting(self) -> int:
        """Requests in line."""
        return self._line.qsize() + self._scoring.waiting + self._changes.waiting + self._maps.waiting

    @property
    def full(self) -> bool:
        """Whether the next request would be refused."""
        return self._line.full() or self._scoring.full or self._changes.full or self._maps.full

    def start(self) -> None:
        self._task = asyncio.create_task(self._gather())

    async def stop(self) -> None:
        if self._task is not None:
            self._task.cancel()
        self._scoring.stop()
        self._changes.stop()  # before the next one, which the last change may still ask for a map
        self._maps.stop()

    def prepare(self, function: Callable[[], object]) -> None:
        """Have the map made before anybody asks; if that fails, whoever asks will see it fail."""
        self._maps.executor.submit(function)

    async def answer(self, asked: object) -> Any:
        """The answer to one request, worked out together with whatever else is waiting."""
        answer = asyncio.get_running_loop().create_future()
        try:
            self._line.put_nowait((asked, answer))
        except asyncio.QueueFull as error:
            raise BusyError from error
        return await answer

    async def _gather(self) -> None:
        while True:
            batch = [await self._line.get()]
            count = self._size(batch[0][0])
            while not self._line.empty() and count < self._batch_graphs:
                batch.append(self._line.get_nowait())
                count += self._size(batch[-1][0])
            batch = [(asked, answer) for asked, answer in batch if not answer.done()]  # a client may have given up
            if batch:
                await self._answer(batch)

    async def _answer(self, batch: list[tuple[Any, asyncio.Future[Any]]]) -> None:
        self.batches += 1
        try:
            # Not through `run`: a batch was already in line.
            executor, requests = self._scoring.executor, [asked for asked, _ in batch]
            found = await asyncio.get_running_loop().run_in_executor(executor, self._work, requests)
        except Exception as error:
            found = [error] * len(batch)
        for (_, answer), result in zip(batch, found, strict=True):
            if answer.done():
                continue
            if isinstance(result, Exception):
                answer.set_exception(result)
            else:
                answer.set_result(result)
