"""One turn of the loop, in the order of algorithm 1 of the ALBIC paper. Time, chance and memory are arguments."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import numpy as np

from streamjob_operator.events import Event
from streamjob_operator.ports import Ports
from streamjob_operator.scaling.rule import Situation
from streamjob_operator.spec import StreamJob
from streamjob_operator.steps.act import actuate
from streamjob_operator.steps.approved import judge
from streamjob_operator.steps.at_rest import plan_at_rest, searched
from streamjob_operator.steps.behind import falls_behind, in_a_hurry, is_behind, told
from streamjob_operator.steps.case import Case
from streamjob_operator.steps.estimate import estimate
from streamjob_operator.steps.fail_safe import Blind, fail_safe
from streamjob_operator.steps.followed import as_found, followed
from streamjob_operator.steps.gate import held
from streamjob_operator.steps.headroom import room_of
from streamjob_operator.steps.idle import as_known
from streamjob_operator.steps.in_time import in_time
from streamjob_operator.steps.kept_back import kept_back
from streamjob_operator.steps.leave import despite
from streamjob_operator.steps.memory_advice import memory_advice
from streamjob_operator.steps.observe import check, observe
from streamjob_operator.steps.outages import MISSING, missing, there
from streamjob_operator.steps.recall import empty_of, recall
from streamjob_operator.steps.remember import Happened, remember
from streamjob_operator.steps.report import report
from streamjob_operator.steps.resize import keep, resize
from streamjob_operator.steps.scale import ask, decide, fleet
from streamjob_operator.steps.shown import policy_of
from streamjob_operator.steps.singly import batch_times
from streamjob_operator.steps.solve import Solver, make_solver
from streamjob_operator.steps.timing import Stopwatch
from streamjob_operator.steps.worth_time import Standing, what_binds
from streamjob_operator.values import (
    CycleRecord,
    Hold,
    Memory,
    MemoryAdvice,
    Room,
    RuleState,
    ScalingDecision,
    Searched,
    Snapshot,
    Verdict,
)
from streamjob_planners.batch.by_rows import Line
from streamjob_planners.model import Clock, Effect, LoadModel
from streamjob_planners.verify import verify


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Thought:
    """What thinking gives; parts are None when it was cut short by a Hold. `seen` is what the verdict speaks of
    where there is no measurement that may be used."""

    verdict: Verdict
    model: LoadModel | None = None
    scaling: ScalingDecision | None = None
    rule: RuleState | None = None
    outlook: Effect | None = None
    binds: str | None = None
    changed_at_s: float | None = None
    level_changed_at_s: float | None = None
    lines: Mapping[str, Line] | None = None
    room: Room | None = None
    advice: MemoryAdvice | None = None
    chosen: str | None = None
    searched: Searched | None = None
    seen: Snapshot | None = None


def run_cycle(
    ports: Ports,
    job: StreamJob,
    memory: Memory,
    now_s: float,
    rng: np.random.Generator,
    clock: Clock,
    woken: tuple[Event, ...] = (),
) -> tuple[Memory, CycleRecord]:
    """Look, think, act, remember, tell. `now_s` is seconds since the epoch; `clock` only measures durations.

    `woken` is what has happened since the cycle before; it is told, and decides nothing.
    """
    timed, snapshot, compared = Stopwatch(clock), None, None
    try:
        snapshot = timed("observe", observe, ports.metrics, job, now_s)
        compared = timed("compare", batch_times, snapshot, memory)
        memory = followed(timed("recall", recall, memory, snapshot, now_s), snapshot, job, now_s)
        timed("check", check, snapshot, memory, job, now_s)
        memory = there(memory, job, now_s)
        solver = make_solver(job, rng, clock, ports.planning, memory.chosen)
        thought = think(snapshot, memory, job, now_s, solver, ports, timed)
    except Hold as hold:
        if hold.reason in MISSING:
            blind = timed("unmeasured", without_metrics, ports, hold, memory, job, now_s)
            memory, thought = blind.memory, Thought(verdict=blind.verdict, seen=blind.snapshot)
        else:
            leaving = despite(hold, snapshot, memory, job)
            thought = Thought(verdict=leaving or held(hold.reason, hold.message, marked=memory.marked))
    verdict, seen = thought.verdict, thought.seen or snapshot
    receipt = None if seen is None else timed("actuate", actuate, ports.actuator, seen, verdict, memory)
    happened = Happened(
        snapshot=snapshot,
        model=thought.model,
        scaling=thought.scaling,
        rule=thought.rule,
        verdict=verdict,
        receipt=receipt,
    )
    memory = timed("remember", remember, memory, happened, job, now_s)
    if thought.model is not None:
        memory = dataclasses.replace(memory, chosen=thought.chosen, searched=thought.searched)
    record = CycleRecord(
        at_s=now_s,
        snapshot=snapshot,
        scaling=thought.scaling,
        verdict=verdict if thought.model is not None else dataclasses.replace(verdict, plan=None),
        receipt=receipt,
        step_seconds=dict(timed.seconds),
        model=thought.model,
        outlook=thought.outlook,
        memory=memory,
        binds=thought.binds,
        changed_at_s=thought.changed_at_s,
        level_changed_at_s=thought.level_changed_at_s,
        lines=thought.lines,
        woken=woken,
        batch_times=compared,
        room=thought.room,
        memory_advice=thought.advice,
    )
    return timed("report", report, ports.reporters, record, memory), record


def without_metrics(ports: Ports, hold: Hold, memory: Memory, job: StreamJob, now_s: float) -> Blind:
    """What may be done all the same, by what can still be seen; looked for only where something may."""
    memory = missing(memory, hold, job, now_s)
    climbed = memory.outage is not None and memory.outage.climbed
    return fail_safe(hold, ports.look() if climbed else None, memory, job, now_s, ports.quota)


def think(
    snapshot: Snapshot,
    memory: Memory,
    job: StreamJob,
    now_s: float,
    solver: Solver,
    ports: Ports,
    timed: Stopwatch,
) -> Thought:
    """Plan, scale by the plan, plan again, verify, judge: pure but for the clock that times it, and what other jobs
    hold of a quota."""
    memory = as_found(memory, snapshot, job, now_s)
    seen = timed(
        "estimate",
        estimate,
        as_known(snapshot),
        memory,
        collocate=job.spec.balancing.collocation.enabled,
        pinned=job.spec.balancing.pinned_operators,
    )
    behind = falls_behind(seen)
    policy = policy_of(job)
    job, solver = in_a_hurry(job, solver) if behind else (job, solver)
    known = None if is_behind(seen) else memory.searched  # while rows wait, less noise is enough to be a gain
    resting, known = timed("rest", plan_at_rest, seen.model, job, solver.params, known)
    plan = resting or timed("solve", solver.solve, seen.model)
    settled = memory.acted_at_s is None or snapshot.taken_at_s - snapshot.window_s >= memory.acted_at_s
    situation = Situation(
        job=job,
        snapshot=seen.recent,
        estimate=seen,
        plan=plan,
        fleet=fleet(snapshot, memory),
        now_s=now_s,
        settled=settled,
        memory=memory,
    )
    wish, state = timed("need", ask, ports.rules(job.spec.scaling.rule), situation)
    decision = timed("scale", decide, wish, situation.fleet, memory, job, now_s, ports.quota)
    change = resize if job.resizes else keep
    limit = in_time(job.spec.scaling, seen)
    resized = timed("resize", change, seen.model, plan, decision, memory, solver, limit)
    # A plan at rest needs no judge: it moves nothing, or has been verified (`steps/searched.py`).
    judged = resized.plan is resting
    violations = () if judged else timed("verify", verify, resized.model, resized.plan, solver.params)
    remove = timed("terminate", empty_of, resized.marked, snapshot)
    standing = Standing(behind=is_behind(seen), off=memory.batches.off)
    case = Case(
        job=job,
        snapshot=snapshot,
        memory=memory,
        resized=resized,
        remove=remove,
        violations=violations,
        kept_back=timed("memory", kept_back, resized.model, resized.plan, solver, job.spec.balancing, standing),
        now_s=now_s,
        policy=policy,
        changed_at_s=seen.changed_at_s,
        standing=standing,
    )
    case, verdict = timed("gate", judge, case)
    carried = case.resized
    verdict = told(verdict) if behind else verdict
    if plan.choice is not None:
        verdict = dataclasses.replace(verdict, message=f"{verdict.message} {plan.choice}")
    return Thought(
        model=carried.model,
        scaling=resized.decision,
        rule=state,
        outlook=carried.outlook,
        binds=None if carried.model.batch is None else what_binds(carried.model, carried.model.node_of),
        verdict=verdict,
        changed_at_s=seen.changed_at_s,
        level_changed_at_s=seen.level_changed_at_s,
        lines=None if seen.seconds is None else {str(operator): one for operator, one in seen.seconds.lines.items()},
        room=timed("headroom", room_of, seen),
        advice=timed("advice", memory_advice, snapshot, carried, job.spec.executors.max),
        chosen=None if plan.choice is None else plan.planner,
        searched=known if resting is not None else timed("rest", searched, seen.model, job, solver.params, plan),
    )


def turn(
    ports: Ports,
    job: StreamJob,
    now_s: float,
    rng: np.random.Generator,
    clock: Clock,
    woken: tuple[Event, ...] = (),
) -> CycleRecord:
    """One cycle from the stored memory to the stored memory, as every body runs it."""
    memory, record = run_cycle(ports, job, ports.memory.load(), now_s, rng, clock, woken)
    ports.memory.save(memory)
    return record
