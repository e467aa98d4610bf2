"""What windows teach about tasks: means get surer, changes are believed, stragglers are not."""

from __future__ import annotations

import numpy as np
import pytest

from streamjob_planners.batch.doubt import doubt
from streamjob_planners.batch.evidence import TaskEvidence, TaskWindow, with_rows, with_window
from streamjob_planners.batch.shape import BatchShape
from streamjob_planners.model import FloatArray

OPERATOR = np.repeat([0, 1], 12)
TRUE_S: FloatArray = np.linspace(0.5, 2.0, 24)


def window(task_s: FloatArray, batches: int = 1, **changes: object) -> TaskWindow:
    given: dict[str, object] = {
        "operator": OPERATOR,
        "partition": np.tile(np.arange(12), 2),
        "task_s": task_s,
        "owner": np.arange(24) % 4,
        "batches": batches,
        "new_ratio": 1.0,
        "spread_s": {},
        **changes,
    }
    return TaskWindow(**given)  # type: ignore[arg-type]


def drawn(rng: np.random.Generator, variation: float = 0.3) -> FloatArray:
    return TRUE_S * np.maximum(0.05, rng.normal(1.0, variation, 24))


def after(windows: int, seed: int = 1) -> TaskEvidence:
    rng, known = np.random.default_rng(seed), None
    for _ in range(windows):
        known = with_window(known, window(drawn(rng)))
    assert known is not None
    return known


def test_more_windows_make_a_mean_surer_and_its_error_is_told_rightly() -> None:
    off = []
    for seed in range(30):
        found_s, error_s = after(30, seed).tasks(OPERATOR, TRUE_S)
        off.append((found_s - TRUE_S) / error_s)
        assert (error_s < 0.15 * TRUE_S + 0.05).all()
    assert 0.4 <= float(np.std(off)) <= 1.1  # cautious by design: weights of old windows overlap


def test_one_window_of_one_batch_is_as_sure_as_tasks_are_elsewhere() -> None:
    found_s, error_s = with_window(None, window(TRUE_S)).tasks(OPERATOR, TRUE_S)
    assert found_s == pytest.approx(TRUE_S, rel=1e-4)
    assert (error_s >= 0.29 * TRUE_S).all()


def test_the_spread_that_is_told_counts() -> None:
    steady = with_window(None, window(TRUE_S, 10, spread_s={0: 0.0, 1: 0.0})).tasks(OPERATOR, TRUE_S)[1]
    unsteady = with_window(None, window(TRUE_S, 10, spread_s={0: 0.5, 1: 0.5})).tasks(OPERATOR, TRUE_S)[1]
    assert (5 * steady < unsteady).all()


def errors_s(first: FloatArray, noise: float, rows: int, batches: int = 1, seed: int = 0) -> FloatArray:
    """Standard errors after a first batch of its own and others that vary by `noise`, told one by one."""
    rng = np.random.default_rng(seed)
    rest = [np.mean([drawn(rng, noise) for _ in range(batches)], axis=0) for _ in range(rows - 1)]
    known = with_window(with_window(None, window(first)), window(np.mean([first, *rest[:1]], axis=0), 2))
    known = with_rows(known, OPERATOR, np.array([first, *rest]), np.array([1, *[batches] * (rows - 1)]))
    return known.tasks(OPERATOR, TRUE_S)[1] * np.sqrt(np.array(known.batches))


LIGHT_S: FloatArray = np.full(24, 0.15)
"""Tasks of a job's first, nearly empty batch: what Spark does for each."""


@pytest.mark.parametrize("noise", [0.05, 0.3])
@pytest.mark.parametrize("batches", [1, 3])
def test_a_jobs_first_batch_does_not_make_tasks_vary(noise: float, batches: int) -> None:
    """The standard deviation of one task that is found, beside the one that is."""
    for seed in range(10):
        found = errors_s(LIGHT_S, noise, rows=8, batches=batches, seed=seed) / (noise * TRUE_S)
        assert 0.6 < float(np.sqrt((found**2).mean())) < 1.6


def test_of_two_steps_nobody_can_say_which_is_the_noise() -> None:
    known = after(3)
    assert with_rows(known, OPERATOR, np.array([LIGHT_S, TRUE_S, TRUE_S]), np.ones(3, dtype=np.int64)) == known


def test_batches_that_vary_again_and_again_do_so_though_one_step_is_left_out() -> None:
    swinging = np.array([TRUE_S, TRUE_S[::-1]] * 4)
    known = with_rows(after(1), OPERATOR, swinging, np.ones(8, dtype=np.int64))
    assert (known.tasks(OPERATOR, TRUE_S)[1] > 0.15 * TRUE_S).all()


def test_rows_without_work_tell_nothing() -> None:
    known = after(3)
    assert with_rows(known, OPERATOR, np.zeros((6, 24)), np.ones(6, dtype=np.int64)) == known


def test_longer_batches_are_no_change() -> None:
    known = with_window(after(20), window(3 * TRUE_S))
    assert known.high == known.low == ()
    found_s, _ = known.tasks(OPERATOR, 3 * TRUE_S)
    assert found_s == pytest.approx(3 * TRUE_S, rel=0.3)


def test_a_straggler_is_not_believed_and_a_change_is() -> None:
    known, late = after(20), TRUE_S.copy()
    late[3] *= 8.0
    once = with_window(known, window(late))
    assert once.high == (3,)
    assert once.share[3] == known.share[3]
    gone = with_window(once, window(TRUE_S))
    assert gone.share[3] == pytest.approx(known.share[3], rel=0.1)
    twice = with_window(once, window(late))
    assert twice.tasks(OPERATOR, late)[0][3] == pytest.approx(late[3], rel=1e-3)
    assert twice.batches[3] == 1.0


def test_a_pattern_that_changed_is_believed_at_once() -> None:
    other = TRUE_S[::-1].copy() ** 3
    known = with_window(after(20), window(other))
    assert known.tasks(OPERATOR, other)[0] == pytest.approx(other, rel=1e-3)


def test_other_groups_begin_anew() -> None:
    known = with_window(after(20), window(TRUE_S, partition=np.tile(np.arange(12), 2) + 1))
    assert known.batches == (1.0,) * 24


def test_executors_that_vary_as_a_whole_make_means_less_sure() -> None:
    rng, known, alone = np.random.default_rng(2), None, None
    for _ in range(25):
        known = with_window(known, window(TRUE_S * rng.lognormal(0.0, 0.3, 4)[np.arange(24) % 4]))
        alone = with_window(alone, window(TRUE_S * rng.lognormal(0.0, 0.3, 24)))
    assert known is not None
    assert alone is not None
    assert known.variation[0].clustering > 1.5 > alone.variation[0].clustering


def shape(error_s: FloatArray | None, slots: int = 1) -> BatchShape:
    return BatchShape(
        level=OPERATOR,
        task_s=np.ones(24),
        spread_s=np.zeros(24),
        error_s=error_s,
        slots=np.full(4, slots),
        speed=np.ones(4),
    )


def test_noise_that_nobody_knows_is_none() -> None:
    assert doubt(shape(None), np.arange(24) % 4).most_s == 0.0


@pytest.mark.parametrize("slots", [1, 2])
def test_doubt_covers_what_noise_makes_of_level_placements(slots: int) -> None:
    given, place, rng = shape(np.full(24, 0.2), slots), np.arange(24) % 4, np.random.default_rng(5)
    found = doubt(given, place)
    level_s = 2 * 3.0 / slots
    ends = []
    for _ in range(300):
        seen = rng.normal(1.0, 0.2, (2, 4, 3))
        ends.append(seen.sum(axis=2).max(axis=1).sum() - 2 * 3.0 if slots == 1 else 0.0)
    assert found.most_s > max(ends)
    assert 0 < found.mean_s < found.most_s < level_s
    assert doubt(given, place) == found
