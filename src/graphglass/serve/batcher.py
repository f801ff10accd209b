"""Concurrent requests share one forward pass; one thread does all the work, in order of arrival."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphglass.graphs.graph_set import GraphSet, concatenate


class BusyError(Exception):
    """The line is full; try again later."""


@dataclass
class _Waiting:
    graphs: GraphSet
    answer: asyncio.Future[NDArray[np.float64]]


class Batcher:
    """Collects graphs of waiting requests and scores them together.

    While one batch is being scored the next one gathers, so a lone request waits for nothing and many requests share
    the cost. A graph's score does not depend on its batch, so sharing is invisible.
    """

    def __init__(self, score: Callable[[GraphSet], NDArray[np.float64]], *, batch_graphs: int, waiting: int) -> None:
        self._score = score
        self._batch_graphs = batch_graphs
        self._line: asyncio.Queue[_Waiting] = asyncio.Queue(maxsize=waiting)
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="glass")
        self._task: asyncio.Task[None] | None = None
        self.batches = 0

    @property
    def waiting(self) -> int:
        """Requests in line."""
        return self._line.qsize()

    def start(self) -> None:
        self._task = asyncio.create_task(self._work())

    async def stop(self) -> None:
        if self._task is not None:
            self._task.cancel()
        self._thread.shutdown(wait=True, cancel_futures=True)

    async def scores(self, graphs: GraphSet) -> NDArray[np.float64]:
        """Scores of these graphs, computed together with whatever else is waiting."""
        waiting = _Waiting(graphs, asyncio.get_running_loop().create_future())
        try:
            self._line.put_nowait(waiting)
        except asyncio.QueueFull as error:
            raise BusyError from error
        return await waiting.answer

    async def run(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Do something else with the model, never at the same time as a batch."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, function, *arguments)

    async def _work(self) -> None:
        while True:
            batch = [await self._line.get()]
            count = len(batch[0].graphs)
            while not self._line.empty() and count < self._batch_graphs:
                batch.append(self._line.get_nowait())
                count += len(batch[-1].graphs)
            batch = [item for item in batch if not item.answer.done()]  # a client may have given up
            if batch:
                await self._answer(batch)

    async def _answer(self, batch: list[_Waiting]) -> None:
        self.batches += 1
        try:
            scores = await self.run(lambda: self._score(concatenate([item.graphs for item in batch])))
        except Exception as error:
            if len(batch) > 1:
                # One request must not take the others down with it.
                for item in batch:
                    await self._answer([item])
                return
            if not batch[0].answer.done():
                batch[0].answer.set_exception(error)
            return
        ends = np.cumsum([len(item.graphs) for item in batch])
        for item, part in zip(batch, np.split(scores, ends[:-1]), strict=True):
            if not item.answer.done():
                item.answer.set_result(part)
