"""Where a job's measurements come from: its Prometheus, else its agent's own page."""

from __future__ import annotations

import dataclasses
import threading
import time
from collections.abc import Callable

from streamjob_agent.listening import shown
from streamjob_agent.wire import AgentStatus
from streamjob_operator.agent_http.client import AgentClient
from streamjob_operator.agent_http.metrics import AgentMetrics
from streamjob_operator.agent_http.turns import Turns
from streamjob_operator.kube.api.client import KubeApi
from streamjob_operator.kube.api.kinds import SECRETS
from streamjob_operator.kube.api.refusals import Refused
from streamjob_operator.kube.metrics.http import settings_of
from streamjob_operator.kube.metrics.prometheus import PrometheusMetrics
from streamjob_operator.kube.names import KubeReason
from streamjob_operator.kube.report.facts import Facts, MetricsTrouble
from streamjob_operator.measure.limits import limits_within
from streamjob_operator.measure.room import Room
from streamjob_operator.ports import MetricsSource, Unavailable
from streamjob_operator.spec import StreamJob
from streamjob_operator.waking.rows import Rows


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Reached:
    """What a source asks a turn for: the driver's address, its agent's port, and its newest report. The report is there
    in a cycle alone: of a thousand jobs it would be held for nothing all the time between."""

    address: str | None
    port: int | None
    agent: AgentStatus | None = None


Look = Callable[[], Reached | None]


def reached(facts: Facts) -> Reached:
    """Where the agent is, as this turn has found it."""
    driver, seen = facts.driver, facts.map
    return Reached(address=None if driver is None else driver.address, port=None if seen is None else seen.agent_port)


MOST_APART = 4
"""Answers of Prometheus that are taken apart at once, 1.5 MiB each with 200 key groups, whatever the number of threads:
one of them computes at a time."""


class Shared:
    """What the jobs of a process share, since tenants decide how large their pages and answers are. Thread-safe.

    `memory_bytes` is what the process may use, None where nobody has said.
    """

    def __init__(self, memory_bytes: int | None = None) -> None:
        self.limits = limits_within(memory_bytes)
        self.room = Room(self.limits.kept_bytes, self.limits.share_of)
        self.turns = Turns()
        self.apart = threading.BoundedSemaphore(MOST_APART)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A MetricsSource that is open. `warm_up_s` must pass before it can know anything.

    `rows` are the newest batches where they are at hand, as they are where the agent's own page is read. `note` is what
    a person should know of measurements that are there.
    """

    metrics: MetricsSource
    trouble: Callable[[], MetricsTrouble | None]
    close: Callable[[], None] = lambda: None
    warm_up_s: float = 0.0
    rows: Callable[[], Rows | None] = lambda: None
    note: Callable[[], str | None] = lambda: None


def open_source(api: KubeApi, namespace: str, job: StreamJob, look: Look, shared: Shared) -> Source:
    """The source that the spec asks for; `look` gives what this turn has found out."""
    asked = job.spec.metrics.prometheus
    if asked is None:
        return _agent(namespace, job, look, shared)

    def read_secret(name: str) -> dict[str, str] | None:
        try:
            found = api.get(SECRETS, name, namespace)
        except Refused as refusal:
            sentence = f"Secret {name}, which spec.metrics.prometheus names, cannot be read: {refusal}"
            raise Unavailable(sentence, code=KubeReason.PROMETHEUS_DENIED) from refusal
        return None if found is None else dict(found.get("data") or {})

    metrics = PrometheusMetrics(
        lambda: settings_of(asked, read_secret),
        lambda: _status(look),
        namespace,
        room=shared.room,
        limits=shared.limits,
        turn=lambda: shared.turns.turn(namespace, "Prometheus's answer"),
        apart=shared.apart,
    )

    def trouble() -> MetricsTrouble | None:
        one = metrics.trouble
        return None if one is None else MetricsTrouble(reason=one.reason, message=one.message, since_s=one.since_s)

    return Source(metrics=metrics, trouble=trouble)


def _agent(namespace: str, job: StreamJob, look: Look, shared: Shared) -> Source:
    period_s = job.spec.balancing.statistics_period_s
    metrics = AgentMetrics(
        AgentClient(lambda: _url(look)),
        period_s,
        time.time,
        together=True,
        room=shared.room,
        limits=shared.limits,
        turn=lambda: shared.turns.turn(namespace),
        keeps_status=False,  # between cycles it is read from the PartitionMap
    )
    metrics.__enter__()
    return Source(
        metrics=metrics,
        close=metrics.let_go,  # looks at other jobs have the same threads
        trouble=lambda: None,
        note=lambda: metrics.note,
        warm_up_s=period_s,
        rows=lambda: metrics.seen.rows,
    )


def _url(look: Look) -> str:
    """The driver's pod, as Kubernetes has it: of what the job's account has written the port alone is used."""
    found = look()
    if found is None or found.port is None:
        raise Unavailable("The agent has not said yet at which port it can be reached.")
    if found.address is None:
        raise Unavailable("The driver's pod has no address yet.")
    return f"http://{shown(found.address)}:{found.port}"


def _status(look: Look) -> AgentStatus:
    found = look()
    if found is None or found.agent is None:
        raise Unavailable("The agent has not reported yet.")
    return found.agent
