"""A slope over rows, while the level drifts: against the dense formula, and on series whose truth is known."""

import numpy as np
import pytest

from streamjob_planners.batch.drifting_line import DRIFTS, Fit, likeliest


def error(fit: Fit) -> float:
    return float(np.sqrt(fit.noise * fit.variance))


def dense(
    seconds: np.ndarray, rows: np.ndarray, weight: np.ndarray, at: np.ndarray, drifts: tuple[float, ...] = DRIFTS
) -> tuple[float, float, float]:
    """Slope and error by generalised least squares with whole matrices, at the likeliest drift, and that drift; `at`
    are the batches' places in time."""
    columns, steps = np.stack([np.ones(rows.size), rows], axis=1), at + 1.0
    found = []
    for drift in drifts:
        inverse = np.linalg.inv(np.diag(1.0 / weight) + drift * np.minimum.outer(steps, steps))
        moments = columns.T @ inverse @ columns
        line = np.linalg.solve(moments, columns.T @ inverse @ seconds)
        left = seconds - columns @ line
        own = float(left @ inverse @ left)
        likely = -(rows.size - 2) * np.log(own) + np.linalg.slogdet(inverse)[1] - np.linalg.slogdet(moments)[1]
        found.append((likely, line[1], np.sqrt(own / (rows.size - 2) * np.linalg.inv(moments)[1, 1]), drift))
    return max(found, key=lambda one: one[0])[1:]


def made(size: int, walk_s: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Seconds, rows and weights of a series."""
    rng = np.random.default_rng(size)
    rows, weight = rng.uniform(100.0, 900.0, size), rng.integers(1, 4, size).astype(np.float64)
    noise_s = walk_s * rng.standard_normal(size).cumsum() + 0.2 * rng.standard_normal(size) / np.sqrt(weight)
    return 3.0 + 0.003 * rows + noise_s, rows, weight


@pytest.mark.parametrize("size", [4, 7, 30, 90])
@pytest.mark.parametrize("walk_s", [0.0, 0.3])
def test_three_diagonals_say_what_whole_matrices_say(size: int, walk_s: float) -> None:
    seconds, rows, weight = made(size, walk_s)
    found = likeliest(seconds, rows, weight)
    assert (found.slope, error(found)) == pytest.approx(dense(seconds, rows, weight, np.arange(size))[:2], rel=1e-6)
    assert found.weights @ seconds == pytest.approx(found.slope)
    assert found.weights.sum() == pytest.approx(0.0, abs=1e-12)
    assert found.weights @ rows == pytest.approx(1.0)


@pytest.mark.parametrize("size", [7, 30, 90])
@pytest.mark.parametrize("walk_s", [0.0, 0.3])
def test_a_row_that_weighs_nothing_is_as_if_it_were_missing(size: int, walk_s: float) -> None:
    seconds, rows, weight = made(size, walk_s)
    weight[[0, size // 2]] = 0.0
    found, there = likeliest(seconds, rows, weight), np.flatnonzero(weight)
    expected = dense(seconds[there], rows[there], weight[there], there)
    assert (found.slope, error(found)) == pytest.approx(expected[:2], rel=1e-6)
    assert found.free == size - 4
    for values in (found.weights, found.left, found.known):
        assert not values[[0, size // 2]].any()


@pytest.mark.parametrize("walk_s", [0.0, 0.3])
def test_what_a_fit_knows_of_a_row_is_what_leaving_it_out_shows(walk_s: float) -> None:
    """Slope and variance without a row, at the same drift, come of the fit with it."""
    size = 20
    seconds, rows, weight = made(size, walk_s)
    found = likeliest(seconds, rows, weight)
    drift = dense(seconds, rows, weight, np.arange(size))[2]
    for row in (0, 7, size - 1):
        there = np.flatnonzero(np.arange(size) != row)
        slope, unsure, _ = dense(seconds[there], rows[there], weight[there], there, (drift,))
        own = found.left[row] / found.known[row]  # seconds of that row alone
        squares = found.noise * found.free - found.left[row] * own
        more = found.weights[row] ** 2 / found.known[row]
        assert found.slope - found.weights[row] * own == pytest.approx(slope)
        assert squares / (found.free - 1) * (found.variance + more) == pytest.approx(unsure**2)


def test_a_row_that_decides_the_line_alone_has_nothing_that_could_be_known() -> None:
    rows = np.append(np.full(9, 300.0), 500.0)
    seconds = np.random.default_rng(1).uniform(1.0, 2.0, 10)
    assert likeliest(seconds, rows, np.ones(10)).known.tolist()[-1] == 0.0


def test_without_a_drift_it_is_the_ordinary_line() -> None:
    rng = np.random.default_rng(3)
    rows = rng.uniform(100.0, 900.0, 40)
    ordinary = []
    for _ in range(20):
        seconds = 3.0 + 0.003 * rows + 0.2 * rng.standard_normal(40)
        ordinary.append(likeliest(seconds, rows, np.ones(40)).slope == pytest.approx(np.polyfit(rows, seconds, 1)[0]))
    assert sum(ordinary) >= 10, "a drift that is not there is seldom likelier than none"


def held(seed: int, batches: int) -> tuple[bool, bool]:
    """Whether twice the error holds the truth of a job that gets faster while its rows wander: here, by polyfit."""
    rng = np.random.default_rng(seed)
    rows = np.clip(1000.0 + rng.normal(0.0, 80.0, batches).cumsum(), 300.0, 3000.0)
    level_s = 3.0 + 3.0 * np.exp(-np.arange(batches) / 6.0)
    seconds = level_s + 0.002 * rows + 0.3 * rng.standard_normal(batches)
    found = likeliest(seconds, rows, np.ones(batches))
    (slope, _), covariance = np.polyfit(rows, seconds, 1, cov=True)
    return abs(found.slope - 0.002) <= 2 * error(found), abs(slope - 0.002) <= 2 * np.sqrt(covariance[0, 0])


@pytest.mark.parametrize("batches", [24, 48])
def test_the_error_is_honest_while_processes_warm_up(batches: int) -> None:
    ours, ordinary = np.mean([held(seed, batches) for seed in range(200)], axis=0)
    assert ours >= 0.8
    assert ordinary <= 0.6, "what this is for"


@pytest.mark.parametrize("alike", [7.0, 0.1])
def test_rows_that_are_all_alike_have_no_slope(alike: float) -> None:
    with pytest.raises(ValueError, match="rows: all alike"):
        likeliest(np.arange(7.0), np.full(7, alike), np.ones(7))


def test_a_line_without_noise_is_found() -> None:
    rows = np.array([1.0, 5.0, 2.0, 9.0])
    found = likeliest(2.0 + 3.0 * rows, rows, np.ones(4))
    assert found.slope == pytest.approx(3.0)
    assert error(found) < 1e-5
