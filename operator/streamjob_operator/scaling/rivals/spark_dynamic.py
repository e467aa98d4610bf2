"""Spark's dynamic allocation, as it is for batch jobs: executors while tasks queue, away when they are idle.

Source: apache/spark core/src/main/scala/org/apache/spark/ExecutorAllocationManager.scala at commit 00a42e7
(`maxNumExecutorsNeeded`, `updateAndSyncNumExecutorsTarget`, `addExecutors`, idle timeout), with its defaults:
schedulerBacklogTimeout and sustainedSchedulerBacklogTimeout 1 s, executorIdleTimeout 60 s.

It looks every 100 ms at the tasks that run and wait; here the same is worked out for a mean batch of the window. A
stage of n tasks on s slots has tasks waiting for about 1 - s / n of its time. Spark calls its requests off between two
batches, but an executor that was asked for comes all the same, as Kubernetes deletes no young pod.
"""

from __future__ import annotations

import dataclasses
import math
from collections import Counter
from collections.abc import Mapping

from streamjob_operator.scaling.measured import slots_per_executor, working
from streamjob_operator.scaling.rule import Situation, State, Wish, kept, recalled

BACKLOG_S, SUSTAINED_S, IDLE_S = 1.0, 1.0, 60.0


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Idle:
    """Since when each idle executor has run no task, seconds since the epoch, by id."""

    since_s: Mapping[str, float] = dataclasses.field(default_factory=dict)


class SparkDynamicRule:
    """One more executor after a second of queueing, then two, four, eight; fewer once some are idle for a minute."""

    name = "spark-dynamic"

    def decide(self, situation: Situation, state: State | None) -> tuple[Wish, State]:
        """The number after a mean batch of the window."""
        idle = _idle(situation, recalled(Idle, state))
        there, slots = len(working(situation)), slots_per_executor(situation)
        queued_s, tasks = _queued(situation, there * slots)
        grown = target(there, rounds(queued_s), math.ceil(tasks / slots))
        expired = sum(situation.now_s - at_s >= IDLE_S for at_s in idle.since_s.values())
        executors = grown if grown > there else max(there, situation.fleet.wanted) - expired
        why = f"tasks queue for {queued_s:.1f} s of a batch, {expired} executors are idle"
        return Wish(executors=executors, needed=executors, why=why), kept(idle)


def rounds(queued_s: float) -> int:
    """How often executors are added while tasks queue for so long."""
    return 0 if queued_s < BACKLOG_S else 1 + math.floor((queued_s - BACKLOG_S) / SUSTAINED_S + 1e-9)


def target(there: int, added: int, needed: int) -> int:
    """Executors after that many rounds, each twice as large as the one before; never more than tasks can fill."""
    return max(there, min(there + (1 << min(added, 16)) - 1, needed))


def _queued(situation: Situation, slots: float) -> tuple[float, int]:
    """Longest time for which tasks of a stage queue, seconds, and the most tasks of a stage."""
    tasks = Counter(group.operator for group in situation.snapshot.group_ids)
    stages = [(one.wall_s, tasks[one.operator]) for one in situation.snapshot.stages if one.operator is not None]
    queued_s = max((wall_s * max(0.0, 1.0 - slots / count) for wall_s, count in stages if count), default=0.0)
    return queued_s, max(tasks.values(), default=0)


def _idle(situation: Situation, before: Idle) -> Idle:
    now_s, window_s = situation.now_s, situation.snapshot.window_s
    idle = [one.executor_id for one in working(situation) if one.busy_s <= 0]
    return Idle(since_s={name: before.since_s.get(name, now_s - window_s) for name in idle})
