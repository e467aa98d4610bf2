"""When a cycle is due: each period, earlier after events, again after one that came too early, and never for ever."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from batch_rows import OWNERS, SLOTS, TRIGGER_S, rows, taking, world
from small_reports import NEWS, RISE, executor, query, status
from worlds import even

from streamjob_agent.wire import AgentStatus
from streamjob_operator.events import Event, EventKind
from streamjob_operator.series import BatchSeries
from streamjob_operator.steps.gate import held
from streamjob_operator.values import CycleRecord, Memory, Reason, RunningBatch
from streamjob_operator.waking.cadence import EARLY_GAP_S, Cadence, Seen
from streamjob_operator.waking.rows import Rows
from streamjob_planners.batch.knowledge import Knowledge
from streamjob_planners.capacity.pace import Pace

PERIOD_S = 60.0


def seen(of: AgentStatus | None = None, spec: str = "spec") -> Seen:
    return Seen(status=of or status(), spec=spec)


def begun() -> Cadence:
    cadence = Cadence()
    cadence.began(100.0, seen())
    return cadence


def due_s(cadence: Cadence, now: Seen, period_s: float = PERIOD_S) -> float:
    return cadence.due_s(period_s, cadence.happened(now), now)


def record(
    reason: Reason, woken: tuple[Event, ...], last_batch_at_s: float = 2000.0, running: RunningBatch | None = None
) -> CycleRecord:
    world = even(2, 2, 20.0)
    snapshot = world.observe(0.0, 10.0)
    rates = dataclasses.replace(snapshot.rates, last_batch_at_s=last_batch_at_s, running=running)
    snapshot = dataclasses.replace(snapshot, rates=rates)
    return CycleRecord(
        at_s=0.0,
        snapshot=snapshot,
        scaling=None,
        verdict=held(reason, ""),
        receipt=None,
        step_seconds={},
        woken=woken,
    )


def with_series(told: CycleRecord, series: BatchSeries, **rates: float) -> CycleRecord:
    """The same cycle of a window with these batches."""
    assert told.snapshot is not None
    known = dataclasses.replace(told.snapshot.rates, **rates)
    return dataclasses.replace(told, snapshot=dataclasses.replace(told.snapshot, series=series, rates=known))


def test_the_first_cycle_waits_for_the_first_measurements() -> None:
    assert due_s(Cadence(first_s=7.0), seen()) == 7.0


def test_a_clock_that_is_set_back_makes_nobody_wait_longer() -> None:
    cadence = Cadence(first_s=1000.0)
    cadence.set_back(600.0)
    assert cadence.due_s(60.0, (), Seen()) == 400.0
    cadence.began(400.0, Seen())
    cadence.set_back(300.0)
    assert cadence.due_s(60.0, (), Seen()) == 160.0


def test_where_nothing_happens_the_period_is_the_longest_wait() -> None:
    assert due_s(begun(), seen()) == 160.0
    assert due_s(begun(), Seen(spec="spec")) == 160.0  # no report is no news


@pytest.mark.parametrize(
    ("now", "kind"),
    [
        (seen(status(executor("0"))), EventKind.EXECUTOR_GONE),
        (seen(status(executor("0"), executor("1"), executor("2"))), EventKind.EXECUTOR_READY),
        (seen(spec="another"), EventKind.SPEC_EDITED),
        (seen(status(queries=(query(unusual=NEWS),))), EventKind.BATCH_OUT_OF_RANGE),
        (seen(status(queries=(query(risen=RISE),))), EventKind.ROWS_ROSE),
    ],
)
def test_what_happens_wakes_a_cycle_soon(now: Seen, kind: EventKind) -> None:
    assert [one.kind for one in begun().happened(now)] == [kind]
    assert due_s(begun(), now) == 100.0 + EARLY_GAP_S
    assert due_s(begun(), now, 1.0) == pytest.approx(100.2)


def test_a_cycle_takes_what_happened_away() -> None:
    cadence, now = begun(), seen(status(executor("0")))
    events = cadence.happened(now)
    cadence.began(105.0, now)
    cadence.ended(record(Reason.BALANCED, events), PERIOD_S)
    assert cadence.happened(now) == ()
    assert due_s(cadence, now) == 165.0


def kept_from_acting(reason: Reason, later: tuple[AgentStatus, ...] = ()) -> list[float]:
    """When cycles begin that come to this, until one would by the clock; one of `later` is reported before each."""
    cadence, now, at_s = begun(), seen(status(executor("0"))), 105.0
    begins, reports = list[float](), iter(later)
    while (events := cadence.happened(now)) and len(begins) < 100:
        begins.append(at_s)
        cadence.began(at_s, now)
        cadence.ended(record(reason, events), PERIOD_S)
        now = seen(next(reports, now.status))
        at_s = due_s(cadence, now)
    assert at_s == begins[-1] + PERIOD_S
    return begins


def test_what_a_cycle_came_too_early_for_wakes_the_next_one_and_gives_up_after_a_period() -> None:
    begins = kept_from_acting(Reason.SETTLING)
    assert begins[:3] == [105.0, 110.0, 115.0]
    assert begins[-1] == 165.0


def test_while_no_move_is_made_cycles_that_wait_for_it_get_rarer() -> None:
    assert kept_from_acting(Reason.MOVES_PENDING) == [105.0, 110.0, 120.0, 140.0, 180.0]


def test_a_batch_that_ends_or_moves_that_are_made_bring_back_a_cycle_that_waits_for_moves() -> None:
    waits, goes_on = (status(executor("0"), queries=(query(moves_pending=8, batch_id=one),)) for one in (7, 8))
    made = status(executor("0"), queries=(query(moves_pending=5, batch_id=8),))
    begins = kept_from_acting(Reason.MOVES_PENDING, (waits, waits, waits, goes_on, made))
    assert begins == [105.0, 110.0, 115.0, 125.0, 130.0, 135.0, 140.0, 150.0, 170.0]


@pytest.mark.parametrize(("last_batch_at_s", "again"), [(NEWS.ended_at_s - 1.0, True), (NEWS.ended_at_s, False)])
def test_a_batch_that_nobody_has_scraped_yet_is_looked_at_again(last_batch_at_s: float, again: bool) -> None:
    cadence, now = begun(), seen(status(queries=(query(unusual=NEWS),)))
    events = cadence.happened(now)
    cadence.began(105.0, now)
    cadence.ended(record(Reason.BALANCED, events, last_batch_at_s), PERIOD_S)
    assert bool(cadence.happened(now)) is again


@pytest.mark.parametrize(
    ("ended_after_s", "batches", "again"),
    [
        ((-9.0, 1.0), (7, 7), True),
        ((-9.0, 1.0), (7, 1), False),
        ((1.0, 16.0), (7, 7), False),
        ((1.0, 2.0), (1, 7), False),
    ],
    ids=["a row of seven has it", "a row of its own", "another row has begun since", "a row of its own, and others"],
)
def test_a_batch_that_shares_its_row_is_looked_at_again_until_there_is_another_row(
    ended_after_s: tuple[float, float], batches: tuple[int, int], again: bool
) -> None:
    """What a row of batches from before and after a change is the mean of shows none."""
    cadence, now = begun(), seen(status(queries=(query(unusual=NEWS),)))
    events = cadence.happened(now)
    cadence.began(105.0, now)
    ended_at_s = NEWS.ended_at_s + np.array((-99.0, *ended_after_s))
    series = dataclasses.replace(taking(1.0, 1.0, 1.0), ended_at_s=ended_at_s, batches=np.array((1, *batches)))
    cadence.ended(with_series(record(Reason.BALANCED, events, NEWS.ended_at_s + 20.0), series), PERIOD_S)
    assert bool(cadence.happened(now)) is again


@pytest.mark.parametrize(
    ("running", "last_batch_at_s", "again"),
    [
        (None, RISE.began_at_s - 1.0, True),
        (RunningBatch(began_at_s=RISE.began_at_s - 9.0, rows=24000.0), RISE.began_at_s - 10.0, True),
        (RunningBatch(began_at_s=RISE.began_at_s, rows=52000.0), RISE.began_at_s - 1.0, False),
        (None, RISE.began_at_s + 30.0, False),
    ],
    ids=["nothing runs for who looks", "an earlier batch does", "it does", "it has ended"],
)
def test_rows_that_nobody_has_scraped_yet_are_looked_at_again(
    running: RunningBatch | None, last_batch_at_s: float, again: bool
) -> None:
    cadence, now = begun(), seen(status(queries=(query(risen=RISE),)))
    events = cadence.happened(now)
    cadence.began(105.0, now)
    cadence.ended(record(Reason.BALANCED, events, last_batch_at_s, running), PERIOD_S)
    assert bool(cadence.happened(now)) is again


def test_a_backlog_that_is_gone_wakes_a_cycle_by_the_trigger_interval_that_was_measured() -> None:
    cadence, after = begun(), taking(9.0, 40.0, 25.0, 9.3)
    behind = with_series(record(Reason.BALANCED, ()), taking(9.0, 40.0), trigger_interval_s=TRIGGER_S)
    cadence.ended(behind, PERIOD_S)
    still = Seen(rows=Rows(series=taking(9.0, 40.0, 25.0), owners=OWNERS, slots=SLOTS), spec="spec")
    assert cadence.happened(still) == ()
    gone = Seen(rows=Rows(series=after, owners=OWNERS, slots=SLOTS), spec="spec")
    assert [one.kind for one in cadence.happened(gone)] == [EventKind.BACKLOG_GONE]
    cadence.began(105.0, gone)
    assert cadence.happened(gone) == ()


def test_after_a_load_that_shifted_a_slow_executor_is_heard_as_one() -> None:
    """Batches from before a change that a cycle knows are not what its key groups are held against."""
    busy_s, shift_at, slow_at = world(1, 0.1, 60, slow_at=45), 30, 45
    busy_s[shift_at:, [at for at, owner in enumerate(OWNERS) if owner == "2"][:4]] *= 9.0
    cadence, before = begun(), rows(busy_s, slow_at)
    known = Memory(batches=Knowledge(alike_since_s=before.series.ended_at_s[shift_at - 1]))
    knows = with_series(record(Reason.BALANCED, ()), before.series)
    cadence.ended(dataclasses.replace(knows, memory=known), PERIOD_S)
    assert cadence.happened(Seen(spec="spec", rows=before)) == ()
    found = cadence.happened(Seen(spec="spec", rows=rows(busy_s, slow_at + 2)))
    assert [one.kind for one in found] == [EventKind.EXECUTOR_SLOW]
    assert found[0].sentence.startswith("Executor 2 is slow")


def test_what_a_slow_executor_does_to_shares_is_not_told_again_once_it_is_known() -> None:
    busy_s, slow_at = world(1, 0.1, 60, slow_at=45), 45
    cadence, before, later = begun(), rows(busy_s, slow_at), rows(busy_s, slow_at + 3)
    turned_s = float(before.series.ended_at_s[-1])
    slow = Memory(batches=Knowledge(paces={"2": Pace(speed=1 / 3, error=0.05, past=((turned_s, 1.0),))}))
    assert later.series.changes == (slow_at,)
    knows = with_series(record(Reason.BALANCED, ()), before.series)
    for known, told in ((Memory(), [EventKind.EXECUTOR_SLOW]), (slow, [])):
        cadence.ended(dataclasses.replace(knows, memory=known), PERIOD_S)
        assert [one.kind for one in cadence.happened(Seen(spec="spec", rows=later))] == told


def test_a_cycle_without_a_report_keeps_the_one_before() -> None:
    cadence, now = begun(), seen(status(executor("0")))
    cadence.began(160.0, Seen(spec="spec"))
    assert [one.kind for one in cadence.happened(now)] == [EventKind.EXECUTOR_GONE]
