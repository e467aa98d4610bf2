"""One StreamJob with its keeper on an API server that is a dictionary, by a clock of the test's own."""

from __future__ import annotations

from typing import Any

from fake_api import FakeApi, Object

from streamjob_agent.map_form import status_to_map
from streamjob_agent.wire import AgentStatus
from streamjob_operator.kube.api.kinds import PARTITION_MAPS, PODS, STREAM_JOBS, Kind
from streamjob_operator.kube.job.drivers import KubeDrivers
from streamjob_operator.kube.job.keeper import Keeper
from streamjob_operator.kube.job.tools import Tools
from streamjob_operator.kube.names import Annotation
from streamjob_operator.kube.report.events import Events
from streamjob_operator.planning_queue import Asks
from streamjob_operator.ports import Planning
from streamjob_planners.albic.settings import AlbicSettings
from streamjob_planners.model import Planner

ADOPTING: dict[str, Any] = {
    "applicationRef": {"kind": "Pod", "apiVersion": "v1", "name": "driver"},
    "executors": {"min": 1, "max": 4},
}


class Unable:
    """Nothing is measured in these tests, so nothing is planned."""

    def planner(self, name: str, settings: AlbicSettings) -> Planner:
        raise AssertionError(f"{name} with {settings}")


class Kept:
    """The StreamJob n/orders; `look` is one turn of its keeper. `planned`: of each cycle, whether a person asked.

    `asked` says that a person has changed something since the turn began.
    """

    def __init__(self, **spec: Any) -> None:
        self.api: Any = FakeApi()
        self.now_s = 1_000_000.0
        events = Events(self.api)
        self.forgotten: list[tuple[str, str]] = []
        self.planned: list[bool] = []
        self.asked = False
        self._tools = Tools(
            api=self.api,
            drivers=KubeDrivers(self.api, events),
            events=events,
            forget=lambda namespace, name: self.forgotten.append((namespace, name)),
            planning=self._planning,
            clock=lambda: self.now_s,
        )
        self.restart()
        self.spec = {name: value for name, value in (ADOPTING | spec).items() if value is not None}
        self.create()

    def _planning(self, namespace: str, *, asked: Asks) -> Planning:
        assert namespace == "n"
        self.planned.append(asked())
        return Unable()

    def restart(self) -> None:
        """Another operator takes over."""
        self.keeper = Keeper(self._tools, "n", "orders", lambda: self.asked)

    def create(self) -> None:
        """As a person does it; again after its end it is another StreamJob of the same name."""
        self.api.put(
            STREAM_JOBS,
            {
                "apiVersion": STREAM_JOBS.api_version,
                "kind": STREAM_JOBS.kind,
                "metadata": {"name": "orders", "namespace": "n", "generation": 1},
                "spec": self.spec,
            },
        )

    def look(self, after_s: float = 1.0) -> dict[str, Any]:
        """The status after one turn more."""
        self.now_s += after_s
        self.keeper.turn()
        return self.status()

    def status(self) -> dict[str, Any]:
        found: dict[str, Any] = self.found(STREAM_JOBS, "orders").get("status") or {}
        return found

    def condition(self, kind: str) -> str:
        one = next(one for one in self.status()["conditions"] if one["type"] == kind)
        return f"{one['status']}/{one['reason']}"

    def found(self, kind: Kind, name: str) -> Object:
        found: Object = self.api.objects[(kind.plural, "n", name)]
        return found

    def annotate(self, what: Annotation, value: str) -> None:
        """As a person does it."""
        there = self.found(STREAM_JOBS, "orders")
        self.api.put(STREAM_JOBS, {**there, "metadata": {**there["metadata"], "annotations": {what.value: value}}})

    def driver(self, account: str = "default", uid: str = "1", started: str | None = None, **labels: str) -> None:
        """Its pod runs, as whoever started it wants it."""
        self.api.put(
            PODS,
            {
                "metadata": {"name": "driver", "namespace": "n", "uid": uid, "labels": labels},
                "spec": {"containers": [{"name": "spark"}], "serviceAccountName": account},
                "status": {"phase": "Running"} | ({"containerStatuses": [_running(started)]} if started else {}),
            },
        )

    def reports(self, status: AgentStatus, **told: float) -> None:
        """What the agent writes into its PartitionMap."""
        there = self.found(PARTITION_MAPS, "orders")
        self.api.put(PARTITION_MAPS, {**there, "status": {**status_to_map(status), **told}})


def _running(since: str) -> dict[str, Any]:
    return {"name": "spark", "ready": True, "state": {"running": {"startedAt": since}}}
