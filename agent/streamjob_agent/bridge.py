"""What the agent's brain needs from Spark. `streamjob_agent.spark` implements it; tests use a fake.

The brain (registration, exporter, server, agent) never touches py4j. It decides where key groups go; the Spark side
does so only where nobody can wait for the brain (a query's first batch, an executor that is gone), and reports it.
Every method may raise any exception: the brain catches, counts and reports it, and the job goes on.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from streamjob_agent.plan_form import QueryPlan
from streamjob_agent.wire import GroupKey

OK = "ok"


def passes(answer: str) -> bool:
    """Whether a check of the self-test lets actuation go on: "ok", or "ok, but" and what one should know."""
    return answer == OK or answer.startswith(f"{OK}, but ")


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Executor:
    """A live executor. `host` is the host string that the scheduler matches locality with.

    `leaving`: Spark offers it no task. It was decommissioned, by whomever, and is gone some time after; or Spark has
    excluded it, as tasks failed there (spark.excludeOnFailure), and takes it back some time after.
    """

    executor_id: str
    host: str
    cores: int
    leaving: bool = False


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class ExecutorMemory:
    """The most that an executor's process has used since it began, and what its container may use.

    Rooms are what there is at most for state: on the heap, and outside it. None where nothing holds state to a limit.
    """

    used_bytes: int
    limit_bytes: int | None  # None where no container holds it to a limit
    heap_room_bytes: int | None = None
    native_room_bytes: int | None = None


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """An active streaming query.

    `operators` maps operatorId to its number of partitions; empty until that is known. Stateful operators that share a
    stage run in one task and so move as one: they are one operator here, named by the one nearest to the sink, and its
    usage, state bytes and placement cover all of them. `idle` ones were between two batches just now. `pinned` key
    groups stay on their executor while they can: another one that opens their state may fail, see decision 0067.
    """

    query_id: str
    run_id: str
    name: str | None
    operators: Mapping[int, int]
    trigger_interval_s: float | None
    idle: bool = False
    pinned: frozenset[GroupKey] = frozenset()


class Scene(NamedTuple):
    """What one look at Spark finds."""

    executors: tuple[Executor, ...]
    """The live ones, the driver left out, ordered by id; leaving ones are among them until they are gone."""
    queries: tuple[Query, ...]
    """Active streaming queries with state, and those whose first plan is not known yet."""


class Moments(NamedTuple):
    """How a key group's seconds b and first tasks f vary from batch to batch: sums over `batches` ended batches."""

    batches: int
    squared_s2: float  # of b * b
    first_s: float = 0.0  # of b * f
    firsts_squared: int = 0  # of f * f


class GroupUsage(NamedTuple):
    """Added up over the tasks of one key group in batches that ended since the last drain of the probe.

    A tuple, as is what is made of it: there is one for each group of each batch, and a frozen class takes six times as
    long to make. All counts are 0 where only the batch that still runs has had a task of the group.
    """

    key: GroupKey
    executor_id: str  # of the newest task of all
    counted_on: str  # executor of the newest task that is counted; empty without one
    moments: Moments
    tasks: int
    first_tasks: int  # of them, those that were the first on their slot in their stage
    busy_s: float
    cpu_s: float
    records: int
    local_bytes: int
    remote_bytes: int
    state_rows: int | None
    state_memory_bytes: int | None = None  # of its state after its newest task, as its stores report it
    state_in_heap: bool = False  # on the JVM's heap, by the HDFS-backed provider; else outside it
    gc_s: float = 0.0  # that the executor stood still to collect garbage while they ran
    fetch_wait_s: float = 0.0  # that they waited for shuffle blocks of other executors


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class BatchEnd:
    """One finished micro-batch of a query, from its progress."""

    query_id: str
    run_id: str
    batch_id: int
    ended_at_s: float
    duration_s: float
    input_rows: int
    input_rps: float | None
    processed_rps: float | None
    lag_rows: float | None
    parts_s: Mapping[str, float] = dataclasses.field(default_factory=dict)  # by name, see metric_names.PARTS
    state_memory_bytes: int | None = None  # as its state stores report it


class RunningBatch(NamedTuple):
    """The batch that a query runs, once its rows are read: they are known long before it ends."""

    batch_id: int
    began_at_s: float  # its first job's start
    rows: int  # at least; as Spark will count them


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class StageUsage:
    """One stage of ended batches, added up over them. `stage` is its name, see :mod:`streamjob_agent.metric_names`."""

    stage: str
    level: int  # in the newest of these batches
    wall_s: float
    busy_s: float
    longest_s: float  # sum of each batch's longest task
    wait_s: float = 0.0  # of all its tasks, from the stage's submission to their launch


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What one drain of the probe gives."""

    groups: Mapping[str, tuple[GroupUsage, ...]]  # by query id
    batches: tuple[BatchEnd, ...]
    other_busy_s: Mapping[str, float]  # by query id: tasks of its stages without key groups
    executor_busy_s: Mapping[str, float]  # by executor id: every task
    failed_tasks: int
    longest_stateful_stage_s: float | None
    longest_task_s: float | None = None  # of a key group
    stages: Mapping[str, tuple[StageUsage, ...]] = dataclasses.field(default_factory=dict)  # by query id
    dropped: int = 0
    """Tasks and batches that are missing here, because too much had happened since the last drain."""
    given: Mapping[str, Mapping[GroupKey, str]] = dataclasses.field(default_factory=dict)
    """By query id: owners that the bridge chose itself since the last drain, where it could not wait for the brain."""
    running: Mapping[str, RunningBatch] = dataclasses.field(default_factory=dict)
    """By query id, as it is now; none between two batches, while sources are read, before a batch with rows ended."""


class Traffic(NamedTuple):
    """Bytes of one shuffle from map partition to reduce partition, heavy pairs only.

    A tuple, as there may be thousands in one reading.
    """

    from_key: GroupKey
    to_key: GroupKey
    size_bytes: int


class Sent(NamedTuple):
    """What one key group sent to those of the operators that read from it, in one batch."""

    size_bytes: int
    partners: int  # key groups that got any of it


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class TrafficReading:
    """One batch's traffic: the heaviest pairs, heaviest first, and all that each sending key group sends."""

    pairs: tuple[Traffic, ...] = ()
    sent: Mapping[GroupKey, Sent] = dataclasses.field(default_factory=dict)


class SparkBridge(Protocol):
    """Spark as the brain sees it."""

    def spark_version(self) -> str:
        """For example "4.3.0"."""

    def application_id(self) -> str:
        """Changes with each driver."""

    def join(self, session: Any) -> None:
        """Watch the queries of another session of the same application; to be called before one of them starts.

        Without it they are found some time after they have started. A session without queries is let go after a while.
        """

    def look(self) -> Scene:
        """Executors and queries, as they are now."""

    def drain(self) -> Usage:
        """What happened since the last call; never blocks the job."""

    def state_bytes(self, query_id: str) -> Mapping[GroupKey, int]:
        """Checkpoint bytes that a move of each group would load now: newest snapshot and changelogs after it."""

    def traffic(self, query_id: str, min_bytes: int, max_pairs: int) -> TrafficReading:
        """Shuffle bytes between key groups of chained operators in the newest batch that can still be read.

        `min_bytes` and `max_pairs` cut the pairs only.
        """

    def memory(self) -> Mapping[str, ExecutorMemory]:
        """By id of a live executor, those that have told."""

    def plan(self, query: Query) -> QueryPlan | None:
        """The query's operators and shuffles, with means of its newest batches; None before its first has ended."""

    def place(self, query_id: str, owners: Mapping[GroupKey, Executor]) -> None:
        """Register owners from now on: asserted at once and at each batch boundary until replaced.

        Key groups that are not named keep the owner they had. While actuation is off nothing is registered.
        """

    def remember(self, query_id: str, owners: Mapping[int, Sequence[str | None]]) -> None:
        """Owners under the executor ids of an earlier driver, for a query that may start at any moment.

        For each operator those of all its partitions, None where nobody knows: with another number of partitions it is
        another operator by now.
        Before its first batch, groups that shared an executor share one again. `place` replaces what this gave.
        """

    def mark(self, executor_ids: Collection[str]) -> None:
        """All executors that shall get no key group from the bridge's own placement (initial, guard).

        Replaces the earlier set. Decommissioned executors count as marked by themselves.
        """

    def set_actuation(self, on: bool) -> None:
        """Allow or forbid every placement. At first it is on if the self-test that ran at start passed, else off."""

    def wait_for_boundary(self, timeout_s: float) -> bool:
        """Block until a micro-batch has ended since the last call, at most timeout_s; True when one has.

        Ends early when there is something to see (`changed`), some time after it came, and when somebody wakes it.
        """

    def wake(self) -> None:
        """End the wait that goes on, or the next one. For any thread."""

    def changed(self) -> bool:
        """Whether, when the last wait ended, a look would have found something else than the one before it.

        Owners that the bridge gave count, too; what tasks of a batch that runs have taken does not. Nobody is asked.
        """

    def set_locality_wait(self, seconds: float) -> bool:
        """How long tasks of queries with state wait for their executor from now on; False when the job says it."""

    def request_executors(self, total: int) -> None:
        """Ask the cluster for this number of executors."""

    def decommission(self, executor_id: str) -> None:
        """Take one executor away without replacement: no task more, and it ends once what is under way now has."""

    def self_test(self) -> Mapping[str, str]:
        """Each check's name and "ok", "ok, but ..." or what failed; leaves no trace in the job."""

    def stop_queries(self, timeout_s: float) -> Mapping[str, str]:
        """Stop every query between two batches, after timeout_s inside one.

        Query id -> "between" or "inside", or what Spark threw of one that would not stop: others do all the same.

        For the end of the program: a query that starts later is held before its first batch.
        """

    def diagnostics(self) -> tuple[Mapping[str, tuple[int, str]], Mapping[str, int]]:
        """Faults caught inside the bridge (place -> count and newest message), and its own counters.

        Counters ending in `_ns` are time that the bridge's work took in the driver since it was attached.
        """

    def close(self) -> None:
        """Detach every listener."""
