"""The comparison's cases: work that is known, a bound that holds, tables that lose no row."""

from __future__ import annotations

import itertools

import cases
import limits
import numpy as np
import pytest
import workload

from streamjob_planners.batch.schedule import finish_s


def batch_ms(work: workload.Workload, owners: np.ndarray, executors: int, cores: int) -> float:
    """A batch's stateful stages, each as long as its slowest executor."""
    slots = np.full(executors, cores)
    levels = zip(work.level_ms(0), owners.reshape(len(work.levels), -1), strict=True)
    return float(sum(finish_s(task_ms, owner, slots).max() for task_ms, owner in levels))


@pytest.mark.parametrize("name", cases.NAMES)
def test_every_case_has_the_work_that_it_says(name: str) -> None:
    case = cases.make_case(name)
    for row in case.workload().level_ms(0):
        wanted_ms = 0.0 if name.startswith("none") else case.total_ms
        assert row.sum() == pytest.approx(wanted_ms, rel=0.02)
        assert not (row % cases.KEYS_PER_PARTITION).any()  # whole milliseconds of each key


@pytest.mark.parametrize("name", [name for name in cases.NAMES if not name.startswith("none")])
def test_no_placement_is_below_the_bound_and_it_is_no_lower_than_the_simple_one(name: str) -> None:
    case, rng = cases.make_case(name), np.random.default_rng(3)
    work = case.workload()
    bound_ms = work.bound_ms(case.executors, case.cores, 0)
    simple_ms = sum(max(row.sum() / case.slots, row.max()) for row in work.level_ms(0))
    assert bound_ms >= simple_ms * (1 - 1e-6)
    for _ in range(20):
        owners = rng.integers(0, case.executors, len(work.levels) * case.partitions)
        assert batch_ms(work, owners, case.executors, case.cores) >= bound_ms


def test_the_bound_of_small_work_is_that_of_its_best_placement() -> None:
    work = workload.Workload(levels=(np.array([[30.0, 20.0, 20.0]]), np.array([[9.0, 9.0, 1.0]])), batches_per_phase=1)
    every = (np.array(one) for one in itertools.product(range(2), repeat=6))
    assert work.bound_ms(2, 1, 0) == pytest.approx(min(batch_ms(work, one, 2, 1) for one in every), rel=0.05)


def test_opposed_stages_add_up_to_level_ones_less_than_either_is_skewed() -> None:
    first, second = cases.make_case("two-wait").workload().level_ms(0)
    assert second.tolist() == first[::-1].tolist()


def test_the_empty_case_differs_in_its_work_alone() -> None:
    for name in ("join-wait", "straggler-wait", "hot-cpu"):
        case, empty = cases.make_case(name), cases.make_case(cases.empty_of(name))
        assert set(empty.levels) == {"none"}
        assert (empty.join, empty.executors, empty.cores, empty.partitions) == (
            case.join,
            case.executors,
            case.cores,
            case.partitions,
        )


def test_a_name_that_is_none_is_told() -> None:
    with pytest.raises(KeyError, match="four-wait: no case, there are"):
        cases.make_case("four-wait")


def test_rows_that_were_not_run_again_stay() -> None:
    before = [{"case": "a", "p50": 1}, {"case": "b", "p50": 2}]
    found = [{"case": "b", "p50": 3}, {"case": "c", "p50": 4}]
    assert limits.merged(before, found, ("case",)) == [before[0], *found]


def test_an_executor_that_is_slow_in_some_batches_is_in_the_bound_of_these_alone() -> None:
    """20 equal key groups: 5 on each of four executors, and 6, 6, 6 and 2 where one takes three times as long."""
    case = cases.UNEVEN["slowed-wait"]
    work = case.workload()
    assert case.slow is not None
    batches = (0, case.slow.first, case.slow.end - 1, case.slow.end)
    bounds_ms = [work.bound_ms(case.executors, case.cores, batch) for batch in batches]
    assert bounds_ms == pytest.approx([1800.0, 2160.0, 2160.0, 1800.0], rel=1e-4)


def test_key_groups_that_swing_have_the_same_work_over_a_round() -> None:
    case = cases.UNEVEN["swinging-wait"]
    (level,) = case.workload().levels
    assert len(level) == workload.SWINGING_SETS
    assert np.ptp(level.sum(axis=0)) == 0.0
    hot = level == level.max()
    assert (hot.sum(axis=0) == 1).all()
    assert (hot.sum(axis=1) == case.partitions / workload.SWINGING_SETS).all()
