"""From the facts of one turn to the conditions they speak of. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from streamjob_agent.wire import NOT_YET
from streamjob_operator.counting import executors
from streamjob_operator.kube.models.status import Status
from streamjob_operator.kube.names import Condition, KubeReason, Phase
from streamjob_operator.kube.partition_map.maps import MapView
from streamjob_operator.kube.report.conditions import Finding
from streamjob_operator.kube.report.cycle_findings import NOT_READY, cycle_findings, no_cycle_findings
from streamjob_operator.kube.report.facts import DriverFacts, Facts
from streamjob_operator.kube.report.key_groups import key_groups_findings
from streamjob_operator.kube.report.motion import Motion, motion_of
from streamjob_operator.spec.quantities import format_duration
from streamjob_operator.values import Reason

SILENT_S, LONGEST_SILENT_S = 60.0, 120.0
"""Time without a change of the agent's heartbeat after which the agent is silent, at least and at most; the least is
for those that do not tell their heartbeat, which came every 10 seconds."""
HEARTBEATS = 3.0
"""So many of them, as the agent tells them in its report, are missing then."""


def findings(facts: Facts) -> Iterator[Finding]:
    """What this turn says about each condition; nothing about those that it knows nothing new of."""
    if facts.job is None or facts.driver is None:
        yield from _without_a_job(facts)
        return
    yield _accepted(facts, facts.driver)
    silent = silence(facts)
    motion = motion_of(facts)
    yield _ready(facts.driver, silent)
    yield _reconciling(facts.driver, motion)
    yield _stalled(facts)
    yield from _actuation(facts, facts.driver)
    yield from _executors(facts, facts.driver, motion)
    yield from key_groups_findings(facts, facts.driver, facts.job)
    if facts.driver.phase is not Phase.RUNNING:
        yield from no_cycle_findings(facts.driver)
    elif facts.cycle is not None:
        yield from cycle_findings(facts.cycle, facts.job, motion)


def silence(facts: Facts) -> str | None:
    """A sentence when the driver runs but its agent has not been heard of for too long; None otherwise."""
    if facts.driver is None or facts.driver.phase is not Phase.RUNNING:
        return None
    age_s = facts.agent_age_s()
    if facts.map is not None and facts.map.unreadable is not None:
        return facts.map.unreadable
    if age_s is None:
        return "The agent has not reported yet."
    silent = age_s > silent_after_s(facts.map)
    return f"The agent has not reported for {format_duration(round(age_s))}." if silent else None


def silent_after_s(seen: MapView | None) -> float:
    """Seconds without a change of its heartbeat after which the agent of this map is silent."""
    told_s = None if seen is None else seen.heartbeat_s
    return SILENT_S if told_s is None else min(max(SILENT_S, HEARTBEATS * told_s), LONGEST_SILENT_S)


def silent_from_s(facts: Facts) -> float | None:
    """When the agent will be silent if nothing more is heard of it, seconds since the epoch; None where it is already,
    or was never heard."""
    if facts.agent_heard_s is None:
        return None
    from_s = facts.agent_heard_s + silent_after_s(facts.map)
    return from_s if facts.now_s <= from_s else None


def silent_s(before: Status, seen: MapView) -> float:
    """For how long, at least, the agent was silent when the status was written; 0 where it was not."""
    ready = next((one for one in before.conditions if one.type == Condition.READY), None)
    return silent_after_s(seen) + 1.0 if ready is not None and ready.reason == KubeReason.AGENT_SILENT else 0.0


def _accepted(facts: Facts, driver: DriverFacts) -> Finding:
    if driver.reason == KubeReason.INVALID_SPEC:  # its pods can never be made, as the API server says
        return Finding(type=Condition.ACCEPTED, holds=False, reason=driver.reason, message=driver.message)
    said = tuple(_besides(facts, driver))
    if said:
        message = " ".join(message for _, message in said)
        return Finding(type=Condition.ACCEPTED, holds=True, reason=said[0][0], message=message)
    message = "The spec can be carried out."
    return Finding(type=Condition.ACCEPTED, holds=True, reason=KubeReason.SPEC_ACCEPTED, message=message)


def _besides(facts: Facts, driver: DriverFacts) -> Iterator[tuple[KubeReason, str]]:
    """What a person should know of a spec that is carried out."""
    if facts.unknown:
        message = f"{', '.join(facts.unknown)}: not known to this version of the operator, and without effect."
        yield KubeReason.UNKNOWN_FIELDS, message
    if driver.overridden is not None:
        yield KubeReason.SETTINGS_OVERRIDDEN, driver.overridden
    if driver.lacking is not None:
        yield KubeReason.NOT_ALL_MADE, driver.lacking


def _without_a_job(facts: Facts) -> Iterator[Finding]:
    """The spec cannot be used, or something of ours failed before anything could be found out."""
    if facts.job is None:
        reason, message = KubeReason.INVALID_SPEC, " ".join(facts.mistakes)
        yield Finding(type=Condition.ACCEPTED, holds=False, reason=reason, message=message)
        yield Finding(type=Condition.STALLED, holds=True, reason=reason, message=message)
        yield Finding(type=Condition.RECONCILING, holds=False, reason=reason, message="Waiting for a spec of use.")
        yield Finding(type=Condition.READY, holds=False, reason=reason, message=message)
    elif facts.error is not None:
        reason = KubeReason.OPERATOR_ERROR
        yield Finding(type=Condition.READY, holds=None, reason=reason, message=facts.error)
        yield Finding(type=Condition.RECONCILING, holds=True, reason=reason, message="Trying again.")


def _ready(driver: DriverFacts, silent: str | None) -> Finding:
    if driver.phase is Phase.RUNNING and silent is not None:
        return Finding(type=Condition.READY, holds=False, reason=KubeReason.AGENT_SILENT, message=silent)
    holds = driver.phase is Phase.RUNNING
    return Finding(type=Condition.READY, holds=holds, reason=driver.reason, message=driver.message)


def _reconciling(driver: DriverFacts, motion: Motion) -> Finding:
    under_way = driver.phase in (Phase.PENDING, Phase.SUBMITTING) and not driver.stalled
    if under_way:
        return Finding(type=Condition.RECONCILING, holds=True, reason=driver.reason, message=driver.message)
    if motion.reason is not None:
        return Finding(type=Condition.RECONCILING, holds=True, reason=motion.reason, message=motion.message)
    message = "Nothing is under way."
    return Finding(type=Condition.RECONCILING, holds=False, reason=KubeReason.NOTHING_UNDER_WAY, message=message)


def _stalled(facts: Facts) -> Finding:
    driver = facts.driver
    if driver is not None and driver.stalled:
        return Finding(type=Condition.STALLED, holds=True, reason=driver.reason, message=driver.message)
    reason, message = KubeReason.NOTHING_STALLED, "Nothing waits for a person."
    return Finding(type=Condition.STALLED, holds=False, reason=reason, message=message)


def _actuation(facts: Facts, driver: DriverFacts) -> Iterator[Finding]:
    agent, refused = (None, None) if facts.map is None else (facts.map.agent, facts.map.refused)
    unreadable = None if facts.map is None else facts.map.unreadable
    kind = Condition.ACTUATION_AVAILABLE
    if driver.phase is not Phase.RUNNING or agent is None:
        yield Finding(type=kind, holds=None, reason=driver.reason, message=unreadable or "The agent has not reported.")
    elif agent.reason in NOT_YET:
        message = f"The agent has not tested Spark yet: {agent.message or agent.reason}."
        yield Finding(type=kind, holds=None, reason=agent.reason, message=message)
    elif agent.actuation != "on":
        message = f"{agent.message or agent.reason or 'The agent does not say why'}"
        yield Finding(type=kind, holds=False, reason=agent.reason or Reason.ACTUATION_OFF, message=message)
    elif driver.limits is not None:
        yield Finding(type=kind, holds=False, reason=KubeReason.ADOPTED_WITH_LIMITS, message=driver.limits)
    elif refused:
        yield Finding(type=kind, holds=False, reason=KubeReason.AGENT_REFUSED, message=refused)
    else:
        message = f"The agent {agent.agent_version} moves key groups of Spark {agent.spark_version}.{_ignored(facts)}"
        yield Finding(type=kind, holds=True, reason=KubeReason.ACTUATION_ON, message=message)


def _ignored(facts: Facts) -> str:
    """What an agent of an older version leaves out of the map."""
    ignored = () if facts.map is None else facts.map.ignored
    return f" It is older than this operator and does not follow {', '.join(ignored)} of the map." if ignored else ""


def _executors(facts: Facts, driver: DriverFacts, motion: Motion) -> Iterator[Finding]:
    kind = Condition.EXECUTORS_AVAILABLE
    if driver.phase is not Phase.RUNNING or motion.ready is None:
        message = silence(facts) or NOT_READY
        yield Finding(type=kind, holds=None, reason=driver.reason, message=message)
    elif motion.wanted is None or motion.ready >= motion.wanted:
        retreat_s = None if facts.memory is None else facts.memory.retreat_until_s
        if retreat_s is not None and facts.now_s < retreat_s:
            left = format_duration(round(retreat_s - facts.now_s))
            message = f"Executors did not come; going on with {motion.ready}, trying again in {left}."
            yield Finding(type=kind, holds=False, reason=Reason.EXECUTORS_TIMED_OUT, message=message)
        else:
            message = f"{executors(motion.ready, 'is', 'are')} there."
            yield Finding(type=kind, holds=True, reason=KubeReason.EXECUTORS_READY, message=message)
    else:
        reason, trouble = _missing(driver)
        message = f"{motion.ready} of {executors(motion.wanted, 'is', 'are')} ready. {trouble}".strip()
        yield Finding(type=kind, holds=False, reason=reason, message=message)


def _missing(driver: DriverFacts) -> tuple[str, str]:
    """Why executors do not come, and a sentence about it, empty where nobody says."""
    if driver.executors_trouble is not None:
        return KubeReason.EXECUTOR_UNSCHEDULABLE, driver.executors_trouble
    if driver.executors_refused is not None:
        return KubeReason.EXECUTOR_REFUSED, f"The API server takes no further pod: {driver.executors_refused}"
    return Reason.WAITING_FOR_EXECUTORS, ""
