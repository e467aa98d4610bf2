"""Executors that turned slow, fast or well within a series of batches; and its rows as on executors of speed 1."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from streamjob_operator.series import BatchSeries
from streamjob_operator.steps.recent import MOST_CHANGES, began_at, unstirred
from streamjob_planners.capacity import pace
from streamjob_planners.capacity.pace import Pace
from streamjob_planners.capacity.turning import HELD, GroupRows, Turn, since, turns, turns_and_doubt
from streamjob_planners.model import BoolArray, FloatArray, IntArray

FEWEST_AT_ONCE = 3
"""Key groups that must show it before a single batch makes an executor slow, and more than it runs at a time: a pause
reaches those that it runs."""


def comparable(series: BatchSeries, since_s: float | None, paces: Mapping[str, Pace]) -> BatchSeries:
    """The rows in which key groups share the work as they do, but for what an executor that turns just now does to it.

    They begin at `since_s`, or at the newest change of shares after it that nobody took for one when it was new: it is
    older than what is held against an executor, no executor turned with it, and none came or lost key groups. A load
    that swings has none.
    """
    changes = series.changes if len(series.changes) <= MOST_CHANGES else ()
    older = (row for row in unstirred(series, changes) if series.ended_at_s.size - row > HELD)
    turned_s = pace.turned_at_s(paces)
    loads = [row for row in older if not began_at(series, row, turned_s)]
    return series.from_row(max([series.row_at(since_s), *loads]))


def turned(
    series: BatchSeries, owners: Sequence[str | None], paces: Mapping[str, Pace], slots: Mapping[str, int]
) -> dict[str, Pace]:
    """The new paces of those that turned since they came to the speeds in `paces`; `owners` are today's.

    `slots`: tasks that each executor runs at a time; for one that is not in it no single batch is enough.
    """
    names = names_of(series, owners)
    found = turns(_rows(series, owners, names, paces), _known(names, paces), _at_once(names, paces, slots))
    return _paces(found, series, names, paces)


def turned_and_in_doubt(
    series: BatchSeries, owners: Sequence[str | None], paces: Mapping[str, Pace], slots: Mapping[str, int]
) -> tuple[dict[str, Pace], bool]:
    """`turned`, and whether the newest rows may speak of an executor and not of its key groups."""
    names = names_of(series, owners)
    rows, known = _rows(series, owners, names, paces), _known(names, paces)
    found, doubt = turns_and_doubt(rows, known, _at_once(names, paces, slots))
    return _paces(found, series, names, paces), doubt is not None


def _paces(
    found: Sequence[Turn], series: BatchSeries, names: tuple[str, ...], paces: Mapping[str, Pace]
) -> dict[str, Pace]:
    begun_s = series.ended_at_s - series.row_s
    return {
        names[one.executor]: pace.turned(
            paces.get(names[one.executor], Pace()), one.slower, one.error, float(begun_s[one.row])
        )
        for one in found
    }


def seen_longer(series: BatchSeries, owners: Sequence[str | None], paces: Mapping[str, Pace]) -> dict[str, Pace]:
    """The paces of unequal executors by all rows since they turned; one that ran nothing lately fades.

    Those that are well are kept while rows from before that are told.
    """
    if not paces:
        return {}
    oldest_s, names = float(series.ended_at_s[0] - series.row_s[0]), names_of(series, owners)
    newest = {names[at] for at in _executors(series, owners, names)[-1].tolist() if at >= 0}
    found = {}
    for name, one in paces.items():
        if one.speed != 1.0:
            found[name] = _seen_longer(series, owners, paces, name) if name in newest else pace.faded(one)
        else:
            found[name] = one
    told = {name: one.told_since(oldest_s) for name, one in found.items()}
    return {name: one for name, one in told.items() if one != Pace()}


def _seen_longer(series: BatchSeries, owners: Sequence[str | None], paces: Mapping[str, Pace], name: str) -> Pace:
    one, names = paces[name], names_of(series, owners)
    if one.since_s is None:
        return one
    row = int((series.ended_at_s - series.row_s / 2.0 < one.since_s).sum())
    before = one.before
    told = since(_rows(series, owners, names, {**paces, name: before}), names.index(name), row)
    return one if told is None or told.slower == 0.0 else pace.turned(before, told.slower, told.error, one.since_s)


def at_speed_1(series: BatchSeries, owners: Sequence[str | None], paces: Mapping[str, Pace]) -> FloatArray:
    """Seconds of each row, as they would be had every executor the speed of most, (n_rows, n_groups)."""
    if not paces:
        return series.busy_s
    names = names_of(series, owners)
    return _at_speed_1(series, names, _executors(series, owners, names), paces)


def _at_speed_1(
    series: BatchSeries, names: tuple[str, ...], executor: IntArray, paces: Mapping[str, Pace]
) -> FloatArray:
    within_s = series.ended_at_s - series.row_s / 2.0
    speed = np.ones((series.row_s.size, len(names) + 1))  # the last one is nobody's
    for at, name in enumerate(names):
        if name in paces:
            speed[:, at] = paces[name].at(within_s)
    return np.asarray(series.busy_s * np.take_along_axis(speed, executor, axis=1))


def names_of(series: BatchSeries, owners: Sequence[str | None]) -> tuple[str, ...]:
    """Executors that ran key groups in some row, by id."""
    told = {one for one in owners if one is not None}
    if series.ran is not None:
        told = {str(one) for one in series.ran.numbers if one >= 0}
    return tuple(sorted(told))


def _rows(
    series: BatchSeries, owners: Sequence[str | None], names: tuple[str, ...], paces: Mapping[str, Pace]
) -> GroupRows:
    batches, executor = series.batches[:, None], _executors(series, owners, names)
    return GroupRows(
        seconds=_at_speed_1(series, names, executor, paces) / batches,
        records=series.records / batches,
        executor=executor,
        batches=series.batches,
    )


def _executors(series: BatchSeries, owners: Sequence[str | None], names: tuple[str, ...]) -> IntArray:
    """Index of each task's executor, -1 where unknown, (n_rows, n_groups)."""
    of = {name: at for at, name in enumerate(names)}
    if series.ran is None:
        return np.tile(np.array([of.get(one or "", -1) for one in owners], dtype=np.int64), (series.row_s.size, 1))
    return np.array([of.get(str(one), -1) for one in series.ran.numbers], dtype=np.int64)[series.ran.place]


def _known(names: tuple[str, ...], paces: Mapping[str, Pace]) -> BoolArray:
    return np.array([name in paces and paces[name].speed != 1.0 for name in names], dtype=np.bool_)


def _at_once(names: tuple[str, ...], paces: Mapping[str, Pace], slots: Mapping[str, int]) -> IntArray:
    """Key groups that must show it for one batch to be enough; 0 for who turned before: it may be slow now and then."""
    steady = [name in slots and paces.get(name, Pace()) == Pace() for name in names]
    least = [max(FEWEST_AT_ONCE, slots.get(name, 0) + 1) for name in names]
    return np.where(steady, least, 0).astype(np.int64)
