"""Odd batches and the slope without them: none of a quiet series, those that are, and not more than a part of all."""

import numpy as np
import pytest

from streamjob_planners.batch.odd_batches import LEAST_ROWS, MOST_KNOWN, slope_of


def quiet(seed: int, batches: int) -> tuple[np.ndarray, np.ndarray]:
    """Seconds and rows of a steady job, 2 ms a row."""
    rng = np.random.default_rng(seed)
    rows = rng.uniform(500.0, 1500.0, batches)
    return 3.0 + 0.002 * rows + 0.5 * rng.standard_normal(batches), rows


def out(seconds: np.ndarray, rows: np.ndarray) -> list[int]:
    found = slope_of(seconds, rows, np.ones(rows.size))
    assert not found.weights[~found.counts].any()
    assert found.weights @ seconds == pytest.approx(found.value)
    assert found.weights @ rows == pytest.approx(1.0)
    return np.flatnonzero(~found.counts).tolist()


@pytest.mark.parametrize("batches", [16, 48])
def test_a_quiet_series_loses_a_row_as_seldom_as_is_said(batches: int) -> None:
    lost = sum(bool(out(*quiet(seed, batches))) for seed in range(300))
    assert lost <= 12, "one in a hundred by itself, and as few whose worst row was left out for a try"


@pytest.mark.parametrize("row", [0, 1, 11, 22, 23])
def test_an_odd_batch_is_left_out_wherever_it_is(row: int) -> None:
    seconds, rows = quiet(5, 24)
    assert out(seconds, rows) == []
    seconds[row] *= 3.0
    assert out(seconds, rows) == [row]


def test_several_are_left_out_though_one_hides_another() -> None:
    """Eight and three times as long: beside the larger one the noise seems large, and the level to walk."""
    found = []
    for seed in range(60):
        seconds, rows = quiet(seed, 12)
        seconds[:2] *= (8.0, 3.0)
        found.append(out(seconds, rows)[:2] == [0, 1])
    assert np.mean(found) >= 0.9


def test_neighbours_of_an_odd_batch_stay() -> None:
    for seed in range(40):
        rng = np.random.default_rng(seed)
        seconds, rows = quiet(seed, 40)
        seconds += 0.5 * rng.standard_normal(40).cumsum()
        seconds[20] += 30.0
        found = out(seconds, rows)
        assert 20 in found
        assert not {19, 21} & set(found), seed


def test_the_level_that_walks_is_no_row_of_odd_batches() -> None:
    seconds, rows = quiet(7, 40)
    seconds[20:] += 20.0
    found = slope_of(seconds, rows, np.ones(40))
    assert found.counts.sum() >= 36
    assert abs(found.value - 0.002) <= 2.0 * found.error


@pytest.mark.parametrize(("batches", "most"), [(6, 0), (7, 1), (8, 2), (12, 3), (24, 3), (60, 6)])
def test_no_more_than_a_part_is_left_out(batches: int, most: int) -> None:
    seconds, rows = quiet(11, batches)
    seconds[: batches // 2] *= 10.0 ** np.arange(batches // 2, 0, -1)
    assert len(out(seconds, rows)) <= most
    seconds[: batches // 2] /= 10.0 ** np.arange(batches // 2, 0, -1)
    seconds[: most + 2] *= 10.0 ** np.arange(most + 2, 0, -1)
    assert batches - len(out(seconds, rows)) >= LEAST_ROWS


def test_one_batch_with_few_rows_does_not_decide() -> None:
    seconds, rows = quiet(3, 16)
    rows[1:] = 900.0 + 0.1 * (rows[1:] - 900.0)
    rows[0] = 100.0
    found = slope_of(seconds, rows, np.ones(16))
    assert not found.counts[0]
    assert found.most_known <= MOST_KNOWN
    assert slope_of(seconds[:LEAST_ROWS], rows[:LEAST_ROWS], np.ones(LEAST_ROWS)).most_known > MOST_KNOWN


def test_one_batch_that_alone_differs_cannot_be_left_out() -> None:
    rows = np.append(np.full(15, 300.0), 500.0)
    found = slope_of(quiet(4, 16)[0], rows, np.ones(16))
    assert found.counts.all()
    assert found.most_known == 1.0
