"""The memory that executors can have for each query's state: what there is for all, less what other queries hold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from streamjob_agent.bridge import ExecutorMemory
from streamjob_agent.families import Row
from streamjob_agent.totals import GroupTotals, QueryPage


def state_limits(pages: tuple[QueryPage, ...], memory: Mapping[str, ExecutorMemory]) -> Iterator[Row]:
    """(query, executor) and bytes, where an executor holds state of the query's kind to a limit."""
    for page in pages:
        in_heap = _in_heap(page)
        for executor, one in memory.items():
            room = _room(one, in_heap=in_heap)
            if room is not None:
                others = sum(_held(other, executor, in_heap=in_heap) for other in pages if other is not page)
                yield (page.query_id, executor), max(0, room - others)


def _room(memory: ExecutorMemory, *, in_heap: bool | None) -> int | None:
    if in_heap is None:
        return None
    return memory.heap_room_bytes if in_heap else memory.native_room_bytes


def _in_heap(page: QueryPage) -> bool | None:
    """Where the query's state is; None while no key group tells its memory."""
    told = [totals for _, totals in page.groups if totals.state_memory_bytes is not None]
    return any(totals.state_in_heap for totals in told) if told else None


def _held(page: QueryPage, executor: str, *, in_heap: bool | None) -> int:
    def counts(totals: GroupTotals) -> bool:
        return totals.executor_id == executor and totals.state_in_heap == in_heap

    return sum(totals.state_memory_bytes or 0 for _, totals in page.groups if counts(totals))
