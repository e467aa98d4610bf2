"""The driver's memory as `StreamJob.status.driver`, and back. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from streamjob_operator.kube.driver.observe import rfc3339, seconds
from streamjob_operator.kube.driver.values import Change, DriverMemory, Step


def to_status(memory: DriverMemory, pod: str | None) -> dict[str, Any]:
    """Fields of status.driver that are ours, without absent ones."""
    fields = {
        "pod": pod,
        "podUid": memory.pod_uid,
        "applicationHash": memory.application_hash,
        "startedAt": rfc3339(memory.started_at_s),
        "restarts": memory.restarts,
        "ownEnds": memory.own_ends or None,
        "awaitedSince": rfc3339(memory.awaited_since_s),
        "endingSince": rfc3339(memory.ending_since_s),
        "restartAt": rfc3339(memory.restart_at_s),
        "endedUid": memory.ended_uid,
        "exitCode": memory.exit_code,
        "endReason": memory.why,
        "lastWords": memory.last_words,
    }
    return {name: value for name, value in fields.items() if value is not None}


def change_to_status(change: Change) -> dict[str, Any]:
    """Fields of status.keyGroups that are ours, without absent ones."""
    fields = {
        "step": None if change.step is None else change.step.value,
        "wanted": change.wanted,
        "podUid": change.pod_uid,
        "since": rfc3339(change.since_s),
        "tried": change.tried,
        "failure": change.failure,
    }
    return {name: value for name, value in fields.items() if value is not None}


def change_from_status(fields: Mapping[str, Any]) -> Change:
    """What `change_to_status` wrote."""
    step = fields.get("step")
    return Change(
        step=Step(step) if step in tuple(Step) else None,
        wanted=fields.get("wanted"),
        pod_uid=fields.get("podUid"),
        since_s=seconds(fields.get("since")),
        tried=fields.get("tried"),
        failure=fields.get("failure"),
    )


def from_status(fields: Mapping[str, Any], change: Mapping[str, Any] | None = None) -> DriverMemory:
    """What `to_status` and `change_to_status` wrote; an empty status is an empty memory."""
    return DriverMemory(
        pod_uid=fields.get("podUid"),
        application_hash=fields.get("applicationHash"),
        started_at_s=seconds(fields.get("startedAt")),
        restarts=int(fields.get("restarts") or 0),
        own_ends=int(fields.get("ownEnds") or 0),
        awaited_since_s=seconds(fields.get("awaitedSince")),
        ending_since_s=seconds(fields.get("endingSince")),
        restart_at_s=seconds(fields.get("restartAt")),
        ended_uid=fields.get("endedUid"),
        exit_code=fields.get("exitCode"),
        why=fields.get("endReason"),
        last_words=fields.get("lastWords"),
        change=change_from_status(change or {}),
    )
