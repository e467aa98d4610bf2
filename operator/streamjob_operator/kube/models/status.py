"""StreamJob.status: what the operator tells. It alone writes here, by server-side apply; absent is left out."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from streamjob_operator.kube.models.driver import DriverStatus
from streamjob_operator.kube.models.key_groups import KeyGroupsStatus
from streamjob_operator.kube.models.marks import ListKey, Time
from streamjob_operator.kube.models.savings import SavingsStatus
from streamjob_operator.kube.models.scaling import ScalingStatus
from streamjob_operator.kube.names import Phase
from streamjob_operator.spec.base import Part

MOST_APPROVABLE = 5
"""Plans that may be approved at the same time: the newest one, and those that it replaced."""
MOST_HISTORY = 20
"""Decisions kept in `status.history`; the events of the job and the operator's log have more."""


class Condition(Part):
    """One condition, as Kubernetes defines conditions."""

    type: str
    """What it is about, for example Ready; see docs/reference/conditions.md for all of them."""

    status: Literal["True", "False", "Unknown"]
    """True, False or Unknown."""

    reason: str
    """Stable code; see docs/reference/reasons.md."""

    message: str
    """A sentence for a person."""

    last_transition_time: Time
    """When `status` last changed. RFC 3339."""

    observed_generation: int | None = None
    """Generation of the spec that this speaks of (`metadata.generation`)."""


class MarkedExecutor(Part):
    """An executor that is being drained."""

    id: str
    """Spark's executor id."""

    pod: str | None = None
    """Name of its pod; absent while it is not known."""

    groups_left: int | None = None
    """Key groups that it still holds; it is removed at 0."""


class ExecutorsStatus(Part):
    """How many executors there should be, and are."""

    target: int | None = None
    """Executors wanted, those marked for removal left out."""

    admitted: int | None = None
    """Executors whose pods exist, ready or not."""

    ready: int | None = None
    """Executors that are registered with the driver, those marked for removal included."""

    summary: str | None = None
    """Ready and wanted executors, "ready/target", for `kubectl get`."""

    selector: str | None = None
    """Label selector of the executors' pods, for /scale."""

    marked_for_removal: Annotated[tuple[MarkedExecutor, ...], ListKey("id")] = ()
    """Executors that are being drained."""


class LoadStatus(Part):
    """Load of the executors over the last statistics period."""

    distance: float | None = None
    """Largest deviation of an executor's load from the mean (load distance). Percent points."""

    index: float | None = None
    """Load distance in percent of the one that an even spread of partitions would have (load index)."""

    mean: float | None = None
    """Mean utilisation of the executors' task slots. Percent."""

    floor: float | None = None
    """Load distance below which no plan can come, because key groups cannot be split. Percent points."""

    bottleneck: str | None = None
    """What is used most: cpu or time."""

    survived_alike: float | None = None
    """Times today's load that today's placement survives if all of it grows alike; below 1 it is overloaded."""

    survived_any: float | None = None
    """The same whichever mix of key groups' loads grows that the last batches held."""

    survived: str | None = None
    """Both as a sentence, with the executor that is full first."""

    memory: str | None = None
    """Advice about executors' memory, its code first: MemoryShort or MemorySpare; absent where it fits, or nobody tells
    it. Nothing is changed by it."""

    speeds: tuple[str, ...] = ()
    """Executors that are planned for as slower or faster than most, a sentence each."""

    slow: str | None = None
    """The slowest of them and its part of the others' speed, for the column Slow; absent where none is slow."""


class SinglesStatus(Part):
    """Batches of the statistics period that were predicted one by one."""

    batches: int
    """How many."""

    median_percent: float
    """Half of the predictions were off by this at most, percent of the measured seconds."""

    most_percent: float
    """Nine of ten were off by this at most, percent of the measured seconds."""


class BatchStatus(Part):
    """Micro-batches, measured and predicted."""

    measured_seconds: float | None = None
    """Mean batch of the statistics period, seconds."""

    predicted_seconds: float | None = None
    """The same batch as predicted from its tasks with what was known before it, seconds."""

    error_percent: float | None = None
    """Mean difference between predicted and measured batches, percent of the measured ones. Above 25 the load distance
    decides in place of predicted batches."""

    singles: SinglesStatus | None = None
    """The same of single batches; absent where none was predicted."""

    bound_seconds: float | None = None
    """Mean batch that no placement within the migration budget goes below, seconds."""

    binds: str | None = None
    """What most of a batch is spent on."""

    summary: str | None = None
    """Mean batch, and after a slash the latency objective where there is one, such as "3.2s/5s", for `kubectl get`."""


class CollocationStatus(Part):
    """Share of the traffic between key groups that stays on one executor."""

    factor: float | None = None
    """Collocation of the current placement. Percent."""

    best: float | None = None
    """Collocation that the newest plan would reach. Percent."""


class MigrationsStatus(Part):
    """Moves of key groups of the newest generation of the PartitionMap."""

    pending: int | None = None
    """Moves that are still to be made."""

    done: int | None = None
    """Moves that were made."""

    failed: int | None = None
    """Moves that were given up; the next plan sees where their key groups are."""

    summary: str | None = None
    """Made moves of all moves, "done/all", for `kubectl get`; nothing where the newest plan has none."""

    cost_left: str | None = None
    """Pauses still to be expected from the pending moves, together. Duration."""

    eta_seconds: float | None = None
    """Time until the last pending move, at the pace of the batches so far. Seconds."""


class Figures(Part):
    """What a plan promised, or what was measured after it."""

    batch_seconds: float | None = None
    """Mean batch. Seconds."""

    distance: float | None = None
    """Load distance. Percent points."""

    collocation: float | None = None
    """Collocation. Percent."""

    mean: float | None = None
    """Mean utilisation. Percent."""

    executors: int | None = None
    """Executors that are not marked for removal."""


class PlanStatus(Part):
    """The newest plan."""

    hash: str | None = None
    """Its hash: the value that the annotation streamjob.dev/approve needs."""

    computed_at: Time | None = None
    """When it was made. RFC 3339."""

    decision: str | None = None
    """What became of it: Applied, Recommended, AwaitingApproval, Refused or Held."""

    reason: str | None = None
    """Stable code; see docs/reference/reasons.md."""

    message: str | None = None
    """A sentence for a person."""

    planner: str | None = None
    """Name of the planner that made it."""

    moves: int | None = None
    """Key groups that it moves."""

    predicted: Figures | None = None
    """What it promises."""

    observed: Figures | None = None
    """What was measured once it had been carried out."""


class ApprovablePlan(Part):
    """A plan that was shown and may be approved."""

    hash: str
    """Its hash: the value that the annotation streamjob.dev/approve needs."""

    computed_at: Time
    """When it was made. RFC 3339."""

    executors: int
    """Executors that it wants, those marked for removal left out."""

    moves: int
    """Key groups that it moves."""

    until: Time | None = None
    """Until when it may be approved; absent for the newest plan, which may be until another one is shown. RFC 3339."""


class Decision(Part):
    """One decision."""

    at: Time
    """When. RFC 3339."""

    decision: str
    """Acted, Held or Refused."""

    reason: str
    """Stable code; see docs/reference/reasons.md."""

    message: str
    """A sentence for a person."""

    moves: int | None = None
    """Key groups that were to be moved."""

    count: int | None = None
    """How often in a row it was taken; absent for once."""


class CycleStatus(Part):
    """The newest cycle."""

    id: str | None = None
    """Its id in the operator's log."""

    at: Time | None = None
    """When it began. RFC 3339."""

    seconds: float | None = None
    """How long it took. Seconds."""

    reason: str | None = None
    """Why it acted or did not: stable code; see docs/reference/reasons.md."""

    message: str | None = None
    """A sentence for a person."""

    woken_by: str | None = None
    """What happened before the statistics period was over, in sentences. Absent: the cycle came by the clock."""


class Handled(Part):
    """Tokens of annotations that were already followed."""

    refresh: str | None = None
    """Value of streamjob.dev/refresh that was followed."""

    stop: str | None = None
    """Value of streamjob.dev/stop that was followed."""


class Status(Part):
    """What the operator tells about the job."""

    uid: str | None = None
    """Uid of the StreamJob that this was told of (`metadata.uid`). A copy that was restored from a backup has another
    one, and starts anew."""

    observed_generation: int | None = None
    """Generation of the spec that was acted on (`metadata.generation`)."""

    phase: Phase | None = None
    """What the job is doing, in one word."""

    why: str | None = None
    """Why it is as it is, in one word: the reason of Ready while that is not True, else the newest cycle's, else
    Ready's. Codes of docs/reference/reasons.md; the sentence is in the condition or in lastCycle."""

    executors: ExecutorsStatus | None = None
    """How many executors there should be, and are."""

    load: LoadStatus | None = None
    """Load of the executors over the last statistics period."""

    batch: BatchStatus | None = None
    """How long batches take, what was predicted, and what they wait for."""

    scaling: ScalingStatus | None = None
    """What the newest scaling decision rested on, in numbers that can be checked by hand."""

    savings: SavingsStatus | None = None
    """Executor-hours of the newest months, beside those of a fleet that always has the most."""

    collocation: CollocationStatus | None = None
    """Share of the traffic between key groups that stays on one executor."""

    migrations: MigrationsStatus | None = None
    """Moves of key groups that are under way."""

    last_plan: PlanStatus | None = None
    """The newest plan, what it promised and what came of it."""

    approvable: tuple[ApprovablePlan, ...] = Field(default=(), max_length=MOST_APPROVABLE)
    """Plans that may be approved, newest first, at most 5: the one that waits, and those that it has replaced of late.
    One is started only while it is possible and a step towards what is wanted."""

    last_action: Decision | None = None
    """The newest decision that changed something."""

    last_cycle: CycleStatus | None = None
    """The newest cycle, whether it acted or not."""

    driver: DriverStatus | None = None
    """The Spark driver."""

    key_groups: KeyGroupsStatus | None = None
    """How many key groups there are, how many might do, and what is done about it."""

    handled: Handled | None = None
    """Tokens of annotations that were already followed."""

    history: tuple[Decision, ...] = Field(default=(), max_length=MOST_HISTORY)
    """The newest decisions, oldest first, at most 20."""

    memory: str | None = None
    """What the operator remembers from cycle to cycle, as JSON. Not for people: it may change with any version."""

    conditions: Annotated[tuple[Condition, ...], ListKey("type")] = ()
    """Ready, Reconciling, Stalled and others, each with a reason and a sentence."""
