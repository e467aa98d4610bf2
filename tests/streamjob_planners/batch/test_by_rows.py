"""Seconds of a batch and of a row: told apart where rows vary, and not where they do not."""

import numpy as np
import pytest

from streamjob_planners.batch.by_rows import GroupSeconds, seconds_by_rows

GROUPS = np.array([0, 0, 1])


def measured(rows: np.ndarray, noise: float = 0.05, seed: int = 1) -> GroupSeconds:
    """Operator 0 takes 2 ms a row and no more; operator 1 takes 3 s a batch and 1 ms a row."""
    rng = np.random.default_rng(seed)
    true_s = np.stack([0.0005 * rows, 0.0015 * rows, 3.0 + 0.001 * rows], axis=1)
    busy_s = true_s * np.maximum(0.0, 1.0 + noise * rng.standard_normal(true_s.shape))
    return seconds_by_rows(busy_s, rows, np.ones(rows.size, dtype=np.int64), GROUPS)


def test_a_forecast_of_rows_gives_a_forecast_of_seconds() -> None:
    rows = np.random.default_rng(2).uniform(500.0, 1500.0, 40)
    known = measured(rows)
    assert known.batches == 40
    assert known.rows == pytest.approx(np.full(3, rows.mean()))
    assert known.fixed_ratio == pytest.approx([0.0, 0.0, 0.75], abs=0.08)
    assert known.at(3000.0) == pytest.approx([1.5, 4.5, 6.0], rel=0.1)
    assert known.at(rows.mean()) == pytest.approx(known.mean_s)
    assert known.grown(2000.0, 1.0) == pytest.approx(1.0)
    assert known.grown(1000.0, 3.0) == pytest.approx((1.5 + 4.5 + 6.0) / 6.0, rel=0.05)
    assert sorted(known.lines) == [0, 1]
    assert all(line.error_ratio < 0.3 for line in known.lines.values())


def test_the_interval_holds_the_truth_as_often_as_it_says() -> None:
    held = 0
    for seed in range(100):
        rows = np.random.default_rng(seed).uniform(500.0, 1500.0, 20)
        line = measured(rows, noise=0.2, seed=1000 + seed).lines.get(1)
        fixed_ratio = 3.0 / (3.0 + 0.001 * rows.mean())
        held += line is None or abs(line.fixed_ratio - fixed_ratio) <= line.error_ratio
    assert held >= 88


ZIPF = 1.0 / np.arange(1, 17) ** 0.8 / (1.0 / np.arange(1, 17) ** 0.8).sum()
"""Parts that sixteen key groups have of all rows."""


def skewed(own_s: float, by_size: float, seed: int, n_rows: int = 24) -> tuple[GroupSeconds, np.ndarray]:
    """Key groups of 4 ms a row together; each task takes `own_s` more, and `by_size` of its mean work for no row.

    What was measured of them, and what they take at 3000 rows. Batches as a whole, and tasks, vary by a tenth.
    """
    rng = np.random.default_rng(seed)
    rows = rng.uniform(500.0, 1500.0, n_rows)
    mean_s = 0.004 * ZIPF * 1000.0

    def true_s(at: np.ndarray) -> np.ndarray:
        return own_s + mean_s * (by_size + (1.0 - by_size) * at[:, None] / 1000.0)

    noise = (1.0 + 0.1 * rng.standard_normal((n_rows, 1))) * (1.0 + 0.1 * rng.standard_normal((n_rows, 16)))
    known = seconds_by_rows(true_s(rows) * noise, rows, np.ones(n_rows, dtype=np.int64), np.zeros(16, dtype=np.int64))
    return known, true_s(np.array([3000.0]))[0]


def test_what_each_task_takes_without_a_row_is_no_larger_where_more_rows_go() -> None:
    found = [skewed(own_s=0.15, by_size=0.0, seed=seed) for seed in range(40)]
    told = [known.lines[0].task_s for known, _ in found if 0 in known.lines]
    assert len(told) >= 36
    assert np.median(told) == pytest.approx(0.15, rel=0.25)
    off = [known.at(3000.0) / true_s - 1.0 for known, true_s in found if 0 in known.lines]
    heaviest, lightest = (float(np.median([one[at] for one in off])) for at in (0, -1))
    assert heaviest == pytest.approx(0.0, abs=0.06), "with 2.4 s of 6.4 as a part of every task: 0.2 below"
    assert lightest == pytest.approx(0.0, abs=0.15)


def test_what_goes_with_the_size_of_a_task_is_not_taken_for_the_same_of_each() -> None:
    found = [skewed(own_s=0.0, by_size=0.4, seed=seed)[0] for seed in range(200)]
    lines = [known.lines[0] for known in found if 0 in known.lines]
    assert len(lines) >= 150
    assert sum(line.task_s > 0.0 for line in lines) <= 0.06 * len(lines)
    assert all(np.ptp(known.fixed_ratio) < 1e-12 for known in found if 0 in known.lines and not known.lines[0].task_s)


def test_no_task_has_more_without_rows_than_it_takes() -> None:
    for seed in range(40):
        known, _ = skewed(own_s=0.3, by_size=0.3, seed=seed)
        assert (known.fixed_ratio <= 1.0).all()
        if 0 in known.lines:
            fixed_s = float((known.mean_s * known.fixed_ratio).sum())
            assert fixed_s == pytest.approx(known.lines[0].fixed_ratio * float(known.mean_s.sum()))


@pytest.mark.parametrize("rows", [np.full(40, 1000.0), 1000.0 + np.arange(40) % 3, np.array([500.0, 1500.0])])
def test_rows_that_do_not_vary_or_are_few_explain_nothing(rows: np.ndarray) -> None:
    known = measured(rows, noise=0.2)
    assert known.lines == {}
    assert known.fixed_ratio.tolist() == [0.0] * 3
    assert known.row_s == pytest.approx(known.mean_s / rows.mean())


def test_a_job_that_warms_up_while_its_rows_rise_is_not_without_rows() -> None:
    """A real job's first batches: rows, and seconds of its eight tasks, of which each row takes 5 ms; without a row
    they took 1.8 s later. An ordinary line says that rows take nothing, for sure."""
    rows = np.array([25, 275, 325, 350, 275, 495, 540, 495, 495, 540, 540, 585, 495, 450, 450, 450, 405, 585])
    seconds = "4.97 5.58 5.07 4.36 4.11 4.89 4.84 4.05 4.94 4.8 4.33 4.54 4.22 3.78 3.93 3.67 3.47 4.37"
    busy_s = np.array([float(one) for one in seconds.split()])[:, None]
    for known in range(6, rows.size + 1):
        found = seconds_by_rows(busy_s[:known], rows[:known], np.ones(known, dtype=np.int64), np.zeros(1))
        line = found.lines.get(0)
        assert line is None or line.fixed_ratio - line.error_ratio <= 0.65, known
    assert line is not None
    assert line.fixed_ratio == pytest.approx(0.7, abs=0.1)


def test_seconds_that_do_not_follow_rows_are_of_the_batch() -> None:
    rows = np.random.default_rng(4).uniform(100.0, 2000.0, 60)
    busy_s = 2.0 + 0.05 * np.random.default_rng(5).standard_normal((60, 3))
    known = seconds_by_rows(busy_s, rows, np.ones(60, dtype=np.int64), GROUPS)
    assert known.fixed_ratio == pytest.approx(np.ones(3), abs=0.05)
    assert known.grown(1000.0, 4.0) == pytest.approx(1.0, abs=0.1)


def test_rows_of_several_batches_are_means_and_nothing_is_no_trouble() -> None:
    rows = np.random.default_rng(6).uniform(500.0, 1500.0, 40)
    one = measured(rows, noise=0.0)
    pairs = seconds_by_rows(
        np.stack([0.0005 * rows, 0.0015 * rows, 3.0 + 0.001 * rows], axis=1).reshape(20, 2, 3).sum(axis=1),
        rows.reshape(20, 2).sum(axis=1),
        np.full(20, 2),
        GROUPS,
    )
    assert pairs.mean_s == pytest.approx(one.mean_s)
    assert pairs.fixed_ratio == pytest.approx(one.fixed_ratio, abs=1e-9)
    nothing = seconds_by_rows(np.zeros((8, 3)), np.zeros(8), np.ones(8, dtype=np.int64), GROUPS)
    assert nothing.at(10.0).tolist() == nothing.row_s.tolist() == [0.0] * 3
    assert nothing.grown(10.0, 5.0) == 1.0


def cold(seed: int, batches: int, odd: tuple[float, ...], first_rows: float = 275.0) -> tuple[GroupSeconds, float]:
    """Eight alike key groups that take 0.6 s together without a row and 2 ms a row, but the first batches so many times
    as long; what is known of them, and the true part without a row of a mean batch that is not cold."""
    rng = np.random.default_rng(seed)
    rows = np.append(first_rows, rng.uniform(200.0, 700.0, batches - 1))
    total_s = (0.6 + 0.002 * rows) * (1.0 + 0.1 * rng.standard_normal(batches))
    total_s[: len(odd)] *= odd
    noise = 1.0 + 0.05 * rng.standard_normal((batches, 8))
    busy_s = total_s[:, None] / 8 * noise
    known = seconds_by_rows(busy_s, rows, np.ones(batches, dtype=np.int64), np.zeros(8, dtype=np.int64))
    return known, 0.6 / (0.6 + 0.002 * rows[len(odd) :].mean())


@pytest.mark.parametrize(
    ("batches", "odd"), [(10, (40.0,)), (12, (40.0, 9.0)), (14, (40.0, 9.0, 3.5)), (48, (40.0, 9.0, 3.5))]
)
def test_the_first_batches_of_a_cold_driver_hide_nothing(batches: int, odd: tuple[float, ...]) -> None:
    """46 s for 275 rows, then 10 s and 4 s, and from then on 1.4 s."""
    found = [cold(seed, batches, odd) for seed in range(40)]
    told = [(known, fixed_ratio) for known, fixed_ratio in found if 0 in known.lines]
    assert len(told) >= 34
    held = [abs(known.lines[0].fixed_ratio - true) <= known.lines[0].error_ratio for known, true in told]
    assert np.mean(held) >= 0.85
    tripled = [float(known.at(1350.0).sum()) for known, _ in told]
    assert np.median(tripled) == pytest.approx(3.3, rel=0.1)


def test_a_full_collection_hides_nothing() -> None:
    """In one batch of fifty an operator takes three times as long: its line and its seconds are those without it."""
    rng = np.random.default_rng(8)
    rows = rng.uniform(500.0, 1500.0, 50)
    busy_s = (3.0 + 0.001 * rows)[:, None] / 4 * (1.0 + 0.1 * rng.standard_normal((50, 4)))
    busy_s[20, :2] *= 3.0
    ones, others, operator = np.ones(50, dtype=np.int64), np.arange(50) != 20, np.array([0, 0, 1, 1])
    known = seconds_by_rows(busy_s, rows, ones, operator)
    without = seconds_by_rows(busy_s[others], rows[others], ones[others], operator)
    assert {one: line.odd for one, line in known.lines.items()} == {0: 1, 1: 0}
    assert known.batches == 50
    assert known.rows == pytest.approx(np.repeat([rows[others].mean(), rows.mean()], 2))
    assert known.mean_s[:2] == pytest.approx(without.mean_s[:2])
    assert known.mean_s[2:] == pytest.approx(busy_s[:, 2:].mean(axis=0))
    assert known.fixed_ratio == pytest.approx(without.fixed_ratio, abs=0.02), "a level that drifts walks on meanwhile"
    assert known.at(3000.0) == pytest.approx(without.at(3000.0), rel=0.02)


def test_one_cold_batch_with_few_rows_tells_no_line_alone() -> None:
    """25 rows took as long as 200 to 700 did in warm processes: an ordinary line is sure that rows take little."""
    wrong = 0
    for seed in range(100):
        known, true = cold(seed, 8, (2.3,), first_rows=25.0)
        wrong += 0 in known.lines and abs(known.lines[0].fixed_ratio - true) > known.lines[0].error_ratio
    assert wrong <= 15


@pytest.mark.parametrize(("larger", "told"), [(1, False), (2, True), (3, True)])
def test_rows_at_one_rate_and_a_batch_at_another_tell_nothing(larger: int, told: bool) -> None:
    rows = np.append(np.full(20 - larger, 400.0), np.full(larger, 900.0))
    busy_s = 1.0 + 0.002 * rows + 0.05 * np.random.default_rng(9).standard_normal(20)
    lines = seconds_by_rows(busy_s[:, None], rows, np.ones(20, dtype=np.int64), np.zeros(1, dtype=np.int64)).lines
    assert (0 in lines) == told
    assert not told or abs(lines[0].fixed_ratio - 0.51) <= lines[0].error_ratio
