"""The driver of a StreamJob, whether we start it or look after one of somebody else's; and its executors."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Mapping
from typing import Protocol

from streamjob_operator import key_groups
from streamjob_operator.kube.api.client import KubeApi
from streamjob_operator.kube.api.reading import Reading
from streamjob_operator.kube.api.refusals import Refused
from streamjob_operator.kube.driver import (
    DriverState,
    JobFacts,
    change_to_status,
    executor_refusal,
    from_status,
    reconcile_driver,
    to_status,
)
from streamjob_operator.kube.driver.grants import grant_map
from streamjob_operator.kube.driver.monitoring import Monitoring
from streamjob_operator.kube.driver.naming import executor_selector
from streamjob_operator.kube.driver.observe import rfc3339, seconds
from streamjob_operator.kube.driver.regroup import made
from streamjob_operator.kube.driver.values import Change
from streamjob_operator.kube.job.adoption import Adoption, Awaited, adopt
from streamjob_operator.kube.models.driver import DriverStatus
from streamjob_operator.kube.models.key_groups import KeyGroupsStatus
from streamjob_operator.kube.models.status import Status
from streamjob_operator.kube.names import Phase
from streamjob_operator.kube.partition_map.maps import MapView
from streamjob_operator.kube.partition_map.memory import marked_of
from streamjob_operator.kube.pods.executors import ExecutorPods, any_executor_pods, executor_pods, selector
from streamjob_operator.kube.pods.lost_nodes import Since, leaving_since, let_go
from streamjob_operator.kube.pods.marks import keep_marks, mark_pods
from streamjob_operator.kube.report.events import Events
from streamjob_operator.kube.report.facts import DriverFacts
from streamjob_operator.spec import Application, StreamJob
from streamjob_operator.values import Memory

MISSING_S = 30.0
"""Time in which Spark makes the pods of executors that it was asked for."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One turn's question about a driver.

    `repair`: apply again what stands around it. `granted`: the account of an adopted driver that was given its rights.
    `lacking`: sentences about what could not be made around a driver of ours when that was tried last.
    `leaving`: executors' pods that were ending at the look before, see lost_nodes.
    """

    reading: Reading
    job: StreamJob
    status: Status
    map: MapView | None
    memory: Memory
    now_s: float
    repair: bool
    granted: str | None = None
    lacking: tuple[str, ...] = ()
    leaving: Since = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """What was found. `gone`: nothing of it runs any more, so that a deleted StreamJob may go.

    `granted`, `lacking`, `leaving`: see Asked.
    """

    facts: DriverFacts
    next_look_s: float | None = None
    gone: bool = False
    granted: str | None = None
    lacking: tuple[str, ...] = ()
    leaving: Since = dataclasses.field(default_factory=dict)


class Drivers(Protocol):
    """Looks after drivers."""

    def look(self, asked: Asked) -> Look:
        """One step towards the wanted driver; raises Unavailable, Refused."""


class KubeDrivers:
    """Drivers and executors as pods of the cluster."""

    def __init__(self, api: KubeApi, events: Events, monitoring: Monitoring | None = None) -> None:
        self._api = api
        self._events = events
        self._monitoring = monitoring or Monitoring()

    def look(self, asked: Asked) -> Look:
        """See Drivers."""
        application = asked.job.spec.application
        look = self._adopted(asked) if application is None else self._own(asked, application)
        return self._with_executors(asked, look)

    def _own(self, asked: Asked, application: Application) -> Look:
        told = {} if asked.status.driver is None else asked.status.driver.model_dump(mode="json", by_alias=True)
        groups = asked.status.key_groups or KeyGroupsStatus()
        facts = self._job_facts(asked, application)
        memory = from_status(told, groups.model_dump(mode="json", by_alias=True))
        state = reconcile_driver(self._api, facts, memory, asked.now_s, repair=asked.repair)
        lacking = asked.lacking if state.lacking is None else state.lacking
        told_facts = dataclasses.replace(_own_facts(state, asked, memory.change), lacking=" ".join(lacking) or None)
        return Look(facts=told_facts, next_look_s=state.next_look_s, gone=state.gone, lacking=lacking)

    def _job_facts(self, asked: Asked, application: Application) -> JobFacts:
        metadata = asked.reading.metadata
        return JobFacts(
            name=metadata["name"],
            namespace=metadata["namespace"],
            generation=asked.reading.generation,
            owner=asked.reading.document,
            spec=asked.job.spec,
            application=application,
            executors=first_executors(asked.job, asked.memory),
            deleted_at_s=asked.reading.deleted_at_s,
            monitoring=self._monitoring,
            key_groups=_wanted(asked.job, asked.status.key_groups or KeyGroupsStatus()),
            key_groups_asked=key_groups.asked(asked.job),
        )

    def _adopted(self, asked: Asked) -> Look:
        """Nothing of theirs is stopped: a deleted StreamJob takes back its marks and may go."""
        agent = None if asked.map is None else asked.map.agent
        known = asked.status.driver
        awaited = Awaited() if known is None else Awaited(pod_uid=known.pod_uid, since_s=seconds(known.awaited_since))
        found = adopt(self._api, asked.reading.metadata, asked.job.spec, agent, asked.now_s, awaited)
        granted = self._grant(asked, found.account)
        return Look(facts=_adopted_facts(found, asked), next_look_s=found.next_look_s, gone=True, granted=granted)

    def _grant(self, asked: Asked, account: str | None) -> str | None:
        """Let the driver's account at the map as soon as it is known, which may be long after the first look."""
        if account is None or asked.reading.deleted_at_s is not None:
            return asked.granted
        if asked.repair or account != asked.granted:
            grant_map(self._api, asked.reading.document, account)
        return account

    def _with_executors(self, asked: Asked, look: Look) -> Look:
        """Executors' pods and their marks, as the newest written map has them: also after a crash between the two."""
        facts, agent = look.facts, None if asked.map is None else asked.map.agent
        if asked.map is None or agent is None:
            return look
        namespace, application_id = asked.reading.metadata["namespace"], agent.application_id
        if facts.phase is not Phase.RUNNING:  # they may run on: while it stops, or beside a spec that is refused
            admitted = any_executor_pods(self._api, namespace, application_id).admitted or None
            return dataclasses.replace(look, facts=dataclasses.replace(facts, executors_admitted=admitted))
        pods = executor_pods(self._api, namespace, application_id, facts.pod_uid)
        drained = marked_of(asked.memory, agent)
        marked: tuple[str, ...] = ()  # a deleted StreamJob takes its marks back
        if asked.reading.deleted_at_s is None:
            marked = (*drained, *keep_marks(pods, agent, asked.map.spec.get("remove") or ()))
        leaving = leaving_since(pods, asked.leaving, asked.now_s)
        refused = [refusal_of(lambda: mark_pods(self._api, self._events, pods, marked, asked.now_s))]
        if asked.job.spec.application is not None:  # nothing of somebody else's application is deleted
            refused.append(refusal_of(lambda: let_go(self._api, self._events, pods, leaving, asked.now_s)))
        told = dataclasses.replace(
            facts,
            pods=pods.names,
            executors_trouble=pods.trouble,
            executors_refused=self._refusal(asked, pods, drained),
            executors_admitted=pods.admitted or None,
            lacking=" ".join(one for one in (facts.lacking, *refused) if one) or None,
        )
        return dataclasses.replace(look, facts=told, leaving=leaving)

    def _refusal(self, asked: Asked, pods: ExecutorPods, drained: Collection[str]) -> str | None:
        """Why executors of ours that have no pod get none; asked once they are missing for longer than Spark takes."""
        application, since_s = asked.job.spec.application, _missing_since_s(asked)
        wanted, here = _executors_wanted(asked), sum(one.executor_id not in drained for one in pods.pods)
        if application is None or here >= wanted or since_s is None or asked.now_s < since_s + MISSING_S:
            return None
        return executor_refusal(self._api, self._job_facts(asked, application))


def refusal_of(change: Callable[[], object]) -> str | None:
    """Why executors' pods were not changed, as a sentence: a policy may forbid that, and the job goes on without."""
    try:
        change()
    except Refused as refusal:
        return f"Executors' pods were not changed: {refusal}"
    return None


def _executors_wanted(asked: Asked) -> int:
    told = asked.memory.executors_target
    return first_executors(asked.job, asked.memory) if told is None else told


def _missing_since_s(asked: Asked) -> float | None:
    """Since when executors are waited for: before the first cycle since the driver runs. By our clock."""
    if asked.memory.executors_target is not None:
        return asked.memory.target_since_s
    driver = asked.status.driver
    return None if driver is None else seconds(driver.started_at)


def first_executors(job: StreamJob, memory: Memory) -> int:
    """Executors that a new driver asks for: as many as were wanted last, within bounds."""
    bounds = job.spec.executors
    wanted = bounds.replicas if bounds.replicas is not None else memory.executors_target
    return min(max(bounds.min if wanted is None else wanted, bounds.min), bounds.max)


def _wanted(job: StreamJob, groups: KeyGroupsStatus) -> int | None:
    """How many key groups are to be made; None for as many as there are."""
    if groups.now is None:
        return None
    return key_groups.wanted(job, key_groups.KeyGroupsSeen(now=groups.now, proposed=groups.proposed))


def _own_facts(state: DriverState, asked: Asked, before: Change) -> DriverFacts:
    change = KeyGroupsStatus.model_validate(change_to_status(state.memory.change))
    return DriverFacts(
        phase=state.phase,
        reason=state.reason,
        message=state.sentence,
        stalled=state.stalled,
        overridden=" ".join(state.notes) or None,
        selector=executor_selector(asked.reading.metadata["name"]),
        address=state.address,
        pod_uid=state.memory.pod_uid,
        executors_asked=first_executors(asked.job, asked.memory),
        status=_status(to_status(state.memory, state.pod), asked, running=state.ready),
        change=change.model_copy(update={"now": made(before, state.memory.change)}),
    )


def _adopted_facts(found: Adoption, asked: Asked) -> DriverFacts:
    known = {
        "pod": found.pod,
        "podUid": found.pod_uid,
        "applicationId": found.application_id,
        "awaitedSince": rfc3339(found.awaited_since_s),
    }
    told = {name: value for name, value in known.items() if value is not None}
    status = _status(told, asked, running=found.phase is Phase.RUNNING)
    return DriverFacts(
        phase=found.phase,
        reason=found.reason,
        message=found.sentence,
        stalled=found.stalled,
        limits=" ".join(found.limits) or None,
        selector=None if status.application_id is None else selector(status.application_id),
        address=found.address,
        pod_uid=found.pod_uid,
        status=status,
    )


def _status(told: Mapping[str, object], asked: Asked, *, running: bool) -> DriverStatus:
    agent = None if asked.map is None else asked.map.agent
    if agent is not None and running:
        told = {
            **told,
            "applicationId": agent.application_id,
            "sparkVersion": agent.spark_version,
            "agentVersion": agent.agent_version,
        }
    return DriverStatus.model_validate(told)
