"""Turns in series without any chance: who, from which row on, by how much, and where the limits are."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

from streamjob_planners.arrays import BoolArray, FloatArray, IntArray
from streamjob_planners.capacity.turning import GroupRows, Turn, since, turns, turns_and_doubt

EXECUTORS, EACH, ROWS = 4, 4, 16
OWNER: IntArray = np.arange(EXECUTORS * EACH) % EXECUTORS
LOAD = np.exp(np.linspace(-1.0, 1.0, OWNER.size))
NOBODY: BoolArray = np.zeros(EXECUTORS, dtype=np.bool_)
NOT_AT_ONCE: IntArray = np.zeros(EXECUTORS, dtype=np.int64)


def series(*slow: tuple[int, int, float], rows: int = ROWS) -> GroupRows:
    """Each (executor, row, factor): its tasks take so many times as long from there on."""
    seconds = np.tile(LOAD, (rows, 1))
    for executor, row, factor in slow:
        seconds[row:, np.equal(OWNER, executor)] *= factor
    return group_rows(seconds, np.tile(OWNER, (rows, 1)))


def group_rows(seconds: FloatArray, executor: IntArray) -> GroupRows:
    """A batch in each row, every task of which reads one record."""
    batches = np.ones(len(seconds), dtype=np.int64)
    return GroupRows(seconds=seconds, records=np.ones(seconds.shape), executor=executor, batches=batches)


def scattered(rows: GroupRows, by: float) -> GroupRows:
    """Key groups of each executor swing against each other, in turn by row."""
    signs = np.where(np.arange(OWNER.size) < OWNER.size // 2, 1.0, -1.0)
    swings = np.outer(np.resize([1.0, -1.0], len(rows.executor)), signs)
    return dataclasses.replace(rows, seconds=rows.seconds * np.exp(by * swings))


def of_groups(rows: GroupRows, kept: BoolArray) -> GroupRows:
    columns = {name: getattr(rows, name)[:, kept] for name in ("seconds", "records", "executor")}
    return dataclasses.replace(rows, **columns)


def found(rows: GroupRows, known: BoolArray = NOBODY) -> list[Turn]:
    return turns(rows, known, NOT_AT_ONCE)


def suspected(rows: GroupRows, known: BoolArray) -> Turn | None:
    return turns_and_doubt(rows, known, NOT_AT_ONCE)[1]


@pytest.mark.parametrize("after", [2, 3, 6, 9])
def test_the_row_and_the_factor_are_told(after: int) -> None:
    (one,) = found(series((1, ROWS - after, 3.0)))
    assert (one.executor, one.row) == (1, ROWS - after)
    assert one.slower == pytest.approx(math.log(3.0))


def test_five_rows_before_are_enough_and_four_are_not() -> None:
    assert [one.row for one in found(series((1, 5, 3.0), rows=7))] == [5]
    assert found(series((1, 4, 3.0), rows=6)) == []


def test_two_executors_that_turned_are_both_told_the_surer_first() -> None:
    both = found(series((1, 13, 3.0), (2, 10, 0.5)))
    assert [(one.executor, one.row) for one in both] == [(1, 13), (2, 10)]
    assert [one.slower for one in both] == pytest.approx([math.log(3.0), -math.log(2.0)])


def test_two_that_turned_with_the_same_row_are_told_apart_in_both_rows() -> None:
    """Half of the fleet is usual in between: first log 3 / 2, then half of what is left of the slower one."""
    first, then = found(series((1, 14, 5.0), (2, 14, 3.0)))
    assert (first.executor, then.executor) == (1, 2)
    assert first.slower == pytest.approx(math.log(5.0) - math.log(3.0) / 2)
    assert then.slower == pytest.approx(math.log(3.0) - math.log(3.0) / 4)


def test_one_odd_row_of_four_hides_nothing() -> None:
    rows = series((1, 12, 3.0))
    seconds = rows.seconds.copy()
    seconds[-1] = LOAD
    assert [one.executor for one in found(dataclasses.replace(rows, seconds=seconds))] == [1]


def test_one_that_turned_twice_is_told_once() -> None:
    (one,) = found(series((1, 7, 2.0), (1, 13, 3.0)))
    assert one.executor == 1


def test_what_no_row_tells_wholly_is_nobodys() -> None:
    rows = series((1, 12, 3.0))
    nothing = rows.seconds.copy()
    nothing[3] = 0.0
    unheard = dataclasses.replace(rows, seconds=nothing)
    for at_once in (NOT_AT_ONCE, np.full(EXECUTORS, 3)):
        assert turns(unheard, NOBODY, at_once) == []
    assert suspected(unheard, NOBODY) is None
    assert since(unheard, 1, 12) is None


@pytest.mark.parametrize(("factor", "told"), [(1.26, True), (1.24, False), (1 / 1.26, True), (1 / 1.24, False)])
def test_a_quarter_is_the_least_that_is_told(factor: float, told: bool) -> None:
    assert bool(found(series((1, 10, factor)), np.arange(EXECUTORS) == 1)) is told


@pytest.mark.parametrize(("groups", "known", "told"), [(1, False, False), (2, False, True), (1, True, True)])
def test_two_key_groups_must_agree_or_one_of_who_is_known(groups: int, known: bool, told: bool) -> None:
    mine = np.flatnonzero(np.equal(OWNER, 1))
    kept = ~np.isin(np.arange(OWNER.size), mine[groups:])
    rows = of_groups(series((1, 12, 1 / 3)), kept)
    assert bool(found(rows, np.arange(EXECUTORS) == (1 if known else -1))) is told


def test_one_whose_key_groups_all_came_or_went_is_told_nothing_of() -> None:
    rows = series((1, 14, 1 / 3))
    executor = rows.executor.copy()
    executor[14, [1, 5]] = 0
    executor[15, [9, 13]] = 0
    gone = dataclasses.replace(rows, executor=executor)
    assert found(gone, np.arange(EXECUTORS) == 1) == []


def grown(rows: GroupRows, factor: float, row: int = 12) -> GroupRows:
    """Tasks of executor 1 read so many times as much from that row on."""
    records = rows.records.copy()
    records[row:, np.equal(OWNER, 1)] *= factor
    return dataclasses.replace(rows, records=records)


def test_what_more_records_explain_is_left_out() -> None:
    slow = series((1, 12, 4.0))
    assert found(grown(slow, 4.0)) == []
    (one,) = found(grown(slow, 2.0))
    assert one.slower == pytest.approx(math.log(2.0))
    (one,) = found(grown(slow, 0.5))
    assert one.slower == pytest.approx(math.log(4.0))
    assert found(grown(series((1, 12, 1.5)), 3.0)) == []  # by batch it is slower, by record faster


def test_where_a_task_read_nothing_records_say_nothing() -> None:
    rows = grown(series((1, 12, 4.0)), 4.0)
    records = rows.records.copy()
    records[2, 0] = 0.0
    (one,) = found(dataclasses.replace(rows, records=records))
    assert one.slower == pytest.approx(math.log(4.0))


@pytest.mark.parametrize(
    ("by", "errors", "known", "told", "doubted"),
    [
        (0.160, 2.95, False, False, False),
        (0.160, 2.95, True, False, False),
        (0.118, 4.0, False, False, True),
        (0.1025, 4.6, False, False, True),
        (0.118, 4.0, True, True, True),
        (0.068, 6.95, False, True, True),
    ],
)
def test_one_that_is_known_is_believed_sooner(by: float, errors: float, known: bool, told: bool, doubted: bool) -> None:
    """By two rows, whose step is so many standard errors: with 22 degrees of freedom 3 are as sure as 3.3, 4.5 as 6."""
    rows = scattered(series((1, 14, 1 / 1.5)), by)
    seen = since(rows, 1, 14)
    assert seen is not None
    assert -seen.slower / seen.error == pytest.approx(errors, abs=0.05)
    who = np.arange(EXECUTORS) == (1 if known else -1)
    assert [one.executor for one in found(rows, who)] == [1] * told
    doubt = suspected(rows, who)
    assert (doubt is not None) is doubted
    assert doubt is None or (doubt.executor, doubt.row) == (1, 14)


def test_a_single_row_is_in_doubt() -> None:
    doubt = suspected(series((2, 15, 3.0)), NOBODY)
    assert doubt is not None
    assert (doubt.executor, doubt.row) == (2, 15)
    assert suspected(series(), NOBODY) is None


@pytest.mark.parametrize(("after", "doubted"), [(6, True), (7, False)])
def test_six_rows_are_looked_at_for_doubts(after: int, doubted: bool) -> None:
    """The first slow row is so slow that later cuts see nothing odd in those behind it."""
    rows = series((1, 5, 2.0), rows=5 + after)
    factor = np.ones(5 + after)
    factor[[5, -1]] = 3.0, 0.95
    seconds = rows.seconds * np.where(np.equal(OWNER, 1), factor[:, None], 1.0)
    doubt = suspected(dataclasses.replace(rows, seconds=seconds), NOBODY)
    assert (doubt is not None) is doubted
    assert doubt is None or doubt.row == 5


def test_five_rows_are_too_few_for_doubts() -> None:
    assert suspected(series((1, 4, 3.0), rows=5), NOBODY) is None


@pytest.mark.parametrize(("row", "rows", "told"), [(5, 7, True), (4, 7, False), (6, 7, False), (14, 16, True)])
def test_since_wants_five_rows_before_and_two_after(row: int, rows: int, told: bool) -> None:
    seen = since(series((1, row, 3.0), rows=rows), 1, row)
    assert (seen is not None) is told
    if seen is not None:
        assert (seen.executor, seen.row) == (1, row)
        assert seen.slower == pytest.approx(math.log(3.0))


@pytest.mark.parametrize(("factor", "told"), [(1.6, False), (4.0, True)])
def test_rows_of_many_batches_are_no_measure_of_what_single_ones_vary_by(factor: float, told: bool) -> None:
    """Of 16 batches each but for the newest two: a fleet that swings by a tenth in them does by two fifths in one."""
    rows = series((1, ROWS - 2, factor))
    of_executor = np.where(OWNER % 2, 1.0, -1.0)
    rows = dataclasses.replace(
        rows, seconds=rows.seconds * np.exp(0.1 * np.outer(np.resize([1.0, -1.0], ROWS), of_executor))
    )
    merged = dataclasses.replace(rows, batches=np.array([16] * (ROWS - 2) + [1, 1]))
    assert [one.executor for one in found(rows)] == [1]
    assert [one.executor for one in found(merged)] == [1] * told


def test_since_leaves_out_what_records_explain() -> None:
    seen = since(grown(series((1, 12, 4.0)), 2.0), 1, 12)
    assert seen is not None
    assert seen.slower == pytest.approx(math.log(2.0))


def test_the_512_heaviest_key_groups_are_looked_at() -> None:
    owner = np.arange(514) % EXECUTORS
    load = np.roll(np.exp(np.linspace(0.0, 1.0, 514)), 1)
    swings = np.outer([1.0, -1.0] * 5, np.where(np.arange(514) // EXECUTORS % 2, 1.0, -1.0))
    seconds = load * np.exp(2.0 * swings)
    rows = group_rows(seconds, np.tile(owner, (10, 1)))
    by_weight = np.argsort(-seconds.sum(axis=0))
    heaviest, fewer = (of_groups(rows, np.isin(np.arange(514), by_weight[:n])) for n in (512, 511))
    assert [since(rows, one, 8) for one in range(EXECUTORS)] == [since(heaviest, one, 8) for one in range(EXECUTORS)]
    last = int(owner[by_weight[511]])
    assert since(rows, last, 8) != since(fewer, last, 8)


def test_since_knows_nothing_of_one_that_ran_nothing_after_it() -> None:
    rows = series((1, 12, 3.0))
    executor = rows.executor.copy()
    executor[12:, np.equal(OWNER, 3)] = 0
    gone = dataclasses.replace(rows, executor=executor)
    assert since(gone, 3, 12) is None
    assert since(gone, 1, 12) is not None


def test_the_last_executor_is_looked_at_as_the_others() -> None:
    seen = since(series((3, 12, 3.0)), 3, 12)
    assert seen is not None
    assert seen.slower == pytest.approx(math.log(3.0))


@pytest.mark.parametrize("row", [0, 13])
def test_key_groups_that_some_row_does_not_tell_of_change_nothing(row: int) -> None:
    """The noise would be another with them."""
    rows = scattered(series((1, 12, 3.0)), 0.1)
    odd = np.isin(np.arange(OWNER.size), (0, 5, 10))
    seconds, executor = rows.seconds.copy(), rows.executor.copy()
    seconds[row, odd] = 0.0
    executor[row, odd] = -1
    without = since(of_groups(rows, ~odd), 1, 12)
    assert without != since(rows, 1, 12)
    assert since(dataclasses.replace(rows, seconds=seconds), 1, 12) == without
    assert since(dataclasses.replace(rows, executor=executor), 1, 12) == without


@pytest.mark.parametrize(("seconds", "said"), [(1.9, 0), (2.1, 1)])
def test_one_row_is_enough_from_twice_as_slow_on(seconds: float, said: int) -> None:
    rows = series((1, ROWS - 1, seconds))
    assert len(turns(rows, NOBODY, np.full(EXECUTORS, 3))) == said
    assert turns(rows, NOBODY, np.full(EXECUTORS, 5)) == []


@pytest.mark.parametrize(("rows", "said"), [(8, 0), (9, 1)])
def test_one_row_is_enough_after_eight(rows: int, said: int) -> None:
    assert len(turns(series((1, rows - 1, 3.0), rows=rows), NOBODY, np.full(EXECUTORS, 3))) == said


def test_one_row_is_enough_only_of_those_it_may_be_enough_of() -> None:
    rows = series((1, ROWS - 1, 3.0))
    assert turns(rows, NOBODY, np.array([3, 0, 3, 3])) == []
    assert [one.executor for one in turns(rows, NOBODY, np.array([0, 3, 0, 0]))] == [1]
