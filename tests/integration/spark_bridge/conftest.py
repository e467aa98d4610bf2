"""The bridge under test, on the shared cluster."""

from __future__ import annotations

import collections
import pathlib
import sys
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from streamjob_agent.bridge import Executor
from streamjob_agent.spark import DriverBridge, connect
from streamjob_agent.wire import GroupKey

sys.path.insert(0, str(pathlib.Path(__file__).parent))  # for `inside`


class Watch:
    """A bridge and the key groups' executors as their own tasks last told them."""

    def __init__(self, bridge: DriverBridge, cluster: Any) -> None:
        self.bridge = bridge
        self.cluster = cluster
        self.failed_tasks = 0
        self.seen: dict[str, dict[GroupKey, str]] = collections.defaultdict(dict)
        self.batches: dict[str, int] = {}
        self.given: dict[str, dict[GroupKey, str]] = collections.defaultdict(dict)
        self.first_tasks: collections.Counter[str] = collections.Counter()  # by executor

    def drain(self) -> None:
        usage = self.bridge.drain()
        self.failed_tasks += usage.failed_tasks
        for query, groups in usage.groups.items():
            self.seen[query].update({group.key: group.executor_id for group in groups})
            for group in groups:
                self.first_tasks[group.executor_id] += group.first_tasks
        for query, given in usage.given.items():
            self.given[query].update(given)
        for batch in usage.batches:
            self.batches[batch.query_id] = batch.batch_id

    def run(self, query: Any) -> dict[GroupKey, str]:
        """Run everything available; the executor of each key group's newest task, once all events have arrived."""
        self.seen[query.id].clear()
        return self.finish(query)

    def finish(self, query: Any) -> dict[GroupKey, str]:
        """Like `run`, but what was seen before counts too."""
        query.processAllAvailable()
        # An idle query also writes progress, under the number of the batch that is still to come.
        last = max(p["batchId"] for p in query.recentProgress if "addBatch" in p["durationMs"])
        self.cluster.wait_until(lambda: self._has(query.id, last), f"batch {last}")
        self.cluster.session.sparkContext._jsc.sc().listenerBus().waitUntilEmpty()
        self.drain()
        return dict(self.seen[query.id])

    def _has(self, query: str, batch: int) -> bool:
        self.drain()
        return self.batches.get(query, -1) >= batch

    def executors(self) -> list[Executor]:
        return list(self.bridge.look().executors)

    def move_all(self, query: Any, owners: Mapping[GroupKey, Executor]) -> dict[GroupKey, str]:
        self.bridge.place(str(query.id), owners)
        return {key: executor.executor_id for key, executor in owners.items()}


@pytest.fixture(scope="module")
def bridge(spark_cluster: Any) -> Iterator[DriverBridge]:
    """Connected for one module, detached afterwards."""
    bridge = connect(spark_cluster.session)
    yield bridge
    bridge.close()


@pytest.fixture
def watch(bridge: DriverBridge, spark_cluster: Any) -> Watch:
    """The bridge with everything of earlier tests drained, and nothing marked."""
    bridge.mark([])
    bridge.drain()
    return Watch(bridge, spark_cluster)
