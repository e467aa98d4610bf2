"""How many key groups there are and might be, as the status says it: proposed, approved, changed, failed."""

from __future__ import annotations

import dataclasses
import json

from test_status import AUTO, RUNNING, facts, found, status_of
from worlds import even, warm

from streamjob_operator.kube.models.key_groups import KeyGroupsStatus
from streamjob_operator.kube.models.status import Status
from streamjob_operator.kube.names import Condition
from streamjob_operator.kube.report.tellings import tellings
from streamjob_operator.spec import Application, StreamJob
from streamjob_operator.spec.key_groups import KeyGroups
from streamjob_operator.values import CycleRecord
from streamjob_planners.advice.more_groups import MoreGroups


def record(wanted: int | None = None) -> CycleRecord:
    """Of twelve key groups; so many might do."""
    made = warm(even(2, 6, 9.0), AUTO).turn(AUTO)
    assert made.scaling is not None
    more = None if wanted is None else MoreGroups(now=12, wanted=wanted, shared=False)
    return dataclasses.replace(made, scaling=dataclasses.replace(made.scaling, more_groups=more))


def policy(**key_groups: object) -> StreamJob:
    groups = KeyGroups.model_validate_json(json.dumps(key_groups))
    balancing = AUTO.spec.balancing.model_copy(update={"key_groups": groups})
    application = Application.model_validate_json('{"mainFile": "job.py", "checkpoint": "/c"}')
    update = {"balancing": balancing, "application": application, "application_ref": None}
    return AUTO.model_copy(update={"spec": AUTO.spec.model_copy(update=update)})


def message(status: Status) -> str:
    return next(one.message for one in status.conditions if one.type == Condition.MORE_KEY_GROUPS)


def test_what_is_proposed_is_told_with_what_to_do_about_it() -> None:
    status = status_of(facts(record(wanted=48), of=policy()))
    assert found(status, Condition.MORE_KEY_GROUPS) == "True/KeyGroupsProposed"
    assert status.key_groups == KeyGroupsStatus(now=12, proposed=48)
    assert "spec.balancing.keyGroups.count: 48 makes them" in message(status)
    status = status_of(facts(record(wanted=48), of=policy(mode="Approve")))
    assert "once the annotation streamjob.dev/approve is key-groups-48" in message(status)
    of = AUTO.model_copy(update={"spec": AUTO.spec.model_copy(update={"application": None})})
    assert "by hand: streamjob repartition CHECKPOINT --key-groups 48" in message(status_of(facts(record(48), of=of)))


def test_a_turn_without_a_measurement_keeps_what_was_known_and_one_with_it_forgets() -> None:
    status = status_of(facts(record(wanted=48)))
    after = status_of(facts(), before=status)
    assert after.key_groups == status.key_groups
    assert found(after, Condition.MORE_KEY_GROUPS) == "True/KeyGroupsProposed"
    after = status_of(facts(record()), before=after)
    assert after.key_groups == KeyGroupsStatus(now=12)
    assert found(after, Condition.MORE_KEY_GROUPS) == "False/KeyGroupsEnough"


def test_a_failure_is_told_once_and_stays_to_be_read() -> None:
    before = status_of(facts(record(wanted=48)))
    change = KeyGroupsStatus(tried="48:hash", failure="Batch 7 was begun and not finished.")
    told = facts(record(wanted=48), driver=dataclasses.replace(RUNNING, change=change))
    after = status_of(told, before=before)
    assert found(after, Condition.MORE_KEY_GROUPS) == "True/KeyGroupsFailed"
    assert "There are no 48 key groups" in message(after)
    assert "Batch 7" in message(after)
    assert [one.reason for one in tellings(before, after, told) if one.reason.startswith("KeyGroups")] == [
        "KeyGroupsFailed"
    ]
    assert not [one for one in tellings(after, after, told) if one.reason.startswith("KeyGroups")]


def test_what_is_done_is_shown_beside_what_was_measured_and_only_as_long_as_it_is_done() -> None:
    """The driver's reconciler reads it again after a restart of the operator."""
    before = status_of(facts(record(wanted=48)))
    change = KeyGroupsStatus(step="Change", wanted=48, tried="48:hash", pod_uid="pod-1")
    after = status_of(facts(driver=dataclasses.replace(RUNNING, change=change)), before=before)
    assert after.key_groups == change.model_copy(update={"now": 12, "proposed": 48})
    assert status_of(facts(), before=after).key_groups == KeyGroupsStatus(now=12, proposed=48)
    assert status_of(facts(driver=None), before=after).key_groups == after.key_groups, "nobody knows"


def test_what_was_made_is_how_many_there_are_before_anything_measures_it() -> None:
    """Or an edit of the application, which is tried anew, would stop the driver for what is done already."""
    before = status_of(facts(record(wanted=48)))
    done = facts(driver=dataclasses.replace(RUNNING, change=KeyGroupsStatus(now=48, tried="48:hash")))
    after = status_of(done, before=before)
    assert after.key_groups == KeyGroupsStatus(now=48, tried="48:hash")
    later = facts(driver=dataclasses.replace(RUNNING, change=KeyGroupsStatus(tried="48:hash")))
    assert status_of(later, before=after).key_groups == after.key_groups
