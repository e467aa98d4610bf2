"""How to balance and how to scale."""

from __future__ import annotations

import datetime
import enum
import re
from typing import Annotated
from zoneinfo import ZoneInfo

from croniter import CroniterBadDateError, croniter
from pydantic import AfterValidator, Field, model_validator

from streamjob_operator.scaling import registry as scaling_rules
from streamjob_operator.spec.base import Part
from streamjob_operator.spec.fail_safe import FailSafe
from streamjob_operator.spec.key_groups import KeyGroups
from streamjob_operator.spec.quantities import Duration, Size, format_duration
from streamjob_operator.spec.rules import OneOf, Rule, matches, seconds, told
from streamjob_planners import registry
from streamjob_planners.model import Objective


class Mode(enum.StrEnum):
    """How far StreamJob may go."""

    OFF = "Off"
    RECOMMEND = "Recommend"
    APPROVE = "Approve"
    AUTO = "Auto"


class InitialPlacement(enum.StrEnum):
    """Where key groups are when a driver starts again."""

    AS_BEFORE = "AsBefore"
    SPREAD = "Spread"
    ROD = "Rod"
    COR_GLOBAL = "CorGlobal"


class Denied(enum.StrEnum):
    """What a window forbids."""

    SCALE_UP = "ScaleUp"
    SCALE_DOWN = "ScaleDown"
    MOVE = "Move"


def _planner(name: str) -> str:
    if name not in registry.names():
        raise ValueError(f"choose one of {', '.join(registry.names())}")
    return name


def _rule(name: str) -> str:
    if name not in scaling_rules.names():
        raise ValueError(f"choose one of {', '.join(scaling_rules.names())}")
    return name


def _cron_field(number: str, names: str = "") -> str:
    """Lists of numbers, ranges and steps, or "*"; `names` may stand for numbers."""
    one = f"(?:{number}|{names})" if names else f"(?:{number})"
    step = f"(?:[*]|{one}(?:-{one})?)(?:/[1-9][0-9]?)?"
    return f"{step}(?:,{step})*"


CRON_PATTERN = "[ ]+".join(
    (
        _cron_field("[0-5]?[0-9]"),
        _cron_field("[01]?[0-9]|2[0-3]"),
        _cron_field("0?[1-9]|[12][0-9]|3[01]"),
        _cron_field("0?[1-9]|1[0-2]", "(?i:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)"),
        _cron_field("[0-7]", "(?i:sun|mon|tue|wed|thu|fri|sat)"),
    )
)
_CRON_HINT = 'five cron fields "minute hour day month weekday" are needed, for example "0 8 * * 1-5"'
_NO_DAY_HINT = "a day that comes is needed, and no month given has the days given"
_ANY_DAY = datetime.datetime(2000, 1, 1, tzinfo=datetime.UTC)
_TIMEZONE_PATTERN = "[A-Za-z][A-Za-z0-9_+-]*(?:/[A-Za-z0-9_+-]+)*"
_TIMEZONE_HINT = 'a time zone of the IANA database such as "Europe/Berlin" or "UTC" is needed'
_MIN_MAX = "min must not be above max"
_HINT = "a hint needs rate, executors, or both"
_DEADLINE = "planDeadline may be half of statisticsPeriod at most"
MOST_WINDOWS = 50


def _cron(text: str) -> str:
    if not re.fullmatch(CRON_PATTERN, text) or not croniter.is_valid(text):
        raise ValueError(_CRON_HINT)
    try:
        croniter(text, _ANY_DAY).get_prev()
    except CroniterBadDateError as error:
        raise ValueError(_NO_DAY_HINT) from error
    return text


def _timezone(name: str) -> str:
    try:
        ZoneInfo(name)
    except (KeyError, ValueError, OSError) as error:
        raise ValueError(_TIMEZONE_HINT) from error
    return name


class MigrationBudget(Part):
    """What moves may cost. A field that is left out sets no limit, but for maxCost."""

    max_cost_s: Duration | None = Field(default=None, alias="maxCost", gt=0, le=3600)
    """Seconds by which moves may make one batch longer; state that loads side by side counts once, and a plan that
    needs more is spread over batches. Duration, above 0s, up to 1h, default: what latencyObjective leaves of a batch,
    or a tenth of a batch."""

    max_migrations: int | None = Field(default=None, ge=1, le=1_000_000)
    """Moves of one plan. Default: no limit; range 1 to 1000000."""

    max_state_bytes: Size | None = Field(default=None, ge=1)
    """State that one plan may move. Byte size such as 2Gi, at least 1, default: no limit."""

    latency_objective_s: Duration | None = Field(default=None, alias="latencyObjective", gt=0, le=86400)
    """Longest wanted batch time; moves at one batch boundary use what is left of it. Duration, above 0s, up to 1d,
    default: none."""


class Collocation(Part):
    """Whether and how key groups that talk to each other are placed on one executor (ALBIC paper, 4.3.2)."""

    enabled: bool = True
    """Whether collocation is a goal. Default true; needs a planner that knows it, such as albic."""

    max_partition_load: float = Field(default=25.0, gt=0, le=1000)
    """Largest load of a set that moves as one. Percent points, default 25 (maxPL), above 0, up to 1000."""

    step: float = Field(default=5.0, gt=0, le=100)
    """By how much maxPartitionLoad is lowered when the load distance is too large. Percent points, default 5, above 0,
    up to 100."""

    score_factor: float = Field(default=1.5, ge=1, le=100)
    """How many times the average a pair's traffic must be to count. Default 1.5 (sF), range 1 to 100."""

    min_gain: float = Field(default=2.0, ge=0, le=100)
    """Collocation that a plan must gain to be made for its sake alone. Percent points, default 2, range 0 to 100."""


class Balancing(Part):
    """When and how key groups move between executors."""

    RULES = (
        Rule(
            f"!has(self.planDeadline) || {seconds('self.planDeadline')} * 2.0 <= {seconds('self.statisticsPeriod')}",
            _DEADLINE,
            ".planDeadline",
            told(
                f"planDeadline is %s and statisticsPeriod is %s; {_DEADLINE}",
                "self.planDeadline",
                "self.statisticsPeriod",
            ),
        ),
    )

    mode: Mode = Mode.RECOMMEND
    """How far StreamJob may go: Off, Recommend (plan and report, move nothing), Approve (wait until a person sets the
    annotation streamjob.dev/approve to the plan's hash) or Auto (act). Default Recommend."""

    planner: Annotated[str, AfterValidator(_planner), OneOf(registry.names())] = registry.DEFAULT
    """Algorithm that decides which executor gets which key group: search (fast, for any size), milp (exact solver),
    albic (balance and collocation by sets, as in the ALBIC paper), greedy, auto (asks the one that fits the job's own
    loads and traffic, and says why), and others to compare with. Default search."""

    objective: Objective = Objective.BATCH_TIME
    """What a plan makes small: batchTime (the seconds of a batch, stage after stage; batches are predicted, and where
    predictions are too far off, loadDistance holds) or loadDistance (the farthest executor from the mean load, as in
    the ALBIC paper). Default batchTime."""

    initial_placement: InitialPlacement = InitialPlacement.AS_BEFORE
    """Where key groups are when a driver starts again, when all state is loaded anyway: AsBefore (where the newest plan
    had them), Spread (as many of every operator on each executor), Rod (so that the most mixes of operators' rates are
    survived) or CorGlobal (those that swing against each other together). Rod and CorGlobal go by the batches before
    the newest plan that was carried out; with too few of them it is Spread. A job that has carried out no plan is
    spread evenly. Default AsBefore."""

    payback_batches: float = Field(default=10.0, alias="payback", gt=0, le=1_000_000)
    """Batches within which moves must gain the seconds that they cost. Default 10, above 0, up to 1000000; for the
    objective batchTime. Not asked of a job that falls behind."""

    statistics_period_s: Duration = Field(default=300.0, alias="statisticsPeriod", ge=1, le=86400)
    """Window of measurement, and longest time between two cycles (SPL): events wake one sooner. Duration, default 5m,
    range 1s to 1d."""

    approvable_for_s: Duration = Field(default=900.0, alias="approvableFor", ge=0, le=604800)
    """Where a mode is Approve: how long a plan that was shown may still be approved once another one is shown in its
    place, as while the load rises; with 0s the newest one alone may. It must still be possible and still be a step
    towards what is wanted. Duration, default 15m, range 0s to 7d."""

    max_load_distance: float = Field(default=10.0, gt=0, le=1000)
    """Load distance that is tolerated before key groups move, where the objective is loadDistance, and that collocation
    may use (maxLD). Percent points, default 10, above 0, up to 1000."""

    plan_deadline_s: Duration | None = Field(default=None, alias="planDeadline", gt=0, le=600)
    """Time for one plan. Duration, above 0s, up to 10m, default: a tenth of statisticsPeriod within 200ms and 10s."""

    max_iterations: int | None = Field(default=None, ge=1, le=1_000_000_000)
    """Limit of the planner's search that does not depend on the clock, for exact replays. Range 1 to 1000000000,
    default: none."""

    migration_budget: MigrationBudget = MigrationBudget()
    """What moves may cost: the seconds of a batch boundary, and how many key groups and bytes one plan may move."""

    pinned_operators: tuple[int, ...] = Field(default=(), max_length=100)
    """Operators, by their numbers in Spark's plan, whose key groups stay on their executors, as where a job keeps a
    cache of its own beside them. They leave executors that are drained or gone all the same. Default: none; at
    most 100."""

    collocation: Collocation = Collocation()
    """Whether and how key groups that exchange much data are placed on one executor, which saves network traffic."""

    key_groups: KeyGroups = KeyGroups()
    """How many key groups there shall be, and who decides it."""

    @property
    def tolerated_load_distance_pct(self) -> float | None:
        """Percent points of load distance from which key groups move; None where the time of batches decides."""
        return self.max_load_distance if self.objective is Objective.LOAD_DISTANCE else None

    @model_validator(mode="after")
    def _deadline_within_period(self) -> Balancing:
        if self.plan_deadline_s is not None and self.plan_deadline_s > self.statistics_period_s / 2:
            deadline, period = format_duration(self.plan_deadline_s), format_duration(self.statistics_period_s)
            raise ValueError(
                f"planDeadline is {deadline} and statisticsPeriod {period}; planDeadline may be half of it at most"
            )
        return self


class Executors(Part):
    """Bounds on the number of executors."""

    RULES = (
        Rule(
            "self.min <= self.max",
            _MIN_MAX,
            ".min",
            told(f"min is %d and max is %d; {_MIN_MAX}", "self.min", "self.max"),
        ),
    )

    min: int = Field(ge=1, le=10_000)
    """Fewest executors. Required, range 1 to 10000."""

    max: int = Field(ge=1, le=10_000)
    """Most executors. Required, range 1 to 10000, not below min."""

    replicas: int | None = Field(default=None, ge=0, le=10_000)
    """Executors wanted by somebody else, such as an HPA or `kubectl scale`; kept within min and max. While it is set,
    StreamJob's own scaling is off. Default: not set; range 0 to 10000."""

    @model_validator(mode="after")
    def _ordered(self) -> Executors:
        if self.min > self.max:
            raise ValueError(f"min is {self.min} and max is {self.max}; {_MIN_MAX}")
        return self


QUIET_S = 900.0
"""`stabilization.down` where nothing is given."""


class Stabilization(Part):
    """How long a wish must last before it is followed."""

    up_s: Duration = Field(default=0.0, alias="up", ge=0, le=86400)
    """The smallest wish of this time is followed upwards. Duration, default 0s, range 0s to 1d."""

    down_s: Duration | None = Field(default=None, alias="down", ge=0, le=604800)
    """The largest wish of this time is followed downwards. Duration, default 15m (the rule `batch-time`: up to 15m,
    as it learns), range 0s to 7d."""

    @property
    def quiet_s(self) -> float:
        """Seconds within which nobody leaves after what may come back."""
        return QUIET_S if self.down_s is None else self.down_s


class Recurring(Part):
    """A time that comes again and again."""

    cron: Annotated[str, AfterValidator(_cron), matches(CRON_PATTERN, _CRON_HINT)] = Field(max_length=100)
    """When it begins: five cron fields. Required."""

    duration_s: Duration = Field(alias="duration", ge=60, le=604800)
    """How long it lasts. Duration, required, range 1m to 7d."""

    timezone: Annotated[str, AfterValidator(_timezone), matches(_TIMEZONE_PATTERN, _TIMEZONE_HINT)] = Field(
        default="UTC", max_length=64
    )
    """Time zone of the cron fields. Default UTC."""


class Window(Recurring):
    """A recurring time in which something is forbidden."""

    deny: tuple[Denied, ...] = Field(min_length=1)
    """What is forbidden: ScaleUp, ScaleDown, Move. Required, at least one."""


class Hint(Recurring):
    """A recurring time of which it is known what it brings. Executors are asked for as early as they take to come."""

    RULES = (Rule("has(self.rate) || has(self.executors)", _HINT),)

    rate: float | None = Field(default=None, gt=0, le=1e12)
    """Rows a second that are expected at least. Above 0, up to 1e+12; this or executors is required."""

    executors: int | None = Field(default=None, ge=1, le=10_000)
    """Executors that there shall be at least, within min and max. Range 1 to 10000; this or rate is required."""

    @model_validator(mode="after")
    def _says_something(self) -> Hint:
        if self.rate is None and self.executors is None:
            raise ValueError(_HINT)
        return self


class ScalingObjective(enum.StrEnum):
    """What the number of executors is chosen for."""

    LATENCY = "latency"
    UTILIZATION = "utilization"


class Scaling(Part):
    """When executors are added and taken away."""

    mode: Mode = Mode.RECOMMEND
    """How far StreamJob may go: Off, Recommend (say how many executors would fit), Approve (wait until a person sets
    the annotation streamjob.dev/approve to the plan's hash) or Auto (act). Default Recommend."""

    rule: Annotated[str, AfterValidator(_rule), OneOf(scaling_rules.names())] = scaling_rules.DEFAULT
    """Rule that says how many executors are wanted; bounds, windows and mode are the same for all of them. Default
    batch-time."""

    objective: ScalingObjective = ScalingObjective.LATENCY
    """What the rule batch-time chooses the number for: latency (batches are seldom late, and their results no older
    than maxLatency) or utilization (the same, with slots busy to targetUtilization at most). Default latency."""

    max_latency_s: Duration | None = Field(default=None, alias="maxLatency", gt=0, le=86400)
    """How old results may get: from a row's arrival at the source to the end of its batch. Duration, above 0s, up to
    1d, default: batches are to end within their trigger interval, and without one to keep up. For batch-time."""

    forecast: bool = True
    """Whether executors are asked for ahead of a rate that the job's own past foretells, where that has been right.
    Default true; for the rule batch-time."""

    hints: tuple[Hint, ...] = Field(default=(), max_length=MOST_WINDOWS)
    """Recurring times with a known rate or number of executors. Default: none, at most 50; for the rule batch-time."""

    target_utilization: float = Field(default=70.0, ge=10, le=95)
    """Share of the executors' task slots that should be busy, for the rules utilization and hpa; for batch-time where
    its objective is utilization, or where batches follow each other at once and there is no maxLatency. Percent,
    default 70, range 10 to 95."""

    lag_threshold: float = Field(default=10.0, gt=0, le=1e15)
    """Rows that may wait in the source for each executor, which the rule keda goes by and no other. Default 10, as in
    KEDA, above 0, up to 1e+15."""

    catch_up_s: Duration = Field(default=600.0, alias="catchUp", ge=1, le=604800)
    """Time in which a backlog should be worked off. Duration, default 10m, range 1s to 7d."""

    priority: int = Field(default=0, ge=-1000, le=1000)
    """Where the jobs of a namespace share a number of executors, which the operator's --executor-quota bounds: those of
    a higher priority have what they need before others have more than executors.min. Default 0, range -1000 to
    1000."""

    executor_timeout_s: Duration = Field(default=300.0, alias="executorTimeout", ge=1, le=86400)
    """How long requested executors may take to come before the wish is given up. Duration, default 5m, range
    1s to 1d."""

    stabilization: Stabilization = Stabilization()
    """How long more or fewer executors must have been needed before their number follows."""

    fail_safe: FailSafe = FailSafe()
    """What is done when measurements are missing for long. Default: nothing, the number stays."""

    windows: tuple[Window, ...] = Field(default=(), max_length=MOST_WINDOWS)
    """Recurring times in which scaling up, scaling down or moving is forbidden. Default: none, at most 50."""
