"""Changes of one figure's level: a step of a third is seen soon, and hardly ever one where there is none."""

from collections.abc import Callable

import numpy as np
import pytest

from streamjob_planners.batch.level import level_changes

ROWS = 40
Noise = Callable[[np.random.Generator, float, int], np.ndarray]


def even(rng: np.random.Generator, noise: float, n: int) -> np.ndarray:
    return np.maximum(0.0, 1.0 + noise * rng.standard_normal(n))


def skewed(rng: np.random.Generator, noise: float, n: int) -> np.ndarray:
    return rng.gamma(noise**-2, noise**2, n)


def seen(level: np.ndarray) -> tuple[int, ...]:
    return level_changes(1000.0 * level, np.ones(level.size, dtype=np.int64))


@pytest.mark.parametrize("made", [even, skewed])
@pytest.mark.parametrize("noise", [0.1, 0.2, 0.3])
def test_less_than_one_of_a_thousand_quiet_batches_is_an_alarm(made: Noise, noise: float) -> None:
    """Alarms of looks at overlapping windows, each counted once."""
    batches, alarms = 0, 0
    for seed in range(8):
        level, before = made(np.random.default_rng(seed), noise, ROWS + 250), False
        for end in range(ROWS, level.size):
            alarm = bool(seen(level[end - ROWS : end]))
            batches, alarms, before = batches + 1, alarms + (alarm and not before), alarm
    assert batches == 2000
    assert alarms <= 2


@pytest.mark.parametrize(("step", "least"), [(1.3, (50, 60, 75)), (0.7, (40, 60, 75))])
def test_a_step_of_thirty_percent_is_seen_by_the_second_batch_at_the_median(
    step: float, least: tuple[int, int, int]
) -> None:
    found = np.zeros(3)
    for seed in range(100):
        level = even(np.random.default_rng(1000 + seed), 0.1, ROWS + 4)
        level[-4:] *= step
        found += [max(seen(level[: ROWS + after]), default=0) >= ROWS - 1 for after in (2, 3, 4)]
    assert (found >= least).all(), f"{found} of 100 after two, three and four batches"


def test_one_odd_batch_is_no_change() -> None:
    level = even(np.random.default_rng(1), 0.1, ROWS)
    for at in (-1, -2, -3, 20):
        odd = level.copy()
        odd[at] *= 5.0
        assert seen(odd) == (), at


def test_each_step_is_found_and_rows_of_several_batches_weigh_more() -> None:
    level = np.concatenate([np.full(12, 1.0), np.full(12, 2.0), np.full(6, 4.0)])
    level *= 1.0 + 0.02 * np.random.default_rng(3).standard_normal(30)
    assert level_changes(level, np.array([1] * 20 + [3] * 10)) == (12, 24)


def test_a_source_that_ticks_evenly_has_no_steps_that_mean_anything() -> None:
    assert seen(np.array([1.0] * 20 + [1.03] * 20)) == ()
    assert seen(np.array([1.0] * 20 + [1.3] * 2)) == (20,)


@pytest.mark.parametrize("rows", [0, 1, 7])
def test_too_few_rows_or_no_rows_at_all_show_nothing(rows: int) -> None:
    assert seen(np.array([1.0] * (rows // 2) + [9.0] * (rows - rows // 2))) == ()
    assert seen(np.zeros(30)) == ()
