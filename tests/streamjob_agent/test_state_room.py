"""What executors have for a query's state: the right kind of memory, less what other queries hold there."""

from __future__ import annotations

from collections.abc import Collection

import pytest

from streamjob_agent.bridge import ExecutorMemory, GroupUsage, Moments, Usage
from streamjob_agent.ledger import Ledger
from streamjob_agent.state_room import state_limits
from streamjob_agent.wire import GroupKey


def usage(executor: str, memory: int | None, *, in_heap: bool, partition: int = 0) -> GroupUsage:
    return GroupUsage(
        key=GroupKey(operator=0, partition=partition),
        executor_id=executor,
        counted_on=executor,
        moments=Moments(batches=1, squared_s2=1.0),
        tasks=1,
        first_tasks=0,
        busy_s=1.0,
        cpu_s=1.0,
        records=1,
        local_bytes=0,
        remote_bytes=0,
        state_rows=1,
        state_memory_bytes=memory,
        state_in_heap=in_heap,
    )


def limits(
    memory: dict[str, ExecutorMemory], ended: Collection[str] = (), **queries: tuple[GroupUsage, ...]
) -> dict[tuple[str, ...], float]:
    ledger = Ledger(1, 1)
    nothing = {"batches": (), "other_busy_s": {}, "executor_busy_s": {}}
    ledger.take(Usage(groups=queries, failed_tasks=0, longest_stateful_stage_s=None, **nothing))
    return dict(state_limits(ledger.pages(), queries.keys() - set(ended), memory))


def of(heap: int | None, native: int | None = None) -> ExecutorMemory:
    return ExecutorMemory(used_bytes=1, limit_bytes=None, heap_room_bytes=heap, native_room_bytes=native)


def test_state_on_the_heap_has_the_heap_and_other_state_what_is_beside_it() -> None:
    memory = {"0": of(1000, 300)}
    assert limits(memory, q=(usage("0", 50, in_heap=True),)) == {("q", "0"): 1000}
    assert limits(memory, q=(usage("0", 50, in_heap=False),)) == {("q", "0"): 300}


@pytest.mark.parametrize(
    ("memory", "told", "in_heap"),
    [(of(None, 300), 50, True), (of(1000, None), 50, False), (of(1000, 300), None, False)],
    ids=["no heap", "no container", "stores tell nothing"],
)
def test_nothing_is_said_where_nothing_is_known(memory: ExecutorMemory, told: int | None, in_heap: bool) -> None:
    assert limits({"0": memory}, q=(usage("0", told, in_heap=in_heap),)) == {}


def test_what_other_queries_hold_there_is_taken_off() -> None:
    queries = {
        "q": (usage("0", 50, in_heap=True),),
        "other": (usage("0", 300, in_heap=True), usage("1", 2000, in_heap=True, partition=1)),
        "elsewhere": (usage("0", 70, in_heap=False),),
    }
    found = limits({"0": of(1000), "1": of(1000)}, **queries)
    assert found == {("q", "0"): 700, ("q", "1"): 0, ("other", "0"): 950, ("other", "1"): 1000}


def test_a_query_that_has_ended_takes_no_room_from_those_that_run() -> None:
    queries = {"q": (usage("0", 50, in_heap=True),), "gone": (usage("0", 900, in_heap=True),)}
    assert limits({"0": of(1000)}, ended=["gone"], **queries) == {("q", "0"): 1000}
