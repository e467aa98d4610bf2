"""A Spark on paper under the REAL agent: batches run by themselves, executors come and go when asked.

Everything above the bridge is the product: the agent's admission, registration, exporter, and its client of the
PartitionMap.
"""

from __future__ import annotations

import dataclasses
import itertools
import threading
import time
from collections.abc import Callable, Collection, Mapping
from types import SimpleNamespace

from streamjob_agent import kube
from streamjob_agent.attach import Host
from streamjob_agent.bridge import (
    BatchEnd,
    Executor,
    ExecutorMemory,
    GroupUsage,
    Moments,
    Query,
    Scene,
    TrafficReading,
    Usage,
)
from streamjob_agent.config import AgentConfig
from streamjob_agent.spread import group_keys, id_order
from streamjob_agent.wire import GroupKey

_NUMBERS = itertools.count(1)


@dataclasses.dataclass(frozen=True, slots=True)
class Move:
    key: GroupKey
    source: str
    target: str


class PaperSpark:
    """One query of one operator. `load_pct` is what each partition keeps busy of one slot, percent."""

    def __init__(self, load_pct: list[float], executors: int, *, batch_s: float = 0.25, comes_after_s: float = 0.5):
        self.load_pct = load_pct
        self.batch_s = batch_s
        self.comes_after_s = comes_after_s
        self.most_executors = 1_000
        self.application = f"app-{next(_NUMBERS)}-{time.time_ns()}"
        self.query = Query(
            query_id="query-1",
            run_id=f"run-{self.application}",
            name="paper",
            operators={0: len(load_pct)},
            trigger_interval_s=batch_s,
        )
        self.alive = {str(number): self._executor(str(number)) for number in range(executors)}
        self.removed: list[str] = []
        self.removed_with_groups: list[str] = []
        self.moves: list[Move] = []
        self.ran: dict[GroupKey, str] = {}
        self.batches = 0
        self._registered: dict[GroupKey, str] = {}
        self._ended_at_s: float | None = None
        self._usage: list[Usage] = []
        self._requested = executors
        self._on = True
        self._ended = threading.Condition()
        self._seen = 0
        self._woken = False
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="paper-spark", daemon=True)

    @staticmethod
    def _executor(name: str) -> Executor:
        return Executor(executor_id=name, host=f"10.0.0.{name}:7000", cores=1)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stop.wait(self.batch_s):
            self.run_batch()

    def run_batch(self) -> None:
        with self._ended:
            alive = sorted(self.alive, key=id_order)
            for number, key in enumerate(group_keys(self.query.operators)):
                self._run_task(key, alive[number % len(alive)])
            self.batches += 1
            self._usage.append(self._measured())
            self._ended.notify_all()

    def _run_task(self, key: GroupKey, fallback: str) -> None:
        before = self.ran.get(key)
        wanted = self._registered.get(key)
        place = next((one for one in (wanted, before) if one in self.alive), None) or fallback
        if before is not None and place != before:
            self.moves.append(Move(key, before, place))
        self.ran[key] = place

    def _measured(self) -> Usage:
        # Busy for a share of what passed, on a busy machine more than was slept: the load stays what was asked.
        now_s = time.time()
        passed_s = self.batch_s if self._ended_at_s is None else now_s - self._ended_at_s
        self._ended_at_s = now_s
        busy_s = {key: self.load_pct[key.partition] / 100 * passed_s for key in self.ran}
        groups = tuple(
            GroupUsage(
                key=key,
                executor_id=name,
                counted_on=name,
                moments=Moments(batches=1, squared_s2=busy_s[key] ** 2),
                tasks=1,
                first_tasks=0,
                busy_s=busy_s[key],
                cpu_s=busy_s[key] / 2,
                records=10,
                local_bytes=10,
                remote_bytes=10,
                state_rows=10,
            )
            for key, name in self.ran.items()
        )
        batch = BatchEnd(
            query_id=self.query.query_id,
            run_id=self.query.run_id,
            batch_id=self.batches,
            ended_at_s=now_s,
            duration_s=self.batch_s / 2,
            input_rows=100,
            input_rps=100.0,
            processed_rps=200.0,
            lag_rows=None,
        )
        by_executor = {
            name: sum(busy_s[key] for key, owner in self.ran.items() if owner == name) for name in self.alive
        }
        return Usage(
            groups={self.query.query_id: groups},
            batches=(batch,),
            other_busy_s={},
            executor_busy_s=by_executor,
            failed_tasks=0,
            longest_stateful_stage_s=0.1,
        )

    # The bridge's protocol.

    def spark_version(self) -> str:
        return "4.3.0"

    def application_id(self) -> str:
        return self.application

    def look(self) -> Scene:
        with self._ended:
            executors = tuple(self.alive[name] for name in sorted(self.alive, key=id_order))
        return Scene(executors=executors, queries=(self.query,))

    def drain(self) -> Usage:
        with self._ended:
            drained, self._usage = self._usage, []
        newest = drained[-1] if drained else None
        if newest is None:
            return Usage(
                groups={},
                batches=(),
                other_busy_s={},
                executor_busy_s={},
                failed_tasks=0,
                longest_stateful_stage_s=None,
            )
        return _together(drained)

    def state_bytes(self, query_id: str) -> Mapping[GroupKey, int]:
        return dict.fromkeys(group_keys(self.query.operators), 1000)

    def traffic(self, query_id: str, min_bytes: int, max_pairs: int) -> TrafficReading:
        return TrafficReading()

    def memory(self) -> Mapping[str, ExecutorMemory]:
        return {}

    def place(self, query_id: str, owners: Mapping[GroupKey, Executor]) -> None:
        if self._on:
            self._registered.update({key: owner.executor_id for key, owner in owners.items()})

    def mark(self, executor_ids: Collection[str]) -> None:
        """Nothing comes by itself here."""

    def set_actuation(self, on: bool) -> None:
        self._on = on

    def wait_for_boundary(self, timeout_s: float) -> bool:
        with self._ended:
            self._ended.wait_for(lambda: self.batches != self._seen or self._woken, timeout_s)
            ended, self._seen, self._woken = self.batches != self._seen, self.batches, False
        return ended

    def wake(self) -> None:
        with self._ended:
            self._woken = True
            self._ended.notify_all()

    def changed(self) -> bool:
        """Nobody compares here."""
        return True

    def set_locality_wait(self, seconds: float) -> bool:
        """Tasks go where they are registered anyway."""
        return True

    def request_executors(self, total: int) -> None:
        with self._ended:
            missing = min(total, self.most_executors) - len(self.alive)
            self._requested = total
        if missing > 0:
            self.later(self.comes_after_s, lambda: self._come(total))

    def later(self, seconds: float, what: Callable[[], None]) -> None:
        timer = threading.Timer(seconds, what)
        timer.daemon = True
        timer.start()

    def _come(self, total: int) -> None:
        with self._ended:
            while len(self.alive) < min(total, self._requested, self.most_executors):
                number = 1 + max(int(name) for name in (*self.alive, *self.removed))
                self.alive[str(number)] = self._executor(str(number))

    def decommission(self, executor_id: str) -> None:
        with self._ended:
            if executor_id in set(self.ran.values()):
                self.removed_with_groups.append(executor_id)
            self.removed.append(executor_id)
            self.alive.pop(executor_id, None)
            self._requested = len(self.alive)

    def self_test(self) -> Mapping[str, str]:
        return {"version": "ok"}

    def diagnostics(self) -> tuple[Mapping[str, tuple[int, str]], Mapping[str, int]]:
        return {}, {}

    def close(self) -> None:
        """Nothing is attached."""

    def loads(self) -> dict[str, float]:
        """Load of each executor by where its groups run now, percent."""
        with self._ended:
            return {
                name: sum(self.load_pct[key.partition] for key, owner in self.ran.items() if owner == name)
                for name in self.alive
            }

    def distance(self) -> float:
        """Load distance of the placement now."""
        loads = list(self.loads().values())
        mean = sum(loads) / len(loads)
        return max(abs(load - mean) for load in loads)


def _sum(one: Moments, other: Moments) -> Moments:
    return Moments(batches=one.batches + other.batches, squared_s2=one.squared_s2 + other.squared_s2)


def _together(drained: list[Usage]) -> Usage:
    groups: dict[GroupKey, GroupUsage] = {}
    busy_s: dict[str, float] = {}
    query_id = next(iter(drained[0].groups))
    for usage in drained:
        for one in usage.groups[query_id]:
            before = groups.get(one.key)
            groups[one.key] = (
                one
                if before is None
                else dataclasses.replace(
                    one,
                    busy_s=before.busy_s + one.busy_s,
                    cpu_s=before.cpu_s + one.cpu_s,
                    records=before.records + one.records,
                    tasks=before.tasks + one.tasks,
                    moments=_sum(before.moments, one.moments),
                )
            )
        for name, seconds in usage.executor_busy_s.items():
            busy_s[name] = busy_s.get(name, 0.0) + seconds
    return dataclasses.replace(
        drained[-1],
        groups={query_id: tuple(groups.values())},
        executor_busy_s=busy_s,
        batches=tuple(batch for usage in drained for batch in usage.batches),
    )


class PaperDriver:
    """The driver's process on paper: the real agent over a PaperSpark, following its PartitionMap. Restartable."""

    def __init__(self, spark: PaperSpark, namespace: str, job: str) -> None:
        self.spark = spark
        config = AgentConfig(partition_map=f"{namespace}/{job}", poll_s=0.2, overhead_ratio=1.0)
        self._config = kube.prepared(config)
        self._host = Host(dataclasses.replace(self._config, partition_map=None), connect=lambda _: spark)
        self._client: kube.client.MapClient | None = None

    def __enter__(self) -> PaperDriver:
        self.spark.start()
        self._host.session_appeared(SimpleNamespace(sparkContext=object()))
        self._client = kube.follow(self._host, self._config, self._host.guard)
        return self

    def __exit__(self, *_: object) -> None:
        assert self._client is not None
        self._client.stop()
        self._host.close()
        self.spark.stop()
