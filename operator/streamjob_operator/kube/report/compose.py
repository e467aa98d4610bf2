"""The whole status of a StreamJob: what was there before, with what this turn found taken in. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from streamjob_operator.digest import digest
from streamjob_operator.kube import names
from streamjob_operator.kube.models.status import Condition, Handled, Status
from streamjob_operator.kube.partition_map.memory import memory_text
from streamjob_operator.kube.report.conditions import merge
from streamjob_operator.kube.report.decisions import ACTED, approvable_of, cycle_of, decision_of, history_of, plan_of
from streamjob_operator.kube.report.facts import Cycle, Facts
from streamjob_operator.kube.report.findings import findings
from streamjob_operator.kube.report.key_groups import key_groups_of
from streamjob_operator.kube.report.motion import motion_of
from streamjob_operator.kube.report.savings import counted
from streamjob_operator.kube.report.scaling import scaling_of
from streamjob_operator.kube.report.sections import (
    batch_of,
    collocation_of,
    executors_of,
    load_of,
    migrations_of,
    phase_of,
)
from streamjob_operator.spec.lenient import read_known


def read_status(document: Mapping[str, Any]) -> Status:
    """The status of a StreamJob as it was read; fields of another version of the operator are left out.

    Nothing of a former life: a restored object comes with the status of the one that it is a copy of.
    """
    given = document.get("status") or {}
    uid = (document.get("metadata") or {}).get("uid")
    if given.get("uid", uid) != uid:
        return Status()
    try:
        return read_known(Status, given)[0]
    except ValidationError:
        return _what_can_be_read(given)


def _what_can_be_read(given: Mapping[str, Any]) -> Status:
    """Field by field, without those that are not as they should be."""
    known = {str(field.alias): name for name, field in Status.model_fields.items()}
    fields: dict[str, Any] = {}
    for alias in given.keys() & known.keys():
        try:
            fields[known[alias]] = getattr(read_known(Status, {alias: given[alias]})[0], known[alias])
        except ValidationError:
            continue  # it is written anew by what this turn finds
    return Status.model_validate(fields)


def compose(before: Status, facts: Facts, handled: Handled | None) -> Status:
    """The new status."""
    motion = motion_of(facts)
    known = [one.model_dump(mode="json", by_alias=True, exclude_none=True) for one in before.conditions]
    conditions = merge(known, findings(facts), facts.generation, facts.now_s)
    update: dict[str, Any] = {
        "uid": facts.uid,
        "observed_generation": facts.generation,
        "handled": handled,
        "conditions": tuple(Condition.model_validate(one) for one in conditions),
    }
    if facts.driver is not None:
        update |= {
            "phase": phase_of(facts.driver, motion),
            "executors": executors_of(motion, facts.driver),
            "migrations": None if motion.live is None else migrations_of(facts, motion),
            "driver": facts.driver.status,
            "key_groups": key_groups_of(before.key_groups, facts, facts.driver),
        }
    if facts.memory is not None:
        update["memory"] = facts.memory_text or memory_text(facts.memory)
    if facts.cycle is not None:
        update |= _cycle(before, facts.cycle, _latency_objective_s(facts))
        update["approvable"] = () if facts.job is None else approvable_of(facts.cycle.record, facts.job)
        if motion.live is not None:  # with a cycle: a turn that finds nothing new writes nothing
            period_s = 0.0 if facts.job is None else facts.job.spec.balancing.statistics_period_s
            update["savings"] = counted(before.savings, motion.live, facts.now_s, period_s)
    after = before.model_copy(update=update)
    return after.model_copy(update={"why": _why(after)})


def _why(status: Status) -> str | None:
    ready = next((one for one in status.conditions if one.type == names.Condition.READY), None)
    cycle = None if status.last_cycle is None else status.last_cycle.reason
    if ready is None or (ready.status == "True" and cycle is not None):
        return cycle
    return ready.reason


def _latency_objective_s(facts: Facts) -> float | None:
    return None if facts.job is None else facts.job.spec.balancing.migration_budget.latency_objective_s


def _cycle(before: Status, cycle: Cycle, objective_s: float | None) -> dict[str, Any]:
    record, decision, now = cycle.record, decision_of(cycle.record), digest(cycle.record)
    return {
        "load": load_of(record, now) or before.load,
        "batch": batch_of(now, objective_s) or before.batch,
        "scaling": scaling_of(record) or before.scaling,
        "collocation": collocation_of(record, now) or before.collocation,
        "last_cycle": cycle_of(cycle),
        "last_plan": plan_of(before.last_plan, record),
        "last_action": decision if decision.decision == ACTED else before.last_action,
        "history": history_of(before.history, decision),
    }


def to_document(status: Status) -> dict[str, Any]:
    """As the API server takes it. A section that says nothing is left out and not empty: where it said something
    before, server-side apply would make null of it, and the API server refuse the whole status."""
    return _saying(status.model_dump(mode="json", by_alias=True, exclude_none=True))


def _saying(section: dict[str, Any]) -> dict[str, Any]:
    said = {name: _saying(value) if isinstance(value, dict) else value for name, value in section.items()}
    return {name: value for name, value in said.items() if value != {}}
