"""What windows teach about tasks, where it can be worked out on paper: few key groups, no chance."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
import pytest

from streamjob_planners.batch.evidence import (
    TaskEvidence,
    TaskWindow,
    Variation,
    begun_anew,
    with_rows,
    with_window,
)

PRIOR = (0.01125, 0.25, 0.125, 0.0, 0.0)
"""Of two equal tasks: half a task, whose standard deviation is 0.3 of its mean."""


def window(task_s: Sequence[float], batches: int = 9, **changes: object) -> TaskWindow:
    """Key groups of operator 3, each on an executor of its own."""
    n = len(task_s)
    given: dict[str, object] = {
        "operator": np.full(n, 3),
        "partition": np.arange(n),
        "task_s": np.array(task_s),
        "owner": np.arange(n),
        "batches": batches,
        "new_ratio": 1.0,
        "spread_s": {},
        **changes,
    }
    return TaskWindow(**given)  # type: ignore[arg-type]


def told(*windows: TaskWindow) -> TaskEvidence:
    found = with_window(None, windows[0])
    for one in windows[1:]:
        found = with_window(found, one)
    return found


def sums(found: TaskEvidence, at: int = 0) -> tuple[float, ...]:
    return dataclasses.astuple(found.variation[at])


@pytest.mark.parametrize(
    ("one", "share", "variance"),
    [
        (Variation(squares=1.0, means=4.0, mean_squares=8.0), 0.5, 0.125),  # a quarter of the share
        (Variation(squares=1.0, means=4.0, mean_squares=8.0), 4.0, 2.0),  # an eighth of its square
        (Variation(squares=0.01, means=0.5, mean_squares=0.25), 0.25, 0.005),  # of less than a task, too
        (Variation(squares=0.01, means=0.5, mean_squares=0.25), 1.0, 0.04),
        (Variation(squares=0.0, means=1.0, mean_squares=1.0), 0.5, 1e-4),  # 2 percent at least
        (Variation(squares=0.0, means=0.0, mean_squares=0.0), 0.5, 1e-4),
    ],
)
def test_how_much_a_task_varies_goes_with_its_share_or_the_square_of_it(
    one: Variation, share: float, variance: float
) -> None:
    assert one.variance(np.array([share])) == pytest.approx([variance])


@pytest.mark.parametrize(
    ("together", "apart", "clustering"), [(4.0, 2.0, 2.0), (1.0, 0.5, 2.0), (1.0, 2.0, 1.0), (1.0, 0.0, 1.0)]
)
def test_tasks_of_one_executor_vary_together_by_so_much(together: float, apart: float, clustering: float) -> None:
    one = Variation(squares=1.0, means=1.0, mean_squares=1.0, together=together, apart=apart)
    assert one.clustering == clustering


@pytest.mark.parametrize(("batches", "error_s"), [(1, 0.6), (9, 0.2)])
def test_the_first_window_is_believed_as_far_as_tasks_vary_elsewhere(batches: int, error_s: float) -> None:
    """0.3 of the mean, over the root of the batches. In batches of twice the seconds both are twice as much."""
    found = told(window([2.0, 2.0], batches))
    assert sums(found) == pytest.approx(PRIOR)
    for times in (1.0, 2.0):
        mean_s, off_s = found.tasks(np.array([3, 3]), np.array([2.0, 2.0]) * times)
        assert mean_s == pytest.approx(2.0 * times)
        assert off_s == pytest.approx(error_s * times)


def test_each_operator_has_its_own_seconds_and_its_own_variation() -> None:
    """Of 10 s in operator 3 each half has a variance of 0.04, twice that by its executor: over 8 batches 0.1 squared.
    Of 4 s in operator 7 tasks vary by 2 percent."""
    known = TaskEvidence(
        groups=0,
        share=(0.5, 0.5, 0.25, 0.75),
        batches=(8.0, 8.0, 1.0, 4.0),
        variation=(
            Variation(squares=0.08, means=1.0, mean_squares=1.0, together=2.0, apart=1.0),
            Variation(squares=0.0, means=1.0, mean_squares=1.0),
        ),
    )
    mean_s, error_s = known.tasks(np.array([3, 3, 7, 7]), np.array([4.0, 6.0, 2.0, 2.0]))
    assert mean_s == pytest.approx([5.0, 5.0, 1.0, 3.0])
    assert error_s == pytest.approx([1.0, 1.0, 0.02, 0.03])


@pytest.mark.parametrize(("new_ratio", "differences"), [(1.0, 2.0), (0.5, 1.0)])
def test_a_spread_that_is_told_counts_for_all_batches_but_one(new_ratio: float, differences: float) -> None:
    """Half a second of 4 s, in three batches."""
    found = told(window([2.0, 2.0], 3, spread_s={3: 0.5, 7: 9.0}, new_ratio=new_ratio))
    seen = np.array([differences * 2 * 0.125**2, differences, differences * 0.5, 0.0, 0.0])
    assert sums(found) == pytest.approx(0.9 * np.array(PRIOR) + seen)


@pytest.mark.parametrize(
    ("task_s", "batches", "spread_s"),
    [([2.0, 2.0], 1, {3: 0.5}), ([2.0, 2.0], 3, {7: 0.5}), ([0.0, 0.0], 3, {3: 0.5})],
    ids=["one batch", "another operator", "no work"],
)
def test_where_no_spread_is_known_tasks_vary_as_elsewhere(
    task_s: list[float], batches: int, spread_s: dict[int, float]
) -> None:
    assert sums(told(window(task_s, batches, spread_s=spread_s))) == pytest.approx(PRIOR)


@pytest.mark.parametrize(
    ("before", "batches", "new_ratio", "stands_for", "part"),
    [
        (9, 1, 1.0, 9.1, 1.0),  # 0.9 of nine, and one
        (9, 1, 0.5, 0.9**0.5 * 9 + 0.5, 0.5),
        (9, 2, 1.0, 0.81 * 9 + 2, 2.0),
        (1, 50, 1.0, 51.0, 50.0),  # what was known is one batch at least
    ],
)
def test_a_window_is_averaged_with_what_was_known(
    before: int, batches: int, new_ratio: float, stands_for: float, part: float
) -> None:
    """Shares of 0.55 and 0.45 after halves."""
    found = told(window([2.0, 2.0], before), window([2.2, 1.8], batches, new_ratio=new_ratio))
    assert found.batches == pytest.approx([stands_for] * 2, rel=1e-4)
    assert found.share == pytest.approx([0.5 + 0.05 * part / stands_for, 0.5 - 0.05 * part / stands_for], rel=1e-5)
    assert (found.high, found.low) == ((), ())


def test_what_is_kept_has_five_digits() -> None:
    assert told(window([1.0, 2.0], 1)).share == (0.33333, 0.66667)


@pytest.mark.parametrize(
    ("owner", "together", "apart"),
    [([0, 1], 0.009, 0.009), ([1, 1], 0.0, 0.009), ([-1, 0], 0.0045, 0.0045), ([-1, -1], 0.0, 0.0)],
)
def test_differences_from_what_was_known_tell_how_tasks_vary(owner: list[int], together: float, apart: float) -> None:
    """0.05 each, squared, times the batches that it stands for, 1 / (1 / 1 + 1 / 9), and 2 / 1, as shares add up."""
    found = told(window([2.0, 2.0]), window([2.2, 1.8], 1, owner=np.array(owner)))
    seen = np.array([0.009, 1.0, 0.5, together, apart])
    assert sums(found) == pytest.approx(0.9 * np.array(PRIOR) + seen)


@pytest.mark.parametrize(("new_ratio", "counts"), [(0.98, False), (0.99, True)])
def test_windows_that_overlap_tell_nothing_of_it(new_ratio: float, counts: bool) -> None:
    found = told(window([2.0, 2.0]), window([2.2, 1.8], 1, new_ratio=new_ratio))
    assert (sums(found) != pytest.approx(PRIOR)) is counts


def test_a_key_group_alone_is_all_of_its_operator() -> None:
    """Its share is never off, from which nothing can be told."""
    first = told(window([2.0]))
    again = told(window([2.0]), window([3.0]))
    assert (again.share, again.variation) == ((1.0,), first.variation)


TEN = 10


def ten(first_s: float) -> TaskWindow:
    """Ten tasks of 1 s but for the first one."""
    return window([first_s, *[1.0] * (TEN - 1)], spread_s={3: 0.03 * (first_s + TEN - 1)})


@pytest.mark.parametrize(
    ("first_s", "high", "low"),
    [
        (1.58, (), ()),  # a share of 0.149: 3.5 standard deviations
        (1.76, (0,), ()),  # 0.164: 4.5
        (0.48, (), ()),
        (0.34, (), (0,)),
    ],
)
def test_one_that_is_four_standard_deviations_off_waits_for_the_next_window(
    first_s: float, high: tuple[int, ...], low: tuple[int, ...]
) -> None:
    found = told(ten(1.0), ten(first_s))
    assert (found.high, found.low) == (high, low)
    believed = not high and not low
    assert (found.share[0] != 0.1) is believed
    assert found.batches[0] == pytest.approx(0.9**9 * 9 + 9 * believed, rel=1e-4)
    assert found.batches[1] == pytest.approx(0.9**9 * 9 + 9, rel=1e-4)


@pytest.mark.parametrize(
    ("first_s", "second_s", "share", "high", "low"),
    [
        (2.25, 2.25, 0.2, (), ()),  # a fifth, twice: it has changed
        (0.0, 0.0, 0.0, (), ()),  # twice below
        (2.25, 0.0, 0.1, (), (0,)),
        (0.0, 2.25, 0.1, (0,), ()),
    ],
)
def test_one_that_is_off_twice_to_the_same_side_has_changed(
    first_s: float, second_s: float, share: float, high: tuple[int, ...], low: tuple[int, ...]
) -> None:
    found = told(ten(1.0), ten(first_s), ten(second_s))
    assert (found.share[0], found.high, found.low) == (share, high, low)
    assert (found.batches[0] == 9.0) is (high == low)


def test_a_straggler_counts_as_three_standard_deviations_of_its_kind() -> None:
    """3 s of 12 s after a tenth: 0.15 off, others a sixtieth; 4.5 batches and 10 of 9 for each square."""
    found = told(window([1.0] * TEN), window([3.0, *[1.0] * (TEN - 1)]))
    prior = np.array([0.00045, 0.05, 0.005, 0.0, 0.0])
    squares = 9 * 5 * (1 / 60) ** 2 + 9 * 0.03**2
    assert sums(found) == pytest.approx(0.9 * prior + np.array([squares, 1.0, 0.1, squares, squares]))


@pytest.mark.parametrize(("deviations", "changed"), [(2.4, False), (2.5, True), (-2.5, True)])
def test_an_operator_whose_groups_are_all_off_has_changed(deviations: float, changed: bool) -> None:
    """Two squares of 2.45 are 12, as 2 are expected and five times the root of 4 beside: 0.0707 is the deviation."""
    off = deviations * 0.15 / 4.5**0.5
    found = told(window([2.0, 2.0]), window([2.0 + 4 * off, 2.0 - 4 * off]))
    assert (found.share[0] == pytest.approx(0.5 + off, rel=1e-4)) is changed
    assert (found.batches == (9.0, 9.0)) is changed


def test_a_group_that_had_nothing_is_far_off_once_it_has_something() -> None:
    """Nobody knows how much it varies, so it alone does not say that the operator has changed."""
    found = told(ten(0.0), ten(0.01))
    assert (found.high, found.share[0]) == ((0,), 0.0)


def test_groups_that_have_nothing_are_not_off() -> None:
    found = told(ten(0.0), ten(0.0))
    assert (found.high, found.low, found.share[0]) == ((), (), 0.0)


def test_four_groups_that_had_nothing_are_no_other_operator_either() -> None:
    """Of each that is known, four of ten as far off as any straggler would be enough."""
    first, then = ([seconds] * 4 + [1.0] * 6 for seconds in (0.0, 0.01))
    found = told(window(first), window(then))
    assert (found.high, found.share[:4]) == ((0, 1, 2, 3), (0.0,) * 4)


def test_an_operator_with_a_group_that_never_has_anything_can_change() -> None:
    found = told(window([0.0, 2.0, 2.0]), window([0.0, 3.0, 1.0]))
    assert (found.share, found.batches) == ((0.0, 0.75, 0.25), (9.0,) * 3)


def test_tasks_of_milliseconds_teach_what_those_of_seconds_do() -> None:
    found = [
        told(*(window([one * unit for one in task_s], 9, spread_s={3: 0.5 * unit}) for task_s in ([2, 2], [2.2, 1.8])))
        for unit in (1.0, 0.001)
    ]
    assert found[0].share != (0.5, 0.5)
    assert found[1].share == found[0].share
    assert sums(found[1]) == pytest.approx(sums(found[0]))


def test_a_window_without_an_operators_work_teaches_nothing_of_it() -> None:
    """The query of operator 3 had no batch in it; that of 7 had."""
    both = {"operator": np.array([3, 3, 7, 7]), "partition": np.array([0, 1, 0, 1])}
    first = told(window([2.0, 2.0, 1.0, 1.0], **both))
    found = told(window([2.0, 2.0, 1.0, 1.0], **both), window([0.0, 0.0, 1.0, 1.0], **both))
    assert found.share == first.share
    assert found.batches[:2] == first.batches[:2]
    assert found.batches[2] > first.batches[2]
    assert found.variation[0] == first.variation[0]
    assert (found.high, found.low) == ((), ())


def test_an_operator_whose_first_window_was_empty_begins_with_the_next_one() -> None:
    found = told(window([0.0, 0.0]), window([3.0, 1.0]))
    assert (found.share, found.batches, found.high) == ((0.75, 0.25), (9.0, 9.0), ())


def test_other_key_groups_begin_anew_and_after_a_change_only_shares_do() -> None:
    before, after = told(window([2.0, 2.0], 9), window([2.2, 1.8], 1)), window([3.0, 1.0], 2)
    other = window([3.0, 1.0], 2, partition=np.array([5, 6]))
    for found, kept in ((with_window(before, other), False), (begun_anew(before, other), False)):
        assert (found.share, found.batches, found.variation == before.variation) == ((0.75, 0.25), (2.0, 2.0), kept)
    found = begun_anew(before, after)
    assert (found.share, found.batches, found.variation) == ((0.75, 0.25), (2.0, 2.0), before.variation)
    assert begun_anew(None, after) == with_window(None, after)


def known(mean_squares: float = 1.0) -> TaskEvidence:
    one = Variation(squares=7.0, means=1.0, mean_squares=mean_squares, together=2.0, apart=3.0)
    return TaskEvidence(groups=0, share=(0.5, 0.5), batches=(1.0, 1.0), variation=(one,))


def rows(*first: float | None) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    """Two tasks of 4 s together, by the share of the first one; None for a row without work."""
    return np.array([[0.0, 0.0] if one is None else [4 * one, 4 * (1 - one)] for one in first])


SWINGS = (0.5, 0.6, 0.5, 0.6)


@pytest.mark.parametrize(
    ("shares", "batches", "squares", "mean_squares"),
    [
        (
            SWINGS,
            (1, 1, 1, 1),
            2 * 0.02,
            2 * 0.505,
        ),  # two steps of three, each 0.1 squared, twice, over 1 + 1, times 2 / 1
        (SWINGS, (1, 3, 1, 3), 2 * 0.03, 2 * 0.505),  # over 1 + 1 / 3
        ((0.5, 0.6, 0.5, 0.9), (1, 1, 1, 1), 2 * 0.02, 2 * 0.53125),  # the last step is left out
        ((0.5, None, 0.6, 0.5, 0.6), (1, 1, 1, 1, 1), 2 * 0.02, 2 * 0.505),
    ],
)
def test_batches_one_by_one_tell_how_much_tasks_vary(
    shares: tuple[float | None, ...], batches: tuple[int, ...], squares: float, mean_squares: float
) -> None:
    found = with_rows(known(), np.array([3, 3]), rows(*shares), np.array(batches))
    assert sums(found) == pytest.approx((squares, 2.0, mean_squares, 2.0, 3.0))


def test_rows_of_three_tasks_take_one_of_three_differences_away_and_may_be_of_milliseconds() -> None:
    """Two steps of 0.1 and twice 0.05, each squared, over 1 + 1, times 3 / 2."""
    task_s = np.array([[0.5, 0.25, 0.25], [0.6, 0.2, 0.2]] * 2)
    before = dataclasses.replace(known(), share=(0.5, 0.25, 0.25), batches=(1.0,) * 3)
    for unit in (1.0, 0.001):
        found = with_rows(before, np.full(3, 3), unit * task_s, np.ones(4, dtype=np.int64))
        assert sums(found) == pytest.approx((2 * 0.01125, 2.0, 2 * 0.40375, 2.0, 3.0))


@pytest.mark.parametrize("shares", [SWINGS[:3], (0.5, None, 0.6, 0.5)])
def test_three_batches_are_too_few(shares: tuple[float | None, ...]) -> None:
    found = with_rows(known(), np.array([3, 3]), rows(*shares), np.ones(len(shares), dtype=np.int64))
    assert found == known()


@pytest.mark.parametrize(("mean_squares", "stays"), [(2.52, False), (2.525, False), (2.53, True)])
def test_what_more_than_five_windows_have_taught_stays(mean_squares: float, stays: bool) -> None:
    """Squares of the mean shares, 0.55 and 0.45, are 0.505."""
    before = known(mean_squares)
    found = with_rows(before, np.array([3, 3]), rows(*SWINGS), np.ones(4, dtype=np.int64))
    assert (found == before) is stays


def test_rows_of_a_key_group_alone_tell_nothing() -> None:
    before = TaskEvidence(groups=0, share=(1.0,), batches=(1.0,), variation=known().variation)
    assert with_rows(before, np.array([3]), np.ones((5, 1)), np.ones(5, dtype=np.int64)) == before
