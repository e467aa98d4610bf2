"""The batches of a window one by one, each predicted on the executors that its key groups ran on."""

from __future__ import annotations

import dataclasses

import numpy as np

from streamjob_operator.series import BatchSeries, BatchTimes
from streamjob_operator.steps.batching import live, placed, shape_of
from streamjob_operator.steps.recent import cut
from streamjob_operator.values import Memory, Snapshot
from streamjob_planners.batch.knowledge import Knowledge
from streamjob_planners.batch.predict import batches_s
from streamjob_planners.batch.shape import BatchShape
from streamjob_planners.model import BoolArray, FloatArray, IntArray


def batch_times(snapshot: Snapshot, memory: Memory) -> BatchTimes | None:
    """Each row predicted from its own tasks and what was known before; None where nothing can be.

    `memory` is that of before this window. Key groups that move in a batch load their state in it, which lengthens
    their tasks by what moves have cost. Left out are rows from before executors came or went, and those of which nobody
    knows who ran what. Where nobody tells owners row by row, only the rows of today's placement are predicted.
    """
    series, fixed_s = snapshot.series, memory.batches.fixed_s
    if series is None or fixed_s is None:
        return None
    found = _today(snapshot, series, memory) if series.owners is None else _each(snapshot, series, memory)
    if found is None or not found.rows.size:
        return None
    batches = series.batches[found.rows]
    return BatchTimes(
        ended_at_s=series.ended_at_s[found.rows],
        measured_s=series.batch_s[found.rows] / batches,
        predicted_s=fixed_s.mean + found.seconds(series.busy_s[found.rows] / batches[:, None]),
    )


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class _Rows:
    """Rows of a series whose placement is known: node of each key group, and what it loads, (n_rows, n_groups) each."""

    rows: IntArray
    shape: BatchShape
    node_of: IntArray
    extra_s: FloatArray

    def seconds(self, busy_s: FloatArray) -> FloatArray:
        """What batches of these tasks take without the fixed part, (n_rows,)."""
        tasks_s = busy_s + self.extra_s
        starts = np.flatnonzero((np.diff(self.node_of, axis=0) != 0).any(axis=1)) + 1  # of another placement
        parts = np.split(np.arange(self.rows.size), starts)
        return np.concatenate([batches_s(self.shape, self.node_of[part[0]], tasks_s[part]) for part in parts])


def _today(snapshot: Snapshot, series: BatchSeries, memory: Memory) -> _Rows | None:
    """Rows since a key group moved, or an executor came or went, the newest time."""
    found = placed(memory, snapshot)
    if found is None:
        return None
    rows = np.flatnonzero(series.within(found.part.taken_at_s - found.part.window_s))
    node_of = np.tile(found.node_of, (rows.size, 1))
    return _Rows(rows=rows, shape=found.shape, node_of=node_of, extra_s=np.zeros(node_of.shape))


def _each(snapshot: Snapshot, series: BatchSeries, memory: Memory) -> _Rows | None:
    """Rows since executors came or went, on the executors that told of them."""
    within = series.within(snapshot.taken_at_s - snapshot.window_s)
    came = np.flatnonzero(series.executors_changed > 0)
    if came.size:
        within[: came[-1] + 1] = False
    nodes = live(snapshot)
    if not within.any() or not nodes:
        return None
    part = cut(snapshot, series, int(within.argmax()))
    shape = shape_of(part, np.array([one.cores for one in nodes], dtype=np.int64), Knowledge())
    ran = ran_of(series)
    if shape is None or ran is None:
        return None
    node_of = _nodes(ran.owners, tuple(one.executor_id for one in nodes))
    rows = np.flatnonzero(within & ran.known & ~cold(ran) & (node_of >= 0).all(axis=1))
    fixed_s, per_byte_s = memory.batches.moves.line
    extra_s = np.where(ran.moved[rows], fixed_s + per_byte_s * snapshot.state_bytes, 0.0)
    return _Rows(rows=rows, shape=shape, node_of=node_of[rows], extra_s=extra_s)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """Who ran each row's key groups, and which had moved in it, (n_rows, n_groups); where it is certain, (n_rows,)."""

    owners: IntArray
    moved: BoolArray
    known: BoolArray


def ran_of(series: BatchSeries) -> Ran | None:
    """By the owners that readings told. None where nobody does.

    A reading in mid-batch has owners of the next batch already. Where nothing moved in a row its key groups were where
    they had been; a row in which others moved than the agent counted, or in one of several batches, is not certain.
    """
    if series.owners is None:
        return None
    owners = series.owners.copy()
    for row in (np.flatnonzero(series.moved[1:] == 0) + 1).tolist():
        owners[row] = np.where(owners[row - 1] >= 0, owners[row - 1], owners[row])
    moved = np.zeros(owners.shape, dtype=np.bool_)
    moved[1:] = (owners[1:] != owners[:-1]) & (owners[:-1] >= 0)
    known = (moved.sum(axis=1) == series.moved) & ((series.moved == 0) | (series.batches == 1))
    return Ran(owners=owners, moved=moved, known=known)


def cold(ran: Ran) -> BoolArray:
    """Rows in which a key group moved to an executor that ran none in the row before, (n_rows,): that is cold, which
    costs more than loading does."""
    rows = np.zeros(ran.known.size, dtype=np.bool_)
    for row in np.flatnonzero(ran.moved.any(axis=1)).tolist():
        rows[row] = not np.isin(ran.owners[row][ran.moved[row]], ran.owners[row - 1]).all()
    return rows


def _nodes(owners: IntArray, names: tuple[str, ...]) -> IntArray:
    """Indices of executors by their numbers, -1 for those that are not among `names`."""
    node = {int(name): at for at, name in enumerate(names) if name.isdigit()}
    numbers, at = np.unique(owners, return_inverse=True)
    return np.array([node.get(one, -1) for one in numbers.tolist()], dtype=np.int64)[at].reshape(owners.shape)
