"""Batches that leave their range are news, chance is not: worlds of executors with noisy tasks, drawn from seeds."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
import pytest

from streamjob_agent.bridge import BatchEnd
from streamjob_agent.usual import FEWEST, Ground, Usual, UsualBatches

QUIET = 4000
FLEET = Ground(executors=frozenset({"0", "1"}), moved=0, moving=False)


def batches_s(seed: int, noise: float, batches: int, executors: int, groups: int, hot: float = 1.0) -> list[float]:
    """Seconds of batches of two chained stages, tasks log-normal; those of the last executor `hot` times as long."""
    rng = np.random.default_rng(seed)
    mean_s = rng.lognormal(0.0, 0.5, (2, executors, groups))
    mean_s[:, -1] = mean_s.mean() * hot  # the same world whatever `hot` is
    task_s = mean_s * np.random.default_rng(seed + 1).lognormal(0.0, noise, (batches, 2, executors, groups))
    return [float(one) for one in task_s.sum(axis=3).max(axis=2).sum(axis=1) + 0.3]


def end(number: int, seconds: float) -> BatchEnd:
    return BatchEnd(
        query_id="q",
        run_id="r",
        batch_id=number,
        ended_at_s=float(number),
        duration_s=seconds,
        input_rows=1,
        input_rps=None,
        processed_rps=None,
        lag_rows=None,
    )


def news(batches: UsualBatches, seconds: Iterable[float], start: int = 0) -> list[int]:
    """Numbers of the batches that made news."""
    found = []
    for number, one in enumerate(seconds, start=start):
        before = batches.news
        batches.take(end(number, one))
        found += [number] if batches.news != before else []
    return found


@pytest.mark.parametrize("noise", [0.1, 0.2, 0.3])
@pytest.mark.parametrize(("executors", "groups"), [(2, 2), (4, 4), (10, 20)])
def test_chance_is_no_news(noise: float, executors: int, groups: int) -> None:
    alarms = news(UsualBatches(), batches_s(7, noise, QUIET, executors, groups))
    assert len(alarms) < QUIET / 1000


@pytest.mark.parametrize("noise", [0.1, 0.2, 0.3])
@pytest.mark.parametrize("seed", range(10))
def test_a_load_that_shifts_is_seen_at_the_second_batch(noise: float, seed: int) -> None:
    batches = UsualBatches()
    assert news(batches, batches_s(seed, noise, 30, 4, 8)) == []
    assert 31 in news(batches, batches_s(seed, noise, 4, 4, 8, hot=3.0), start=30)
    assert batches.news is not None
    assert batches.news.low_s < batches.news.high_s < batches.news.seconds


def test_one_odd_batch_is_no_news_and_two_on_either_side_are_none() -> None:
    batches = UsualBatches()
    assert news(batches, [1.0] * FEWEST + [5.0, 1.0, 1.0, 0.1, 5.0, 0.1, 1.0]) == []


def test_news_are_told_once_and_the_new_level_is_learned() -> None:
    batches = UsualBatches()
    assert news(batches, [1.0] * 20 + [2.0] * 30 + [1.0] * 3) == [21, 51]
    assert batches.news is not None
    assert (batches.news.batch_id, batches.news.seconds) == (51, 1.0)
    assert batches.news.low_s == pytest.approx(2.0 / 1.2, abs=0.001)


COLD = [46.68, 10.587, 3.882, 11.409, 12.418, 8.586, 3.028, 2.829, 3.613, 3.693, 2.303, 1.675]
"""The first batches of a query on real Spark, on two busy cores: the driver and three executors get warm."""


def test_batches_of_a_cold_driver_are_no_measure() -> None:
    warm = [1.372, 1.335, 1.368, 1.473, 1.4, 1.36, 1.45, 1.38]
    batches = UsualBatches()
    assert news(batches, [*COLD, *warm]) == []
    assert news(batches, [2.136, 1.922], start=20) == [21]
    assert batches.news is not None
    assert 1.0 < batches.news.low_s < batches.news.high_s < 1.922


def test_nothing_is_news_before_a_range_is_known() -> None:
    assert news(UsualBatches(), [1.0] * (FEWEST - 1) + [9.0, 9.0]) == []


@pytest.mark.parametrize(
    "after",
    [
        Ground(executors=frozenset({"0"}), moved=0, moving=False),
        Ground(executors=FLEET.executors, moved=3, moving=False),
        Ground(executors=FLEET.executors, moved=0, moving=True),
    ],
    ids=["an executor has gone", "key groups have moved", "key groups are to move"],
)
def test_batches_on_other_ground_are_not_compared(after: Ground) -> None:
    usual = Usual()
    for number in range(20):
        usual.take(end(number, 1.0), FLEET)
    for number in range(20, 26):
        usual.take(end(number, 3.0), after)
    assert usual.news("q") is None


def test_news_go_with_the_ground_they_were_made_on_and_with_the_query() -> None:
    usual = Usual()
    for number in range(22):
        usual.take(end(number, 1.0 if number < 20 else 3.0), FLEET)
    assert usual.news("q") is not None
    usual.forget(["q", "another"])
    assert usual.news("q") is None


def test_a_batch_of_no_time_is_a_batch() -> None:
    batches = UsualBatches()
    assert news(batches, [0.0] * 10 + [1.0] * 2) == [11]
    assert batches.news is not None
    assert math.isfinite(batches.news.low_s)
