"""What a cut of a series says, to the digit: steps, who is compared, noise and errors, on rows without any chance."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
from scipy import stats

from streamjob_planners.arrays import FloatArray, IntArray
from streamjob_planners.capacity.cut import LEAST_NOISE, Cut
from streamjob_planners.capacity.own_rows import OwnRows

SLOW, EXECUTORS, EACH, BEFORE = 1, 3, 3, 8
OWNER: IntArray = np.arange(EXECUTORS * EACH) % EXECUTORS
LEVEL = np.linspace(-2.0, 2.0, OWNER.size)
"""What key groups usually take, in logarithms: nothing may come of it."""
MEDIAN_COST = math.pi / 2.0


def off(after: Sequence[float], before: Sequence[float] = (0.0,) * BEFORE) -> FloatArray:
    """Rows in which the slow executor's key groups are that far off, (n_rows, n_groups)."""
    told = np.zeros((len(before) + len(after), OWNER.size))
    told[:, OWNER == SLOW] = np.array([*before, *after])[:, None]
    return told


def cut(logs: FloatArray, after: int, executor: IntArray | None = None, n_executors: int = EXECUTORS) -> Cut:
    levels = np.resize(LEVEL, logs.shape[1])
    there = np.resize(OWNER, logs.shape) if executor is None else executor
    return Cut(logs + levels, np.ones(len(logs), dtype=np.int64), OwnRows(there, n_executors), after)


def step(after: Sequence[float], before: Sequence[float] = (0.0,) * BEFORE) -> float:
    return cut(off(after, before), len(after)).step(SLOW)


@pytest.mark.parametrize("common", [0.0, 3.0])
def test_a_step_is_what_one_executors_key_groups_take_more_and_others_do_not(common: float) -> None:
    logs = off([1.0, 1.0])
    logs[BEFORE:] += common
    found = cut(logs, 2)
    assert (found.row, found.compared) == (BEFORE, [0, 1, 2])
    assert [found.step(one) for one in range(EXECUTORS)] == pytest.approx([0.0, 1.0, 0.0])


@pytest.mark.parametrize(
    ("after", "said"),
    [
        ([1.5, 0.5], 1.0),  # the mean of up to three, each at least half of it
        ([1.75, 0.25], 0.0),
        ([-1.5, -0.5], -1.0),
        ([1.0, 1.0, 0.5], 2.5 / 3),
        ([1.0, 1.0, 0.25], 0.0),
        ([1.0, 1.0, 1.0, 0.5], 1.0),  # the median of more, three of four at least half of it
        ([1.0, 1.0, 1.0, 0.0], 1.0),
        ([1.0, 1.0, 0.0, 1.0, 1.0], 1.0),
        ([1.0, 1.0, 0.0, 0.0, 1.0], 0.0),
        ([0.0, 0.0], 0.0),
        ([1.0, -1.0], 0.0),
    ],
)
def test_rows_must_agree(after: list[float], said: float) -> None:
    assert step(after) == pytest.approx(said)


@pytest.mark.parametrize(
    ("before", "said"),
    [
        ([0.0] * 7 + [1.0], 1.0),  # of up to ten rows before none may be beyond
        ([0.0] * 7 + [1.25], 0.0),
        ([0.0] * 7 + [-1.25], 1.0),
        ([0.0] * 9 + [1.25], 0.0),
        ([0.0] * 10 + [1.25], 1.0),  # of eleven one
        ([0.0] * 9 + [1.25, 1.25], 0.0),
    ],
)
def test_a_step_is_beyond_what_rows_before_it_took(before: list[float], said: float) -> None:
    assert step([1.0, 1.0], before) == said
    assert step([2.0, 2.0], before) == 2.0  # nothing was that far off
    assert step([-1.0, -1.0], [-one for one in before]) == -said


@pytest.mark.parametrize("far", [4.0, -4.0])
def test_what_all_key_groups_of_a_row_have_in_common_is_nobodys(far: float) -> None:
    """Two rows have more to do, and in them, too, two executors swing against each other."""
    logs = off([far, far])
    logs[:BEFORE] += 0.5 * np.outer([1.0, -1.0] * 4, np.where(OWNER == 2, -1.0, OWNER == 0))
    logs[[0, 2]] += 1.0
    found = cut(logs, 2)
    assert [found.step(one) for one in range(EXECUTORS)] == pytest.approx([0.0, far, 0.0])


@pytest.mark.parametrize("far", [4.0, -4.0])
def test_a_key_group_of_middle_weight_is_not_what_all_have_in_common(far: float) -> None:
    logs = off([far, far])
    logs[:BEFORE] += 0.5 * np.outer([1.0, -1.0] * 4, np.where(OWNER == 2, -1.0, OWNER == 0))
    logs[[0, 2], OWNER.size // 2] += 1.0
    found = cut(logs, 2)
    assert [found.step(one) for one in range(EXECUTORS)] == pytest.approx([0.0, far, 0.0])


def test_of_two_executors_the_faster_one_is_usual() -> None:
    owner = np.arange(6) % 2
    logs = np.zeros((10, 6))
    logs[8:, owner == 1] = 1.0
    logs[8:] += 5.0
    found = cut(logs, 2, np.tile(owner, (10, 1)), 2)
    assert [found.step(0), found.step(1)] == pytest.approx([0.0, 1.0])


def test_of_four_executors_the_middle_two_are_usual() -> None:
    owner = np.arange(12) % 4
    logs = np.zeros((10, 12))
    logs[8:] += np.array([0.0, 0.5, 1.0, 4.0])[owner]
    found = cut(logs, 2, np.tile(owner, (10, 1)), 4)
    assert [found.step(one) for one in range(4)] == pytest.approx([-0.75, -0.25, 0.25, 3.25])


def moved(told_before: int, told_after: int, after: int = 2) -> IntArray:
    """Of a fourth executor, which has two key groups of the third in so many rows on each side of the cut."""
    there = np.resize(OWNER, (BEFORE + after, OWNER.size)).copy()
    there[BEFORE - told_before : BEFORE + told_after, [2, 5]] = 3
    return there


@pytest.mark.parametrize(
    ("before", "after", "compared"),
    [(5, 2, True), (4, 2, False), (5, 1, False), (BEFORE, 2, True)],
)
def test_compared_are_those_with_rows_enough_on_both_sides(before: int, after: int, compared: bool) -> None:
    found = cut(off([1.0, 1.0]), 2, moved(before, after), 4)
    assert (3 in found.compared) is compared
    assert {0, 1, 2} <= set(found.compared)


def test_one_that_has_nothing_is_nobodys_usual() -> None:
    found = cut(off([1.0, 1.0]), 2, None, 5)
    assert found.compared == [0, 1, 2]
    assert [found.step(one) for one in range(3)] == pytest.approx([0.0, 1.0, 0.0])


def test_a_row_in_which_nobody_had_anything_says_nothing() -> None:
    there = np.resize(OWNER, (BEFORE + 2, OWNER.size)).copy()
    there[0] = -1
    found = cut(off([1.0, 1.0]), 2, there)
    assert [found.step(one) for one in range(3)] == pytest.approx([0.0, 1.0, 0.0])


@pytest.mark.parametrize(("after", "cost"), [(2, 1.0), (3, 1.0), (4, MEDIAN_COST)])
def test_without_noise_the_error_is_that_of_the_least(after: int, cost: float) -> None:
    found = cut(off([1.0] * after), after)
    rows = cost / after + MEDIAN_COST / BEFORE
    assert found.error(SLOW) == pytest.approx(LEAST_NOISE * math.sqrt(rows * (1.0 + MEDIAN_COST / 3)))


def test_it_is_as_sure_as_few_rows_allow() -> None:
    """A degree of freedom, and a half for each row before the cut of each other executor."""
    by_student = stats.t.isf(stats.norm.sf(4.5), 1.0 + 0.5 * BEFORE * 2)
    assert cut(off([1.0, 1.0]), 2).sure(4.5) == pytest.approx(by_student)
    alone = cut(np.zeros((10, 3)), 2, np.zeros((10, 3), dtype=np.int64), 1)
    assert alone.sure(3.0) == pytest.approx(stats.t.isf(stats.norm.sf(3.0), 1.0 + 0.5 * BEFORE))


SWINGS = np.array([0.25, -0.25] * 4)


def scattered(each: int) -> FloatArray:
    """Key groups of every executor that swing against each other, so that their median stays: middle ones do not."""
    logs = np.zeros((BEFORE + 2, EXECUTORS * each))
    signs = np.sign(np.arange(each) - (each - 1) / 2)
    for at in range(EXECUTORS):
        logs[:BEFORE, at::EXECUTORS] = 0.25 * signs * np.where(SWINGS > 0, 1.0, -1.0)[:, None]
    return logs


@pytest.mark.parametrize(("each", "cost"), [(2, 1.0), (4, MEDIAN_COST)])
def test_noise_of_key_groups_is_less_for_those_of_many(each: int, cost: float) -> None:
    owner = np.tile(np.arange(EXECUTORS * each) % EXECUTORS, (BEFORE + 2, 1))
    found = cut(scattered(each), 2, owner)
    noise = 1.4826 * 0.25 * math.sqrt(cost / each)
    rows = 1.0 / 2 + MEDIAN_COST / BEFORE
    assert found.error(0) == pytest.approx(noise * math.sqrt(rows * (1.0 + MEDIAN_COST / 3)))


@pytest.mark.parametrize(("left", "cost"), [(1, 1.0), (2, 1.0), (3, MEDIAN_COST), (4, MEDIAN_COST)])
def test_noise_is_by_the_key_groups_that_an_executor_still_has(left: int, cost: float) -> None:
    owner = np.arange(12) % EXECUTORS
    there = np.tile(owner, (BEFORE + 2, 1))
    there[BEFORE:, np.flatnonzero(owner == 0)[left:]] = 2
    found = cut(scattered(4), 2, there)
    first, last = cost / left, MEDIAN_COST / (8 - left)
    variances = (1.4826 * 0.25) ** 2 * np.array([first, MEDIAN_COST / 4, last])
    rows = 1.0 / 2 + MEDIAN_COST / BEFORE
    usual = MEDIAN_COST / 3 * variances.mean()
    assert [found.error(one) for one in range(3)] == pytest.approx(np.sqrt(rows * (variances + usual)).tolist())


ALONE = 1.4826 * 0.25 * math.sqrt(MEDIAN_COST / 4)
"""Noise of a row of four such key groups."""


def errors(swings: FloatArray) -> list[float]:
    """Standard errors of executors whose four key groups swing together, too, (BEFORE, n_executors)."""
    logs = scattered(4)
    owner = np.arange(logs.shape[1]) % EXECUTORS
    logs[:BEFORE] += swings[:, owner]
    found = cut(logs, 2, np.tile(owner, (len(logs), 1)))
    return [found.error(one) for one in range(EXECUTORS)]


def expected(noises: Sequence[float]) -> list[float]:
    usual = MEDIAN_COST / 3 * sum(one**2 for one in noises) / 3
    rows = 1.0 / 2 + MEDIAN_COST / BEFORE
    return [math.sqrt(rows * (one**2 + usual)) for one in noises]


def test_noise_that_an_executors_tasks_share_is_its_own() -> None:
    swings = np.outer(SWINGS, [0.0, 2.0, 0.0])
    assert errors(swings) == pytest.approx(expected([ALONE, 1.4826 * 0.5, ALONE]))


def test_where_most_executors_tasks_share_noise_those_of_all_do() -> None:
    swings = np.outer(SWINGS, [2.0, 0.0, -2.0])
    assert errors(swings) == pytest.approx(expected([1.4826 * 0.5] * 3))


def test_one_that_has_nothing_left_still_tells_of_shared_noise() -> None:
    """Noise by rows over that by key groups is 3.2, 0, 0 and much: the median is half of 3.2."""
    owner = np.arange(16) % 4
    logs = np.resize(scattered(4)[:, ::3], (BEFORE + 2, 4)).repeat(4, axis=1)
    logs[:BEFORE] += np.outer(SWINGS, np.array([2.0, 0.0, 0.0, -6.0])[owner])
    there = np.tile(owner, (len(logs), 1))
    there[BEFORE:, owner == 3] = 2
    found = cut(logs, 2, there, 4)
    half = 1.4826 * 0.5 / 2
    usual = (
        MEDIAN_COST / 3 * ((2 * half) ** 2 + half**2 + half**2 / 2) / 3
    )  # twice as many key groups, half the variance
    rows = 1.0 / 2 + MEDIAN_COST / BEFORE
    assert found.compared == [0, 1, 2]
    assert found.error(1) == pytest.approx(math.sqrt(rows * (half**2 + usual)))


def test_key_groups_that_are_all_alike_tell_no_noise() -> None:
    owner = np.arange(12) % 4
    logs = np.zeros((BEFORE + 2, 12))
    logs[:BEFORE] = np.outer(SWINGS, np.array([2.0, 1.0, -1.0, -2.0])[owner])
    found = cut(logs, 2, np.tile(owner, (BEFORE + 2, 1)), 4)
    least = LEAST_NOISE * math.sqrt(1.0 / 2 + MEDIAN_COST / BEFORE)
    assert all(found.error(one) >= least for one in range(4))


@pytest.mark.parametrize(("rows", "own"), [(1, ALONE), (2, math.sqrt(1 / 7))])
def test_of_an_executor_that_is_odd_in_few_rows_the_oddest_does_not_count(rows: int, own: float) -> None:
    """Medians see nothing of two rows of eight; without the oddest, the other one is a seventh of the mean square."""
    swings = np.zeros((BEFORE, EXECUTORS))
    swings[BEFORE - rows :, SLOW] = 1.0
    assert errors(swings) == pytest.approx(expected([ALONE, own, ALONE]))


def test_unlike_is_what_is_twice_as_far_off_as_anybody_ever_was() -> None:
    assert cut(off([1.0]), 1).unlike(SLOW, 1.0)
    assert not cut(off([1.0]), 1).unlike(SLOW, 1.01)
    assert not cut(off([-1.0]), 1).unlike(SLOW, 0.5)
    for odd, unlike in ((0.5, True), (0.51, False), (-0.5, True), (-0.51, False)):
        assert cut(off([1.0], [*[0.0] * 7, odd]), 1).unlike(SLOW, 0.7) is unlike
        other = off([1.0])
        other[3, OWNER == 2] = odd
        assert cut(other, 1).unlike(SLOW, 0.7) is unlike


def test_most_key_groups_must_show_the_step() -> None:
    """Of five, four are enough; each at most half of the step away from it."""
    owner = np.tile(np.arange(15) % 3, (BEFORE + 2, 1))
    mine = np.flatnonzero(owner[0] == SLOW)
    for each, agreed in (
        ([1.0, 1.0, 1.0, 1.0, 0.0], True),
        ([1.0, 1.0, 1.0, 0.0, 0.0], False),
        ([1.0, 1.0, 1.0, 0.5, 0.0], True),
        ([1.0, 1.0, 1.0, 0.4, 0.0], False),
        ([1.0, 1.0, 1.0, 1.5, 0.0], True),
        ([1.0, 1.0, 1.0, 1.6, 0.0], False),
    ):
        logs = np.zeros((BEFORE + 2, 15))
        logs[BEFORE:, mine] = each
        found = cut(logs, 2, owner)
        assert found.step(SLOW) == 1.0
        assert found.agreed(SLOW, 2) is agreed, each
        assert not found.agreed(SLOW, 6)
        assert found.agreed(SLOW, 4) is agreed


def test_key_groups_that_came_with_the_row_do_not_count_by_it() -> None:
    there = np.resize(OWNER, (BEFORE + 1, OWNER.size)).copy()
    there[:BEFORE, OWNER == SLOW] = [1, 1, 0]
    there[:, 0] = 0
    found = cut(off([1.0]), 1, there)
    assert found.step(SLOW) == 1.0
    assert found.agreed(SLOW, 2)
    assert not found.agreed(SLOW, 3)
    of_two = np.vstack((there, there[-1:]))
    assert cut(off([1.0, 1.0]), 2, of_two).agreed(SLOW, 3)


def test_noisy_key_groups_may_be_as_far_off_as_their_noise() -> None:
    """2.5 standard errors of what a key group's rows say, where that is more than half of the step."""
    each = 4
    owner = np.tile(np.arange(EXECUTORS * each) % EXECUTORS, (BEFORE + 2, 1))
    mine = np.flatnonzero(owner[0] == SLOW)
    error = 1.4826 * 0.25 * math.sqrt(1.0 / 2 + MEDIAN_COST / BEFORE)
    for far, agreed in ((2.4, True), (2.6, False)):
        logs = scattered(each)
        logs[BEFORE:, mine] = [0.375, 0.375, 0.375 + far * error, 0.375 - far * error]
        found = cut(logs, 2, owner)
        assert found.step(SLOW) == pytest.approx(0.375)
        assert found.agreed(SLOW, 2) is agreed
