"""Concurrent requests share one scoring pass, in order of arrival; changes of the model wait in a line of their own."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

Asked = TypeVar("Asked")
Answer = TypeVar("Answer")


class BusyError(Exception):
    """The line is full; try again later."""


@dataclass
class _Waiting(Generic[Asked, Answer]):
    asked: Asked
    answer: asyncio.Future[Answer]


class Batcher(Generic[Asked, Answer]):
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
        work: Callable[[Sequence[Asked]], Sequence[Answer | Exception]],
        *,
        size: Callable[[Asked], int],
        batch_graphs: int,
        waiting: int,
    ) -> None:
        self._work_on, self._size, self._batch_graphs, self._most = work, size, batch_graphs, waiting
        self._line: asyncio.Queue[_Waiting[Asked, Answer]] = asyncio.Queue(maxsize=waiting)
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="glass")
        self._task: asyncio.Task[None] | None = None
        # Building a changed model may take minutes. Meanwhile the scoring thread answers with the old one.
        self._changes = ThreadPoolExecutor(max_workers=1, thread_name_prefix="glass-change")
        self._others = 0
        self.batches = 0

    @property
    def waiting(self) -> int:
        """Requests in line."""
        return self._line.qsize() + self._others

    @property
    def full(self) -> bool:
        """Whether the next request would be refused."""
        return self._line.full() or self._others >= self._most

    def start(self) -> None:
        self._task = asyncio.create_task(self._gather())

    async def stop(self) -> None:
        if self._task is not None:
            self._task.cancel()
        for thread in (self._thread, self._changes):
            thread.shutdown(wait=True, cancel_futures=True)

    async def answer(self, asked: Asked) -> Answer:
        """The answer to one request, worked out together with whatever else is waiting."""
        waiting = _Waiting[Asked, Answer](asked, asyncio.get_running_loop().create_future())
        try:
            self._line.put_nowait(waiting)
        except asyncio.QueueFull as error:
            raise BusyError from error
        return await waiting.answer

    async def run(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Do something else with the model, never at the same time as a batch."""
        return await self._in_line(self._thread, function, *arguments)

    async def change(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Change the model, one change at a time."""
        return await self._in_line(self._changes, function, *arguments)

    async def _in_line(self, thread: ThreadPoolExecutor, function: Callable[..., Any], *arguments: Any) -> Any:
        if self._others >= self._most:
            raise BusyError
        self._others += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(thread, function, *arguments)
        finally:
            self._others -= 1

    async def _gather(self) -> None:
        while True:
            batch = [await self._line.get()]
            count = self._size(batch[0].asked)
            while not self._line.empty() and count < self._batch_graphs:
                batch.append(self._line.get_nowait())
                count += self._size(batch[-1].asked)
            batch = [item for item in batch if not item.answer.done()]  # a client may have given up
            if batch:
                await self._answer(batch)

    async def _answer(self, batch: list[_Waiting[Asked, Answer]]) -> None:
        self.batches += 1
        try:
            asked = [item.asked for item in batch]
            answers = await asyncio.get_running_loop().run_in_executor(self._thread, self._work_on, asked)
        except Exception as error:
            answers = [error] * len(batch)
        for item, answer in zip(batch, answers, strict=True):
            if item.answer.done():
                continue
            if isinstance(answer, Exception):
                item.answer.set_exception(answer)
            else:
                item.answer.set_result(answer)
