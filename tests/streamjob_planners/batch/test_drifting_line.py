"""A slope over rows, while the level drifts: against the dense formula, and on series whose truth is known."""

import numpy as np
import pytest

from streamjob_planners.batch.drifting_line import DRIFTS, slope_of


def dense(seconds: np.ndarray, rows: np.ndarray, weight: np.ndarray) -> tuple[float, float]:
    """Slope and error by generalised least squares with whole matrices, at the likeliest drift."""
    columns = np.stack([np.ones(rows.size), rows], axis=1)
    steps = np.arange(1.0, rows.size + 1.0)
    found = []
    for drift in DRIFTS:
        inverse = np.linalg.inv(np.diag(1.0 / weight) + drift * np.minimum.outer(steps, steps))
        moments = columns.T @ inverse @ columns
        line = np.linalg.solve(moments, columns.T @ inverse @ seconds)
        left = seconds - columns @ line
        own = float(left @ inverse @ left)
        likely = -(rows.size - 2) * np.log(own) + np.linalg.slogdet(inverse)[1] - np.linalg.slogdet(moments)[1]
        found.append((likely, line[1], np.sqrt(own / (rows.size - 2) * np.linalg.inv(moments)[1, 1])))
    _, slope, error = max(found, key=lambda one: one[0])
    return float(slope), float(error)


@pytest.mark.parametrize("size", [4, 7, 30, 90])
@pytest.mark.parametrize("walk_s", [0.0, 0.3])
def test_three_diagonals_say_what_whole_matrices_say(size: int, walk_s: float) -> None:
    rng = np.random.default_rng(size)
    rows, weight = rng.uniform(100.0, 900.0, size), rng.integers(1, 4, size).astype(np.float64)
    noise_s = walk_s * rng.standard_normal(size).cumsum() + 0.2 * rng.standard_normal(size) / np.sqrt(weight)
    seconds = 3.0 + 0.003 * rows + noise_s
    found = slope_of(seconds, rows, weight)
    assert (found.value, found.error) == pytest.approx(dense(seconds, rows, weight), rel=1e-6)
    assert found.weights @ seconds == pytest.approx(found.value)
    assert found.weights.sum() == pytest.approx(0.0, abs=1e-12)
    assert found.weights @ rows == pytest.approx(1.0)


def test_without_a_drift_it_is_the_ordinary_line() -> None:
    rng = np.random.default_rng(3)
    rows = rng.uniform(100.0, 900.0, 40)
    ordinary = []
    for _ in range(20):
        seconds = 3.0 + 0.003 * rows + 0.2 * rng.standard_normal(40)
        ordinary.append(slope_of(seconds, rows, np.ones(40)).value == pytest.approx(np.polyfit(rows, seconds, 1)[0]))
    assert sum(ordinary) >= 10, "a drift that is not there is seldom likelier than none"


def held(seed: int, batches: int) -> tuple[bool, bool]:
    """Whether twice the error holds the truth of a job that gets faster while its rows wander: here, by polyfit."""
    rng = np.random.default_rng(seed)
    rows = np.clip(1000.0 + rng.normal(0.0, 80.0, batches).cumsum(), 300.0, 3000.0)
    level_s = 3.0 + 3.0 * np.exp(-np.arange(batches) / 6.0)
    seconds = level_s + 0.002 * rows + 0.3 * rng.standard_normal(batches)
    found = slope_of(seconds, rows, np.ones(batches))
    (slope, _), covariance = np.polyfit(rows, seconds, 1, cov=True)
    return abs(found.value - 0.002) <= 2 * found.error, abs(slope - 0.002) <= 2 * np.sqrt(covariance[0, 0])


@pytest.mark.parametrize("batches", [24, 48])
def test_the_error_is_honest_while_processes_warm_up(batches: int) -> None:
    ours, ordinary = np.mean([held(seed, batches) for seed in range(200)], axis=0)
    assert ours >= 0.8
    assert ordinary <= 0.6, "what this is for"


def test_rows_that_are_all_alike_have_no_slope() -> None:
    with pytest.raises(ValueError, match="rows: all alike"):
        slope_of(np.arange(5.0), np.full(5, 7.0), np.ones(5))


def test_a_line_without_noise_is_found() -> None:
    rows = np.array([1.0, 5.0, 2.0, 9.0])
    found = slope_of(2.0 + 3.0 * rows, rows, np.ones(4))
    assert found.value == pytest.approx(3.0)
    assert found.error < 1e-5
