"""What the agent's brain needs from Spark. `streamjob_agent.spark` implements it; tests use a fake.

The brain (keeper, exporter, server, agent) never touches py4j; the Spark side never decides where a key group goes.
Every method may raise any exception: the brain catches, counts and reports it, and the job goes on.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping
from typing import Any, Protocol

from streamjob_agent.plan_form import QueryPlan
from streamjob_agent.wire import GroupKey


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Executor:
    """A live executor. `host` is the host string that the scheduler matches locality with."""

    executor_id: str
    host: str
    cores: int


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """An active streaming query.

    `operators` maps operatorId to its number of partitions; empty until that is known. Stateful operators that share a
    stage run in one task and so move as one: they are one operator here, named by the one nearest to the sink, and its
    usage, state bytes and placement cover all of them. `adopted` queries had finished batches before the bridge saw
    them: their key groups stay where Spark has them until somebody wants them elsewhere. `idle` ones were between two
    batches just now.
    """

    query_id: str
    run_id: str
    name: str | None
    operators: Mapping[int, int]
    trigger_interval_s: float | None
    adopted: bool = False
    idle: bool = False


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class GroupUsage:
    """Added up over the tasks of one key group since the last drain of the probe."""

    key: GroupKey
    executor_id: str  # of the newest task
    tasks: int
    first_tasks: int  # of them, those that were the first on their slot in their stage
    busy_s: float
    cpu_s: float
    records: int
    local_bytes: int
    remote_bytes: int
    state_rows: int | None


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


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What one drain of the probe gives."""

    groups: Mapping[str, tuple[GroupUsage, ...]]  # by query id
    batches: tuple[BatchEnd, ...]
    other_busy_s: Mapping[str, float]  # by query id: tasks of its stages without key groups
    executor_busy_s: Mapping[str, float]  # by executor id: every task
    failed_tasks: int
    longest_stateful_stage_s: float | None


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Traffic:
    """Bytes of one shuffle from map partition to reduce partition, heavy pairs only."""

    from_key: GroupKey
    to_key: GroupKey
    size_bytes: int


class SparkBridge(Protocol):
    """Spark as the brain sees it."""

    def spark_version(self) -> str:
        """For example "4.3.0"."""

    def application_id(self) -> str:
        """Changes with each driver."""

    def join(self, session: Any) -> None:
        """Watch the queries of another session of the same application from their first batch on.

        Without it they are found some time after they have started.
        """

    def executors(self) -> tuple[Executor, ...]:
        """Live executors, the driver left out, ordered by id."""

    def queries(self) -> tuple[Query, ...]:
        """Active streaming queries with state."""

    def drain(self) -> Usage:
        """What happened since the last call; never blocks the job."""

    def state_bytes(self, query_id: str) -> Mapping[GroupKey, int]:
        """Checkpoint bytes that a move of each group would load now: newest snapshot and changelogs after it."""

    def traffic(self, query_id: str, min_bytes: int, max_pairs: int) -> tuple[Traffic, ...]:
        """Shuffle bytes between key groups of chained operators in the newest batch that can still be read."""

    def plan(self, query: Query) -> QueryPlan | None:
        """The query's operators and shuffles, with means of its newest batches; None before its first has ended."""

    def place(self, query_id: str, owners: Mapping[GroupKey, Executor]) -> None:
        """Register owners from now on: asserted at once and at each batch boundary until replaced.

        Key groups that are not named keep the owner they had. While actuation is off nothing is registered.
        """

    def remember(self, query_id: str, owners: Mapping[GroupKey, str]) -> None:
        """Owners under the executor ids of an earlier driver, for a query that may start at any moment.

        Before its first task, groups that shared an executor share one again. `place` replaces what this gave.
        """

    def mark(self, executor_ids: Collection[str]) -> None:
        """All executors that shall get no key group from the bridge's own placement (initial, guard).

        Replaces the earlier set. Decommissioned executors count as marked by themselves.
        """

    def set_actuation(self, on: bool) -> None:
        """Allow or forbid every placement. At first it is on if the self-test that ran at start passed, else off."""

    def wait_for_boundary(self, timeout_s: float) -> bool:
        """Block until a micro-batch has ended since the last call, at most timeout_s; True when one has."""

    def set_locality_wait(self, seconds: float) -> None:
        """Set spark.locality.wait.process for task sets made from now on."""

    def request_executors(self, total: int) -> None:
        """Ask the cluster for this number of executors."""

    def decommission(self, executor_id: str) -> None:
        """Take one executor away without replacement."""

    def self_test(self) -> Mapping[str, str]:
        """Each check's name and "ok" or what failed; leaves no trace in the job."""

    def stop_queries(self, timeout_s: float) -> Mapping[str, str]:
        """Stop every query between two batches, after timeout_s inside one: query id -> "between" or "inside".

        For the end of the program: a query that starts later is held before its first batch.
        """

    def diagnostics(self) -> tuple[Mapping[str, tuple[int, str]], Mapping[str, int]]:
        """Faults caught inside the bridge (place -> count and newest message), and its own counters.

        Counters ending in `_ns` are time that the bridge's work took in the driver since it was attached.
        """

    def close(self) -> None:
        """Detach every listener."""
