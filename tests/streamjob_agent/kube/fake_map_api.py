"""One PartitionMap on paper: versions, watches, and failures on demand."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from typing import Any

from streamjob_agent.kube.api import GONE, ApiFailure, Event
from streamjob_agent.map_form import assignment_to_spec, status_from_map
from streamjob_agent.wire import AgentStatus, Assignment


class FakeMapApi:
    """`faults` maps a method's name to the errors that its next calls raise; `hang` makes every call wait for `go`."""

    def __init__(self, uid: str = "uid-1") -> None:
        self.changed = threading.Condition()
        self.faults: dict[str, list[Exception]] = {"read": [], "watch": [], "write_status": []}
        self.calls: list[str] = []
        self.hang = False
        self.go = threading.Event()
        self.events: list[Event] = []
        self.found: dict[str, Any] = {
            "metadata": {"uid": uid, "generation": 1, "resourceVersion": "1"},
            "spec": {"generation": 0},
        }

    def _enter(self, method: str) -> None:
        self.calls.append(method)
        if self.hang:
            self.go.wait(10)
        if self.faults[method]:
            raise self.faults[method].pop(0)

    def put(self, assignment: Assignment) -> None:
        """What the operator does."""
        self.put_spec(assignment_to_spec(assignment))

    def put_spec(self, spec: Mapping[str, Any]) -> None:
        with self.changed:
            self.found = {**self.found, "spec": dict(spec), "metadata": self._next(1)}
            self.events.append(("MODIFIED", self.found))
            self.changed.notify_all()

    def _next(self, generation: int) -> dict[str, Any]:
        old = self.found["metadata"]
        return {
            **old,
            "generation": old["generation"] + generation,
            "resourceVersion": str(int(old["resourceVersion"]) + 1),
        }

    def read(self) -> Mapping[str, Any]:
        self._enter("read")
        return self.found

    def watch(self, resource_version: str) -> Iterator[Event]:
        self._enter("watch")
        with self.changed:
            self.changed.wait_for(lambda: bool(self.events), 0.05)
            events, self.events = self.events, []
        for kind, found in events:
            if int(found["metadata"]["resourceVersion"]) > int(resource_version):
                yield kind, found

    def write_status(self, status: Mapping[str, Any]) -> Mapping[str, Any]:
        self._enter("write_status")
        with self.changed:
            self.found = {**self.found, "status": dict(status), "metadata": self._next(0)}
        return self.found

    def status(self) -> AgentStatus:
        return status_from_map(self.found["status"])


def gone() -> ApiFailure:
    return ApiFailure(GONE, "too old resource version")
