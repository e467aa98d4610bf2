"""Situations small enough to hold in the head, for scaling rules."""

from __future__ import annotations

import dataclasses

from worlds import even, job

from streamjob_operator.scaling.rule import Fleet, Situation
from streamjob_operator.spec import StreamJob
from streamjob_operator.steps.estimate import estimate
from streamjob_operator.values import Memory, Snapshot
from streamjob_planners import plans


def situation_of(
    snapshot: Snapshot,
    *,
    policy: StreamJob | None = None,
    wanted: int | None = None,
    ready: int | None = None,
    now_s: float | None = None,
    memory: Memory | None = None,
) -> Situation:
    """A snapshot as a rule sees it, with a plan that changes nothing; by default all executors wanted are there."""
    memory = Memory() if memory is None else memory
    seen = estimate(snapshot, memory)
    there = len(snapshot.executors) if ready is None else ready
    return Situation(
        job=job() if policy is None else policy,
        snapshot=snapshot,
        estimate=seen,
        plan=plans.hold_plan(seen.model, planner="test"),
        fleet=Fleet(ready=there, wanted=there if wanted is None else wanted, marked=0),
        now_s=snapshot.taken_at_s if now_s is None else now_s,
        memory=memory,
    )


def busy(executors: int, utilization_pct: float, now_s: float = 1000.0, **rates: float | None) -> Snapshot:
    """Executors with two key groups each whose slots are busy to that percentage; `rates` replaces figures."""
    world = even(executors, 2, utilization_pct / 2)
    world.now_s = now_s
    snapshot = world.observe(now_s, 10.0)
    return dataclasses.replace(snapshot, rates=dataclasses.replace(snapshot.rates, **rates))  # type: ignore[arg-type]
