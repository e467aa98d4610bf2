"""How long fewer executors must have been enough, where the policy leaves that to the rule.

An executor that leaves too early costs what it takes to have it back: the time until it is there, and the one in which
what gathered meanwhile is worked off. Who waits that long pays at most twice what one would who knows when load comes
back (the break-even rule of ski rental: Karlin et al., "Competitive snoopy caching", Algorithmica 3, 1988). A job whose
load keeps coming back teaches more patience.
"""

from __future__ import annotations

import dataclasses

from streamjob_operator.scaling.batch_time.aims import SOON
from streamjob_operator.scaling.batch_time.state import Action, Leaving
from streamjob_operator.spec.policies import QUIET_S, Scaling

REGRETTED_S = 3600.0
"""Time in which a regret counts, as long as fewer executors are not tried again that were not enough."""
BACK = 0.5
"""Part of the executors that are asked for that must have been there before some left for those to have been missed."""


def window_s(scaling: Scaling, leaving: Leaving, ready_s: float, now_s: float) -> float:
    """Seconds for which fewer executors must have been enough: those of the policy, where it says any.

    Else as long as having them back takes, QUIET_S at most, and that where those that left within the last hour had to
    be asked for again. `ready_s`: seconds until executors that are asked for are there; `now_s`: since the epoch.
    """
    if scaling.stabilization.down_s is not None:
        return scaling.stabilization.down_s
    if leaving.regretted_at_s is not None and now_s - leaving.regretted_at_s < REGRETTED_S:
        return QUIET_S
    return min(QUIET_S, float(round(ready_s + SOON * scaling.catch_up_s)))


def with_action(leaving: Leaving, action: Action) -> Leaving:
    """What one more change teaches: where more are asked for within QUIET_S after some left, and those that left are
    BACK of these, they left too early. Who asks for many more than there were had no use for those few."""
    soon = leaving.at_s is not None and action.at_s - leaving.at_s < QUIET_S
    if action.after < action.before:
        executors = max(leaving.executors if soon else 0, action.before)
        return dataclasses.replace(leaving, at_s=action.at_s, executors=executors)
    back = leaving.executors - action.before >= BACK * (action.after - action.before)
    return dataclasses.replace(leaving, regretted_at_s=action.at_s) if soon and back else leaving
