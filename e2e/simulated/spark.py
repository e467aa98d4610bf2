"""The simulated job of `streamjob_sim` behind the agent's bridge, in real time."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Collection, Mapping
from pathlib import Path

import numpy as np

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
from streamjob_agent.wire import GroupKey
from streamjob_sim.fleet import Life
from streamjob_sim.job import Batch, SimulatedJob
from streamjob_sim.world import World

QUERY = "simulated-query"
_LOOK_S = 0.02
_POLL_S = 1.0  # a wait's longest


class SimulatedSpark:
    """Implements `SparkBridge`. What changes the fleet is written to the journal, a file of JSON lines."""

    def __init__(self, world: World, application_id: str, seed: int, journal: Path) -> None:
        self._job = SimulatedJob(world, np.random.default_rng(seed))
        self._keys = tuple(
            GroupKey(operator=one.operator, partition=one.partition) for one in self._job.stages.group_ids
        )
        self._index = {key: at for at, key in enumerate(self._keys)}
        self._application_id = application_id
        self._run_id = f"run-of-{application_id}"
        self._journal = journal
        self._begun_s, self._epoch_s = time.monotonic(), time.time()
        self._drained_to_s = self._told_to_s = -1.0
        self._batches = 0
        self._lock = threading.RLock()

    def _advance(self) -> None:
        self._job.advance(time.monotonic() - self._begun_s)

    def _note(self, event: str, **facts: object) -> None:
        line = json.dumps({"at_s": round(time.time(), 3), "application": self._application_id, "event": event, **facts})
        with self._journal.open("a", encoding="utf-8") as file:
            file.write(line + "\n")

    def spark_version(self) -> str:
        return "4.3.0"

    def application_id(self) -> str:
        return self._application_id

    def look(self) -> Scene:
        world = self._job.world
        with self._lock:
            self._advance()
            executors = tuple(
                Executor(executor_id=str(at), host=f"10.0.0.{at}", cores=world.executors.cores)
                for at in np.flatnonzero(self._job.fleet.ready()).tolist()
            )
        query = Query(
            query_id=QUERY,
            run_id=self._run_id,
            name="simulated",
            operators={at: one.partitions for at, one in enumerate(world.operators)},
            trigger_interval_s=world.batch.trigger_s,
        )
        return Scene(executors=executors, queries=(query,))

    def wait_for_boundary(self, timeout_s: float) -> bool:
        until_s = time.monotonic() + min(timeout_s, _POLL_S)
        while True:
            with self._lock:
                self._advance()
                newest_s = self._job.batches[-1].end_s if self._job.batches else -1.0
                if newest_s > self._told_to_s:
                    self._told_to_s = newest_s
                    return True
            if time.monotonic() > until_s:
                return False
            time.sleep(_LOOK_S)

    def wake(self) -> None:
        """No wait is long here."""

    def changed(self) -> bool:
        """Nobody compares here: a look is cheap."""
        return True

    def drain(self) -> Usage:
        with self._lock:
            new = [one for one in self._job.batches if one.end_s > self._drained_to_s]
            self._drained_to_s = new[-1].end_s if new else self._drained_to_s
            ends = tuple(self._end_of(batch) for batch in new)
            return Usage(
                groups={QUERY: self._groups(new)} if new else {},
                batches=ends,
                other_busy_s={QUERY: sum(one.other_busy_s for one in new)},
                executor_busy_s=_busy(new),
                failed_tasks=0,
                longest_stateful_stage_s=None,
            )

    def _groups(self, batches: list[Batch]) -> tuple[GroupUsage, ...]:
        task_s, cpu_s, records = (np.sum([getattr(one, name) for one in batches], axis=0) for name in _MEASURED)
        squared_s2 = np.sum([one.task_s**2 for one in batches], axis=0)
        owners = self._job.agent.seen
        return tuple(
            GroupUsage(
                key=key,
                executor_id=str(owners[at]),
                counted_on=str(owners[at]),
                moments=Moments(batches=len(batches), squared_s2=float(squared_s2[at])),
                tasks=len(batches),
                first_tasks=0,
                busy_s=float(task_s[at]),
                cpu_s=float(cpu_s[at]),
                records=round(float(records[at])),
                local_bytes=0,
                remote_bytes=0,
                state_rows=None,
            )
            for at, key in enumerate(self._keys)
        )

    def _end_of(self, batch: Batch) -> BatchEnd:
        self._batches += 1
        return BatchEnd(
            query_id=QUERY,
            run_id=self._run_id,
            batch_id=self._batches,
            ended_at_s=self._epoch_s + batch.end_s,
            duration_s=batch.length_s,
            input_rows=round(batch.taken),
            input_rps=None,
            processed_rps=None,
            lag_rows=batch.waiting,
        )

    def state_bytes(self, query_id: str) -> Mapping[GroupKey, int]:
        with self._lock:
            return {key: int(self._job.state_bytes[at]) for at, key in enumerate(self._keys)}

    def traffic(self, query_id: str, min_bytes: int, max_pairs: int) -> TrafficReading:
        return TrafficReading()

    def memory(self) -> Mapping[str, ExecutorMemory]:
        return {}

    def place(self, query_id: str, owners: Mapping[GroupKey, Executor]) -> None:
        with self._lock:
            for key, owner in owners.items():
                self._job.agent.registered[self._index[key]] = int(owner.executor_id)

    def mark(self, executor_ids: Collection[str]) -> None:
        with self._lock:
            self._advance()
            self._job.fleet.mark(tuple(executor_ids))
        self._note("mark", executors=sorted(executor_ids))

    def set_actuation(self, on: bool) -> None:
        self._note("actuation", on=on)

    def set_locality_wait(self, seconds: float) -> bool:
        """Nothing waits for locality here."""
        return True

    def request_executors(self, total: int) -> None:
        with self._lock:
            self._advance()
            self._job.fleet.request(total, self._job.now_s)
        self._note("request", total=total)

    def decommission(self, executor_id: str) -> None:
        with self._lock:
            self._advance()
            held = self._job.agent.holds(int(executor_id))
            self._job.fleet.total -= 1  # as Spark does, so that it is not replaced
            self._job.fleet.end(int(executor_id), Life.LEFT, self._job.now_s)
        self._note("decommission", executor=executor_id, held=held)

    def self_test(self) -> Mapping[str, str]:
        return {"version": "ok"}

    def diagnostics(self) -> tuple[Mapping[str, tuple[int, str]], Mapping[str, int]]:
        return {}, {}

    def close(self) -> None:
        """Nothing is held."""


_MEASURED = ("task_s", "cpu_s", "records")


def _busy(batches: list[Batch]) -> dict[str, float]:
    busy: dict[str, float] = {}
    for batch in batches:
        for at, busy_s in enumerate(batch.executor_busy_s.tolist()):
            busy[str(at)] = busy.get(str(at), 0.0) + busy_s
    return busy
