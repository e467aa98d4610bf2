"""One rule on one trace with one seed: the policy that all share, and the figures of a run."""

from __future__ import annotations

from collections.abc import Mapping

from streamjob_operator.scaling import registry
from streamjob_sim import foreknown
from streamjob_sim.replay.planner import LevelPlanning
from streamjob_sim.scaling_score import ScalingScore, scaling_score
from streamjob_sim.score import Score
from streamjob_sim.simulate import RuleOf, job_of, simulate
from streamjob_sim.traces.catalogue import world_of
from streamjob_sim.world import World

OBJECTIVE_S = 20.0
"""Results at most two trigger intervals after the oldest row: a batch that fits its interval keeps it."""
LAG_THRESHOLD = 15_680
"""For KEDA: rows that wait after a batch for each executor that is busy to the target of 70 percent: 2 slots x 1600
rows/s x 0.7 arrive for each, during a batch of 0.7 x 10 s."""
POLICY = {
    "executors": {"min": 1, "max": 20},
    "balancing": {
        "mode": "Auto",
        "planner": "greedy",
        "statisticsPeriod": "30s",
        "planDeadline": "1s",
        "maxIterations": 200,
    },
    "scaling": {"mode": "Auto", "targetUtilization": 70, "lagThreshold": LAG_THRESHOLD},
}
FOREKNOWN: Mapping[str, RuleOf] = {
    "oracle": foreknown.Oracle,
    "static-peak": foreknown.peak,
    "static-mean": foreknown.mean,
}


def rules() -> tuple[str, ...]:
    """Every rule of the table: those of the registry, and those that look into the world."""
    return (*registry.names(), *FOREKNOWN)


def run(trace: str, rule: str, seed: int, part: float = 1.0) -> tuple[World, Score]:
    """The whole run; exact, as no clock limits a plan, and none is proven: that takes time and decides nothing."""
    world = world_of(trace, seed, POLICY, part)
    job = job_of(world)
    if rule not in FOREKNOWN:
        scaling = job.spec.scaling.model_copy(update={"rule": rule})
        job = job.model_copy(update={"spec": job.spec.model_copy(update={"scaling": scaling})})
    made = simulate(world, job, seed=seed, clock=_no_clock, rule=FOREKNOWN.get(rule), planning=LevelPlanning())
    return world, made


def figures(trace: str, rule: str, seed: int, part: float = 1.0) -> ScalingScore:
    """What the table is made from."""
    return scaling_score(run(trace, rule, seed, part)[1], OBJECTIVE_S)


def _no_clock() -> float:
    return 0.0
