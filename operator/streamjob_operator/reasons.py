"""Reasons: why a cycle acted or did not. `docs/reference/reasons.md` is made from the descriptions here.

Reasons of conditions and events that only a cluster knows are in `streamjob_operator.kube.names`.
"""

from __future__ import annotations

import enum


class Reason(enum.StrEnum):
    """Why a cycle acted or did not: stable codes.

    A description says what it means and, after "To do:", what a person can do where there is something to do.
    """

    BATCH_TIME = "BatchTime"
    """Key groups move because batches get shorter by it; the message says by how much, what the moves cost once, and
    after how many batches that is paid for."""

    FILLING = "Filling"
    """Key groups move to executors that had none, although other executors still decide how long a batch takes."""

    LOAD_DISTANCE = "LoadDistance"
    """The load distance was above `maxLoadDistance`, and key groups move."""

    COLLOCATION = "Collocation"
    """Key groups that exchange much data move together."""

    DRAINING = "Draining"
    """Key groups leave executors that are marked for removal, or that are gone."""

    SCALE_OUT = "ScaleOut"
    """More executors were asked for, or a drain was taken back."""

    SCALE_IN = "ScaleIn"
    """Executors were marked for removal; they are drained within the migration budget, then removed."""

    EXECUTOR_REMOVED = "ExecutorRemoved"
    """Marked executors hold no key group any more and leave."""

    FAIL_SAFE_OUT = "FailSafeOut"
    """Measurements have been missing for `failSafe.outAfter`, and what can still be seen asks for more executors, or
    for key groups on those that have none. None leaves. To do: bring the measurements back: `MetricsAvailable` says
    what is wrong."""

    FAIL_SAFE_FLOOR = "FailSafeFloor"
    """Measurements have been missing for `failSafe.floorAfter`: there shall be `failSafe.floor` executors at least.
    None leaves. To do: bring the measurements back: `MetricsAvailable` says what is wrong."""

    BALANCED = "Balanced"
    """No moves are known that make batches shorter, and the number of executors fits; or, where the objective is
    loadDistance, the distance is within what you asked for."""

    REPLICAS_SET = "ReplicasSet"
    """Somebody else sets the number of executors (`spec.executors.replicas`, /scale), and it is followed."""

    GAIN_TOO_SMALL = "GainTooSmall"
    """Moves would gain less than batches vary or predictions can tell, or not pay for themselves within `payback`
    batches, often because one key group alone is too heavy; or collocation would save less work in an hour than its
    moves cost. To do: read the message: it says which."""

    BUDGET_TOO_SMALL = "BudgetTooSmall"
    """No key group is as small as `migrationBudget.maxStateBytes`. To do: raise it."""

    MEMORY_TOO_SMALL = "MemoryTooSmall"
    """Executors have no room in memory for the state of key groups that should move, or that fewer executors would have
    to take. To do: read the message; give executors more memory, or ask for more of them."""

    MOVES_PENDING = "MovesPending"
    """Moves of the last plan are under way, and no executor is overloaded."""

    IDLE = "Idle"
    """The query waits for data, so nothing moves for balance. After `stabilization.down` it may keep fewer executors,
    down to `executors.min`; what its state needs in memory stays."""

    QUERY_ENDED = "QueryEnded"
    """Every query of the driver has ended, as one with the trigger AvailableNow does when it has taken all there was.
    Planning goes on with the next one."""

    WAITING_FOR_EXECUTORS = "WaitingForExecutors"
    """Executors that were asked for are not there yet. To do: look at the cluster if it lasts."""

    EXECUTORS_TIMED_OUT = "ExecutorsTimedOut"
    """They did not come within `executorTimeout`; the number was taken back, a new try follows later. To do: look
    at quotas and capacity."""

    STABILIZING = "Stabilizing"
    """Another number of executors would do, but not for long enough yet. To do: nothing, or change
    `stabilization`."""

    QUOTA_BINDS = "QuotaBinds"
    """More executors are needed than this job may have of those that it shares with other jobs of its namespace. To do:
    raise the namespace's quota (`--executor-quota`), or the job's `scaling.priority`."""

    NOT_ENOUGH = "NotEnough"
    """No number of executors that this job may have is enough for what it has to do. To do: read the message; raise
    `executors.max` where it names that, else what it says takes so long: more executors alone would not do."""

    WINDOW_DENIES = "WindowDenies"
    """An open window of `scaling.windows` forbids it."""

    MODE_OFF = "ModeOff"
    """Balancing, scaling or both are off. To do: change `mode`."""

    RECOMMENDED = "Recommended"
    """The plan is worth it, and the mode says only to recommend. To do: change `mode`."""

    AWAITING_APPROVAL = "AwaitingApproval"
    """The plan waits for its hash in the annotation `streamjob.dev/approve`. To do: approve it, or not."""

    PAUSED = "Paused"
    """The annotation `streamjob.dev/pause` is set. To do: remove it."""

    METRICS_UNAVAILABLE = "MetricsUnavailable"
    """The agent does not answer, or has seen too few batches. To do: look at the driver if it lasts."""

    METRICS_STALE = "MetricsStale"
    """The newest measurements are older than `staleAfter`. To do: look at the driver if it lasts."""

    METRICS_INCOMPLETE = "MetricsIncomplete"
    """No executor, key group or batch was seen, or fewer key groups than `minCoverage`. To do: look at the query if
    it lasts."""

    SETTLING = "Settling"
    """No batch has been measured since the newest plan was carried out: measurements from before it speak of another
    placement."""

    WARMING_UP = "WarmingUp"
    """The first statistics period of this driver is not over."""

    ACTUATION_OFF = "ActuationOff"
    """The agent's self-test failed or it has switched itself off; its message says why. To do: read the message."""

    PLAN_REFUSED = "PlanRefused"
    """The plan broke a rule of `verify`, or the agent refused it. To do: report it."""

    PLAN_STALE = "PlanStale"
    """Driver, query or generation changed between measuring and acting; the next cycle plans anew."""

    PLANNER_STARTING = "PlannerStarting"
    """The planning process still loads solvers and compiles loops: some two seconds, or a minute where it starts for
    the first time."""

    PLANNER_FAILED = "PlannerFailed"
    """The planner raised an error, or its process died. To do: another planner; report it."""

    PLANNER_OVERRAN = "PlannerOverran"
    """The planner overran its deadline by far and was ended; the last placement stays. To do: a longer `planDeadline`,
    more CPU for the controller, or a faster planner."""

    WOULD_UNBALANCE = "WouldUnbalance"
    """Fewer executors would do, but the rest could not be balanced, and batches would not be in time. To do: more key
    groups, or other keys."""

    ACTUATOR_UNAVAILABLE = "ActuatorUnavailable"
    """The agent could not be reached to hand over the plan; the next cycle plans anew. To do: look at the driver if
    it lasts."""


class Advice(enum.StrEnum):
    """What a person is advised beside what a cycle did: stable codes. Nothing is changed by it."""

    MEMORY_SHORT = "MemoryShort"
    """With the newest plan an executor's state takes more than nine tenths of the memory that there is for it.
    To do: read the message: it says how much larger executors, or how many of them, would do."""

    MEMORY_SPARE = "MemorySpare"
    """Less than half of the executors' memory would do. To do: read the message; smaller executors, if nothing
    else needs their memory."""


ACTING = (
    Reason.BATCH_TIME,
    Reason.FILLING,
    Reason.LOAD_DISTANCE,
    Reason.COLLOCATION,
    Reason.DRAINING,
    Reason.SCALE_OUT,
    Reason.SCALE_IN,
    Reason.EXECUTOR_REMOVED,
    Reason.FAIL_SAFE_OUT,
    Reason.FAIL_SAFE_FLOOR,
)
"""Reasons to act; with any other one nothing was changed."""
