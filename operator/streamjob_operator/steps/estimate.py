"""From what was measured to what planners see."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Collection

import numpy as np
from scipy import sparse

from streamjob_operator.steps.batching import live, shape_of
from streamjob_operator.steps.load_windows import load_windows
from streamjob_operator.steps.recent import recent
from streamjob_operator.steps.state_memory import state_memory
from streamjob_operator.values import ExecutorView, Lag, Memory, Snapshot
from streamjob_planners import traffic
from streamjob_planners.batch.by_rows import GroupSeconds, seconds_by_rows
from streamjob_planners.batch.shape import BatchShape
from streamjob_planners.capacity.own_groups import speeds_of
from streamjob_planners.collocation.remote_cost import Evidence, seconds_per_byte
from streamjob_planners.model import BoolArray, FloatArray, GroupId, LoadModel

LOST = "lost"
"""Stands for executors that are gone: a marked node, so that every planner moves its key groups away first."""
MAX_PRESSURE = 3.0
"""Bound on the correction for falling behind: one bad window must not ask for ten times the executors."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """The load model and what does not fit into it.

    Attributes:
        model: loads as measured, percent points of one reference executor's slots.
        other_load: tasks of stages without key groups, and what the first task of a slot fetches in the others, percent
            points of one reference executor.
        growth_ratio: what the source brings over what the job takes: 1.0 when nobody tells, below while a backlog is
            worked off, above while one grows, within 1 / MAX_PRESSURE and MAX_PRESSURE.
        unmeasured_groups: key groups without a task within the window; their load counts as 0.
        changed_at_s: since when key groups share the work as they do now, and so what loads speak of; None where
            that is the whole window.
        lost_executors: what slow executors lack, in reference executors.
        level_changed_at_s: since when there is as much work for all as now; None where that is the whole window.
        recent: what was measured since both.
        seconds: what key groups take by the batch and by its rows, of all batches that share the work as now; None
            without a series.
        doubted: what batches are predicted to take has been too far off; the model then says nothing of batches.
    """

    model: LoadModel
    other_load: float
    growth_ratio: float
    unmeasured_groups: int
    recent: Snapshot
    lost_executors: float = 0.0
    doubted: bool = False
    changed_at_s: float | None = None
    level_changed_at_s: float | None = None
    seconds: GroupSeconds | None = None


def estimate(snapshot: Snapshot, memory: Memory, *, collocate: bool = True, pinned: Collection[int] = ()) -> Estimate:
    """Load of group k = 100 * busy seconds / (window * cores of the reference executor).

    Where earlier windows are known, a group's part of its operator's busy seconds is the mean of all of them: a window
    of one batch shows one task of each group (docs/decisions/0018-noise.md).

    The reference executor has the commonest number of cores and the commonest speed; the capacity of the others is
    relative to it, and what a slow one took long for is less load. Without
    `collocate` the model holds no traffic, so that no planner spends moves on it; nor where it is next to nothing.
    Key groups of `pinned` operators stay on executors that stay, and so do those that the agent would not move.
    """
    newest = recent(snapshot)
    snapshot = newest.snapshot
    nodes = live(snapshot)
    cores = reference_cores(nodes)
    slot_seconds = snapshot.window_s * cores
    model = _model(snapshot, nodes, cores, memory)
    model = dataclasses.replace(model, pinned=_pinned(model, pinned, snapshot.pinned))
    saving = saving_ratio(memory.remote_reads, cores)
    model = (
        dataclasses.replace(model, traffic_load_ratio=saving) if collocate else dataclasses.replace(model, traffic=None)
    )
    return Estimate(
        model=traffic.worth_planning(model),
        other_load=100.0 * snapshot.rates.other_busy_s / slot_seconds,
        growth_ratio=growth_ratio(snapshot, memory),
        unmeasured_groups=int(np.count_nonzero(snapshot.busy_s <= 0)),
        lost_executors=_lost(nodes, cores, memory),
        doubted=not memory.batches.trusted,
        changed_at_s=newest.changed_at_s,
        level_changed_at_s=newest.level_changed_at_s,
        recent=snapshot,
        seconds=_seconds(snapshot, newest.alike),
    )


def _seconds(snapshot: Snapshot, alike: int) -> GroupSeconds | None:
    series = snapshot.series
    if series is None:
        return None
    operator = np.array([one.operator for one in snapshot.group_ids], dtype=np.int64)
    return seconds_by_rows(series.busy_s[alike:], series.input_rows[alike:], series.batches[alike:], operator)


def _lost(nodes: tuple[ExecutorView, ...], cores: int, memory: Memory) -> float:
    """Capacity that slow executors lack; those that are marked count for nothing anyway."""
    staying = [one for one in nodes if one.executor_id not in memory.marked]
    speed = speeds_of(tuple(one.executor_id for one in staying), memory.batches.paces)
    slots = np.array([one.cores for one in staying], dtype=np.float64)
    return float((slots / cores * np.maximum(0.0, 1.0 - speed)).sum())


def _pinned(model: LoadModel, operators: Collection[int], groups: Collection[GroupId]) -> BoolArray:
    """Key groups that must stay, (n_groups,): none of those on executors that go. Each query numbers its own
    operators."""
    own = [model.queries.get(one.operator, ("", one.operator))[1] for one in model.group_ids]
    theirs = np.isin(np.array(own, dtype=np.int64), list(operators))
    if groups:
        named = frozenset(groups)  # as many as who made the agent's page cares to name
        theirs |= np.array([one in named for one in model.group_ids])
    return np.asarray(theirs & ~model.marked[model.node_of], dtype=np.bool_)


def saving_ratio(evidence: Evidence | None, cores: int) -> float:
    """Percent points saved at each end per byte/s that becomes local.

    What was learned is the reader's cost; planners count half of it at each end, so that the sum is right.
    """
    return 0.0 if evidence is None else 100.0 * seconds_per_byte(evidence) / cores / 2.0


def node_names(snapshot: Snapshot) -> tuple[str, ...]:
    """The executors in the order of the model's nodes; LOST last, when key groups have no live owner."""
    names = tuple(executor.executor_id for executor in live(snapshot))
    return names if set(snapshot.owners) <= set(names) else (*names, LOST)


def reference_cores(executors: Collection[ExecutorView]) -> int:
    """The commonest number of cores, the larger at a tie."""
    counts = Counter(executor.cores for executor in executors)
    return max(counts, key=lambda cores: (counts[cores], cores))


def growth_ratio(snapshot: Snapshot, memory: Memory) -> float:
    """Rows that arrive over rows that are taken, from two readings of the source's lag; 1.0 when nobody tells it."""
    growth_rps, taken_rps = lag_growth_rps(snapshot, memory.lag), snapshot.rates.input_rps
    if growth_rps is None or taken_rps <= 0:
        return 1.0
    return float(np.clip((taken_rps + growth_rps) / taken_rps, 1.0 / MAX_PRESSURE, MAX_PRESSURE))


def lag_growth_rps(snapshot: Snapshot, before: Lag | None) -> float | None:
    """Rows per second by which the lag grew since it was read before; the same reading again tells the same."""
    lag = snapshot.rates.waiting_rows
    if lag is None or before is None or snapshot.taken_at_s < before.at_s:
        return None
    if snapshot.taken_at_s == before.at_s:
        return before.growth_rps
    return (lag - before.rows) / (snapshot.taken_at_s - before.at_s)


def _model(snapshot: Snapshot, nodes: tuple[ExecutorView, ...], cores: int, memory: Memory) -> LoadModel:
    names = node_names(snapshot)
    index = {name: at for at, name in enumerate(names)}
    lost = len(names) > len(nodes)
    node_of = np.array([index.get(owner or "", len(nodes)) for owner in snapshot.owners], dtype=np.int64)
    slots = np.array([executor.cores for executor in nodes] + [cores] * lost, dtype=np.int64)
    speed = np.append(speeds_of(names[: len(nodes)], memory.batches.paces), np.ones(int(lost)))
    shape = shape_of(snapshot, slots, memory.batches) if memory.batches.trusted else None
    window = 100.0 * snapshot.busy_s * speed[node_of] / (snapshot.window_s * cores)
    load, load_error = (window, None) if shape is None else _mean_load(snapshot, shape, cores, memory, window)
    return LoadModel(
        node_ids=names,
        capacity=slots / cores * speed,
        marked=np.array([executor.executor_id in memory.marked for executor in nodes] + [True] * lost),
        group_ids=snapshot.group_ids,
        node_of=node_of,
        load=load,
        load_error=load_error,
        migration_cost_s=_migration_cost_s(snapshot, memory, node_of < len(nodes)),
        state_bytes=snapshot.state_bytes,
        traffic=None
        if snapshot.traffic_bytes is None
        else sparse.csr_array(snapshot.traffic_bytes / snapshot.window_s),
        traffic_out=None if snapshot.traffic_sent_bytes is None else snapshot.traffic_sent_bytes / snapshot.window_s,
        pinned=np.zeros(len(snapshot.group_ids), dtype=np.bool_),
        resources=state_memory(snapshot, names),
        batch=shape,
        load_series=load_windows(snapshot.series, cores, speed[node_of]),
        queries={
            part.first_operator + at: (part.name, at) for part in snapshot.queries for at in range(part.operators)
        },
    )


def _mean_load(
    snapshot: Snapshot, shape: BatchShape, cores: int, memory: Memory, window: FloatArray
) -> tuple[FloatArray, FloatArray | None]:
    """Loads that go by the means of several windows, as batches do, and what they may be off by; `window`: by this one.

    All key groups of an operator together have the load of this window: the means say who has which part of it.
    """
    percent_per_s = 100.0 * snapshot.rates.batches / (snapshot.window_s * cores)
    load = window if memory.batches.tasks is None else percent_per_s * shape.task_s
    return load, None if shape.error_s is None else percent_per_s * shape.error_s


def _migration_cost_s(snapshot: Snapshot, memory: Memory, alive: BoolArray) -> FloatArray:
    """Seconds that a group's first task after a move takes longer. A group whose executor is gone loads its state
    wherever it goes: moving it costs nothing extra."""
    fixed_s, per_byte_s = memory.batches.moves.line
    return np.where(alive, fixed_s + per_byte_s * snapshot.state_bytes, 0.0)
