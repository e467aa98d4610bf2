"""How many key groups there are and might be, for the status and the condition MoreKeyGroups. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from streamjob_operator.key_groups import approval, seen_in
from streamjob_operator.kube.models.key_groups import KeyGroupsStatus
from streamjob_operator.kube.names import Annotation, Condition, KubeReason
from streamjob_operator.kube.report.conditions import Finding
from streamjob_operator.kube.report.facts import DriverFacts, Facts
from streamjob_operator.spec import StreamJob
from streamjob_operator.spec.key_groups import KeyGroupsMode


def key_groups_of(before: KeyGroupsStatus | None, facts: Facts, driver: DriverFacts) -> KeyGroupsStatus | None:
    """What the newest cycle that could measure saw, or was made since; and what is done about it."""
    known, change = before or KeyGroupsStatus(), driver.change or KeyGroupsStatus()
    seen = None if facts.cycle is None else seen_in(facts.cycle.record)
    now, proposed = (known.now, known.proposed) if seen is None else (seen.now, seen.proposed)
    if change.now is not None:
        now, proposed = change.now, None
    after = change.model_copy(update={"now": now, "proposed": proposed})
    return None if after == KeyGroupsStatus() else after


def key_groups_findings(facts: Facts, driver: DriverFacts, job: StreamJob) -> Iterator[Finding]:
    """Nothing where nothing new is known."""
    change = driver.change
    kind = Condition.MORE_KEY_GROUPS
    if change is not None and change.failure is not None:
        number = (change.tried or "").partition(":")[0]
        message = f"There are no {number} key groups, and the query goes on as it was: {change.failure}"
        yield Finding(type=kind, holds=True, reason=KubeReason.KEY_GROUPS_FAILED, message=message)
        return
    seen = None if facts.cycle is None else seen_in(facts.cycle.record)
    if seen is None:
        return
    if seen.proposed is None:
        message = f"There are {seen.now} key groups, and nothing says that more would help."
        yield Finding(type=kind, holds=False, reason=KubeReason.KEY_GROUPS_ENOUGH, message=message)
        return
    message = f"{seen.proposed} key groups in place of {seen.now} might keep batches within their time. "
    message += _how(job, seen.proposed)
    yield Finding(type=kind, holds=True, reason=KubeReason.KEY_GROUPS_PROPOSED, message=message)


def _how(job: StreamJob, proposed: int) -> str:
    if job.spec.application is None:
        return f"They are made by hand: streamjob repartition CHECKPOINT --key-groups {proposed}."
    if job.spec.balancing.key_groups.mode is KeyGroupsMode.APPROVE:
        return f"They are made once the annotation {Annotation.APPROVE.value} is {approval(proposed)}."
    return f"spec.balancing.keyGroups.count: {proposed} makes them."
