"""CPU seconds of one event of a watch: a heartbeat of an agent, through kopf into the store, which wakes nobody.

python -m benchmarks.operator.event_cost --groups 200 --events 1000
"""

from __future__ import annotations

import argparse
import asyncio
import time
from typing import Any

import kopf
from benchmarks.operator.cycle_cost import EXECUTORS, PERIOD_S, Bench
from benchmarks.operator.paper_cluster import PaperCluster
from kubernetes.client import Configuration

from streamjob_operator.kube.process.handlers import Changes, make_registry, make_settings
from streamjob_operator.kube.process.jobs import Jobs
from streamjob_operator.kube.process.logs import start_logging
from streamjob_operator.kube.watched.relist import make_stores
from streamjob_operator.planning_pool import PlanningPool

LONGEST_S = 120.0


class Counting(Changes):
    """Counts maps that were seen."""

    seen = 0

    def map(self, event: Any) -> None:
        """See Changes."""
        super().map(event)
        self.seen += 1


class NoJobs(Jobs):
    """Wakes nobody."""

    def __init__(self) -> None:
        self.woken = 0

    def wake(self, namespace: str, name: str, *, listed: bool = False) -> None:
        """Count it."""
        self.woken += 1


async def measure(cluster: PaperCluster, events: int, rounds: int) -> list[float]:
    """Milliseconds of CPU of one event, of each round."""
    settings, flag, spent = Configuration(), asyncio.Event(), []
    settings.host = cluster.address
    changes = Counting(NoJobs(), make_stores())
    running = asyncio.create_task(
        kopf.operator(
            registry=make_registry(changes, settings),
            settings=make_settings(),
            identity="event-cost",  # type: ignore[arg-type] # kopf's own needs a name for our user
            standalone=True,
            clusterwide=True,
            ready_flag=flag,
        )
    )
    await flag.wait()
    await asyncio.sleep(3.0)
    for _ in range(rounds):
        before, begun_s = changes.seen, time.process_time()
        await asyncio.to_thread(cluster.events, events)
        async with asyncio.timeout(LONGEST_S):
            while changes.seen < before + events:
                await asyncio.sleep(0.05)
        spent.append(1000 * (time.process_time() - begun_s) / events)
    running.cancel()
    await asyncio.wait([running], timeout=5.0)
    return spent


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--groups", type=int, default=200)
    parser.add_argument("--events", type=int, default=500)
    parser.add_argument("--rounds", type=int, default=4)
    options = parser.parse_args()
    start_logging("warning", as_json=True)
    now_s = float(round(time.time()))
    with PaperCluster(options.groups, EXECUTORS, now_s) as cluster:
        with PlanningPool(1) as planning:
            bench = Bench(cluster, planning, now_s)
            bench.look()
            bench.passes(PERIOD_S)
        spent = asyncio.run(measure(cluster, options.events, options.rounds))
    print(f"one event of {options.groups} key groups: {min(spent):.2f} ms of CPU, {[round(one, 2) for one in spent]}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
