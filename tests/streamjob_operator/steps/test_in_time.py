"""What a batch may take, and how many rows one holds that is as long."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from small_models import timed
from worlds import even, series_with

from streamjob_operator.series import BatchSeries
from streamjob_operator.spec.policies import Scaling
from streamjob_operator.steps.estimate import Estimate, estimate
from streamjob_operator.steps.in_time import in_time
from streamjob_operator.values import Memory


def seen(trigger_s: float | None, *, batches: int, growth_ratio: float = 1.0) -> Estimate:
    """A window of 100 s."""
    snapshot = even(2, 2, 20.0).observe(1000.0, 100.0)
    rates = dataclasses.replace(snapshot.rates, trigger_interval_s=trigger_s, batches=batches)
    found = estimate(snapshot, Memory())
    recent = dataclasses.replace(found.recent, rates=rates)
    return dataclasses.replace(found, recent=recent, growth_ratio=growth_ratio)


def told_by(found: Estimate, series: BatchSeries) -> Estimate:
    """The same with these rows."""
    return dataclasses.replace(found, recent=dataclasses.replace(found.recent, series=series))


def test_batches_as_long_as_their_trigger_hold_what_those_to_come_will() -> None:
    found = in_time(Scaling(), seen(10.0, batches=10))
    assert found is not None
    assert (found.objective_s, found.rows_ratio) == (10.0, pytest.approx(1.0))


@pytest.mark.parametrize(("growth", "ratio"), [(1.0, 0.2), (1.5, 0.3), (0.5, 0.1)])
def test_those_of_a_backlog_hold_more(growth: float, ratio: float) -> None:
    """Two batches of 50 s."""
    found = in_time(Scaling(), seen(10.0, batches=2, growth_ratio=growth))
    assert found is not None
    assert found.rows_ratio == pytest.approx(ratio)
    batch = timed([50.0, 20.0], [0, 1], fixed_s=0.5).batch
    assert batch is not None
    assert found.batch_s(batch, np.array([0, 1])) == pytest.approx(0.5 + 50.0 * ratio)


def test_batches_that_get_smaller_do_not_vary_by_that() -> None:
    """Of 8, 4, 2 and 1 times as many rows; each key group has the same part of all of them."""
    now = seen(10.0, batches=4)
    rows = np.array([8.0, 4.0, 2.0, 1.0])
    series = series_with(rows[:, None] * np.ones((4, 4)), row_s=np.full(4, 10.0), ended_s=1000.0, input_rps=100 * rows)
    without, found = in_time(Scaling(), now), in_time(Scaling(), told_by(now, series))
    assert without is not None
    assert without.spread_ratio is None
    assert found is not None
    assert found.spread_ratio == pytest.approx(np.zeros(4), abs=1e-9)


def test_rows_of_several_batches_say_by_how_much_tasks_of_one_vary() -> None:
    """Older rows are means of 25 batches, the newest ones of one."""
    rng, now = np.random.default_rng(1), seen(10.0, batches=4)
    single = 1.0 + 0.2 * rng.standard_normal((800, 40))
    starts = np.array([*range(0, 780, 25), *range(780, 800)])
    series = series_with(np.add.reduceat(single, starts), row_s=np.ones(starts.size), ended_s=1000.0)
    batches = np.diff(np.append(starts, 800))
    found = in_time(Scaling(), told_by(now, dataclasses.replace(series, batches=batches)))
    assert found is not None
    assert found.spread_ratio == pytest.approx(np.full(40, 0.2), rel=0.2)


def test_an_objective_longer_than_the_trigger_is_held_with_the_rows_of_its_own_time() -> None:
    found = in_time(Scaling.model_validate({"maxLatency": "60s"}), seen(10.0, batches=10))
    assert found is not None
    assert (found.objective_s, found.rows_ratio) == (30.0, pytest.approx(3.0))


def test_batches_that_only_keep_up_have_no_time() -> None:
    assert in_time(Scaling(), seen(None, batches=10)) is None
