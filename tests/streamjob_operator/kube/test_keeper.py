"""Turns of one StreamJob whose driver somebody else starts."""

from __future__ import annotations

import contextlib
import dataclasses
import json

import pytest
from agent_reports import agent
from kept import Kept

from streamjob_operator.kube.api.kinds import PODS, ROLE_BINDINGS, ROLES, STREAM_JOBS
from streamjob_operator.kube.job.adoption import AGENT_STARTS_S, LOOK_S
from streamjob_operator.kube.job.keeper import FRESH_S, REPAIR_S
from streamjob_operator.kube.job.rest import CYCLE_DUE
from streamjob_operator.kube.names import Annotation
from streamjob_operator.ports import Unavailable


def subjects(kept: Kept) -> list[str]:
    return [one["name"] for one in kept.found(ROLE_BINDINGS, "orders-map")["subjects"]]


def test_a_driver_that_comes_after_its_job_gets_its_rights() -> None:
    kept = Kept()
    kept.look()
    assert kept.condition("Ready") == "False/ApplicationNotFound"
    assert (ROLES.plural, "n", "orders-map") not in kept.api.objects
    kept.driver(account="spark")
    kept.look()
    assert subjects(kept) == ["spark"]
    assert kept.found(ROLES, "orders-map")["rules"]


def test_a_driver_that_comes_back_under_another_account_gets_its_rights() -> None:
    kept = Kept()
    kept.driver(account="spark")
    kept.look()
    kept.driver(account="other", uid="2")
    kept.look()
    assert subjects(kept) == ["other"]


def test_rights_that_were_given_are_not_given_at_every_look() -> None:
    kept = Kept()
    kept.driver(account="spark")
    kept.look()
    kept.api.calls.clear()
    kept.look()
    assert [call for call in kept.api.calls if call[1] in (ROLES.plural, ROLE_BINDINGS.plural)] == []


def test_a_job_that_is_suspended_has_no_series_that_grow_old() -> None:
    """An alert on cycles that have stopped is for jobs that are to have some."""
    kept = Kept(applicationRef=None, application={"image": "i", "mainFile": "local:///job.py"})
    kept.look()
    assert kept.forgotten == []
    there = kept.found(STREAM_JOBS, "orders")
    kept.api.put(STREAM_JOBS, {**there, "spec": {**there["spec"], "suspend": True}})
    for _ in range(2):
        assert kept.look()["phase"] == "Suspended"
    assert set(kept.forgotten) == {("n", "orders")}


def test_why_a_turn_came_to_nothing_is_told_until_one_does_not() -> None:
    kept = Kept()
    before = kept.look()
    kept.keeper.fail("pods is forbidden")
    assert kept.condition("Ready") == "Unknown/OperatorError"
    assert "pods is forbidden" in [one["message"] for one in kept.status()["conditions"]]
    assert kept.condition("Accepted") == "True/SpecAccepted"
    assert kept.status()["memory"] == before["memory"]
    kept.look()
    assert kept.condition("Ready") == "False/ApplicationNotFound"


@pytest.mark.parametrize("time", ["0000-01-01T00:00:00Z", "2026-01-31t12:00:00z", "2026-01-31T12:00:00+99:99"])
def test_a_time_that_somebody_else_wrote_into_the_status_ends_no_turn(time: str) -> None:
    """The API server takes all of these; each turn failed from then on, as the status stayed as it was."""
    kept = Kept(applicationRef=None, application={"image": "i", "mainFile": "local:///job.py"})
    kept.look()
    there = kept.found(STREAM_JOBS, "orders")
    told = {**there["status"], "driver": {**there["status"]["driver"], "startedAt": time}}
    kept.api.put(STREAM_JOBS, {**there, "status": told})
    assert kept.look()["driver"].get("startedAt") != time


def test_what_this_version_does_not_know_is_told_while_turns_fail_too() -> None:
    kept = Kept(aFieldOfTheNextVersion=1)
    kept.look()
    assert kept.condition("Accepted") == "True/UnknownFields"
    kept.keeper.fail("pods is forbidden")
    assert kept.condition("Accepted") == "True/UnknownFields"


@pytest.mark.parametrize("broken", ["create", "apply"])
def test_what_fails_for_ever_is_told_where_it_can_be(broken: str) -> None:
    """A webhook may fail for events or for StreamJobs."""

    def fail(_: str) -> None:
        raise Unavailable("down")

    kept = Kept()
    kept.look()
    kept.api.before[broken] = fail
    with contextlib.suppress(Unavailable):
        kept.keeper.fail("failed calling webhook")
    events = [one for (plural, _, _), one in kept.api.objects.items() if plural == "events"]
    by_event = "OperatorError" in [one["reason"] for one in events]
    by_status = kept.condition("Ready") == "Unknown/OperatorError"
    assert (by_event, by_status) == (broken == "apply", broken == "create")


def test_a_deletion_that_cannot_go_on_is_told_by_an_event() -> None:
    kept = Kept()
    there = kept.found(STREAM_JOBS, "orders")
    metadata = {**there["metadata"], "deletionTimestamp": "2001-09-09T01:46:40Z", "finalizers": ["theirs"]}
    kept.api.put(STREAM_JOBS, {**there, "metadata": metadata})
    kept.keeper.fail("failed calling webhook")
    events = [one for (plural, _, _), one in kept.api.objects.items() if plural == "events"]
    assert [(one["reason"], one["note"]) for one in events] == [("OperatorError", "failed calling webhook")]


def test_there_is_nothing_to_tell_of_a_job_that_is_gone() -> None:
    kept = Kept()
    kept.api.objects.clear()
    kept.keeper.fail("pods is forbidden")
    assert kept.api.objects == {}


def adopted(**told: float) -> Kept:
    """With an agent that has reported once."""
    kept = Kept()
    kept.driver()
    kept.look()
    kept.reports(agent(now_s=0.0), **told)
    kept.look()
    return kept


@pytest.mark.parametrize("behind_s", [3600.0, -3600.0])
def test_an_agent_whose_clock_is_wrong_is_heard_as_long_as_it_goes_on(behind_s: float) -> None:
    kept = adopted()
    for _ in range(10):
        kept.reports(agent(now_s=kept.now_s - behind_s))
        kept.look(after_s=30.0)
        assert kept.condition("Ready") == "True/Adopted"


def test_an_agent_that_goes_on_no_more_is_silent_after_a_minute_and_may_come_back() -> None:
    kept = adopted()
    kept.look(after_s=60.0)
    assert kept.condition("Ready") == "True/Adopted"
    kept.look(after_s=1.0)
    assert kept.condition("Ready") == "False/AgentSilent"
    kept.reports(agent(now_s=1.0))
    kept.look()
    assert kept.condition("Ready") == "True/Adopted"


def test_a_job_at_rest_is_looked_at_for_its_cycles_and_when_its_agent_would_be_silent() -> None:
    nobody = {"prometheus": {"url": "http://127.0.0.1:9"}}
    kept = Kept(balancing={"statisticsPeriod": "10m"}, metrics=nobody)
    kept.driver(**{"spark-role": "driver"})
    kept.look()
    rests = []
    for heartbeat_s, after_s in ((30.0, 0.0), (10.0, 0.0), (10.0, 61.0)):
        if not after_s:
            kept.reports(agent(now_s=kept.now_s), heartbeatSeconds=heartbeat_s)
            kept.look()  # the first one runs a cycle, which finds nothing
        kept.now_s += after_s
        rests.append(kept.keeper.turn() or 0.0)
    at_rest_s, moving_s, silent_s = rests
    assert 60.0 <= at_rest_s <= 80.0
    assert moving_s <= 60.5
    assert silent_s <= 30.0


@pytest.mark.parametrize(
    ("happens", "looks"),
    [("nothing", 0), ("the job", 1), ("its map", 1), ("time", 1)],
)
def test_a_cycle_goes_on_from_the_look_that_found_it_due(happens: str, looks: int) -> None:
    """Unless somebody has written either meanwhile, or that was a while ago."""
    kept = Kept(balancing={"statisticsPeriod": "10m"}, metrics={"prometheus": {"url": "http://127.0.0.1:9"}})
    kept.driver(**{"spark-role": "driver"})
    kept.look()
    kept.reports(agent(now_s=kept.now_s))
    assert kept.keeper.turn(cycle=False) is CYCLE_DUE
    if happens == "the job":
        kept.annotate(Annotation.REFRESH, "again")
    elif happens == "its map":
        kept.reports(agent(now_s=kept.now_s + 1.0))
    kept.now_s += FRESH_S + 1.0 if happens == "time" else 1.0
    kept.api.calls.clear()
    assert kept.keeper.turn(cycle=True) is not CYCLE_DUE
    assert kept.status()["lastCycle"]["reason"] == "MetricsUnavailable", "it ran, though nobody answers it"
    assert sum(call[:2] == ("get", PODS.plural) for call in kept.api.calls) == looks


def test_the_plan_of_a_job_that_a_person_has_edited_comes_before_others() -> None:
    kept = Kept(balancing={"statisticsPeriod": "60s"}, metrics={"prometheus": {"url": "http://127.0.0.1:9"}})
    kept.driver(**{"spark-role": "driver"})
    kept.look()
    kept.reports(agent(now_s=kept.now_s))
    for _ in range(2):
        kept.look(60.0)
    kept.annotate(Annotation.APPROVE, "4d5e6f")
    kept.look(10.0)
    kept.look(120.0)
    assert kept.planned == [False, False, True, False]
    kept.restart()
    kept.annotate(Annotation.REFRESH, "again")
    kept.look()
    assert kept.planned[4:] == [True], "an operator that has just begun knows no edit, but what was not followed yet"
    kept.asked = True
    kept.look(120.0)
    assert kept.planned[5:] == [True], "a person asked after the turn began"


def test_cycles_go_on_though_the_clock_was_set_back() -> None:
    kept = Kept(balancing={"statisticsPeriod": "1m"}, metrics={"prometheus": {"url": "http://127.0.0.1:9"}})
    kept.driver(**{"spark-role": "driver"})
    kept.look()
    kept.reports(agent(now_s=kept.now_s))
    first = kept.look()["lastCycle"]["at"]
    kept.now_s -= 3600.0
    kept.reports(agent(now_s=kept.now_s))
    looks = [kept.look(after_s=30.0)["lastCycle"]["at"] for _ in range(6)]
    assert len({first, *looks}) in (3, 4), "one at once, then one a minute"


def test_a_pod_that_its_node_may_never_end_is_looked_at_as_often_as_before() -> None:
    kept = Kept(balancing={"statisticsPeriod": "10m"}, metrics={"prometheus": {"url": "http://127.0.0.1:9"}})
    kept.driver(**{"spark-role": "driver"})
    kept.look()
    kept.reports(agent(now_s=kept.now_s), heartbeatSeconds=30.0)
    labels = {"spark-role": "executor", "spark-app-selector": "app-1", "spark-exec-id": "1"}
    ending = {"deletionTimestamp": "2026-11-01T00:00:00Z", "deletionGracePeriodSeconds": 30, "finalizers": ["x"]}
    pod = {"metadata": {"name": "exec-1", "namespace": "n", "uid": "e1", "labels": labels, **ending}}
    kept.api.put(PODS, {**pod, "spec": {"containers": []}, "status": {"phase": "Running"}})
    kept.look()
    rest_s = kept.keeper.turn()
    assert isinstance(rest_s, float)
    assert rest_s <= 30.0


def test_an_agent_that_told_it_is_at_rest_is_silent_after_a_minute_and_a_half_and_one_that_moves_earlier() -> None:
    kept = adopted(heartbeatSeconds=30.0)
    kept.look(after_s=90.0)
    assert kept.condition("Ready") == "True/Adopted"
    kept.reports(agent(now_s=90.0), heartbeatSeconds=10.0)
    kept.look()
    kept.look(after_s=60.0)
    assert kept.condition("Ready") == "True/Adopted"
    kept.look(after_s=1.0)
    assert kept.condition("Ready") == "False/AgentSilent"


@pytest.mark.parametrize("told", [{}, {"heartbeatSeconds": 30.0}])
def test_an_agent_that_was_silent_is_so_after_a_restart_of_the_operator_until_it_is_heard(
    told: dict[str, float],
) -> None:
    """Its alert was resolved, and fired again a minute later."""
    kept = adopted(**told)
    kept.look(after_s=91.0)
    for _ in range(3):
        kept.restart()
        kept.look(after_s=5.0)
        assert kept.condition("Ready") == "False/AgentSilent"
        kept.look(after_s=5.0)
        assert kept.condition("Ready") == "False/AgentSilent"
    kept.reports(agent(now_s=1.0))
    kept.look()
    assert kept.condition("Ready") == "True/Adopted"
    kept.restart()
    kept.look()
    assert kept.condition("Ready") == "True/Adopted"


def test_what_an_agent_says_at_any_length_leaves_a_status_that_can_be_written() -> None:
    """Its account may write as much as an object holds, and each decision repeats it."""
    kept = Kept(balancing={"mode": "Auto", "statisticsPeriod": "10s"})
    kept.driver()
    kept.look()
    long = "x" * 200_000
    for at in range(5):
        told = agent(now_s=float(at), agent_version=long, spark_version=long, message=long, reason=f"Broken{at}{long}")
        query = dataclasses.replace(told.queries[0], name=long)
        kept.reports(dataclasses.replace(told, queries=(query,), actuation="off", refused=long))
        kept.look(after_s=30.0)
    assert kept.condition("ActuationAvailable").startswith("False/Broken4x")
    assert len(json.dumps(kept.status())) < 60_000


def test_scale_selects_an_adopted_jobs_executors_by_sparks_own_labels() -> None:
    kept = Kept()
    kept.driver()
    assert "selector" not in kept.look()["executors"]  # nobody knows the application's id yet
    kept.reports(agent(application_id="spark-1"))
    assert kept.look()["executors"]["selector"] == "spark-app-selector=spark-1,spark-role=executor"


def test_the_id_of_an_application_is_known_by_its_drivers_labels_too() -> None:
    kept = Kept()
    kept.driver(**{"spark-app-selector": "spark-1"})
    status = kept.look()
    assert status["driver"]["applicationId"] == "spark-1"
    assert status["executors"]["selector"] == "spark-app-selector=spark-1,spark-role=executor"


def test_scale_selects_a_jobs_own_executors_by_its_name() -> None:
    kept = Kept(applicationRef=None, application={"image": "i", "mainFile": "local:///job.py"})
    kept.look()
    assert kept.look()["executors"]["selector"] == "streamjob.dev/job=orders,spark-role=executor"


@pytest.mark.parametrize("started", ["1970-01-01T00:00:00Z", "2100-01-01T00:00:00Z"], ids=["behind", "ahead"])
def test_an_agent_is_missed_by_our_clock_whatever_its_nodes_says_and_whoever_looks(started: str) -> None:
    kept = Kept()
    kept.driver(started=started)
    kept.look()
    assert kept.condition("Ready") == "False/DriverStarting"
    kept.restart()
    kept.look(after_s=AGENT_STARTS_S - 5)
    assert kept.condition("Ready") == "False/DriverStarting"
    kept.look(after_s=10)
    assert kept.condition("Ready") == "False/AgentMissing"
    kept.driver(started=started, uid="2")
    kept.look()
    assert kept.condition("Ready") == "False/DriverStarting"


def test_a_driver_that_a_watch_tells_of_is_not_looked_for_again_and_again() -> None:
    rests = []
    for labels in ({}, {"spark-role": "driver"}):
        kept = Kept()
        kept.driver(**labels)
        rests.append(kept.keeper.turn())
    assert rests[0] == LOOK_S
    assert isinstance(rests[1], float)
    assert rests[1] > LOOK_S


def test_a_driver_whose_report_cannot_be_read_is_looked_after_all_the_same() -> None:
    """It is replaced by a change of its image or stopped by suspend; it was beyond reach until its map was deleted."""
    kept = Kept(applicationRef=None, application={"image": "job:1", "mainFile": "job.py"})
    kept.look()
    driver = kept.api.objects.pop((PODS.plural, "n", "orders-driver"))
    kept.reports(agent(application_id="spark=1"))
    kept.look(after_s=3600.0)
    kept.look(after_s=3600.0)
    assert kept.found(PODS, "orders-driver")["metadata"]["uid"] != driver["metadata"]["uid"]
    told = {one["type"]: one["message"] for one in kept.status()["conditions"]}
    assert "'spark=1' is not what Spark gives" in told["ActuationAvailable"]


def test_what_stands_around_a_driver_is_mended_within_an_hour() -> None:
    kept = Kept(applicationRef=None, application={"image": "job:1", "mainFile": "job.py"})
    kept.look()
    kept.look()
    del kept.api.objects[(ROLES.plural, "n", "orders-driver")]
    kept.look()
    assert (ROLES.plural, "n", "orders-driver") not in kept.api.objects
    kept.look(after_s=REPAIR_S)
    assert (ROLES.plural, "n", "orders-driver") in kept.api.objects
