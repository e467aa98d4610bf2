"""The largest rate against queries that run batch after batch, and against every rate of a fine grid."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from streamjob_planners.batch.rate import Limit, batch_of, fewest_executors, largest_rate
from streamjob_planners.batch.schedule import longest_first
from streamjob_planners.batch.shape import BatchShape, FreeStage
from streamjob_planners.batch.work import FreeWork, Work, work_of


def drawn(seed: int) -> Work:
    """One to three levels, skewed key groups, fixed parts of all kinds."""
    rng = np.random.default_rng(seed)
    n_groups = int(rng.integers(1, 30))
    return Work(
        level=rng.integers(0, int(rng.integers(1, 4)), n_groups),
        task_fixed_s=rng.uniform(0.0, 0.02, n_groups),
        task_row_s=rng.lognormal(-8.0, 1.0, n_groups),
        spread_ratio=np.zeros(n_groups),
        fixed_s=float(rng.uniform(0.0, 1.0)),
        free=(FreeWork(fixed_s=0.1, row_s=1e-4, longest_ratio=0.3),) if seed % 2 else (),
    )


def even(n_groups: int, **changes: object) -> Work:
    """One level of equal key groups, a thousandth of a second a row each."""
    zeros = np.zeros(n_groups)
    work = Work(
        level=np.zeros(n_groups, dtype=np.int64),
        task_fixed_s=zeros,
        task_row_s=zeros + 1e-3,
        spread_ratio=zeros,
    )
    return dataclasses.replace(work, **changes)  # type: ignore[arg-type]


def keeps_up(work: Work, executors: int, slots: int, rate_rps: float, objective_s: float, trigger_s: float) -> bool:
    """Whether batches settle within the objective, each with what arrived during the one before."""
    batch_s = 0.0
    for _ in range(400):
        after_s = batch_of(work, rate_rps * max(batch_s, trigger_s), executors, slots).expected_s
        if after_s > objective_s * 1.001:
            return False
        if abs(after_s - batch_s) < 1e-9:
            return True
        batch_s = after_s
    return True


@pytest.mark.parametrize("seed", range(12))
def test_no_rate_of_a_fine_grid_settles_above_the_largest_and_the_largest_does(seed: int) -> None:
    work, executors, slots = drawn(seed), 1 + seed % 4, 1 + seed % 3
    objective_s, trigger_s = 3.0, (0.0, 1.0)[seed % 2]
    found = largest_rate(work, executors, slots, objective_s=objective_s, trigger_s=trigger_s)
    assert found.rate_rps is not None
    kept = [
        part
        for part in np.linspace(0.5, 2.0, 31)
        if keeps_up(work, executors, slots, part * found.rate_rps, 3.0, trigger_s)
    ]
    assert max(kept) == pytest.approx(1.0, abs=0.051)
    assert found.batch_s is not None
    assert found.batch_s <= objective_s * (1 + 1e-9)


@pytest.mark.parametrize("seed", range(12))
def test_without_an_objective_batches_may_grow_up_to_one_rate_and_without_end_beyond(seed: int) -> None:
    work, executors, slots = drawn(seed), 1 + seed % 4, 1 + seed % 3
    rate_rps = largest_rate(work, executors, slots).rate_rps
    assert rate_rps is not None
    assert keeps_up(work, executors, slots, 0.97 * rate_rps, 1e6, 0.0)
    grown_s = batch_of(work, 1.03 * rate_rps * 1e5, executors, slots).batch_s
    assert grown_s > 1e5


def test_the_rate_by_hand() -> None:
    """Eight tasks of 1 ms a row on four slots: 2 ms a row; a second of fixed part leaves 4.5 of 5.5 s."""
    work = even(8, fixed_s=1.0)
    assert largest_rate(work, 2, 2).rate_rps == pytest.approx(500.0)
    assert largest_rate(work, 2, 2, objective_s=5.5).rate_rps == pytest.approx(4.5 / 2e-3 / 5.5)
    assert largest_rate(work, 2, 2, objective_s=5.5, trigger_s=9.0).rate_rps == pytest.approx(4.5 / 2e-3 / 9.0)


def test_an_objective_that_an_empty_batch_misses_leaves_no_rate() -> None:
    found = largest_rate(even(4, fixed_s=3.0), 4, 1, objective_s=2.0)
    assert found.rate_rps == pytest.approx(0.0, abs=1e-6)
    assert found.limit is Limit.FIXED


def test_what_binds_is_named() -> None:
    skewed = even(4, task_row_s=np.array([1e-4, 1e-4, 1e-2, 1e-4]))
    assert largest_rate(even(8), 2, 2).limit is Limit.EXECUTORS
    assert largest_rate(even(8), 20, 2).limit is Limit.PARTITIONS
    assert (largest_rate(skewed, 20, 1).limit, largest_rate(skewed, 20, 1).group) == (Limit.KEY_GROUP, 2)
    assert largest_rate(even(4, free=(FreeWork(row_s=1.0),)), 2, 2).limit is Limit.FREE_STAGE
    assert largest_rate(even(4, fixed_s=5.0), 2, 2, objective_s=6.0).limit is Limit.FIXED
    assert largest_rate(even(4, task_row_s=np.zeros(4)), 2, 2).rate_rps is None


@pytest.mark.parametrize("seed", range(8))
def test_the_fewest_executors_by_trying_all(seed: int) -> None:
    work, most = drawn(seed), 12
    rates = [largest_rate(work, n, 2, objective_s=4.0).rate_rps or 0.0 for n in range(1, most + 1)]
    wanted = 0.99 * rates[min(seed, most - 1)]
    needed = fewest_executors(work, wanted, 2, most=most, objective_s=4.0)
    assert needed is not None
    assert rates[needed - 1] >= wanted * (1 - 1e-9)
    assert needed == 1 or rates[needed - 2] < wanted
    assert fewest_executors(work, 1.5 * max(rates), 2, most=most, objective_s=4.0) is None


def test_what_varies_from_batch_to_batch_costs_rate() -> None:
    calm, restless = even(16), even(16, spread_ratio=np.full(16, 0.3))
    assert (largest_rate(restless, 8, 1).rate_rps or 0.0) < 0.9 * (largest_rate(calm, 8, 1).rate_rps or 0.0)


def test_a_measured_batch_says_what_others_take() -> None:
    shape = BatchShape(
        level=np.zeros(4, dtype=np.int64),
        task_s=np.array([1.0, 2.0, 3.0, 0.0]),
        spread_s=np.array([0.1, 0.0, 0.3, 0.0]),
        slots=np.ones(2, dtype=np.int64),
        speed=np.ones(2),
        fixed_s=0.4,
        free_stages=(FreeStage(work_s=2.0, longest_s=0.5),),
    )
    again = work_of(shape, 1000.0, 0.5).shape(1000.0, 2, 1)
    assert again.task_s == pytest.approx(shape.task_s)
    assert again.spread_s == pytest.approx(shape.spread_s)
    assert again.free_stages == shape.free_stages
    assert work_of(shape, 1000.0, 0.5).shape(0.0, 2, 1).task_s == pytest.approx([0.5, 0.5, 0.5, 0.0])
    with pytest.raises(ValueError, match="rows"):
        work_of(shape, 0.0)


def test_longest_first_is_within_four_thirds_of_the_best() -> None:
    assert np.bincount(longest_first(np.array([3.0, 3.0, 2.0, 2.0, 2.0]), 2), [3.0, 3.0, 2.0, 2.0, 2.0]).max() == 7.0
    assert longest_first(np.zeros(0), 3).size == 0
    assert np.unique(longest_first(np.ones(6), 3), return_counts=True)[1].tolist() == [2, 2, 2]


def test_bad_values_are_named() -> None:
    with pytest.raises(ValueError, match="executors"):
        largest_rate(even(2), 0, 1)
    with pytest.raises(ValueError, match="task_row_s"):
        even(2, task_row_s=np.array([-1.0, 0.0]))
