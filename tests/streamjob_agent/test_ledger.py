"""What drains add up to: counters are sums of what was measured, and the number of series is bounded."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from streamjob_agent.bridge import (
    BatchEnd,
    GroupUsage,
    Moments,
    RunningBatch,
    Sent,
    StageUsage,
    Traffic,
    TrafficReading,
    Usage,
)
from streamjob_agent.ledger import Ledger
from streamjob_agent.totals import GroupTotals, QueryPage
from streamjob_agent.wire import GroupKey

A, B, C = (GroupKey(operator=0, partition=partition) for partition in range(3))


@pytest.fixture
def ledger() -> Ledger:
    return Ledger(traffic_min_bytes=1, traffic_max_pairs=10)


def drained(**fields: object) -> Usage:
    nothing = {"groups": {}, "batches": (), "other_busy_s": {}, "executor_busy_s": {}, "failed_tasks": 0}
    return Usage(**{**nothing, "longest_stateful_stage_s": None, **fields})  # type: ignore[arg-type]


def tasks(key: GroupKey, executor: str, busy_s: float = 1.5, *, state: int | None = None) -> GroupUsage:
    """What a group did in one batch."""
    return GroupUsage(
        key=key,
        executor_id=executor,
        counted_on=executor,
        moments=Moments(batches=1, squared_s2=busy_s**2),
        tasks=1,
        first_tasks=0,
        busy_s=busy_s,
        cpu_s=0.5,
        records=3,
        local_bytes=5,
        remote_bytes=7,
        gc_s=0.25,
        fetch_wait_s=0.125,
        state_rows=state,
        state_memory_bytes=state,
        state_in_heap=True,
    )


def batch(**fields: object) -> BatchEnd:
    plain = {"query_id": "q", "run_id": "r", "batch_id": 1, "ended_at_s": 9.0, "duration_s": 2.5, "input_rows": 11}
    return BatchEnd(**{**plain, "input_rps": None, "processed_rps": None, "lag_rows": None, **fields})  # type: ignore[arg-type]


def page(ledger: Ledger) -> QueryPage:
    (found,) = ledger.pages()
    return found


def totals(ledger: Ledger, key: GroupKey = A) -> GroupTotals:
    return dict(page(ledger).groups)[key]


def test_a_group_has_the_sums_of_what_was_measured(ledger: Ledger) -> None:
    for _ in range(2):
        ledger.take(drained(groups={"q": (tasks(A, "1"),)}))
    found = totals(ledger)
    assert (found.busy_s, found.cpu_s, found.records) == (3.0, 1.0, 6)
    assert (found.local_bytes, found.remote_bytes, found.gc_s, found.fetch_wait_s) == (10, 14, 0.5, 0.25)
    assert (found.warmup_s, page(ledger).squared_s2) == (0.0, {0: 2 * 1.5**2})


def test_a_thousand_executors_are_told_apart_from_those_that_are_new(ledger: Ledger) -> None:
    keys = [GroupKey(operator=0, partition=at) for at in range(1000)]
    for _ in range(6):
        groups = tuple(tasks(key, str(key.partition)) for key in keys)
        busy_s = {str(key.partition): 1.0 for key in keys}
        ledger.take(drained(groups={"q": groups}, batches=(batch(),), executor_busy_s=busy_s))
    assert ledger.executor_busy_s() == {str(key.partition): 6.0 for key in keys}
    assert {one.warmup.usual_s for _, one in page(ledger).groups} == {1.5}


def test_a_group_whose_batch_goes_on_hides_none_that_comes_after_it(ledger: Ledger) -> None:
    under_way = tasks(A, "1")._replace(moments=Moments(batches=0, squared_s2=0.0))
    ledger.take(drained(groups={"q": (under_way, tasks(B, "1"))}))
    assert (totals(ledger, A).busy_s, totals(ledger, B).busy_s) == (0.0, 1.5)


def test_a_size_of_state_stays_until_the_stores_tell_another(ledger: Ledger) -> None:
    told = []
    for state in (None, 100, None, 90):
        ledger.take(drained(groups={"q": (tasks(A, "1", state=state),)}))
        found = totals(ledger)
        told.append((found.state_rows, found.state_memory_bytes, found.state_in_heap))
    assert told == [(None, None, False), (100, 100, True), (100, 100, True), (90, 90, True)]


def test_recent_work_weighs_most_and_what_was_before_something(ledger: Ledger) -> None:
    for busy_s in ({A: 3.0, B: 1.0, C: 0.0}, {A: 1.0, B: 3.0, C: 3.0}):
        ledger.take(drained(groups={"q": tuple(tasks(key, "1", each_s) for key, each_s in busy_s.items())}))
    recent_s = ledger.recent_busy_s("q")
    assert recent_s[B] > max(recent_s[A], recent_s[C])


def test_owners_are_copied_when_one_has_changed_and_not_in_each_round(ledger: Ledger) -> None:
    ledger.take(drained(groups={"q": (tasks(A, "1"), tasks(B, "1"))}))
    owners, recent_s = ledger.owners("q"), ledger.recent_busy_s("q")
    ledger.take(drained(groups={"q": (tasks(A, "1")._replace(moments=Moments(batches=0, squared_s2=0.0)),)}))
    assert ledger.owners("q") is owners
    assert ledger.recent_busy_s("q") is recent_s
    ledger.take(drained(groups={"q": (tasks(A, "2")._replace(moments=Moments(batches=0, squared_s2=0.0)),)}))
    assert (owners, ledger.owners("q")) == ({A: "1", B: "1"}, {A: "2", B: "1"})
    ledger.take(drained(groups={"q": (tasks(B, "1"), tasks(C, ""))}))
    assert ledger.owners("q") == {A: "2", B: "1", C: ""}
    assert (recent_s, ledger.recent_busy_s("q")) == ({A: 1.5, B: 1.5}, {A: 1.5, B: 0.8 * 1.5 + 1.5, C: 1.5})


def test_whose_owner_has_changed_is_told_once_with_the_one_before(ledger: Ledger) -> None:
    assert ledger.moved_from("q") is None
    ledger.take(drained(groups={"q": (tasks(A, "1"), tasks(B, "1"))}))
    assert ledger.moved_from("q") is None, "any may be another one, for who has not asked yet"
    ledger.take(drained(groups={"q": (tasks(A, "2"), tasks(B, "1"), tasks(C, "1"))}))
    ledger.take(drained(groups={"q": (tasks(A, "3"),)}))
    assert ledger.moved_from("q") == {A: "1", C: None}
    assert ledger.moved_from("q") == {}
    ledger.keep("q", {A})
    assert (ledger.moved_from("q"), ledger.owners("q")) == (None, {A: "3"})


def stage(name: str, level: int = 0) -> StageUsage:
    return StageUsage(stage=name, level=level, wall_s=0.5, busy_s=1.5, longest_s=0.25, wait_s=0.125)


def test_a_stage_has_the_sums_and_its_newest_level(ledger: Ledger) -> None:
    for level in (2, 1):
        ledger.take(drained(stages={"q": (stage("operator-0", level),)}))
    found = dict(page(ledger).stages)["operator-0"]
    assert (found.wall_s, found.busy_s, found.longest_s, found.wait_s, found.level) == (1.0, 3.0, 0.5, 0.25, 1)


def test_two_hundred_stages_have_a_series_each_and_those_that_come_later_one_together(ledger: Ledger) -> None:
    names = [f"free-{number}.0" for number in range(203)]
    for name in (*names, names[0]):
        ledger.take(drained(stages={"q": (stage(name),)}))
    found = [totals.wall_s for _, totals in page(ledger).stages]
    assert found == [1.0] + [0.5] * 199 + [1.5]


def test_the_two_thousand_executors_that_worked_last_keep_their_seconds(ledger: Ledger) -> None:
    ledger.take(drained(executor_busy_s={str(number): 1.0 for number in range(2000)}))
    ledger.take(drained(executor_busy_s={"0": 1.0, "2000": 2.0}))
    kept_s = ledger.executor_busy_s()
    assert len(kept_s) == 2000
    assert "1" not in kept_s
    assert (kept_s["0"], kept_s["2"], kept_s["2000"]) == (2.0, 1.0, 2.0)


def test_a_query_has_the_sums_of_its_batches_and_the_newest_of_them(ledger: Ledger) -> None:
    batches = tuple(batch(batch_id=number, parts_s={"addBatch": 0.75}) for number in (1, 2))
    for each in batches:
        ledger.take(drained(batches=(each,), other_busy_s={"q": 0.25}))
    found = page(ledger)
    assert (found.batches, found.batch_s, found.input_rows, found.other_busy_s) == (2, 5.0, 22, 0.5)
    assert (found.parts_s, found.newest, found.traffic_batches) == ({"addBatch": 1.5}, batches[1], 0)


def test_a_reading_of_traffic_stands_for_the_batches_since_the_last_one_and_for_one_at_least(ledger: Ledger) -> None:
    reading = TrafficReading(
        pairs=(Traffic(from_key=A, to_key=B, size_bytes=10),), sent={A: Sent(size_bytes=20, partners=1)}
    )
    told = []
    for ended in (2, 3, 0):
        ledger.take(drained(batches=(batch(),) * ended))
        ledger.take_traffic("q", reading)
        found = page(ledger)
        told.append((found.traffic_batches, found.traffic[A, B], dict(found.sent)[A].total_bytes))
    assert told == [(2, 20, 40), (5, 50, 100), (6, 60, 120)]


FIRST, LATER = (TrafficReading(pairs=(Traffic(from_key=A, to_key=B, size_bytes=size),)) for size in (10, 20))


@pytest.mark.parametrize(
    ("batches", "readings", "known"),
    [
        (range(1), (FIRST, LATER), FIRST),
        (range(10), (FIRST,), FIRST),
        (range(11), (FIRST,), None),
        (range(1, 2), (FIRST,), None),
        (range(2), (TrafficReading(sent={A: Sent(size_bytes=0, partners=0)}), LATER), LATER),
        ((), (FIRST,), None),
    ],
    ids=["the first", "at last", "late", "of a query that ran before", "once there is any", "before a batch"],
)
def test_the_first_traffic_is_that_of_a_young_query(
    ledger: Ledger, batches: Iterable[int], readings: tuple[TrafficReading, ...], known: TrafficReading | None
) -> None:
    ledger.take(drained(groups={"q": (tasks(A, "1"),)}))
    ledger.take(drained(batches=tuple(batch(batch_id=number) for number in batches)))
    for one in readings:
        ledger.take_traffic("q", one)
    assert ledger.first_traffic("q") == known
    ledger.forget(["q"])
    assert ledger.first_traffic("q") is None


def test_sizes_that_are_not_read_this_time_stay(ledger: Ledger) -> None:
    ledger.take(drained(groups={"q": (tasks(A, "1"),)}))
    ledger.set_state_bytes("q", {A: 10, B: 20})
    ledger.set_state_bytes("q", {B: 30})
    assert ledger.state_bytes("q") == {A: 10, B: 30}


def test_of_a_query_that_is_forgotten_nothing_is_known_and_of_the_other_all(ledger: Ledger) -> None:
    for query_id in ("q", "other"):
        ledger.take(drained(groups={query_id: (tasks(A, "1"),)}, batches=(batch(query_id=query_id),)))
        ledger.set_state_bytes(query_id, {A: 10})
    ledger.forget(["q"])
    known = [
        (ledger.owners(one), ledger.recent_busy_s(one), ledger.state_bytes(one), ledger.newest_batch(one))
        for one in ("q", "other")
    ]
    assert known == [({}, {}, {}, None), ({A: "1"}, {A: 1.5}, {A: 10}, batch(query_id="other"))]
    assert page(ledger).query_id == "other"


def test_what_is_read_of_a_query_after_it_is_forgotten_brings_it_back_nowhere(ledger: Ledger) -> None:
    """Slow readings have a thread of their own and may come when the query is long over."""
    ledger.take(drained(groups={"q": (tasks(A, "1"),)}))
    ledger.forget(["q"])
    ledger.set_state_bytes("q", {A: 10})
    ledger.take_traffic("q", TrafficReading(pairs=(Traffic(from_key=A, to_key=B, size_bytes=9),)))
    assert ledger.pages() == ()


def test_a_load_is_what_a_group_takes_longer_than_usual_where_it_has_moved(ledger: Ledger) -> None:
    def run(executor: str, busy_s: float) -> float | None:
        ledger.take(drained(groups={"q": (tasks(A, executor, busy_s),)}, batches=(batch(),)))
        return ledger.load_s()

    for _ in range(4):  # both executors are no longer young then
        ledger.take(drained(groups={"q": (tasks(B, "2"),)}))
        assert run("1", 1.0) is None
    assert run("2", 1.75) == 0.75
    assert run("2", 1.0) == 0.75
    assert run("1", 1.25) == 0.75, "the longest of those of late"
    told = [run("12"[at % 2 == 0], 1.25) for at in range(99)]
    assert told[-2:] == [0.75, 0.25], "a hundred loads are known"


def test_the_batch_that_runs_is_shown_while_the_probe_tells_it(ledger: Ledger) -> None:
    runs = RunningBatch(batch_id=2, began_at_s=10.0, rows=40)
    ledger.take(drained(batches=(batch(),), running={"q": runs}))
    assert page(ledger).running == runs
    ledger.take(drained())
    assert page(ledger).running is None
