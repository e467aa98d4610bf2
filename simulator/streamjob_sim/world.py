"""The world that a simulated job lives in: what users write in samples/worlds/*.yaml."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal

from pydantic import Field, model_validator

from streamjob_operator.spec import Balancing, Executors, Scaling
from streamjob_operator.spec.base import Part
from streamjob_operator.spec.job import Metrics
from streamjob_operator.spec.quantities import Duration, Size
from streamjob_sim.faults import Fault
from streamjob_sim.shapes import Arrival, Skew

NOBODY = "none"
"""In place of a planner: no controller at all, Spark as it is."""


START_S = 1_767_225_600.0
"""2026-01-01 00:00 UTC, a Thursday, so that windows with cron fields mean something."""


class Traffic(enum.StrEnum):
    """How a stage gets its input from the one before."""

    ONE_TO_ONE = "OneToOne"
    FULL = "Full"


class State(Part):
    """State of each key group."""

    initial_bytes: Size = Field(default=float(2**20), alias="initial", ge=0)
    """At the start. Byte size, default 1Mi."""

    bytes_per_record: float = Field(default=0.0, ge=0, le=1e9)
    """Growth with each record. Bytes, default 0."""

    cap_bytes: Size = Field(default=float(2**30), alias="cap", ge=0)
    """No key group's state grows above this. Byte size, default 1Gi."""


class Operator(Part):
    """One stateful operator: a stage with one task for each partition."""

    name: str = Field(min_length=1)
    """A name for people. Required."""

    partitions: int = Field(ge=1, le=100_000)
    """Key groups of this operator. Required, range 1 to 100000."""

    records_per_slot_second: float = Field(gt=0, le=1e12)
    """Records that one slot of speed 1 takes in a second. Required, above 0."""

    task_overhead_s: Duration = Field(default=0.005, alias="taskOverhead", ge=0, le=60)
    """Time of a task without any record. Duration, default 5ms."""

    selectivity: float = Field(default=1.0, ge=0, le=1000)
    """Records that leave for each one that comes. Default 1."""

    record_bytes: float = Field(default=100.0, ge=0, le=1e9)
    """Size of a record that leaves. Bytes, default 100."""

    traffic: Traffic = Traffic.FULL
    """How it gets its input from the operator before it: OneToOne or Full. Default Full."""

    skew: Skew = Skew()
    """How records are spread over its partitions; OneToOne takes over the spread of the operator before."""

    state: State = State()
    """Its state."""

    @model_validator(mode="after")
    def _shares_fit(self) -> Operator:
        known = self.skew.shares
        if known is not None and len(known) != self.partitions:
            raise ValueError(
                f"skew.shares: {len(known)} given for {self.partitions} partitions; one for each is needed"
            )
        return self


class Placement(enum.StrEnum):
    """Where key groups are at the start."""

    EVEN = "Even"
    PILED = "Piled"
    RANDOM = "Random"


COLD_JVM: Mapping[str, str | float] = MappingProxyType({"coldFactor": 1.0, "coldStart": "4s"})
"""A new executor whose JVM loads its classes, as users write it: its first tasks take 4 s longer, however few rows they
have. Measured on real Spark, 3.7 and 4.3 s in two runs (docs/rules-on-spark.md)."""


class Fleet(Part):
    """Executors."""

    initial: int = Field(ge=1, le=10_000)
    """Executors at the start. Required, range 1 to 10000."""

    cores: int = Field(default=2, ge=1, le=256)
    """Task slots of each. Default 2."""

    speeds: dict[str, float] = Field(default_factory=dict)
    """Speed of single executors, by id (ids count from 0 in the order of their coming). Default: 1 each."""

    startup_s: Duration = Field(default=30.0, alias="startup", ge=0, le=3600)
    """Time from asking for an executor to its being ready. Duration, default 30s."""

    cold_factor: float = Field(default=2.0, ge=1, le=100)
    """How many times longer the first tasks on a new executor take. Default 2."""

    cold_start_s: Duration = Field(default=0.0, alias="coldStart", ge=0, le=600)
    """How much longer a new executor's first task takes on each slot, however short it is. Duration, default 0s."""

    available: int = Field(default=10_000, ge=1, le=10_000)
    """Executors that the cluster has room for; more may be asked for but never come. Default 10000."""

    placement: Placement = Placement.EVEN
    """Even, Piled (five sixths of the key groups on a third of the executors) or Random. Default Even."""

    @model_validator(mode="after")
    def _speeds(self) -> Fleet:
        for name, speed in self.speeds.items():
            if not name.isdigit() or not 0.01 <= speed <= 100:
                raise ValueError(
                    f"speeds: '{name}: {speed:g}' given; an executor id and a speed of 0.01 to 100 are needed"
                )
        return self


class Batch(Part):
    """Micro-batches."""

    trigger_s: Duration = Field(default=10.0, alias="trigger", gt=0, le=3600)
    """Trigger interval; a batch that takes longer is followed by the next at once. Duration, default 10s."""

    fixed_s: Duration = Field(default=0.5, alias="fixed", ge=0, le=600)
    """Planning and commits of each batch. Duration, default 500ms."""

    source_records_per_slot_second: float | None = Field(default=None, gt=0, le=1e12)
    """Speed of the source stage, which has no key groups and uses all slots. Default: it takes no time."""

    max_records: float | None = Field(default=None, gt=0, le=1e15)
    """Most records of one batch, the rest waits. Default: all that have arrived."""

    noise: float = Field(default=0.0, ge=0, le=2)
    """Relative standard deviation of each key group's records in each batch. Default 0."""

    lag: Literal["atEnd", "atBegin", "untold"] = "atEnd"
    """Which records that wait the source tells: those at a batch's end; those that a batch left when it began, as Spark
    tells of Kafka, none where nothing caps it; or none at all. Default atEnd."""

    alike: bool = False
    """Whether batches in a row that nothing makes different are worked out once, without noise. Default false."""


class Costs(Part):
    """What moves and remote reads cost."""

    move_fixed_s: Duration = Field(default=0.2, alias="moveFixed", ge=0, le=600)
    """Extra time of a key group's first task after a move. Duration, default 200ms."""

    move_bytes_per_s: Size = Field(default=180e6, alias="moveBytesPerSecond", gt=0)
    """State that such a task loads in a second. Byte size, default 180M."""

    remote_bytes_per_s: Size = Field(default=500e6, alias="remoteBytesPerSecond", gt=0)
    """Shuffle bytes from other executors that a task reads in a second. Byte size, default 500M."""

    death_pause_s: Duration = Field(default=3.0, alias="deathPause", ge=0, le=600)
    """Time until the loss of an executor is noticed, in the batch in which it happens. Duration, default 3s."""


class Agent(Part):
    """The agent in the driver."""

    disobey: float = Field(default=0.0, ge=0, lt=1)
    """Chance that a move is not obeyed at a batch boundary, and tried again at the next. Default 0."""

    moves_per_batch: int | None = Field(default=None, ge=1)
    """Moves at one boundary. Default: no limit."""

    bytes_per_batch: Size | None = Field(default=None, gt=0)
    """State that may move at one boundary; one move is always allowed. Default: no limit."""


class Policy(Part):
    """The job's policy: the same words as in a StreamJob's spec."""

    executors: Executors
    """Bounds on the number of executors. Required."""

    balancing: Balancing = Balancing()
    """When and how key groups move between executors."""

    scaling: Scaling = Scaling()
    """When executors are added and taken away."""

    metrics: Metrics = Metrics()
    """When measurements are good enough to act on."""


class World(Part):
    """A streaming job on paper, and all that happens to it."""

    description: str = ""
    """What this world shows. Default: nothing."""

    duration_s: Duration = Field(alias="duration", ge=1, le=604800)
    """Length of the simulated time. Duration, required, range 1s to 7d."""

    start: float = Field(default=START_S, ge=0, le=1e11)
    """When it begins, for windows and hints by the clock. Seconds since 1970, default 1767225600: 2026-01-01 in UTC."""

    operators: tuple[Operator, ...] = Field(min_length=1)
    """Stages, in the order of the data's way. Required, at least one."""

    arrival: Arrival
    """Records per second over time. Required."""

    executors: Fleet
    """Executors. Required."""

    batch: Batch = Batch()
    """Micro-batches."""

    costs: Costs = Costs()
    """What moves and remote reads cost."""

    agent: Agent = Agent()
    """The agent in the driver."""

    faults: tuple[Fault, ...] = ()
    """What goes wrong, and when. Default: nothing."""

    policy: Policy
    """The job's policy. Required."""

    @model_validator(mode="after")
    def _pairs_fit(self) -> World:
        for before, after in zip(self.operators, self.operators[1:], strict=False):
            if after.traffic is Traffic.ONE_TO_ONE and after.partitions != before.partitions:
                raise ValueError(
                    f"operators: '{after.name}' is OneToOne after '{before.name}', so both need the same partitions"
                )
        return self
