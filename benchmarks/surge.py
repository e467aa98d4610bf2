"""A plain surge with a default policy, on paper: when the backlog is gone, and what it costs in executors.

    python -m benchmarks.surge [--seeds 3] [--planner search] [--rule batch-time] [--steps 500000]

Cycles come by the clock and by what happens, as in the product. With `--steps` a plan ends after so many steps of its
search in place of its time, so that a run can be repeated on any machine.

Beside it stand the fewest executors that could: those of the start until new ones can be ready, then the fewest that
work the backlog off within catchUp, then the fewest that hold the rate, as the batch model has it of the world's own
key groups, placed longest first. With work spread evenly over all slots there would be fewer, which no plan can reach:
the heaviest key groups take most of a level by themselves.
"""

from __future__ import annotations

import argparse
import dataclasses
import functools
import itertools
from pathlib import Path

import numpy as np

from benchmarks.looking import Looking
from streamjob_operator.scaling import registry
from streamjob_operator.spec import StreamJob
from streamjob_planners.batch.work import Work
from streamjob_planners.sizing.course import Outlook
from streamjob_planners.sizing.fewest import Aim, fewest, smallest
from streamjob_planners.sizing.pace import pace
from streamjob_sim.job import SimulatedJob
from streamjob_sim.reading import read_world
from streamjob_sim.score import Score
from streamjob_sim.simulate import job_of, simulate
from streamjob_sim.world import World

WORLD = Path(__file__).parent.parent / "samples" / "worlds" / "surge.yaml"
LONG_S = 600.0
"""Seconds for a plan that ends by its steps: far more than it takes."""
MEAN = 0.5
"""Part of the batches that may take longer than the trigger interval where their mean is to fit it."""
SHARE = 0.7
"""Part of an even share of the work from which a new executor carries its own: hot key groups make shares uneven."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """Figures of one run; None is "never".

    Attributes:
        first_s: from the surge to the first executor that came.
        settled_s: from there to the moment from which no more than two batches' rows wait.
        carries_s: of each executor that came after the surge: seconds from its being ready to the first batch with its
            share; None where it never had it.
        boundaries: of each executor that came after the surge: starts of batches from its being ready up to the
            first batch in which it has SHARE of an even share of key groups' work; None where it never had.
        executor_h, fewest_h: hours of executors, and of the fewest that could.
        level_h: the latter if work were spread evenly over all slots.
    """

    first_s: float | None
    settled_s: float | None
    waiting: float
    carries_s: tuple[float | None, ...]
    boundaries: tuple[int | None, ...]
    executor_h: float
    fewest_h: float
    level_h: float
    moves: int
    p95_batch_s: float


def outcome(world: World, score: Score) -> Outcome:
    """What a run of the world was worth."""
    surge_s = world.arrival.steps[0].at_s
    coming = _ready_at_s(score, world.executors.initial)
    after = [at_s for at_s in coming if at_s > surge_s]
    first_s = min(after, default=None)
    shares = [_share(score, index, at_s) for index, at_s in _newcomers(score, world, surge_s)]
    return Outcome(
        first_s=None if first_s is None else first_s - surge_s,
        settled_s=None if first_s is None else _settled_s(world, score, first_s),
        waiting=score.final_waiting,
        carries_s=tuple(None if found is None else round(found[1], 1) for found in shares),
        boundaries=tuple(None if found is None else found[0] for found in shares),
        executor_h=score.executor_s / 3600,
        fewest_h=fewest_s(world, score.seed) / 3600,
        level_h=level_s(world) / 3600,
        moves=score.moves,
        p95_batch_s=score.p95_batch_s,
    )


def _ready_at_s(score: Score, initial: int) -> list[float]:
    return [one.ready_at_s for one in score.lives[initial:]]


def _newcomers(score: Score, world: World, surge_s: float) -> list[tuple[int, float]]:
    last_s = score.batches[-1].started_s
    return [
        (index, one.ready_at_s)
        for index, one in enumerate(score.lives)
        if index >= world.executors.initial and surge_s < one.ready_at_s < min(last_s, one.gone_at_s)
    ]


def _settled_s(world: World, score: Score, since_s: float) -> float | None:
    """When the backlog is gone for good, seconds after `since_s`."""
    limit = 2 * world.batch.trigger_s * world.arrival.steps[-1].rate
    late = [batch.end_s for batch in score.batches if batch.waiting > limit]
    if not late or late[-1] >= score.batches[-1].end_s:
        return 0.0 if not late else None
    return max(0.0, late[-1] - since_s)


def _share(score: Score, index: int, ready_s: float) -> tuple[int, float] | None:
    """Boundaries and seconds from its being ready to the first batch in which it carries its share."""
    starts = [batch for batch in score.batches if batch.started_s >= ready_s]
    for number, batch in enumerate(starts, start=1):
        busy_s = batch.executor_busy_s
        if index < busy_s.size and busy_s[index] >= SHARE * busy_s.sum() / batch.executors:
            return number, batch.started_s - ready_s
    return None


def fewest_s(world: World, seed: int) -> float:
    """Executor-seconds of the fewest executors that could, see the module."""
    step, trigger_s, ready_s = world.arrival.steps[0], world.batch.trigger_s, world.executors.startup_s
    rows, most = step.rate * trigger_s, world.policy.executors.max
    work = own_work(world, seed)
    paces = functools.cache(lambda executors: pace(work, rows, executors, world.executors.cores))
    begun = Outlook(
        rate_rps=step.rate, backlog_rows=world.arrival.rate * trigger_s, trigger_s=trigger_s, ready_s=ready_s
    )
    aim = Aim(batch_s=trigger_s, late_ratio=MEAN, gone_within_s=ready_s + world.policy.scaling.catch_up_s)
    holding = smallest(lambda executors: paces(executors).batch_s(rows) <= trigger_s, most)
    working = fewest(paces, most, paces(world.executors.initial), begun, aim).executors
    return _executor_s(world, max(working, holding), holding)


def own_work(world: World, seed: int) -> Work:
    """A batch of the world's key groups, whose parts chance deals out by the seed as in a run."""
    stages = SimulatedJob(world, np.random.default_rng(seed).spawn(2)[0]).stages
    level = np.repeat(np.arange(len(world.operators)), [one.partitions for one in world.operators])
    return Work(
        level=level,
        task_fixed_s=stages.overhead_s,
        task_row_s=stages.work(1.0, world.arrival.steps[0].at_s, None).records / stages.rate,
        spread_ratio=np.full(level.size, world.batch.noise),
        fixed_s=world.batch.fixed_s,
    )


def _executor_s(world: World, working: int, holding: int) -> float:
    """Those of the start until others can be ready, `working` for catchUp, `holding` for the rest."""
    come_s = world.arrival.steps[0].at_s + world.executors.startup_s
    worked_s = min(world.policy.scaling.catch_up_s, world.duration_s - come_s)
    rest_s = world.duration_s - come_s - worked_s
    return world.executors.initial * come_s + working * worked_s + holding * rest_s


def level_s(world: World) -> float:
    """The same if work were spread evenly over all slots."""
    step, scaling = world.arrival.steps[0], world.policy.scaling
    initial, come_s = world.executors.initial, step.at_s + world.executors.startup_s
    backlog = max(0.0, step.rate - _rate(world, initial)) * (come_s - step.at_s)
    working = next(n for n in itertools.count(1) if (_rate(world, n) - step.rate) * scaling.catch_up_s >= backlog)
    holding = next(n for n in itertools.count(1) if _rate(world, n) >= step.rate)
    return _executor_s(world, max(working, holding), holding)


def _rate(world: World, executors: int) -> float:
    """Rows per second that batches of a trigger interval take at most, work spread evenly."""
    per_row_s = sum(1.0 / one.records_per_slot_second for one in world.operators)
    slots = executors * world.executors.cores
    overhead_s = sum(np.ceil(one.partitions / slots) * one.task_overhead_s for one in world.operators)
    busy_s = world.batch.trigger_s - world.batch.fixed_s - overhead_s
    return float(slots * busy_s / per_row_s / world.batch.trigger_s)


def with_rule(job: StreamJob, rule: str) -> StreamJob:
    """The same job with another scaling rule."""
    scaling = job.spec.scaling.model_copy(update={"rule": rule})
    return job.model_copy(update={"spec": job.spec.model_copy(update={"scaling": scaling})})


def with_steps(job: StreamJob, steps: int) -> StreamJob:
    """The same job, whose plans end after so many steps of the search."""
    limits = {"max_iterations": steps, "plan_deadline_s": LONG_S}
    balancing = job.spec.balancing.model_copy(update=limits)
    return job.model_copy(update={"spec": job.spec.model_copy(update={"balancing": balancing})})


def main() -> None:
    """Print a row for each planner and seed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--planner", action="append", default=None)
    parser.add_argument("--rule", default=registry.DEFAULT, choices=registry.names())
    parser.add_argument("--steps", type=int, default=None)
    given = parser.parse_args()
    world = read_world(WORLD)
    job = with_rule(job_of(world), given.rule)
    job = job if given.steps is None else with_steps(job, given.steps)
    for planner in given.planner or ["search"]:
        for seed in range(1, given.seeds + 1):
            score = simulate(world, job, planner, seed, looking=Looking)
            print(planner, given.rule, seed, outcome(world, score), flush=True)


if __name__ == "__main__":
    main()
