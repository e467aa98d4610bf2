"""Loads since the newest change of a window."""

import dataclasses

import numpy as np
import pytest
from worlds import even, job, series_with

from streamjob_operator.measure.stages import pooled_spread_s
from streamjob_operator.scaling.rule import Fleet, Situation
from streamjob_operator.scaling.utilization.needs import total_load
from streamjob_operator.series import StageRows
from streamjob_operator.steps.batching import learn_batches
from streamjob_operator.steps.estimate import estimate
from streamjob_operator.steps.recent import Recent, cut, recent, since_change, steady
from streamjob_operator.steps.singly import batch_times
from streamjob_operator.values import Lag, Memory, Snapshot, StageView
from streamjob_planners import plans
from streamjob_planners.batch.knowledge import Knowledge
from streamjob_planners.batch.learned import Learned

QUIET, SHIFTED = (1.0, 3.0, 1.0, 3.0), (3.0, 1.0, 3.0, 1.0)


def snapshot(*rows: tuple[float, ...], window: int) -> Snapshot:
    """A batch every two seconds, each in a row of its own; the window holds the newest ones."""
    seen = even(2, 2, 20.0).observe(1000.0, 2.0 * window)
    noise = np.random.default_rng(5).normal(1.0, 0.01, (len(rows), 4))
    series = series_with(np.array(rows) * noise, row_s=np.full(len(rows), 2.0), ended_s=1000.0)
    rates = dataclasses.replace(seen.rates, batches=window, mean_batch_s=1.4, other_busy_s=1.0 * window)
    return dataclasses.replace(seen, series=series, busy_s=series.busy_s[-window:].sum(axis=0), rates=rates)


def test_batches_of_before_a_change_are_left_out() -> None:
    seen = snapshot(*[QUIET] * 10, *[SHIFTED] * 2, window=6)
    found = since_change(seen)
    newest = found.snapshot
    assert found.changed_at_s == 996.0
    assert (newest.window_s, newest.rates.batches, newest.rates.mean_batch_s) == (4.0, 2, 1.5)
    assert newest.rates.other_busy_s == 2.0
    assert newest.busy_s == pytest.approx([6.0, 2.0, 6.0, 2.0], rel=0.05)
    estimated = estimate(seen, Memory())
    assert estimated.changed_at_s == 996.0
    assert estimated.model.load == pytest.approx([150.0, 50.0, 150.0, 50.0], rel=0.05)
    assert estimated.model.batch is not None
    assert estimated.model.batch.task_s == pytest.approx(SHIFTED, rel=0.05)


def test_a_change_that_the_window_begins_with_is_in_it() -> None:
    """Scrapes are stamped in milliseconds, and rows may seem to begin a little earlier than they do."""
    seen = snapshot(*[QUIET] * 10, *[SHIFTED] * 6, window=6)
    for window_s in (12.0, 11.9995):
        found = since_change(dataclasses.replace(seen, window_s=window_s))
        assert (found.changed_at_s, found.snapshot.rates.batches) == (988.0, 6)


def test_a_change_from_before_the_window_changes_nothing() -> None:
    seen = snapshot(*[QUIET] * 10, *[SHIFTED] * 7, window=6)
    assert since_change(seen) == Recent(snapshot=seen)


def test_a_load_that_swings_is_taken_as_a_whole() -> None:
    swings = ([QUIET] * 4 + [SHIFTED] * 4) * 2
    assert since_change(snapshot(*swings, window=6)).changed_at_s is None


@pytest.mark.parametrize("rows", [[], [QUIET] * 8])
def test_without_a_change_the_window_stays(rows: list[tuple[float, ...]]) -> None:
    seen = snapshot(*rows, window=6) if rows else even(2, 2, 20.0).observe(1000.0, 10.0)
    assert since_change(seen) == Recent(snapshot=seen)
    assert estimate(seen, Memory()).changed_at_s is None


def with_level(seen: Snapshot, factors: list[float]) -> Snapshot:
    """The newest rows with so many times as many rows of input, and as many times the work."""
    assert seen.series is not None
    times = np.ones(seen.series.batches.size)
    times[times.size - len(factors) :] = factors
    series = dataclasses.replace(
        seen.series, busy_s=seen.series.busy_s * times[:, None], input_rows=seen.series.input_rows * times
    )
    window = seen.rates.batches
    return dataclasses.replace(
        seen,
        series=series,
        busy_s=series.busy_s[-window:].sum(axis=0),
        rates=dataclasses.replace(seen.rates, input_rps=float(series.input_rps[-window:].mean())),
    )


def test_more_rows_for_all_are_the_rate_and_the_load_since_then() -> None:
    seen = with_level(snapshot(*[QUIET] * 20, window=8), [1.5, 1.5])
    found = recent(seen)
    assert (found.changed_at_s, found.level_changed_at_s) == (None, 996.0)
    assert (found.snapshot.window_s, found.snapshot.rates.batches) == (4.0, 2)
    assert found.snapshot.rates.input_rps == pytest.approx(150.0)
    assert found.snapshot.busy_s == pytest.approx(3.0 * np.array(QUIET), rel=0.03)
    estimated = estimate(seen, Memory())
    assert estimated.level_changed_at_s == 996.0
    assert estimated.model.load == pytest.approx(75.0 * np.array(QUIET), rel=0.03)
    shares = seen.busy_s / seen.busy_s.sum()
    assert found.snapshot.busy_s / found.snapshot.busy_s.sum() == pytest.approx(shares), "of all batches, not of two"


def test_what_rows_do_not_change_does_not_grow_with_them() -> None:
    """Half of every task's seconds are of the batch: three times the rows are twice the seconds."""
    seen = snapshot(*[QUIET] * 20, window=20)
    assert seen.series is not None
    times = np.random.default_rng(9).uniform(0.5, 1.5, 20)
    series = dataclasses.replace(
        seen.series,
        busy_s=seen.series.busy_s * (0.5 + 0.5 * times)[:, None],
        input_rows=seen.series.input_rows * times,
    )
    rates = dataclasses.replace(seen.rates, input_rps=100.0, batches=20, other_busy_s=0.0, lag_rows=3000.0)
    seen = dataclasses.replace(seen, series=series, rates=rates, busy_s=series.busy_s.sum(axis=0))
    memory = Memory(lag=Lag(at_s=seen.taken_at_s - 10.0, rows=1000.0))
    found = estimate(seen, memory)
    assert found.level_changed_at_s is None
    assert found.seconds is not None
    assert found.seconds.fixed_ratio == pytest.approx([0.5] * 4, abs=0.05)
    plan = plans.hold_plan(found.model, planner="test")
    policy, fleet = job(("scaling: {", "scaling: {catchUp: 1h, ")), Fleet(ready=2, wanted=2, marked=0)
    situation = Situation(job=policy, snapshot=seen, estimate=found, plan=plan, fleet=fleet, now_s=seen.taken_at_s)
    grown = total_load(situation) / float(found.model.load.sum())
    assert found.growth_ratio == pytest.approx(3.0)
    assert grown == pytest.approx(2.0, rel=0.07)
    by_rows = dataclasses.replace(found, seconds=None)
    assert total_load(dataclasses.replace(situation, estimate=by_rows)) > 1.4 * total_load(situation)


def test_a_fall_counts_once_it_has_lasted() -> None:
    calm = snapshot(*[QUIET] * 30, window=10)
    for batches, known in ((2, None), (4, None), (5, 990.0), (8, 984.0)):
        assert recent(with_level(calm, [0.5] * batches)).level_changed_at_s == known, batches


def test_seconds_alone_may_rise_but_not_fall() -> None:
    """Where task ends are lost, work seems to be gone while the rows still come."""
    calm = snapshot(*[QUIET] * 30, window=10)
    for factor, known in ((0.5, None), (1.6, 988.0)):
        changed = with_level(calm, [factor] * 6)
        assert changed.series is not None
        assert calm.series is not None
        series = dataclasses.replace(changed.series, input_rows=calm.series.input_rows)
        assert recent(dataclasses.replace(changed, series=series)).level_changed_at_s == known


def test_stages_are_those_since_the_change() -> None:
    seen = with_level(snapshot(*[QUIET] * 20, window=8), [1.5, 1.5])
    assert seen.series is not None
    busy_s = seen.series.busy_s.sum(axis=1)
    rows = StageRows(operator=0, wall_s=busy_s, busy_s=busy_s, longest_s=busy_s, wait_s=busy_s)
    view = StageView(operator=0, level=0, wall_s=9.0, busy_s=9.0, longest_s=3.0, spread_s=0.5)
    seen = dataclasses.replace(
        seen, series=dataclasses.replace(seen.series, stages={"operator-0": rows}), stages=(view,)
    )
    (stage,) = recent(seen).snapshot.stages
    ratio = 1.5 / (10 / 8 * 0.9)  # six of eight batches with 1, two with 1.5
    assert (stage.busy_s, stage.longest_s) == pytest.approx((9.0 * ratio, 3.0 * ratio), rel=0.03)
    assert stage.spread_s == pytest.approx(np.std(seen.series.busy_s[-2:], axis=0, ddof=1).mean(), rel=0.5)


def test_what_a_change_makes_of_batches_is_no_noise() -> None:
    seen = snapshot(*[QUIET] * 10, *[SHIFTED] * 3, window=6)
    assert seen.series is not None
    mixed = pooled_spread_s(float((seen.series.busy_s[-6:] ** 2).sum()), seen.busy_s, 6)
    view = StageView(operator=0, level=0, wall_s=9.0, busy_s=9.0, longest_s=3.0, spread_s=mixed)
    (stage,) = recent(dataclasses.replace(seen, stages=(view,))).snapshot.stages
    assert mixed is not None
    assert mixed > 1.0
    assert stage.spread_s == pytest.approx(0.02, abs=0.02)
    alone = snapshot(*[QUIET] * 12, window=2)
    (one_batch,) = cut(dataclasses.replace(alone, stages=(view,)), seen.series, 12).stages
    assert one_batch.spread_s is None


def stirred(seen: Snapshot, *, moved: int | None = None, executors: int | None = None) -> Snapshot:
    """With key groups that moved, or an executor that came, in a row counted from the end."""
    assert seen.series is not None
    columns = {"moved": moved, "executors_changed": executors}
    for name, row in columns.items():
        if row is not None:
            values = getattr(seen.series, name).copy()
            values[row] = 1
            seen = dataclasses.replace(seen, series=dataclasses.replace(seen.series, **{name: values}))
    return seen


@pytest.mark.parametrize("column", ["moved", "executors"])
def test_a_backlog_that_is_worked_off_where_executors_came_is_no_more_load(column: str) -> None:
    after = with_level(snapshot(*[QUIET] * 20, window=8), [1.5] * 3)
    assert recent(after).level_changed_at_s is not None
    for row in (-3, -4, -5):
        found = recent(stirred(after, **{column: row}))
        assert found.level_changed_at_s is None
        assert found.snapshot.rates.batches == 8
    assert recent(stirred(after, **{column: -7})).level_changed_at_s is not None


def test_batch_times_are_those_since_the_placement_or_the_fleet_changed() -> None:
    calm = snapshot(*[QUIET] * 10, window=6)
    assert steady(calm, Memory()) is calm
    for seen in (stirred(calm, moved=-3), stirred(calm, executors=-3), stirred(calm, moved=-3, executors=-5)):
        part = steady(seen, Memory())
        assert part is not None
        assert (part.rates.batches, part.rates.mean_batch_s) == (2, 1.5)
    assert steady(stirred(calm, executors=-1), Memory()) is None, (
        "the batch of the change is not one of today's placement"
    )
    assert steady(stirred(calm, moved=-8), Memory()) is not None


def test_an_assignment_that_was_not_seen_to_be_carried_out_leaves_nothing_to_time() -> None:
    calm = snapshot(*[QUIET] * 10, window=6)
    assert steady(calm, Memory(acted_at_s=991.0)) is None
    assert steady(stirred(calm, moved=-5), Memory(acted_at_s=995.0)) is None, "moved before it"
    part = steady(stirred(calm, moved=-3), Memory(acted_at_s=991.0))
    assert part is not None
    assert part.rates.batches == 2
    assert steady(dataclasses.replace(calm, series=None), Memory(acted_at_s=991.0)) is None


def test_a_window_with_moves_teaches_what_batches_take_since_then() -> None:
    calm = snapshot(*[QUIET] * 10, window=6)
    memory = Memory(acted_at_s=991.0, moved=())
    assert learn_batches(memory, calm).batches.fixed_s is None
    learned = learn_batches(memory, stirred(calm, moved=-3)).batches.fixed_s
    assert learned is not None


def test_batches_are_predicted_one_by_one_also_after_a_move_within_the_window() -> None:
    calm = snapshot(*[QUIET] * 10, window=6)
    assert batch_times(calm, Memory()) is None, "nothing was known before"
    known = Memory(batches=Knowledge(fixed_s=Learned(mean=0.25)))
    assert calm.series is not None
    times = batch_times(calm, known)
    assert times is not None
    assert times.ended_at_s.tolist() == calm.series.ended_at_s[-6:].tolist()
    assert times.measured_s.tolist() == [1.5] * 6
    of_executors = np.stack([calm.series.busy_s[-6:, :2].sum(axis=1), calm.series.busy_s[-6:, 2:].sum(axis=1)])
    assert times.predicted_s == pytest.approx(0.25 + of_executors.max(axis=0))
    moved = batch_times(stirred(calm, moved=-3), known)
    assert moved is not None
    assert moved.predicted_s.tolist() == times.predicted_s[-2:].tolist()
    assert batch_times(dataclasses.replace(calm, moves_pending=1), known) is None
    assert batch_times(dataclasses.replace(calm, owners=("0", None, "1", "1")), known) is None


def test_what_was_known_of_tasks_begins_anew_with_a_change() -> None:
    before = dataclasses.replace(snapshot(*[QUIET] * 10, window=6), taken_at_s=976.0)
    known = learn_batches(Memory(), before)
    assert known.batches.tasks is not None
    seen = snapshot(*[QUIET] * 10, *[SHIFTED] * 2, window=6)
    learned = learn_batches(known, seen).batches.tasks
    assert learned is not None
    assert learned.share == pytest.approx((0.375, 0.125, 0.375, 0.125), rel=0.05)
    assert learned.batches == (2.0,) * 4
    later = dataclasses.replace(snapshot(*[QUIET] * 10, *[SHIFTED] * 5, window=6), taken_at_s=1006.0)
    again = learn_batches(learn_batches(known, seen), shifted_by(later, 6.0)).batches.tasks
    assert again is not None
    assert min(again.batches) > 2.0, "the same change is no second one"


def shifted_by(seen: Snapshot, seconds: float) -> Snapshot:
    assert seen.series is not None
    series = dataclasses.replace(seen.series, ended_at_s=seen.series.ended_at_s + seconds)
    return dataclasses.replace(seen, series=series)
