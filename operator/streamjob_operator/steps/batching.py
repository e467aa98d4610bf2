"""From measurements to what a batch is made of, and what one more window teaches about it."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterator

import numpy as np

from streamjob_operator.steps.learn import moved_rows
from streamjob_operator.steps.recent import since_change, steady
from streamjob_operator.steps.tasks import tasks_of, with_tasks
from streamjob_operator.values import LIVE_STATES, ExecutorView, Memory, Snapshot, StageView
from streamjob_planners.batch.knowledge import Knowledge
from streamjob_planners.batch.predict import predict
from streamjob_planners.batch.shape import BatchShape, FreeStage
from streamjob_planners.capacity.own_groups import speeds_of
from streamjob_planners.columns import operators
from streamjob_planners.model import BoolArray, FloatArray, IntArray

MOST_WARMUP = 0.25
"""Part of the busy time that warm-up may make up in a window that teaches anything. The first tasks on slots are among
it in every batch, and of short tasks they are a large part."""

MOST_CELLS = 1_000_000
"""Levels times executors up to which batches are predicted, a number for each: a hundred levels on ten thousand
executors. An agent may tell more, and where nobody tells levels each operator is one."""

MOVING_WINDOWS = 3.0
"""Windows after a plan within which its moves teach what moves cost: they are made at several boundaries."""


def live(snapshot: Snapshot) -> tuple[ExecutorView, ...]:
    """Executors that can own key groups; decommissioned and dead ones are left out."""
    return tuple(executor for executor in snapshot.executors if executor.state in LIVE_STATES)


def shape_of(snapshot: Snapshot, slots: IntArray, knowledge: Knowledge) -> BatchShape | None:
    """The parts of a batch of this window, on nodes of so many slots; None where no batch has ended, or they are more
    than any job has."""
    batches = snapshot.rates.batches
    if batches == 0 or not snapshot.group_ids:
        return None
    operator = operators(snapshot.group_ids)
    level = _levels(snapshot.stages, operator)
    if _cells(level, slots.size) > MOST_CELLS:
        return None
    task_s, error_s = tasks_of(snapshot, knowledge)
    return BatchShape(
        level=level,
        task_s=task_s,
        spread_s=_spread_s(snapshot.stages, operator, task_s),
        error_s=error_s,
        slots=slots,
        speed=_speeds(snapshot, slots, knowledge),
        fixed_s=0.0 if knowledge.fixed_s is None else knowledge.fixed_s.mean,
        free_stages=_free_stages(snapshot),
    )


def unpredicted(snapshot: Snapshot, executors: int) -> str | None:
    """That batches are more than is predicted on so many executors, as a sentence; None where they are not."""
    if snapshot.rates.batches == 0 or not snapshot.group_ids:
        return None
    level = _levels(snapshot.stages, operators(snapshot.group_ids))
    if _cells(level, executors) <= MOST_CELLS:
        return None
    what = f"{int(level.max()) + 1} levels of stages on {executors} executors"
    return f"Batches are not predicted: {what} are more than {MOST_CELLS} together, so the load distance decides."


def _cells(level: IntArray, executors: int) -> int:
    return (int(level.max()) + 1) * executors


def _speeds(snapshot: Snapshot, slots: IntArray, knowledge: Knowledge) -> FloatArray:
    """Of the live executors, and of what stands for lost ones, (n_nodes,)."""
    known = speeds_of(tuple(one.executor_id for one in live(snapshot)), knowledge.paces)
    return np.append(known, np.ones(slots.size - known.size)) if slots.size > known.size else known


def _levels(stages: tuple[StageView, ...], operator: IntArray) -> IntArray:
    """Levels of key groups from 0 without holes. Where nobody tells, operators are a chain: Spark numbers it from its
    end."""
    told = {stage.operator: stage.level for stage in stages if stage.operator is not None}
    present = np.unique(operator).tolist()
    depth = told if set(present) <= told.keys() else {one: -one for one in present}
    rank = {level: at for at, level in enumerate(sorted({depth[one] for one in present}))}
    return np.array([rank[depth[one]] for one in operator.tolist()], dtype=np.int64)


def _spread_s(stages: tuple[StageView, ...], operator: IntArray, task_s: FloatArray) -> FloatArray:
    """An operator's pooled spread, shared out so that a group's variance goes with its seconds."""
    spread = np.zeros(task_s.size)
    for stage in stages:
        own = operator == stage.operator
        mean = float(task_s[own].mean()) if own.any() else 0.0
        if stage.spread_s and mean > 0:
            spread[own] = stage.spread_s * np.sqrt(task_s[own] / mean)
    return spread


def _free_stages(snapshot: Snapshot) -> tuple[FreeStage, ...]:
    """Stages without key groups; where nobody tells them apart, all their work as one."""
    if snapshot.stages:
        free = (one for one in snapshot.stages if one.operator is None)
        return tuple(FreeStage(work_s=one.busy_s, longest_s=one.longest_s, level=one.level) for one in free)
    work_s = snapshot.rates.other_busy_s / snapshot.rates.batches
    return (FreeStage(work_s=work_s),) if work_s > 0 else ()


def learn_batches(memory: Memory, snapshot: Snapshot) -> Memory:
    """The memory with what this window teaches about batches and moves; each window is taken in once."""
    knowledge = memory.batches
    if knowledge.at_s is not None and snapshot.taken_at_s <= knowledge.at_s:
        return memory
    knowledge = _after(_with_moves(knowledge, memory, snapshot), memory, snapshot)
    if _warm(snapshot):
        knowledge = with_tasks(knowledge, since_change(snapshot), moved_rows(memory, snapshot))
    return dataclasses.replace(memory, batches=knowledge)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """Batches of one placement that is known: the part of a window with them, what they are made of, where it is."""

    part: Snapshot
    shape: BatchShape
    node_of: IntArray


def placed(memory: Memory, snapshot: Snapshot) -> Placed | None:
    """The batches of today's placement; None where it is not known, or holds none."""
    part = steady(snapshot, memory)
    if part is None or snapshot.moves_pending:
        return None
    nodes, owners = live(part), part.owners
    names = {one.executor_id: at for at, one in enumerate(nodes)}
    shape = shape_of(part, np.array([one.cores for one in nodes], dtype=np.int64), Knowledge())
    if shape is None or not nodes or any(one not in names for one in owners):
        return None
    return Placed(part=part, shape=shape, node_of=np.array([names[one or ""] for one in owners], dtype=np.int64))


def _after(knowledge: Knowledge, memory: Memory, snapshot: Snapshot) -> Knowledge:
    today = placed(memory, snapshot) if _warm(snapshot) else None
    if today is None or today.part.rates.mean_batch_s <= 0:
        return knowledge
    tasks_s = predict(today.shape, today.node_of).expected_s
    return knowledge.with_window(snapshot.taken_at_s, tasks_s, today.part.rates.mean_batch_s)


def _warm(snapshot: Snapshot) -> bool:
    warmup_s = 0.0 if snapshot.warmup_s is None else float(snapshot.warmup_s.sum())
    return warmup_s <= MOST_WARMUP * float(snapshot.busy_s.sum())


def _with_moves(knowledge: Knowledge, memory: Memory, snapshot: Snapshot) -> Knowledge:
    """What the groups of the newest plan took beyond their load, in the first window after which none is left to move.

    Moves that were made at earlier boundaries have loaded their state before it, and show nothing. Those to executors
    that have just come show what cold executors cost instead, which grows with the batch, so they are left out.
    """
    acted_s = memory.acted_at_s
    if snapshot.warmup_s is None or not memory.moved or acted_s is None or snapshot.moves_pending:
        return knowledge
    if not snapshot.taken_at_s - MOVING_WINDOWS * snapshot.window_s < acted_s <= snapshot.taken_at_s:
        return knowledge
    if knowledge.at_s is not None and knowledge.at_s > acted_s:
        return knowledge  # a window of overlap: the plan's moves were taken in
    moves = knowledge.moves
    if not _just_come(memory, snapshot):
        for state_bytes, seconds in _loading(snapshot, snapshot.warmup_s, frozenset(memory.moved)):
            moves = moves.with_move(state_bytes, seconds)
    # A window of moves is not predicted, and the prediction of an older one says nothing of it.
    return dataclasses.replace(knowledge, at_s=snapshot.taken_at_s, moves=moves, predicted_s=None, measured_s=None)


def _just_come(memory: Memory, snapshot: Snapshot) -> bool:
    """Whether executors came or went so late that the first tasks of one may lie within the window."""
    return memory.fleet_since_s is not None and memory.fleet_since_s > snapshot.taken_at_s - 2 * snapshot.window_s


def _loading(snapshot: Snapshot, warmup_s: FloatArray, moved: frozenset[str]) -> Iterator[tuple[float, float]]:
    """State bytes and seconds of groups that moved: their warm-up beyond what others of their operator have anyway.

    The first task of a slot has more of it than later ones, so groups are held against those of the same turn.
    """
    names = [f"{group.operator}/{group.partition}" for group in snapshot.group_ids]
    gone = np.array([name in moved for name in names], dtype=np.bool_)
    turn = 2 * np.array([one.operator for one in snapshot.group_ids], dtype=np.int64) + _first_on_slots(snapshot)
    for one in np.unique(turn[gone]).tolist():
        stayed = warmup_s[(turn == one) & ~gone]
        usual_s = float(np.median(stayed)) if stayed.size else np.inf
        for at in np.flatnonzero((turn == one) & gone & (warmup_s > usual_s)).tolist():
            yield float(snapshot.state_bytes[at]), float(warmup_s[at]) - usual_s


def _first_on_slots(snapshot: Snapshot) -> BoolArray:
    """Key groups whose task is the first of its stage on a slot, (n_groups,): an executor takes them in their order."""
    cores = {one.executor_id: one.cores for one in snapshot.executors}
    begun: Counter[tuple[int, str | None]] = Counter()
    first = np.zeros(len(snapshot.owners), dtype=np.bool_)
    for at, (group, owner) in enumerate(zip(snapshot.group_ids, snapshot.owners, strict=True)):
        first[at] = begun[group.operator, owner] < cores.get(owner or "", 1)
        begun[group.operator, owner] += 1
    return first
