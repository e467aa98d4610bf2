"""The PartitionMap of one StreamJob: made, read, written. Its spec is ours, its status the agent's."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from streamjob_agent.map_form import assignment_from_spec, assignment_to_spec, status_from_map
from streamjob_agent.wire import AgentStatus, Assignment, WireError
from streamjob_operator.kube.client import KubeApi, Object
from streamjob_operator.kube.kinds import PARTITION_MAPS
from streamjob_operator.kube.names import Label
from streamjob_operator.kube.owners import owner_reference
from streamjob_operator.ports import Unavailable


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class MapView:
    """A PartitionMap as it was read. `generation` is that of the newest assignment written, 0 before the first.

    `agent` is None until an agent has reported; `agent_url` where its endpoint can be reached from the operator.
    """

    generation: int
    resource_version: str
    spec: Mapping[str, Any]
    agent: AgentStatus | None
    agent_url: str | None

    @property
    def refused(self) -> str | None:
        """Why the agent does not take this map's plan; None when it does, or when the plan is for another driver.

        A driver that was started again finds the plan of the one before it, and refuses that until it gets one.
        """
        if self.agent is None or self.spec.get("applicationId") != self.agent.application_id:
            return None
        return self.agent.refused

    def assignment(self) -> Assignment | None:
        """The newest assignment written; None before the first. Raises WireError when it cannot be read."""
        return assignment_from_spec(self.spec) if self.generation > 0 else None


class Maps:
    """The PartitionMap of the StreamJob of that name."""

    def __init__(self, api: KubeApi, namespace: str, name: str) -> None:
        self._api = api
        self._address = {"namespace": namespace, "name": name}

    def read(self) -> MapView | None:
        """As it is now; None when it was not made yet. Raises Unavailable, also when the status cannot be read."""
        found = self._api.get(PARTITION_MAPS, self._address["name"], self._address["namespace"])
        return None if found is None else view_of(found)

    def ensure(self, job: Mapping[str, Any]) -> MapView:
        """As it is now, made if it is not there: owned by the job, without an assignment. Raises Unavailable."""
        found = self.read()
        if found is not None:
            return found
        metadata = self._metadata() | {"ownerReferences": [owner_reference(job)]}
        return view_of(self._api.apply(PARTITION_MAPS, {"metadata": metadata, "spec": {"generation": 0}}))

    def write(self, assignment: Assignment, seen: MapView) -> None:
        """Replace the assignment; raises Conflict when the map changed in any way since it was seen.

        Raises Unavailable, also when the API server does not take the object.
        """
        metadata = self._metadata() | {"resourceVersion": seen.resource_version}
        document = {"metadata": metadata, "spec": assignment_to_spec(assignment)}
        self._api.apply(PARTITION_MAPS, document, force=True)

    def _metadata(self) -> Object:
        return {**self._address, "labels": {Label.JOB.value: self._address["name"]}}


def view_of(document: Mapping[str, Any]) -> MapView:
    """A PartitionMap as a value; raises Unavailable when the agent's status is not one."""
    spec, status = document.get("spec") or {}, document.get("status") or {}
    return MapView(
        generation=int(spec.get("generation") or 0),
        resource_version=document["metadata"]["resourceVersion"],
        spec=spec,
        agent=_agent(status) if status.get("applicationId") else None,
        agent_url=status.get("agentUrl"),
    )


def _agent(status: Mapping[str, Any]) -> AgentStatus:
    try:
        return status_from_map(status)
    except WireError as error:
        raise Unavailable(f"The agent's status in the PartitionMap cannot be read: {error}.") from error
