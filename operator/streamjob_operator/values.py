"""Values that travel through the cycle, in the order in which they are made.

Snapshot -> LoadModel -> Plan -> Violations -> Verdict -> Receipt; Memory is the only thing that returns. LoadModel and
Plan are the planners' (`streamjob_planners.model`).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from streamjob_operator.events import Event
from streamjob_operator.observed import LIVE_STATES as LIVE_STATES  # noqa: PLC0414 - what was observed is told elsewhere
from streamjob_operator.observed import ExecutorView as ExecutorView  # noqa: PLC0414
from streamjob_operator.observed import QueryRates as QueryRates  # noqa: PLC0414
from streamjob_operator.observed import RunningBatch as RunningBatch  # noqa: PLC0414
from streamjob_operator.observed import Snapshot as Snapshot  # noqa: PLC0414
from streamjob_operator.observed import StageView as StageView  # noqa: PLC0414
from streamjob_operator.outage import Known as Known  # noqa: PLC0414
from streamjob_operator.outage import Outage as Outage  # noqa: PLC0414
from streamjob_operator.queries import QueryPart as QueryPart  # noqa: PLC0414 - another one
from streamjob_operator.reasons import Advice as Advice  # noqa: PLC0414 - codes of values, told elsewhere
from streamjob_operator.reasons import Reason as Reason  # noqa: PLC0414 - one of the values, told elsewhere
from streamjob_operator.series import BatchTimes
from streamjob_operator.shares import Arrivals as Arrivals  # noqa: PLC0414 - another one
from streamjob_operator.shares import NextStart as NextStart  # noqa: PLC0414
from streamjob_planners.advice.more_groups import MoreGroups
from streamjob_planners.batch.by_rows import Line
from streamjob_planners.batch.knowledge import Knowledge
from streamjob_planners.collocation.remote_cost import Evidence
from streamjob_planners.model import Effect, LoadModel, Plan


class Hold(Exception):
    """Ends a cycle's thinking: nothing is changed. The cycle turns it into a verdict with this reason."""

    def __init__(self, reason: Reason, message: str) -> None:
        super().__init__(message)
        self.reason = reason
        self.message = message


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class ScalingDecision:
    """How many executors are wanted, and how that number came about.

    `needed` is what the scaling rule says this moment asks for; `target` is after its stabilisation, min, max and
    windows, marked executors left out. `told`: somebody else has set the number. `more_groups`: what might do where no
    number of executors does.
    """

    needed: int
    target: int
    reason: Reason
    message: str
    told: bool = False
    more_groups: MoreGroups | None = None


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class PendingPlan:
    """A plan that waits for a person, kept so that exactly what was approved is what is carried out.

    `moves` maps "operator/partition" to the executors (from, to); it is void once a group is no longer on `from`.
    `policy` tells the spec that it was made under from others; `replaced_at_s` is since when another plan is shown in
    its place, None while it is the newest one.
    """

    plan_hash: str
    made_at_s: float
    application_id: str
    moves: Mapping[str, tuple[str, str]]
    executors_wanted: int
    marked: tuple[str, ...]
    policy: str = ""
    replaced_at_s: float | None = None


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What the gate decided. A hold is a verdict with a reason, never None.

    Attributes:
        act: whether this is carried out; when False nothing is written.
        plan: the plan judged (None when none could be made). When `act`, exactly its moves are carried out; without a
            plan those of the newest assignment go on.
        arrivals: what executors that are to come shall own; None for nothing.
        next_start: where key groups shall be when a driver starts again; None for as the plan has them.
        executors_target: executors that should exist once this is carried out: the wanted ones and those marked
            ones that are not removed now; None leaves the number alone.
        marked_for_removal: executors that shall receive nothing and be drained, those removed now included.
        remove: marked executors that hold no key group and are decommissioned now.
        pending: the plan that waits for a person, or that was approved and is carried out now.
        awaits: whether `pending` waits on, though something else is carried out.
        boundary_s: seconds that moves may add to one batch; None for no limit.
        boundaries_s: the same by query id, where there are several.
        move_cost_s: what each move of the plan, in its order, adds to the batch at its boundary, (n_moves,): of moves
            that load side by side only one counts; () where nobody worked it out.
    """

    act: bool
    reason: Reason
    message: str
    plan: Plan | None
    executors_target: int | None
    marked_for_removal: tuple[str, ...]
    remove: tuple[str, ...]
    arrivals: Arrivals | None = None
    next_start: NextStart | None = None
    pending: PendingPlan | None = None
    awaits: bool = False
    boundary_s: float | None = None
    boundaries_s: Mapping[str, float] = dataclasses.field(default_factory=dict)
    move_cost_s: tuple[float, ...] = ()

    @property
    def n_moves(self) -> int:
        """Moves of the plan, those to executors that are to come included."""
        now = 0 if self.plan is None else len(self.plan.moves)
        return now + (0 if self.arrivals is None else len(self.arrivals.groups))

    @property
    def cost_s(self) -> float:
        """Seconds that batches take longer while the plan is carried out, once."""
        return sum(self.move_cost_s)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """What the actuator did: the generation it wrote, or the reason why it refused."""

    generation: int | None
    accepted: bool
    reason: Reason
    message: str


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class RuleState:
    """What the scaling rule of that name remembers: a small JSON object that only it can read."""

    rule: str
    state: Mapping[str, Any]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Lag:
    """The source's lag at one moment, and how fast it grew up to then; two lags tell whether the job falls behind."""

    at_s: float
    rows: float
    growth_rps: float | None = None


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Searched:
    """A search for shorter batches that found nothing worth having, and what it was asked.

    Attributes:
        asked: digest of what must be the same: placement, executors, what may move, policy.
        ends_s: when each executor ended its part of each level, seconds, level after level, (n_levels * n_nodes,).
        move_s: mean seconds of a move.
        moves: index of the key group, and of the executor it would go to, of each move of the plan.
        times: cycles that it has answered since.
    """

    asked: str
    ends_s: tuple[float, ...]
    move_s: float
    moves: tuple[tuple[int, int], ...] = ()
    times: int = 0


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """All that a cycle remembers. Frozen and versioned; survives a restart of the controller in mid-drain.

    Attributes:
        generation: the newest assignment's.
        application_id: the driver that `marked` belongs to; executor ids start anew with each driver.
        executors_target: executors wanted, marked ones left out.
        target_since_s: since when there have been fewer executors than wanted; None when all are there.
        retreat_until_s: no scale-out before this, because asked-for executors did not come.
        marked: executors that are being drained.
        scaling: what the scaling rule remembers; None before its first answer, and while somebody else sets the number.
        approved_plan: the newest plan that was approved and carried out.
        shown: plans that waited for a person before the one that waits now, newest first; none from before a plan that
            was carried out.
        predicted_distance: load distance that the newest accepted plan promised, percent points.
        first_seen_s: when this driver was first observed, for the warm-up.
        queries: those of the newest snapshot where they are several, the one that rates were of first.
        run_id, groups_seen: a run of the query and the most key groups measured in it; a run has no fewer later on.
        acted_at_s: when the newest assignment was accepted; a measurement from before it speaks of another world.
        moved: key groups "operator/partition" of the newest accepted plan, None when they were too many to keep.
        executors, fleet_since_s: executors of the newest cycle, and when they became others last.
        arrivals: executors to come for which the newest plan has a share.
        filling: whether executors came that had a share, and moves have been pending since.
        stirred_at_s: when executors were lost, or came for which nothing was planned; None while that never was.
        lost_at_s: when executors were lost that were not to leave; None while that never was.
        predicted_batch_s: mean batch that the newest accepted plan promised, None without a prediction.
        remote_reads, learned_at_s: what windows taught about the cost of remote reads, and the newest of them.
        batches: what windows taught about batches and moves, and how far predictions were off.
        chosen: the planner that `auto` asked last, None where it was not asked.
        searched: the newest search, where it found nothing worth having; None where it did, or there was none.
        known: what the newest cycle that could measure knew; None before the first one.
        outage: the time without measurements, until they have been back for a statistics period; None outside of it.
        quiet_until_s: no scale-in before this, because measurements were missing for long.
        counters: how often each reason was given, by code, and errors of reporters as "ReporterErrors".
    """

    version: int = 1
    generation: int = 0
    application_id: str | None = None
    executors_target: int | None = None
    target_since_s: float | None = None
    marked: tuple[str, ...] = ()
    scaling: RuleState | None = None
    approved_plan: str | None = None
    predicted_distance: float | None = None
    predicted_batch_s: float | None = None
    first_seen_s: float | None = None
    queries: tuple[str, ...] = ()
    run_id: str | None = None
    groups_seen: int = 0
    acted_at_s: float | None = None
    retreat_until_s: float | None = None
    lag: Lag | None = None
    pending: PendingPlan | None = None
    shown: tuple[PendingPlan, ...] = ()
    moved: tuple[str, ...] | None = ()
    executors: tuple[str, ...] = ()
    fleet_since_s: float | None = None
    arrivals: int = 0
    filling: bool = False
    stirred_at_s: float | None = None
    lost_at_s: float | None = None
    remote_reads: Evidence | None = None
    learned_at_s: float | None = None
    batches: Knowledge = dataclasses.field(default_factory=Knowledge)
    chosen: str | None = None
    searched: Searched | None = None
    known: Known | None = None
    outage: Outage | None = None
    quiet_until_s: float | None = None
    counters: Mapping[str, int] = dataclasses.field(default_factory=dict)

    @property
    def acted_here(self) -> bool:
        """Whether the newest assignment is one of the driver that runs."""
        return (self.acted_at_s or 0.0) >= (self.first_seen_s or 0.0)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """How much more load today's placement survives: times today's load, below 1.0 where it is overloaded.

    `alike_ratio` if all load grows alike; `any_ratio` whichever of the mixes grows that the last `mixes` batches held,
    None where these are too few; `full_executor` is full first.
    """

    alike_ratio: float
    any_ratio: float | None
    full_executor: str
    mixes: int


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class MemoryAdvice:
    """That executors are too small or much too large for the newest plan: a stable code, and the arithmetic in words.
    Nothing is changed by it."""

    code: Advice
    message: str


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class CycleRecord:
    """All that one cycle saw and did: what views, reports, the history file and telemetry are made from.

    `model` is what was measured, and the verdict's plan speaks of it; `marked` of the model includes new marks.
    `outlook` is the effect expected once executors that were asked for have come; None when none were asked for.
    `binds` says what most of a batch is spent on, None where batches are not predicted.
    `changed_at_s` is since when key groups share the work as the model says, None where it speaks of the whole window;
    `level_changed_at_s` since when there is as much work for all. `lines`: by operator, what part of its seconds rows
    do not change; an operator of which rows explain nothing is left out, None without a series. `batch_times`: batches
    of today's placement beside what they were predicted to take, None where nobody knows. `room`: how much more load
    that placement survives, None where nothing was measured. `memory_advice`: None where executors' memory fits, or
    nobody tells it.
    """

    at_s: float
    snapshot: Snapshot | None
    scaling: ScalingDecision | None
    verdict: Verdict
    receipt: Receipt | None
    step_seconds: Mapping[str, float]
    model: LoadModel | None = None
    outlook: Effect | None = None
    memory: Memory | None = None
    binds: str | None = None
    changed_at_s: float | None = None
    level_changed_at_s: float | None = None
    lines: Mapping[str, Line] | None = None
    woken: tuple[Event, ...] = ()
    batch_times: BatchTimes | None = None
    room: Room | None = None
    memory_advice: MemoryAdvice | None = None
