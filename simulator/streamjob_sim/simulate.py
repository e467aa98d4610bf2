"""Run a world: let time go by, turn the controller once in each statistics period, keep the score."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Iterator

import numpy as np

from streamjob_operator.events import Event
from streamjob_operator.ports import Planning, Rules
from streamjob_operator.scaling import registry
from streamjob_operator.scaling.rule import ScalingRule
from streamjob_operator.spec import Application, Mode, StreamJob
from streamjob_operator.spec.job import Metadata, Spec
from streamjob_operator.waking.cadence import Cadence, Seen
from streamjob_planners.model import Clock
from streamjob_sim.controller import Controller
from streamjob_sim.job import SimulatedJob
from streamjob_sim.measure import newest_batches
from streamjob_sim.score import Run, Score, Turn, score
from streamjob_sim.world import NOBODY, World

LOOK_S = 1.0
"""Between two looks at what has happened: the agent reports within about a second."""


def job_of(world: World) -> StreamJob:
    """The world's policy as a StreamJob."""
    spec = Spec(
        application=Application(main_file="simulated.py"),
        executors=world.policy.executors,
        balancing=world.policy.balancing,
        scaling=world.policy.scaling,
        metrics=world.policy.metrics,
    )
    metadata = Metadata(name="simulated")
    return StreamJob(api_version="streamjob.dev/v1alpha1", kind="StreamJob", metadata=metadata, spec=spec)


def with_planner(job: StreamJob, planner: str | None) -> StreamJob:
    """The same job with another planner; NOBODY turns balancing and scaling off."""
    if planner is None:
        return job
    spec = job.spec
    if planner == NOBODY:
        balancing = spec.balancing.model_copy(update={"mode": Mode.OFF, "planner": "hold"})
        scaling = spec.scaling.model_copy(update={"mode": Mode.OFF})
    else:
        balancing, scaling = spec.balancing.model_copy(update={"planner": planner}), spec.scaling
    return job.model_copy(update={"spec": spec.model_copy(update={"balancing": balancing, "scaling": scaling})})


RuleOf = Callable[[SimulatedJob], ScalingRule]
"""Makes a scaling rule that may look into the simulated job: those that know more than a measurement tells."""

LookingOf = Callable[[SimulatedJob, float], Callable[[], Seen]]
"""Makes, for a job and its statistics period in seconds, what looks at the job between two cycles.

What an agent tells of batches takes the agent's own code, which this room does not import."""


def simulate(
    world: World,
    job: StreamJob,
    planner: str | None = None,
    seed: int = 0,
    clock: Clock = time.monotonic,
    rule: RuleOf | None = None,
    *,
    planning: Planning | None = None,
    looking: LookingOf | None = None,
) -> Score:
    """The score of a planner (None: the job's own) in a world.

    The world's chance comes from the seed alone: the same arrivals for every planner. `clock` limits the time of
    plans; with balancing.maxIterations set and a planner that heeds it, a run can be repeated exactly. `rule` decides
    in place of the job's scaling rule, `planning` makes plans in place of the planner that the job names. With
    `looking` what happens wakes cycles early, as in the product (decision 0028); otherwise the clock alone does.
    """
    job = with_planner(job, planner)
    chances = np.random.default_rng(seed).spawn(2)
    simulated = SimulatedJob(world, chances[0])
    rules = registry.get if rule is None else _always(rule(simulated))
    controller = Controller(simulated, job, chances[1], clock, rules=rules, planning=planning)
    period_s = job.spec.balancing.statistics_period_s
    turns: list[Turn] = []
    due = _by_clock(simulated, period_s) if looking is None else _by_events(simulated, controller, period_s, looking)
    for woken in due:
        before = _turn(simulated, period_s)
        record = controller.turn(woken)
        turns.append(dataclasses.replace(before, wanted=controller.memory.executors_target, record=record))
    simulated.advance(world.duration_s)
    run = Run(
        planner=planner or job.spec.balancing.planner,
        seed=seed,
        trigger_s=world.batch.trigger_s,
        batches=tuple(simulated.batches),
        turns=tuple(turns),
        lives=tuple(simulated.fleet.executors),
        executor_s=simulated.fleet.spent_s(world.duration_s),
        crashes=controller.crashes,
        violations=tuple(controller.actuator.violations),
        arrived=simulated.arrived,
    )
    return score(run)


def _by_clock(simulated: SimulatedJob, period_s: float) -> Iterator[tuple[Event, ...]]:
    """Lets time go by until a cycle is due, at the end of each statistics period."""
    while simulated.now_s + period_s <= simulated.world.duration_s:
        simulated.advance(simulated.now_s + period_s)
        yield ()


def _by_events(
    simulated: SimulatedJob, controller: Controller, period_s: float, looking: LookingOf
) -> Iterator[tuple[Event, ...]]:
    """The same where what happens wakes cycles, too; the job is looked at once in a second."""
    cadence, look = Cadence(first_s=period_s), looking(simulated, period_s)
    while simulated.now_s + LOOK_S <= simulated.world.duration_s:
        simulated.advance(simulated.now_s + LOOK_S)
        seen = look()
        events = cadence.happened(seen)
        if simulated.now_s < cadence.due_s(period_s, events, seen):
            continue
        cadence.began(simulated.now_s, seen)
        told = len(controller.records)
        yield events
        for record in controller.records[told:]:
            cadence.ended(record, period_s)


def _always(rule: ScalingRule) -> Rules:
    return lambda _: rule


def _turn(simulated: SimulatedJob, period_s: float) -> Turn:
    fleet = simulated.fleet
    return Turn(
        at_s=simulated.now_s,
        load_distance=true_distance(simulated, period_s),
        executors=int(fleet.ready().sum()),
        marked=sum(executor.marked for executor in fleet.executors),
        wanted=None,
        record=None,
    )


def true_distance(simulated: SimulatedJob, window_s: float) -> float | None:
    """Load distance of the last window with today's owners, percent points of slots; None without a batch."""
    batches, covered_s = newest_batches(simulated, window_s)
    open_executors = simulated.fleet.open()
    if not batches or open_executors.size == 0:
        return None
    busy_s = np.sum([batch.times * batch.task_s for batch in batches], axis=0)
    node_s = np.bincount(simulated.agent.seen, busy_s, len(simulated.fleet.executors))[open_executors]
    apart_s = np.abs(node_s - busy_s.sum() / open_executors.size).max()
    return float(100.0 * apart_s / (covered_s * simulated.world.executors.cores))
