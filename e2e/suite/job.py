"""The suite's job as the tests see it: its objects, its status, what Spark recorded of it."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2] / "samples" / "demo"))

from event_log import Events, read_log

from e2e.cluster.kubectl import Kubectl
from e2e.suite.feed import Feed
from e2e.suite.topic import Topic

NAME = NAMESPACE = "parcels"
LOOK_S, PODS_S = 0.7, 45.0
AGENT_PORT = 7980
Status = dict[str, Any]


def condition(status: Status, kind: str) -> str:
    """`True/Reason` of a condition, or nothing."""
    found = [one for one in status.get("conditions", ()) if one["type"] == kind]
    return f"{found[0]['status']}/{found[0]['reason']}" if found else ""


def message(status: Status, kind: str) -> str:
    """The sentence of a condition, or nothing."""
    return next((str(one["message"]) for one in status.get("conditions", ()) if one["type"] == kind), "")


def settled(*executors: int) -> Callable[[Status], bool]:
    """Whether the job is balanced on one of these numbers of executors, and nothing is under way."""

    def check(status: Status) -> bool:
        fleet = status.get("executors") or {}
        still = not fleet.get("markedForRemoval") and fleet.get("ready") == fleet.get("target")
        return still and fleet.get("ready") in executors and condition(status, "Balanced").startswith("True")

    return check


class Job:
    """A StreamJob in a namespace of its own, and the volume that it works on."""

    def __init__(self, kubectl: Kubectl, volume: Path, feed: Feed | Topic, name: str = NAME) -> None:
        self.kubectl = kubectl
        self.volume = volume
        self.feed = feed
        self.name = name

    def status(self) -> Status:
        """As the API server has it."""
        found: Status = self.kubectl.get("streamjob", self.name).get("status") or {}
        return found

    def until(self, check: Callable[[Status], Any], timeout_s: float, what: str) -> Status:
        """The status once `check` holds; fails with the newest one after timeout_s seconds."""
        until_s = time.monotonic() + timeout_s
        while not check(status := self.status()):
            assert time.monotonic() < until_s, f"not within {timeout_s:.0f} s: {what}; status: {_short(status)}"
            time.sleep(LOOK_S)
        return status

    def patch(self, spec: dict[str, Any]) -> None:
        """Merge into the spec, as a user does."""
        self.kubectl("patch", "streamjob", self.name, "--type=merge", "-p", json.dumps({"spec": spec}))

    def annotate(self, *annotations: str) -> None:
        """Set annotations, as a user does."""
        self.kubectl("annotate", "--overwrite", "streamjob", self.name, *annotations)

    def map(self) -> dict[str, Any]:
        """The PartitionMap."""
        return self.kubectl.get("partitionmap", self.name)

    def agent_page(self) -> str:
        """What the driver's agent measures, as Prometheus reads it."""
        pod = self.kubectl.get("pod", *self.pods("driver"))["metadata"]
        path = f"/api/v1/namespaces/{pod['namespace']}/pods/{pod['name']}:{AGENT_PORT}/proxy/metrics"
        return self.kubectl("get", "--raw", path)

    def pods(self, role: str) -> dict[str, str]:
        """Names and uids of pods of a role that have not ended and are not about to."""
        items = self.kubectl.list("pods", f"--selector=streamjob.dev/job={self.name},spark-role={role}")
        alive = [one for one in items if one["status"].get("phase") not in ("Succeeded", "Failed")]
        going = [one["metadata"] for one in alive if not one["metadata"].get("deletionTimestamp")]
        return {one["name"]: one["uid"] for one in going}

    def until_executors(self, count: int) -> None:
        """Wait until there are so many pods of executors: one that Spark let go ends some seconds later."""
        self.until(lambda _: len(self.pods("executor")) == count, PODS_S, f"{count} pods of executors")

    def spark(self) -> Events:
        """What the newest driver's event log has."""
        logs = sorted((self.volume / "events").iterdir(), key=lambda path: path.stat().st_mtime)
        return read_log(logs[-1], time.time())

    def failed_tasks(self) -> tuple[str, ...]:
        """Tasks that failed since the newest driver started, in Spark's words."""
        return self.spark().failed_tasks

    def require_exact(self) -> str:
        """Every row counted once, since the very first; a sentence with the figures."""
        proof = self.feed.prove()
        assert not proof.mistakes, f"{len(proof.mistakes)} mistakes, the first: {proof.mistakes[0]}"
        assert proof.scans > 0
        return f"{proof.scans:,} rows exact in {proof.batches} batches"


def _short(status: Status) -> str:
    shown: dict[str, Any] = {
        name: status[name] for name in ("phase", "executors", "load", "driver", "lastPlan") if name in status
    }
    shown["conditions"] = [
        f"{one['type']}={one['status']}/{one['reason']}: {one['message']}" for one in status.get("conditions", ())
    ]
    return json.dumps(shown)
