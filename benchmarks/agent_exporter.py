"""What the agent's Python side costs for 200 partitions x 2 operators: a metrics page, a drain, a round in mid-batch.

    python benchmarks/agent_exporter.py [PARTITIONS]

Prints medians of CPU time in milliseconds. No Spark: what its bridge costs is measured by the benchmarks that start it.
"""

from __future__ import annotations

import dataclasses
import itertools
import statistics
import sys
import time
from collections.abc import Callable, Iterator

from streamjob_agent import metric_names as names
from streamjob_agent.agent import Agent
from streamjob_agent.bridge import (
    BatchEnd,
    Executor,
    ExecutorMemory,
    GroupUsage,
    Moments,
    Query,
    Scene,
    Sent,
    StageUsage,
    Traffic,
    TrafficReading,
    Usage,
)
from streamjob_agent.config import AgentConfig
from streamjob_agent.exporter import Exporter
from streamjob_agent.ledger import Ledger
from streamjob_agent.registration import step
from streamjob_agent.spread import group_keys
from streamjob_agent.wire import GroupKey
from streamjob_agent.wish import Wish, World

ROUNDS = 30
EXECUTORS = tuple(str(number) for number in range(10))
ELSEWHERE = 30  # key groups whose tasks run elsewhere than the ones before, between two rounds in mid-batch


def even(operators: dict[int, int]) -> dict[GroupKey, str]:
    """Key groups dealt out to the executors in turn."""
    return {key: EXECUTORS[key.partition % len(EXECUTORS)] for key in group_keys(operators)}


def usage(operators: dict[int, int]) -> Usage:
    """One batch in which every key group had a task."""
    groups = tuple(
        GroupUsage(
            key=key,
            executor_id=owner,
            counted_on=owner,
            moments=Moments(batches=1, squared_s2=0.123456**2),
            tasks=1,
            first_tasks=0,
            busy_s=0.123456,
            cpu_s=0.1,
            records=1000,
            local_bytes=12345,
            remote_bytes=67890,
            state_rows=500,
        )
        for key, owner in even(operators).items()
    )
    batch = BatchEnd(
        query_id="q", run_id="r", batch_id=7, ended_at_s=1.0, duration_s=2.0, input_rows=9, input_rps=4.5,
        processed_rps=9.5, lag_rows=None, parts_s=dict.fromkeys(names.PARTS, 0.1), state_memory_bytes=12345678,
    )  # fmt: skip
    return Usage(
        groups={"q": groups},
        batches=(batch,),
        other_busy_s={"q": 1.0},
        executor_busy_s=dict.fromkeys(EXECUTORS, 2.0),
        failed_tasks=0,
        longest_stateful_stage_s=1.5,
        stages={"q": (*(stage(names.stage_name(operator)) for operator in operators), stage("free-0.0"))},
    )


def in_batch(whole: Usage, moves: int) -> Iterator[Usage]:
    """Drains in the middle of a batch: some of its groups run on another executor, and back again in the next one."""
    nothing = dataclasses.replace(whole, groups={}, batches=(), stages={})
    few = whole.groups["q"][:: max(1, len(whole.groups["q"]) // moves)][:moves] if moves else ()
    for turn in itertools.count():
        groups = tuple(
            one._replace(executor_id=EXECUTORS[(int(one.executor_id) + turn) % 2], moments=Moments(0, 0.0))
            for one in few
        )
        yield dataclasses.replace(nothing, groups={"q": groups} if groups else {})


def stage(name: str) -> StageUsage:
    """One stage's figures."""
    return StageUsage(stage=name, level=1, wall_s=1.5, busy_s=12.3, longest_s=0.5)


class OneBatch:
    """Stands for the bridge: the same batch at every drain."""

    def __init__(self, operators: dict[int, int]) -> None:
        query = Query(query_id="q", run_id="r", name=None, operators=operators, trigger_interval_s=None)
        keys = group_keys(operators)
        pairs = [Traffic(from_key=a, to_key=b, size_bytes=9999) for a in keys[200:240] for b in keys[:50]]
        self.answers: dict[str, object] = {
            "spark_version": "4.3.0",
            "application_id": "a",
            "self_test": {"version": "ok"},
            "look": Scene(
                executors=tuple(Executor(executor_id=name, host="h", cores=4) for name in EXECUTORS), queries=(query,)
            ),
            "drain": usage(operators),
            "state_bytes": dict.fromkeys(keys, 12345678),
            "traffic": TrafficReading(
                pairs=tuple(pairs), sent={key: Sent(size_bytes=9999, partners=50) for key in keys if key.operator == 1}
            ),
            "memory": {one: ExecutorMemory(used_bytes=10**9, limit_bytes=2 * 10**9) for one in EXECUTORS},
            "diagnostics": ({}, {}),
        }

    def __getattr__(self, name: str) -> Callable[..., object]:
        return lambda *_: self.answers.get(name)


def median_ms(action: Callable[[], object], before: Callable[[], object] = lambda: None) -> float:
    """Median CPU time of `action` over some rounds, without `before`; others on the machine hardly change it."""
    times = []
    for _ in range(ROUNDS):
        before()
        began = time.process_time()
        action()
        times.append(time.process_time() - began)
    return 1000 * statistics.median(times)


def main() -> None:
    """Measure and print."""
    partitions = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    operators = {0: partitions, 1: partitions}
    bridge = OneBatch(operators)
    agent = Agent(bridge, AgentConfig())  # type: ignore[arg-type]
    agent.prepare()
    agent.round()
    exporter, ledger, batch = Exporter(agent.facts), Ledger(1024, 2000), usage(operators)
    owners = even(operators)
    world = World(operators=operators, live=EXECUTORS, observed=owners)
    wish, _ = step(Wish(), world)
    print(f"{2 * partitions} key groups, {len(EXECUTORS)} executors, {len(exporter.page())} bytes per page")
    print(f"{'metrics page after a batch':40s} {median_ms(exporter.page, agent.round):8.2f} ms")
    for name, action in {
        "metrics page once more": exporter.page,
        "take a drain in": lambda: ledger.take(batch),
        "registration step": lambda: step(wish, world),
        "round after a batch": agent.round,
    }.items():
        print(f"{name:40s} {median_ms(action):8.2f} ms")
    for moves in (0, ELSEWHERE):
        drains = in_batch(batch, moves)
        spent_ms = median_ms(agent.round, lambda drains=drains: bridge.answers.update(drain=next(drains)))
        print(f"{f'round in mid-batch, {moves} run elsewhere':40s} {spent_ms:8.2f} ms")


if __name__ == "__main__":
    main()
