"""The memory that executors can have for each query's state: what there is for all, less what other queries hold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping

from streamjob_agent.bridge import ExecutorMemory
from streamjob_agent.families import Row
from streamjob_agent.totals import QueryPage

Place = tuple[str, bool]
"""An executor, and whether state there is on its heap."""


def state_limits(
    pages: tuple[QueryPage, ...], active: Collection[str], memory: Mapping[str, ExecutorMemory]
) -> Iterator[Row]:
    """(query, executor) and bytes, where an executor holds state of an active query's kind to a limit.

    Stores of a query that has ended are closed by Spark within a minute: they take no room from others.
    """
    held = {page.query_id: _held(page) for page in pages if page.query_id in active}
    whole = sum(held.values(), Counter[Place]())
    for page in pages:
        in_heap = _in_heap(page)
        for executor, one in memory.items() if page.query_id in active else ():
            room = _room(one, in_heap=in_heap)
            if room is not None and in_heap is not None:
                place = (executor, in_heap)
                yield (page.query_id, executor), max(0, room - whole[place] + held[page.query_id][place])


def _room(memory: ExecutorMemory, *, in_heap: bool | None) -> int | None:
    if in_heap is None:
        return None
    return memory.heap_room_bytes if in_heap else memory.native_room_bytes


def _in_heap(page: QueryPage) -> bool | None:
    """Where the query's state is; None while no key group tells its memory."""
    told = [totals for _, totals in page.groups if totals.state_memory_bytes is not None]
    return any(totals.state_in_heap for totals in told) if told else None


def _held(page: QueryPage) -> Counter[Place]:
    """Bytes of the query's state by where it is."""
    held: Counter[Place] = Counter()
    for _, totals in page.groups:
        held[totals.executor_id, totals.state_in_heap] += totals.state_memory_bytes or 0
    return held
