"""What is wanted of batches, from the job's policy."""

from __future__ import annotations

from streamjob_operator.scaling.objective import batch_objective_s
from streamjob_operator.spec.policies import Scaling, ScalingObjective
from streamjob_planners.sizing.fewest import Aim

LATE, BEARABLE = 0.05, 0.10
"""Part of the batches that may take longer than they should: for executors to be asked for, and with those that are
there, which are left alone up to it."""
SOON, IN_TIME = 0.5, 1.0
"""Part of `catchUp` in which a backlog shall be gone, for the same two. Batches of a backlog were foretold up to twice
too short, and where too few were asked for more must be asked for when more waits."""


def aim_of(scaling: Scaling, trigger_s: float, ready_s: float) -> Aim:
    """For executors that are asked for now and ready in so many seconds; the backlog's time begins then."""
    return _aim(scaling, trigger_s, LATE, ready_s + SOON * scaling.catch_up_s)


def bearable(scaling: Scaling, trigger_s: float, ready_s: float) -> Aim:
    """For executors that are there."""
    return _aim(scaling, trigger_s, BEARABLE, ready_s + IN_TIME * scaling.catch_up_s)


def _aim(scaling: Scaling, trigger_s: float, late_ratio: float, gone_within_s: float) -> Aim:
    return Aim(
        batch_s=batch_objective_s(scaling, trigger_s),
        late_ratio=late_ratio,
        gone_within_s=gone_within_s,
        busy_ratio=scaling.target_utilization / 100.0,
    )


def by_utilization(scaling: Scaling) -> bool:
    """Whether slots are to be busy to the target, whatever batches take."""
    return scaling.objective is ScalingObjective.UTILIZATION
