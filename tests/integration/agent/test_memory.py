"""State in memory on a real query: seen per key group, and a limit that keeps two large key groups apart."""

from __future__ import annotations

import dataclasses
import importlib.util
import itertools
import pathlib
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from streamjob_agent.wire import AgentStatus
from streamjob_operator.agent_http.metrics import AgentMetrics
from streamjob_operator.steps.estimate import estimate
from streamjob_operator.values import CycleRecord, Memory, Reason, Snapshot, StageView
from streamjob_planners import registry
from streamjob_planners.model import PlanParams

pytestmark = pytest.mark.spark
JOB = pathlib.Path(__file__).with_name("heavy_state.py")
HASH = pathlib.Path(__file__).parents[3] / "samples" / "demo" / "spark_hash.py"
PARTITIONS, MIB, WAIT_S = 3, 1024**2, 180.0
KEYS, LETTERS, FILES = 150, 1_900_000, 5
STATE_BYTES = KEYS * LETTERS  # of each large key group: two are more than a heap of 512 MiB, one leaves room to work
SECONDS = {"light": 0.4, "heavy": 0.6, "busy": 1.0}  # of their tasks, by which light and heavy belong together


def load_hash() -> Any:
    spec = importlib.util.spec_from_file_location("spark_hash_of_memory", HASH)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Job:
    """The driver, and what is written to it: each partition has a role, from where Spark placed it first."""

    def __init__(self, driver: Any) -> None:
        self.driver = driver
        self.keys = [load_hash().keys_of(partition, PARTITIONS) for partition in range(PARTITIONS)]
        self.first = [next(keys) for keys in self.keys]
        self.partitions: dict[str, int] = {}

    def write(self, rows: list[tuple[int, int]]) -> None:
        self.driver.add("".join(f"{key},{size}\n" for key, size in rows))

    def start(self) -> None:
        """Light and busy share an executor, heavy has one to itself; light and heavy get much state."""
        self.write([(key, 1) for key in self.first])
        status = self.until("a first batch", lambda now: all(self.owners(now) or (None,)))
        row = self.owners(status)
        alone = next(partition for partition in range(PARTITIONS) if row.count(row[partition]) == 1)
        light, busy = (partition for partition in range(PARTITIONS) if partition != alone)
        self.partitions = {"light": light, "heavy": alone, "busy": busy}
        for _ in range(FILES):
            large = (self.keys[self.partitions[role]] for role in ("light", "heavy"))
            self.write([(key, LETTERS) for keys in large for key in itertools.islice(keys, KEYS // FILES)])
        self.until("all state", lambda now: now.queries[0].batch_id == self.driver.files - 1)

    def until(self, what: str, holds: Callable[[AgentStatus], Any]) -> AgentStatus:
        until = time.monotonic() + WAIT_S
        while time.monotonic() < until:
            assert self.driver.process.poll() is None, f"the job has ended; see {self.driver.output.name}"
            if (self.driver.folder / "address").exists():
                status = self.driver.status()
                if status.queries and status.queries[0].batch_id is not None and holds(status):
                    return status
            time.sleep(0.1)
        raise AssertionError(f"not in time: {what}")

    @property
    def address(self) -> str:
        """Of its agent."""
        return (self.driver.folder / "address").read_text().strip()

    @staticmethod
    def owners(status: AgentStatus) -> tuple[str, ...]:
        return status.queries[0].owners.get(0, ())

    def batch(self) -> None:
        """One more batch, in which every key group has a row."""
        self.write([(key, 1) for key in self.first])
        self.until("a batch", lambda now: now.queries[0].batch_id == self.driver.files - 1)


class GivenSeconds:
    """What the agent tells, but for time: a busy machine must not decide where key groups belong."""

    def __init__(self, agent: AgentMetrics, partitions: dict[str, int]) -> None:
        self._agent = agent
        self._batch_s = np.array([SECONDS[role] for role in sorted(partitions, key=lambda one: partitions[one])])

    def observe(self, now_s: float, window_s: float) -> Snapshot:
        seen, total_s = self._agent.observe(now_s, window_s), float(self._batch_s.sum())
        stage = StageView(operator=0, level=0, wall_s=total_s, busy_s=total_s, longest_s=total_s, spread_s=0.0)
        owners = np.array(seen.owners)
        longest_s = max(float(self._batch_s[owners == owner].sum()) for owner in owners)
        return dataclasses.replace(
            seen,
            busy_s=self._batch_s * seen.rates.batches,
            warmup_s=None,
            stages=(stage,),
            series=None,
            rates=dataclasses.replace(seen.rates, mean_batch_s=longest_s, other_busy_s=0.0),
        )


def refused(record: CycleRecord) -> bool:
    return record.verdict.reason is Reason.MEMORY_TOO_SMALL


def test_large_key_groups_stay_apart_where_a_heap_cannot_hold_both(drivers: Callable[..., Any], brain: Any) -> None:
    job = Job(drivers(2, JOB))
    job.start()
    before = job.owners(job.driver.status())
    controller = brain(job, "{mode: Auto, planner: greedy, statisticsPeriod: 1s}")
    metrics = GivenSeconds(controller.metrics, job.partitions)
    controller._ports = dataclasses.replace(controller._ports, metrics=metrics)
    record = controller.until("memory keeps moves back", refused, job.batch)

    snapshot = record.snapshot
    assert snapshot is not None
    assert [one.state_limit_bytes for one in snapshot.executors] == [512 * MIB] * 2
    assert snapshot.state_memory_bytes is not None
    memory = dict(zip((group.partition for group in snapshot.group_ids), snapshot.state_memory_bytes, strict=True))
    light, heavy, busy = (memory[job.partitions[role]] for role in ("light", "heavy", "busy"))
    assert light == pytest.approx(STATE_BYTES, rel=0.1), "Spark estimates it"
    assert heavy == pytest.approx(STATE_BYTES, rel=0.1)
    assert busy < MIB

    executor, group = before[job.partitions["heavy"]], job.partitions["light"]
    assert f"executor {executor} has room for" in record.verdict.message
    assert f"key group {group} of operator 0 needs" in record.verdict.message
    assert job.owners(job.driver.status()) == before

    blind = dataclasses.replace(snapshot, state_memory_bytes=None)
    model = estimate(blind, Memory()).model
    plan = registry.get("greedy").solve(model, PlanParams(), np.random.default_rng(7), time.monotonic)
    assert plan.node_of[job.partitions["light"]] == plan.node_of[job.partitions["heavy"]], (
        "by time they would share one"
    )
    assert job.driver.finish()["failed_tasks"] == 0
