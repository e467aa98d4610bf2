"""The PartitionMap of one StreamJob: made, read, written. Its spec is ours, its status the agent's."""

from __future__ import annotations

import dataclasses
import functools
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from streamjob_agent.map_form import status_from_map
from streamjob_agent.map_plan import plan_from_spec, plan_to_spec
from streamjob_agent.wire import AgentStatus, Assignment, WireError
from streamjob_operator.agent_words import shortened
from streamjob_operator.kube.api.children import FormerLife, NotOurs, owned_metadata
from streamjob_operator.kube.api.client import KubeApi, Object
from streamjob_operator.kube.api.kinds import PARTITION_MAPS
from streamjob_operator.kube.api.owners import Belongs, whose
from streamjob_operator.kube.names import Label

_AGENT_URL = re.compile(r"http://[^/?#@\s]+:([0-9]{1,5})/?")
_LABEL_VALUE = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?")


@dataclasses.dataclass(frozen=True, kw_only=True)
class MapView:
    """A PartitionMap as it was read. `generation` is that of the newest plan written, 0 before the first.

    `agent` is None until an agent has reported, and where its report cannot be read, which `unreadable` says.
    What stands there is the job's to write, and its driver is started, replaced and stopped all the same.
    `agent_port`: where it listens on its driver's pod, None for nowhere; `ignored`: fields of the spec that it does
    not know; `heartbeat_s`: time in which its next report comes at the latest, None where it does not say.
    """

    generation: int
    resource_version: str
    spec: Mapping[str, Any]
    agent: AgentStatus | None
    agent_port: int | None
    unreadable: str | None = None
    ignored: tuple[str, ...] = ()
    heartbeat_s: float | None = None

    @property
    def refused(self) -> str | None:
        """Why the agent does not take this map's plan; None when it does, or when the plan is for another driver.

        A driver that was started again finds the plan of the one before it, and refuses that until it gets one.
        """
        if self.agent is None or self.spec.get("applicationId") != self.agent.application_id:
            return None
        return self.agent.refused

    def plan(self) -> tuple[Assignment, ...]:
        """The newest plan written, an assignment for each query, that of the leading one first; empty before the first.

        Raises WireError when it cannot be read.
        """
        return self._plan

    def readable_plan(self) -> tuple[Assignment, ...]:
        """The same; empty where it cannot be read, as that of a later version after the step back to this one."""
        try:
            return self._plan
        except WireError:
            return ()

    @functools.cached_property
    def _plan(self) -> tuple[Assignment, ...]:
        """Read once: a turn asks three or four times, each of which would unpack every owner."""
        return plan_from_spec(self.spec) if self.generation > 0 else ()


class Maps:
    """The PartitionMap of one StreamJob: of this one, not of another that had its name before."""

    def __init__(self, api: KubeApi, job: Mapping[str, Any]) -> None:
        """`job` is the StreamJob as read; only its metadata is used."""
        self._api = api
        self._job = job
        self._name, self._namespace = job["metadata"]["name"], job["metadata"]["namespace"]

    def read(self) -> MapView | None:
        """As it is now; None when it was not made yet. Raises Unavailable."""
        found = self._found()
        return view_of(found) if found is not None and whose(found, self._job) is Belongs.OURS else None

    def ensure(self) -> MapView:
        """As it is now, made if it is not there: without a plan, in the place of one that a former life left.

        Raises NotOurs, FormerLife, Unavailable.
        """
        found = self._found()
        if found is not None and whose(found, self._job) is Belongs.OURS:
            return view_of(found)
        if found is not None:
            self._clear(found)
        return view_of(self._apply({"generation": 0}, {}))

    def write(self, plan: Sequence[Assignment], seen: MapView) -> None:
        """Replace the plan; raises Conflict when the map changed in any way since it was seen.

        Raises Unavailable, also when the API server does not take the object.
        """
        self._apply(plan_to_spec(plan), {"resourceVersion": seen.resource_version})

    def _apply(self, spec: Object, also: Object) -> Object:
        """The one way in which a map is written: always whole, with its owner."""
        metadata = owned_metadata(self._job, self._name, {Label.JOB.value: self._name}) | also
        return self._api.apply(PARTITION_MAPS, {"metadata": metadata, "spec": spec}, force=True)

    def _found(self) -> Object | None:
        return self._api.get(PARTITION_MAPS, self._name, self._namespace)

    def _clear(self, found: Object) -> None:
        """Take a former life's map away: its generation, targets and marks speak of another job."""
        if whose(found, self._job) is Belongs.OTHERS:
            raise NotOurs(PARTITION_MAPS, self._name)
        if found["metadata"].get("deletionTimestamp"):
            raise FormerLife(PARTITION_MAPS, self._name)
        self._api.delete(PARTITION_MAPS, self._name, self._namespace, uid=found["metadata"]["uid"])


def view_of(document: Mapping[str, Any]) -> MapView:
    """A PartitionMap as a value."""
    spec, status = document.get("spec") or {}, document.get("status") or {}
    agent, unreadable = _agent(status) if status.get("applicationId") else (None, None)
    return MapView(
        generation=int(spec.get("generation") or 0),
        resource_version=document["metadata"]["resourceVersion"],
        spec=spec,
        agent=agent,
        agent_port=_port(status.get("agentUrl")),
        unreadable=unreadable,
        ignored=tuple(str(one)[:80] for one in (status.get("ignored") or ())[:5]),
        heartbeat_s=_heartbeat_s(status.get("heartbeatSeconds")),
    )


def _agent(status: Mapping[str, Any]) -> tuple[AgentStatus | None, str | None]:
    """What the job's account has written; its application id goes into selectors, so it must be a label's value."""
    try:
        agent = status_from_map(status)
    except WireError as error:
        return None, f"The agent's status in the PartitionMap cannot be read: {error}."
    if not _LABEL_VALUE.fullmatch(agent.application_id):
        return None, f"The agent's applicationId {agent.application_id[:80]!r} is not what Spark gives."
    return shortened(agent), None


def _heartbeat_s(told: object) -> float | None:
    """A time, whatever the job's account has written."""
    known = isinstance(told, int | float) and not isinstance(told, bool) and math.isfinite(told) and told > 0
    return float(told) if known else None  # type: ignore[arg-type]


def _port(url: object) -> int | None:
    """Where the agent listens; the host is the driver's pod, whatever its account writes."""
    found = _AGENT_URL.fullmatch(url) if isinstance(url, str) else None
    port = 0 if found is None else int(found[1])
    return port if 0 < port < 65536 else None
