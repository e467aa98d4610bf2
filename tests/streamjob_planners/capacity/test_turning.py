"""Executors that turn slow in made-up series are found, nobody else is; nor in quiet series, or where loads shift."""

from __future__ import annotations

import dataclasses
import itertools
import math

import numpy as np
import pytest

from streamjob_planners.arrays import IntArray
from streamjob_planners.capacity.turning import GroupRows, Turn, turns, turns_and_doubt

BEFORE, AFTER, HORIZON = 14, 6, 14
SEEDS = range(12)
SLOW = 1
Size = tuple[int, int]
SIZES: tuple[Size, ...] = ((3, 2), (3, 3), (4, 5), (8, 4), (20, 10))
"""Executors, and key groups on each."""


def series(
    seed: int,
    size: Size,
    noise: float,
    *,
    factor: float = 1.0,
    shifts: bool = False,
    told: bool = True,
    together: float = 0.0,
    rows: int = BEFORE + AFTER,
) -> GroupRows:
    """Batches of key groups of unlike weight. From row BEFORE on one executor is slow, and with `shifts` two fifths of
    the key groups have other loads, which their records tell or not; `together`: noise that an executor's tasks share.
    """
    rng, (executors, each) = np.random.default_rng(seed), size
    owner: IntArray = np.arange(executors * each) % executors
    load = np.tile(rng.lognormal(0.0, 0.5, owner.size), (rows, 1))
    if shifts:
        load[BEFORE:] *= np.where(rng.random(owner.size) < 0.4, rng.lognormal(0.0, 0.7, owner.size), 1.0)
    load *= rng.lognormal(0.0, noise, (rows, 1))
    seconds = load * rng.lognormal(0.0, noise, load.shape) * rng.lognormal(0.0, together, (rows, executors))[:, owner]
    seconds[BEFORE:, owner == SLOW] *= factor
    records = np.ceil(1000.0 * load) if told else np.full(load.shape, 100.0)
    batches = np.ones(rows, dtype=np.int64)
    return GroupRows(seconds=seconds, records=records, executor=np.tile(owner, (rows, 1)), batches=batches)


def part(rows: GroupRows, begin: int, end: int) -> GroupRows:
    cut = slice(max(0, begin), end)
    return GroupRows(**{name: getattr(rows, name)[cut] for name in ("seconds", "records", "executor", "batches")})


def nobody(size: Size) -> np.ndarray:
    return np.zeros(size[0], dtype=np.bool_)


def at_once(size: Size, groups: int = 3) -> IntArray:
    return np.full(size[0], groups, dtype=np.int64)


def turned(rows: GroupRows, size: Size) -> list[Turn]:
    """With nobody known to be slow, and a pause reaching two key groups at most."""
    return turns(rows, nobody(size), at_once(size))


def found_after(rows: GroupRows, size: Size) -> tuple[int | None, list[Turn]]:
    """Slow rows until somebody was found, None for not within AFTER, and who."""
    for after in range(1, AFTER + 1):
        end = BEFORE + after
        found = turned(part(rows, end - HORIZON, end), size)
        if found:
            return after, found
    return None, []


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(
    ("factor", "noise", "within"),
    [(1.5, 0.05, 3), (2.0, 0.1, 3), (3.0, 0.1, 2), (3.0, 0.2, 3), (5.0, 0.2, 2), (5.0, 0.3, 4)],
)
def test_a_slow_executor_is_found(size: Size, factor: float, noise: float, within: int) -> None:
    soon = 0
    for seed in SEEDS:
        after, found = found_after(series(seed, size, noise, factor=factor), size)
        assert {one.executor for one in found} <= {SLOW}
        assert all(one.slower == pytest.approx(math.log(factor), abs=2.5 * noise + 0.1) for one in found)
        soon += after is not None and after <= within
    assert soon >= len(SEEDS) - (1 if size[1] > 2 else 3)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(("factor", "noise"), [(3.0, 0.05), (3.0, 0.1), (5.0, 0.2)])
def test_one_that_is_much_slower_is_found_at_once_where_enough_key_groups_say_so(
    size: Size, factor: float, noise: float
) -> None:
    seen = [found_after(series(seed, size, noise, factor=factor), size)[0] for seed in SEEDS]
    assert seen.count(1) >= (10 if size[1] > 3 else 7) if size[1] > 2 else 1 not in seen


@pytest.mark.parametrize("size", SIZES)
def test_it_is_found_in_most_worlds_where_loads_shift_at_the_same_row(size: Size) -> None:
    seen = [found_after(series(seed, size, 0.1, factor=3.0, shifts=True), size) for seed in SEEDS]
    assert sum(after is not None for after, _ in seen) >= 9
    assert all({one.executor for one in found} <= {SLOW} for _, found in seen)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("noise", [0.1, 0.3])
def test_loads_that_shift_are_nobodys_speed_where_records_tell_them(size: Size, noise: float) -> None:
    seen = [found_after(series(seed, size, noise, shifts=True), size) for seed in SEEDS]
    assert sum(bool(found) for _, found in seen) <= 1


@pytest.mark.parametrize("together", [0.0, 0.2, 0.4])
def test_a_quiet_fleet_turns_less_than_once_in_a_thousand_batches(together: float) -> None:
    looks, alarms = 0, 0
    for size, noise in itertools.product(SIZES[:4], (0.05, 0.1, 0.2, 0.3)):
        rows = series(3, size, noise, rows=140, together=together)
        found = [turned(part(rows, end - HORIZON, end), size) for end in range(7, 140)]
        looks, alarms = looks + len(found), alarms + sum(bool(one) for one in found)
    assert alarms < looks / 1000


def test_one_that_was_slow_in_all_rows_is_not_told_from_heavy_load() -> None:
    rows = series(1, (4, 5), 0.1)
    heavy = np.where(rows.executor == SLOW, 3.0, 1.0)
    assert turned(dataclasses.replace(rows, seconds=rows.seconds * heavy), (4, 5)) == []


def test_one_slow_row_is_a_pause_where_two_are_waited_for() -> None:
    rows = series(2, (4, 5), 0.1, factor=4.0, rows=BEFORE + 1)
    assert turns(rows, nobody((4, 5)), at_once((4, 5), 0)) == []
    assert [one.executor for one in turned(rows, (4, 5))] == [SLOW]


@pytest.mark.parametrize("seed", SEEDS)
def test_a_pause_that_reaches_what_runs_at_a_time_is_no_slow_executor(seed: int) -> None:
    size, rows = (4, 5), series(seed, (4, 5), 0.05, rows=BEFORE + 1)
    seconds = rows.seconds.copy()
    seconds[BEFORE, [SLOW, SLOW + 4, SLOW + 8]] += 4.0
    assert turns(dataclasses.replace(rows, seconds=seconds), nobody(size), at_once(size, 4)) == []


@pytest.mark.parametrize("whose", [SLOW, SLOW + 1])
def test_where_somebody_was_slow_for_one_batch_before_two_are_waited_for(whose: int) -> None:
    rows = series(2, (4, 5), 0.05, factor=4.0)
    seconds = rows.seconds.copy()
    seconds[5, rows.executor[5] == whose] *= 3.0
    told = dataclasses.replace(rows, seconds=seconds)
    assert [found_after(one, (4, 5))[0] for one in (rows, told)] == [1, 2]


def test_key_groups_that_just_came_say_nothing_by_one_row() -> None:
    """They took this long on an executor that is slow already, and are told to be on another one."""
    size, other, rows = (4, 7), 2, series(2, (4, 7), 0.05, factor=4.0, rows=BEFORE + 1)
    executor = np.where((rows.executor == other) & (np.arange(28) >= 8), 3, rows.executor)  # it keeps two
    executor[BEFORE] = np.where(rows.executor[BEFORE] == SLOW, other, executor[BEFORE])
    assert turned(dataclasses.replace(rows, executor=executor), size) == []


def test_one_row_is_enough_only_where_more_rows_tell_what_is_usual() -> None:
    rows = series(2, (4, 5), 0.05, factor=4.0)
    assert turned(part(rows, BEFORE - 7, BEFORE + 1), (4, 5)) == []
    assert turned(part(rows, BEFORE - 8, BEFORE + 1), (4, 5)) != []


def test_one_row_that_is_less_than_twice_as_slow_is_not_enough() -> None:
    assert found_after(series(2, (4, 5), 0.02, factor=1.9), (4, 5))[0] == 2


def test_load_that_grows_on_one_executor_is_no_speed_where_its_records_grew() -> None:
    rows = series(2, (4, 5), 0.1, factor=3.0)
    grown = np.where((rows.executor == SLOW) & (np.arange(BEFORE + AFTER) >= BEFORE)[:, None], 3.0, 1.0)
    assert turned(dataclasses.replace(rows, records=rows.records * grown), (4, 5)) == []


def test_key_groups_that_change_places_keep_what_they_usually_take() -> None:
    rows = series(4, (4, 5), 0.1, factor=3.0)
    executor = rows.executor.copy()
    executor[: BEFORE - 4, 0], executor[: BEFORE - 4, 5] = 2, 3  # two key groups came to theirs four rows before
    (found,) = turned(dataclasses.replace(rows, executor=executor), (4, 5))
    assert (found.executor, found.row) == (SLOW, BEFORE)


def test_a_known_one_is_seen_to_recover_by_a_single_key_group() -> None:
    rows = series(5, (3, 3), 0.1, factor=1 / 3)
    kept = np.flatnonzero((rows.executor[0] != SLOW) | (np.arange(9) == SLOW))
    columns = {name: getattr(rows, name)[:, kept] for name in ("seconds", "records", "executor")}
    rows = dataclasses.replace(rows, **columns)
    known = np.arange(3) == SLOW
    assert turned(rows, (3, 3)) == []
    (found,) = turns(rows, known, at_once((3, 3), 0))
    assert found.executor == SLOW
    assert found.slower == pytest.approx(-math.log(3.0), abs=0.4)


def test_what_is_noticed_and_not_sure_is_waited_for() -> None:
    rows = part(series(0, (3, 3), 0.2, factor=3.0), 0, BEFORE + 1)
    found, doubt = turns_and_doubt(rows, nobody((3, 3)), at_once((3, 3), 0))
    assert (found, doubt is not None) == ([], True)
    assert turns_and_doubt(part(rows, 0, BEFORE), nobody((3, 3)), at_once((3, 3), 0)) == ([], None)


def test_too_few_rows_say_nothing() -> None:
    assert turned(part(series(0, (3, 3), 0.1, factor=5.0), BEFORE - 4, BEFORE + 2), (3, 3)) == []
