"""A Spark on paper behind the bridge's protocol: batches run when a test says so, tasks go where registered."""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Callable, Collection, Mapping, Sequence

from streamjob_agent.bridge import (
    BatchEnd,
    Executor,
    ExecutorMemory,
    GroupUsage,
    Moments,
    Query,
    RunningBatch,
    Scene,
    Sent,
    StageUsage,
    Traffic,
    TrafficReading,
    Usage,
)
from streamjob_agent.plan_form import KeyColumn, PlanOperator, QueryPlan
from streamjob_agent.spread import group_keys, id_order
from streamjob_agent.wire import GroupKey

QUERY = "query-1"
APPLICATION = "app-1"
_PATIENCE_S = 0.05  # tests do not wait as long as an agent may
METHODS = [
    *("spark_version", "application_id", "self_test", "look", "drain", "wait_for_boundary", "wake"),
    *(
        "state_bytes",
        "traffic",
        "memory",
        "plan",
        "diagnostics",
        "place",
        "remember",
        "join",
        "mark",
        "set_actuation",
        "set_locality_wait",
    ),
    *("request_executors", "decommission", "close"),
]


def executor(name: str) -> Executor:
    return Executor(executor_id=name, host=f"host-{name}", cores=1)


class FakeBridge:
    """One query. `faults` maps a method's name to what it does instead: raise, hang for a bounded time."""

    def __init__(
        self, executors: Collection[str] = ("0", "1", "2"), operators: Mapping[int, int] | None = None
    ) -> None:
        self.alive = {name: executor(name) for name in executors}
        self.operators = {0: 6, 1: 6} if operators is None else dict(operators)
        self.registered: dict[GroupKey, str] = {}
        self.ran: dict[GroupKey, str] = {}
        self.disobeys: Callable[[GroupKey], bool] = lambda key: False
        self.faults: dict[str, Callable[[], None]] = {}
        self.own_faults: dict[str, tuple[int, str]] = {}
        self.run_id = "run-1"
        self.checks = {"version": "ok"}
        self.calls: list[tuple[str, object]] = []
        self.query_id = QUERY
        self.batch_id = 0
        self.batch_s = 1.0
        self.input_rows = 10
        self.on = True
        self.running = True
        self.others: tuple[Query, ...] = ()
        self.own_wait = False
        self.idle = False
        self.still = False  # whether a wait has found that nothing has changed
        self.task_s = 0.1
        self._usage: list[Usage] = []
        self._ended = threading.Condition()
        self._boundaries = 0
        self._woken = False
        self._seen = 0

    def _enter(self, method: str, argument: object = None) -> None:
        self.calls.append((method, argument))
        if method in self.faults:
            self.faults[method]()

    def called(self, method: str) -> list[object]:
        return [argument for name, argument in self.calls if name == method]

    def run_batch(self) -> None:
        """Run each group's task where it is registered, else where it ran, else anywhere alive, as Spark would."""
        alive = sorted(self.alive, key=id_order)
        fallback = {
            key: alive[(key.operator * self.operators[key.operator] + key.partition) % len(alive)]
            for key in group_keys(self.operators)
        }
        for key in group_keys(self.operators):
            wanted = self.registered.get(key)
            if wanted is None or wanted not in self.alive or (self.disobeys(key) and key in self.ran):
                wanted = self.ran.get(key)
            self.ran[key] = wanted if wanted in self.alive else fallback[key]
            self.registered.setdefault(key, self.ran[key])
        self.batch_id += 1
        with self._ended:
            self._usage.append(self._measured())
            self._boundaries += 1
            self._ended.notify_all()

    def run_tasks(self, owners: Mapping[GroupKey, str]) -> None:
        """Tasks of these groups end on these executors, and their batch goes on."""
        self.ran.update(owners)
        nothing = {"tasks": 0, "first_tasks": 0, "busy_s": 0.0, "cpu_s": 0.0, "records": 0, "local_bytes": 0}
        groups = tuple(
            GroupUsage(
                key=key,
                executor_id=name,
                counted_on="",
                moments=Moments(batches=0, squared_s2=0.0),
                remote_bytes=0,
                state_rows=None,
                **nothing,  # type: ignore[arg-type]
            )
            for key, name in owners.items()
        )
        usage = Usage(
            groups={self.query_id: groups},
            batches=(),
            other_busy_s={},
            executor_busy_s={},
            failed_tasks=0,
            longest_stateful_stage_s=None,
        )
        with self._ended:
            self._usage.append(usage)

    def begin_batch(self, running: RunningBatch) -> None:
        """The next batch runs, and its rows are read."""
        nothing = Usage(
            groups={}, batches=(), other_busy_s={}, executor_busy_s={}, failed_tasks=0, longest_stateful_stage_s=None
        )
        with self._ended:
            self._usage.append(dataclasses.replace(nothing, running={self.query_id: running}))

    def steal(self, thief: str, *keys: GroupKey) -> None:
        """A batch in which an executor takes these tasks from others, and nobody is registered elsewhere for it."""
        homes = {key: self.registered[key] for key in keys}
        self.registered.update(dict.fromkeys(keys, thief))
        self.run_batch()
        self.registered.update(homes)

    def choose(self, owners: Mapping[GroupKey, str]) -> None:
        """A batch before which the bridge gave owners by itself."""
        self.registered.update(owners)
        self.run_batch()
        self._usage[-1] = dataclasses.replace(self._usage[-1], given={self.query_id: dict(owners)})

    def next_query(self, query_id: str) -> None:
        """The query ends, and another one is started, which has run nothing yet."""
        self.query_id = query_id
        self.registered, self.ran = {}, {}

    def _measured(self) -> Usage:
        batch = BatchEnd(
            query_id=self.query_id,
            run_id=self.run_id,
            batch_id=self.batch_id,
            ended_at_s=1000.0 + self.batch_id,
            duration_s=self.batch_s,
            input_rows=self.input_rows,
            input_rps=10.0,
            processed_rps=20.0,
            lag_rows=None,
            parts_s={"addBatch": 0.7, "triggerExecution": 1.0},
            state_memory_bytes=4096,
        )
        groups = tuple(
            GroupUsage(
                key=key,
                executor_id=name,
                counted_on=name,
                moments=Moments(batches=1, squared_s2=self.task_s**2),
                tasks=1,
                first_tasks=0,
                busy_s=self.task_s,
                cpu_s=self.task_s / 2,
                records=5,
                local_bytes=7,
                remote_bytes=9,
                state_rows=3,
                gc_s=0.01,
                fetch_wait_s=0.02,
                state_memory_bytes=500,
                state_in_heap=True,
            )
            for key, name in self.ran.items()
        )
        busy = dict.fromkeys(self.ran.values(), 1.5)
        return Usage(
            groups={self.query_id: groups},
            batches=(batch,),
            other_busy_s={self.query_id: 0.25},
            executor_busy_s=busy,
            failed_tasks=0,
            longest_stateful_stage_s=0.5,
            stages={
                self.query_id: (
                    StageUsage(stage="free-0.0", level=0, wall_s=0.1, busy_s=0.2, longest_s=0.1),
                    *(
                        StageUsage(
                            stage=f"operator-{one}", level=2 - one, wall_s=0.3, busy_s=0.6, longest_s=0.1, wait_s=0.2
                        )
                        for one in self.operators
                    ),
                )
            },
        )

    # The protocol.

    def spark_version(self) -> str:
        self._enter("spark_version")
        return "4.3.0"

    def application_id(self) -> str:
        self._enter("application_id")
        return APPLICATION

    def join(self, session: object) -> None:
        self._enter("join", session)

    def look(self) -> Scene:
        self._enter("look")
        executors = tuple(self.alive[name] for name in sorted(self.alive, key=id_order))
        query = Query(
            query_id=self.query_id,
            run_id=self.run_id,
            name="demo",
            operators=self.operators,
            trigger_interval_s=None,
            idle=self.idle,
        )
        return Scene(executors=executors, queries=(query, *self.others) if self.running else ())

    def drain(self) -> Usage:
        self._enter("drain")
        with self._ended:
            drained, self._usage = self._usage, []
        if drained:
            newest = drained[-1]
            batches = tuple(batch for usage in drained for batch in usage.batches)
            return Usage(**{**{name: getattr(newest, name) for name in newest.__slots__}, "batches": batches})
        return Usage(
            groups={}, batches=(), other_busy_s={}, executor_busy_s={}, failed_tasks=0, longest_stateful_stage_s=None
        )

    def state_bytes(self, query_id: str) -> Mapping[GroupKey, int]:
        self._enter("state_bytes", query_id)
        return dict.fromkeys(group_keys(self.operators), 1000)

    def traffic(self, query_id: str, min_bytes: int, max_pairs: int) -> TrafficReading:
        self._enter("traffic", query_id)
        pair = Traffic(
            from_key=GroupKey(operator=1, partition=0), to_key=GroupKey(operator=0, partition=2), size_bytes=5000
        )
        sent = {GroupKey(operator=1, partition=at): Sent(size_bytes=6000 + at, partners=6) for at in range(6)}
        return TrafficReading(pairs=(pair,)[:max_pairs], sent=sent)

    def memory(self) -> Mapping[str, ExecutorMemory]:
        self._enter("memory")
        return {
            name: ExecutorMemory(used_bytes=1000 + int(name), limit_bytes=2000, heap_room_bytes=9000)
            for name in self.alive
        }

    def plan(self, query: Query) -> QueryPlan | None:
        self._enter("plan", query.query_id)
        key = (KeyColumn(number=0, name="user"),)
        operators = tuple(
            PlanOperator(operator=number, kind="StateStoreSaveExec", partitions=width, key=key)
            for number, width in self.operators.items()
        )
        return QueryPlan(
            query_id=query.query_id, name=query.name, batches=1, operators=operators, shuffles=(), links=()
        )

    def place(self, query_id: str, owners: Mapping[GroupKey, Executor]) -> None:
        self._enter("place", dict(owners))
        if self.on:
            self.registered.update({key: owner.executor_id for key, owner in owners.items()})

    def remember(self, query_id: str, owners: Mapping[int, Sequence[str | None]]) -> None:
        self._enter("remember", (query_id, dict(owners)))
        if not self.ran:  # old executors become new ones by rank; a test gives as many
            named = {old for row in owners.values() for old in row if old is not None}
            ranks = {old: rank for rank, old in enumerate(sorted(named, key=id_order))}
            alive = sorted(self.alive, key=id_order)
            for key in group_keys({operator: len(row) for operator, row in owners.items()}):
                old = owners[key.operator][key.partition]
                if old is not None:
                    self.registered[key] = alive[ranks[old] % len(alive)]

    def mark(self, executor_ids: Collection[str]) -> None:
        self._enter("mark", frozenset(executor_ids))

    def set_actuation(self, on: bool) -> None:
        self._enter("set_actuation", on)
        self.on = on

    def wait_for_boundary(self, timeout_s: float) -> bool:
        self._enter("wait_for_boundary", timeout_s)
        with self._ended:
            self._ended.wait_for(lambda: self._boundaries != self._seen or self._woken, min(timeout_s, _PATIENCE_S))
            ended, self._seen, self._woken = self._boundaries != self._seen, self._boundaries, False
        return ended

    def wake(self) -> None:
        self._enter("wake")
        with self._ended:
            self._woken = True
            self._ended.notify_all()

    def changed(self) -> bool:
        self._enter("changed")
        return not self.still

    def set_locality_wait(self, seconds: float) -> bool:
        self._enter("set_locality_wait", seconds)
        return not self.own_wait

    def request_executors(self, total: int) -> None:
        self._enter("request_executors", total)

    def decommission(self, executor_id: str) -> None:
        self._enter("decommission", executor_id)
        del self.alive[executor_id]

    def self_test(self) -> Mapping[str, str]:
        self._enter("self_test")
        return self.checks

    def stop_queries(self, timeout_s: float) -> Mapping[str, str]:
        self._enter("stop_queries", timeout_s)
        self.running = False
        return {self.query_id: "between"}

    def diagnostics(self) -> tuple[Mapping[str, tuple[int, str]], Mapping[str, int]]:
        self._enter("diagnostics")
        return self.own_faults, {"hook_ns": 1_000_000, "batches": 3}

    def close(self) -> None:
        self._enter("close")
