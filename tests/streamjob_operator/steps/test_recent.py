"""Loads since the newest change of a window."""

import dataclasses

import numpy as np
import pytest
from worlds import even, series_with

from streamjob_operator.steps.batching import learn_batches
from streamjob_operator.steps.estimate import estimate
from streamjob_operator.steps.recent import since_change
from streamjob_operator.values import Memory, Snapshot

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
    recent, changed_at_s = since_change(seen)
    assert changed_at_s == 996.0
    assert (recent.window_s, recent.rates.batches, recent.rates.mean_batch_s) == (4.0, 2, 1.5)
    assert recent.rates.other_busy_s == 2.0
    assert recent.busy_s == pytest.approx([6.0, 2.0, 6.0, 2.0], rel=0.05)
    found = estimate(seen, Memory())
    assert found.changed_at_s == 996.0
    assert found.model.load == pytest.approx([150.0, 50.0, 150.0, 50.0], rel=0.05)
    assert found.model.batch is not None
    assert found.model.batch.task_s == pytest.approx(SHIFTED, rel=0.05)


def test_a_change_from_before_the_window_changes_nothing() -> None:
    seen = snapshot(*[QUIET] * 10, *[SHIFTED] * 6, window=6)
    assert since_change(seen) == (seen, None)


def test_a_load_that_swings_is_taken_as_a_whole() -> None:
    swings = ([QUIET] * 4 + [SHIFTED] * 4) * 2
    assert since_change(snapshot(*swings, window=6))[1] is None


@pytest.mark.parametrize("rows", [[], [QUIET] * 8])
def test_without_a_change_the_window_stays(rows: list[tuple[float, ...]]) -> None:
    seen = snapshot(*rows, window=6) if rows else even(2, 2, 20.0).observe(1000.0, 10.0)
    assert since_change(seen) == (seen, None)
    assert estimate(seen, Memory()).changed_at_s is None


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
