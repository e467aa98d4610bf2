"""The first tasks after a move cost more than the group's load, and are told apart from it."""

from __future__ import annotations

import pytest
from fake_bridge import QUERY

from streamjob_agent.bridge import BatchEnd, GroupUsage, Moments, Usage
from streamjob_agent.ledger import Ledger
from streamjob_agent.totals import GroupTotals
from streamjob_agent.warmup import YOUNG_BATCHES, Reading, StartCost, Warmup, squared_s2
from streamjob_agent.wire import GroupKey

KEY = GroupKey(operator=0, partition=0)


def batch(ledger: Ledger, busy_s: float, executor: str, *, tasks: int = 1, first_tasks: int = 0) -> GroupTotals:
    """One batch in which the group took busy_s; the group's totals after it."""
    usage = GroupUsage(
        key=KEY,
        executor_id=executor,
        counted_on=executor,
        moments=Moments(batches=1, squared_s2=busy_s**2, first_s=busy_s * first_tasks, firsts_squared=first_tasks**2),
        tasks=tasks,
        first_tasks=first_tasks,
        busy_s=busy_s,
        cpu_s=0.0,
        records=1,
        local_bytes=0,
        remote_bytes=0,
        state_rows=None,
    )
    end = BatchEnd(
        query_id=QUERY,
        run_id="run-1",
        batch_id=0,
        ended_at_s=0.0,
        duration_s=1.0,
        input_rows=1,
        input_rps=None,
        processed_rps=None,
        lag_rows=None,
    )
    nothing = Usage(
        groups={QUERY: (usage,)},
        batches=(end,),
        other_busy_s={},
        executor_busy_s={},
        failed_tasks=0,
        longest_stateful_stage_s=None,
    )
    ledger.take(nothing)
    return ledger.pages()[0].groups[0][1]


@pytest.fixture
def ledger() -> Ledger:
    """The group has run on executors 0 and 1, both are no longer new, and it is on 0 now."""
    ledger = Ledger(1, 1)
    for executor in ("1", *["0"] * (YOUNG_BATCHES + 1)):
        batch(ledger, 1.0, executor)
    return ledger


def test_a_steady_group_has_no_warm_up(ledger: Ledger) -> None:
    assert batch(ledger, 1.0, "0").warmup_s == 0.0


def test_the_first_batch_after_a_move_is_warm_up_beyond_the_usual(ledger: Ledger) -> None:
    totals = batch(ledger, 1.4, "1")
    assert totals.warmup_s == pytest.approx(0.4)
    assert totals.busy_s - totals.warmup_s == pytest.approx(YOUNG_BATCHES + 3)


def test_what_comes_after_it_is_load(ledger: Ledger) -> None:
    batch(ledger, 1.4, "1")
    totals = batch(ledger, 1.4, "1")
    assert totals.warmup_s == pytest.approx(0.4)


def test_a_reading_of_several_batches_loses_only_the_excess(ledger: Ledger) -> None:
    assert batch(ledger, 3.5, "1", tasks=3).warmup_s == pytest.approx(0.5)


def test_a_new_executor_is_cold_for_some_batches(ledger: Ledger) -> None:
    for _ in range(YOUNG_BATCHES):
        batch(ledger, 2.0, "2")
    totals = batch(ledger, 2.0, "2")
    assert totals.warmup_s == pytest.approx(YOUNG_BATCHES * 1.0)


def test_a_move_that_makes_a_group_quicker_takes_nothing_away(ledger: Ledger) -> None:
    assert batch(ledger, 0.5, "1").warmup_s == 0.0


def test_before_anything_warm_was_seen_all_is_load() -> None:
    ledger = Ledger(1, 1)
    batch(ledger, 9.0, "0")
    assert batch(ledger, 5.0, "1").warmup_s == 0.0


def reading(busy_s: float, at: int, *, first: bool, cold: bool = False) -> Reading:
    """One task in one batch."""
    return Reading(busy_s=busy_s, tasks=1, first_tasks=int(first), cold=cold, batch=at)


def learned(*pairs: tuple[float, float]) -> StartCost:
    """A start's cost from groups that were first on their slot, and then not."""
    start = StartCost()
    for first_s, later_s in pairs:
        group = Warmup()
        group.beyond_s(reading(first_s, 1, first=True), start)
        group.beyond_s(reading(later_s, 2, first=False), start)
    return start


def test_a_start_is_told_from_load_once_three_groups_have_changed_their_turn() -> None:
    assert learned((1.2, 1.0), (0.5, 0.3)).seconds == 0.0
    assert learned((1.2, 1.0), (0.5, 0.3), (9.0, 1.0)).seconds == pytest.approx(0.2)  # one that changed does not matter


def test_the_first_task_of_a_slot_gives_up_the_start_and_later_ones_nothing() -> None:
    start = learned((1.2, 1.0), (0.5, 0.3), (0.6, 0.4))
    assert Warmup().beyond_s(reading(0.7, 1, first=True), start) == pytest.approx((0.2, 0.0))
    assert Warmup().beyond_s(reading(0.1, 1, first=True), start) == pytest.approx((0.1, 0.0))
    assert Warmup().beyond_s(reading(0.7, 1, first=False), start) == (0.0, 0.0)


def test_neither_cold_tasks_nor_old_ones_nor_mixed_readings_tell_what_a_start_costs() -> None:
    start = StartCost()
    for _ in range(3):
        group = Warmup()
        group.beyond_s(reading(1.5, 1, first=True), start)
        group.beyond_s(reading(1.0, 2, first=False, cold=True), start)
        group.beyond_s(Reading(busy_s=2.0, tasks=2, first_tasks=1, cold=False, batch=3), start)
        group.beyond_s(reading(1.0, 9, first=False), start)
    assert start.seconds == 0.0


def test_where_later_tasks_are_dearer_a_start_costs_nothing() -> None:
    assert learned((1.0, 1.2), (1.0, 1.3), (1.0, 1.1)).seconds == 0.0


def test_what_a_start_takes_is_work_of_the_query_and_of_no_group(ledger: Ledger) -> None:
    for _ in range(2):
        batch(ledger, 1.2, "0", first_tasks=1)
        batch(ledger, 1.0, "0")
    before = ledger.pages()[0].other_busy_s
    totals = batch(ledger, 1.2, "0", first_tasks=1)
    assert totals.warmup_s == pytest.approx(0.2)
    assert ledger.pages()[0].other_busy_s - before == pytest.approx(0.2)


def squared(ledger: Ledger) -> float:
    return ledger.pages()[0].squared_s2[0]


def test_squares_hold_every_batch_and_no_warm_up(ledger: Ledger) -> None:
    before = squared(ledger)
    batch(ledger, 2.0, "0")
    assert squared(ledger) - before == pytest.approx(4.0)
    totals = batch(ledger, 9.0, "1")  # moved: all beyond the usual is warm-up
    load_s = 9.0 - totals.warmup_s
    assert squared(ledger) - before == pytest.approx(4.0 + load_s**2)


def test_a_start_is_no_load_of_a_cold_batch_either(ledger: Ledger) -> None:
    for _ in range(2):
        batch(ledger, 1.2, "0", first_tasks=1)
        usual = batch(ledger, 1.0, "0")
    before = squared(ledger)
    totals = batch(ledger, 9.0, "1", first_tasks=1)
    load_s = 9.0 - (totals.warmup_s - usual.warmup_s)  # neither the start nor what is beyond the usual
    assert squared(ledger) - before == pytest.approx(load_s**2)


def test_a_start_is_taken_out_of_its_own_batch() -> None:
    # Batches of 1.2 s (first on its slot) and 1.0 s, of which the start took 0.2: no difference is left.
    moments = Moments(batches=2, squared_s2=1.2**2 + 1.0**2, first_s=1.2, firsts_squared=1)
    two = Reading(busy_s=2.2, tasks=2, first_tasks=1, cold=False, batch=3)
    assert squared_s2(moments, two, 0.2, 2.0) == pytest.approx(2.0)


def test_a_batch_that_still_runs_tells_only_where_its_tasks_are(ledger: Ledger) -> None:
    before = ledger.pages()[0].groups[0][1]
    running = GroupUsage(
        key=KEY,
        executor_id="9",
        counted_on="",
        moments=Moments(batches=0, squared_s2=0.0),
        tasks=0,
        first_tasks=0,
        busy_s=0.0,
        cpu_s=0.0,
        records=0,
        local_bytes=0,
        remote_bytes=0,
        state_rows=None,
    )
    usage = Usage(
        groups={QUERY: (running,)},
        batches=(),
        other_busy_s={},
        executor_busy_s={},
        failed_tasks=0,
        longest_stateful_stage_s=None,
    )
    ledger.take(usage)
    after = ledger.pages()[0].groups[0][1]
    assert (after.executor_id, after.counted_on, after.busy_s) == ("9", "0", before.busy_s)
    assert batch(ledger, 1.0, "0").warmup_s == 0.0  # where it was counted last, so it is warm


def test_a_task_on_another_executor_than_before_is_counted_once(ledger: Ledger) -> None:
    before = ledger.pages()[0].moved
    assert before == 1, "the fixture's own move; a group's first task is none"
    for executor in ("0", "1", "1", "0"):
        batch(ledger, 1.0, executor)
    assert ledger.pages()[0].moved == before + 2
