"""What stands around a driver and cannot be made: told for as long as that is so, and no harm to a driver that runs.

And who is to blame for a driver that cannot be made: only what is wrong with the spec itself is a spec not accepted.
"""

from __future__ import annotations

from typing import Any

import pytest
from agent_reports import agent
from kept import Kept

from streamjob_agent.map_form import assignment_to_spec
from streamjob_agent.wire import Assignment
from streamjob_operator.kube.api.kinds import CONFIG_MAPS, PARTITION_MAPS, POD_MONITORS, PODS, STREAM_JOBS, Kind
from streamjob_operator.kube.api.refusals import Refused
from streamjob_operator.kube.job.drivers import MISSING_S
from streamjob_operator.kube.job.keeper import REPAIR_AGAIN_S, REPAIR_S


class Denied:
    """Kinds that the operator may not write any more."""

    def __init__(self, kept: Kept, *kinds: Kind) -> None:
        self.kinds, self._apply, self.asked = set(kinds), kept.api.apply, 0
        kept.api.apply = self.apply

    def apply(self, kind: Kind, document: Any, **given: Any) -> Any:
        if kind in self.kinds:
            self.asked += 1
            raise Refused(403, "Forbidden", f"{kind.plural} is forbidden")
        return self._apply(kind, document, **given)


def own() -> Kept:
    """A job of our own; its first look makes the driver."""
    return Kept(applicationRef=None, application={"image": "i", "mainFile": "local:///job.py"})


def running() -> Kept:
    """A job of our own whose driver runs."""
    kept = own()
    runs(kept)
    return kept


def runs(kept: Kept) -> None:
    """Its driver is made, and the kubelet starts it."""
    kept.look()
    pod = kept.found(PODS, "orders-driver")
    state = {"name": "driver", "ready": True, "state": {"running": {"startedAt": "2026-01-01T00:00:00Z"}}}
    kept.api.put(PODS, {**pod, "status": {"phase": "Running", "containerStatuses": [state]}})


def told(kept: Kept) -> str:
    return next(str(one["message"]) for one in kept.status()["conditions"] if one["type"] == "Accepted")


def test_a_monitor_that_cannot_be_made_is_told_until_it_is() -> None:
    kept = running()
    denied = Denied(kept, POD_MONITORS)
    kept.look(after_s=REPAIR_S)
    for _ in range(3):
        assert "podmonitors is forbidden" in told(kept)
        assert kept.condition("Accepted") == "True/NotAllMade"
        kept.look()
    denied.kinds.clear()
    kept.look(after_s=REPAIR_AGAIN_S)
    assert "forbidden" not in told(kept)


def test_a_driver_that_runs_is_looked_after_though_what_stands_around_it_is_refused() -> None:
    kept = running()
    kept.look()
    denied = Denied(kept, CONFIG_MAPS)
    for _ in range(3):
        status = kept.look(after_s=REPAIR_S)
        assert status["phase"] == "Running"
        assert kept.condition("Stalled") == "False/NothingStalled"
        assert "configmaps is forbidden" in told(kept)
    assert denied.asked == 3


def test_what_was_refused_is_not_asked_for_at_every_look() -> None:
    kept = running()
    kept.look()
    denied = Denied(kept, CONFIG_MAPS)
    kept.look(after_s=REPAIR_S)
    for _ in range(5):
        kept.look()
    assert denied.asked == 1


def test_a_policy_that_forbids_marks_on_pods_stops_nothing_else() -> None:
    kept = Kept(balancing={"mode": "Off", "statisticsPeriod": "10s"})
    kept.driver()
    kept.look()
    kept.reports(agent())
    plan = Assignment(
        generation=1, application_id="app-1", query_id="query-1", marked_for_removal=("1",), executors_target=1
    )
    kept.api.put(PARTITION_MAPS, {**kept.found(PARTITION_MAPS, "orders"), "spec": assignment_to_spec(plan)})
    labels = {"spark-app-selector": "app-1", "spark-exec-id": "1", "spark-role": "executor"}
    kept.api.put(PODS, {"metadata": {"name": "exec-1", "namespace": "n", "labels": labels}, "status": {}})

    def forbid(name: str) -> None:
        if name == "exec-1":
            raise Refused(422, "Invalid", "the label streamjob.dev/marked-for-removal is forbidden")

    kept.api.before["patch"] = forbid
    for _ in range(3):
        status = kept.look(after_s=10.0)
    assert "lastCycle" in status
    assert "the label streamjob.dev/marked-for-removal is forbidden" in told(kept)
    kept.api.before.clear()
    kept.look()
    assert "forbidden" not in told(kept)
    assert kept.found(PODS, "exec-1")["metadata"]["labels"]["streamjob.dev/marked-for-removal"] == "true"


def test_executors_of_a_driver_that_was_started_again_do_not_have_the_marks_of_those_before() -> None:
    """Their ids start anew, and nothing is measured of them for a statistics period."""
    kept = Kept(metrics={"prometheus": {"url": "http://127.0.0.1:9"}})
    kept.driver()
    kept.look()
    before = Assignment(
        generation=1, application_id="app-0", query_id="query-1", marked_for_removal=("1",), executors_target=3
    )
    kept.api.put(PARTITION_MAPS, {**kept.found(PARTITION_MAPS, "orders"), "spec": assignment_to_spec(before)})
    labels = {"spark-app-selector": "app-1", "spark-exec-id": "1", "spark-role": "executor"}
    kept.api.put(PODS, {"metadata": {"name": "exec-1", "namespace": "n", "labels": labels}, "status": {}})
    kept.reports(agent())
    for _ in range(3):
        status = kept.look(after_s=10.0)
        assert status["lastCycle"]["reason"] == "MetricsUnavailable"
        assert (status["phase"], status["executors"]["summary"]) == ("Running", "2/2")
        assert kept.found(PODS, "exec-1")["metadata"]["labels"] == labels


def test_a_driver_that_is_resumed_has_missed_no_measurements_of_the_time_before() -> None:
    """Fail-safe counted the hour without a driver, and executors came in the first cycle of the next one."""
    kept = Kept(
        applicationRef=None,
        application={"image": "i", "mainFile": "local:///job.py"},
        metrics={"prometheus": {"url": "http://127.0.0.1:9"}},
        balancing={"statisticsPeriod": "10s"},
        scaling={"mode": "Auto", "failSafe": {"outAfter": "2m", "floorAfter": "3m", "floor": 3}},
    )
    runs(kept)
    for _ in range(3):
        kept.look(after_s=10.0)
        kept.reports(agent(now_s=kept.now_s))
    assert kept.condition("FailSafe") == "False/MetricsUnavailable"
    for suspended in (True, False):
        there = kept.found(STREAM_JOBS, "orders")
        kept.api.put(STREAM_JOBS, {**there, "spec": {**there["spec"], "suspend": suspended}})
        kept.look(after_s=3600.0)
    runs(kept)
    for _ in range(3):
        kept.look(after_s=10.0)
        kept.reports(agent(now_s=kept.now_s, application_id="app-2"))
        assert kept.condition("FailSafe") == "False/MetricsUnavailable"


def refuse_pods(kept: Kept, verb: str, status: int, message: str) -> None:
    def refuse(name: str) -> None:
        if "-driver" in name:
            raise Refused(status, "Invalid", message)

    kept.api.before[verb] = refuse


@pytest.mark.parametrize("verb", ["try", "create"])
def test_a_spec_whose_pods_can_never_be_is_not_accepted_until_it_is_mended(verb: str) -> None:
    kept = own()
    refuse_pods(kept, verb, 422, "metadata.labels: Invalid value: must be no more than 63 characters")
    kept.look()
    assert (kept.condition("Ready"), kept.condition("Accepted")) == ("False/InvalidSpec", "False/InvalidSpec")
    assert "must be no more than 63 characters" in told(kept)
    kept.keeper.fail("The API server did not answer.")  # which says nothing of the spec
    assert kept.condition("Accepted") == "False/InvalidSpec"
    kept.api.before.clear()
    kept.look()
    assert kept.condition("Accepted") == "True/SpecAccepted"


def test_executors_of_a_driver_that_runs_on_beside_a_spec_that_is_refused_are_counted() -> None:
    """Its namespace's quota was free for others, twice as many as it allows."""
    kept = running()
    kept.look()
    kept.reports(agent())
    labels = {"spark-app-selector": "app-1", "spark-exec-id": "1", "spark-role": "executor"}
    kept.api.put(PODS, {"metadata": {"name": "exec-1", "namespace": "n", "labels": labels}, "status": {}})
    assert kept.look()["executors"]["admitted"] == 1
    refuse_pods(kept, "try", 422, "no such label")
    there = kept.found(STREAM_JOBS, "orders")
    edited = {**there["spec"], "application": {**there["spec"]["application"], "image": "other"}}
    kept.api.put(STREAM_JOBS, {**there, "spec": edited, "metadata": {**there["metadata"], "generation": 2}})
    status = kept.look()
    assert (status["phase"], status["executors"]["admitted"]) == ("Failed", 1)
    assert "orders-driver" in [name for (_, _, name) in kept.api.objects]
    kept.api.delete(PODS, "exec-1", "n")
    assert kept.look()["executors"]["admitted"] == 0


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (403, "exceeded quota: small"),
        (403, 'violates PodSecurity "restricted:latest"'),
        (400, 'admission webhook "validate.example" denied the request: team is missing'),
        (422, "ValidatingAdmissionPolicy 'teams' with binding 'teams' denied request: team is missing"),
    ],
)
def test_want_of_room_and_policies_are_not_the_specs_fault(status: int, message: str) -> None:
    kept = own()
    refuse_pods(kept, "create", status, message)
    kept.look()
    assert (kept.condition("Ready"), kept.condition("Accepted")) == ("False/DriverRefused", "True/SpecAccepted")
    assert message in next(one["message"] for one in kept.status()["conditions"] if one["type"] == "Ready")


def test_executors_that_a_new_driver_began_with_are_waited_for() -> None:
    """Where none comes there is no batch and no cycle, so that nothing else says how many there should be."""
    kept = Kept(
        applicationRef=None,
        application={"image": "i", "mainFile": "local:///job.py"},
        executors={"min": 2, "max": 4},
    )
    runs(kept)
    kept.reports(agent(executors={"1": "ready"}))
    status = kept.look()
    assert kept.condition("ExecutorsAvailable") == "False/WaitingForExecutors"
    assert (status["executors"]["summary"], status["phase"]) == ("1/2", "Scaling")
    kept.reports(agent(executors={"1": "ready", "2": "ready"}))
    status = kept.look()
    assert kept.condition("ExecutorsAvailable") == "True/ExecutorsReady"
    assert status["phase"] == "Running"


def used_up(name: str) -> None:
    if name == "orders-executor-trial":
        raise Refused(403, "Forbidden", "exceeded quota: small, requested: pods=1, used: pods=2, limited: pods=2")


def missing_one(**told: Any) -> Kept:
    """A job whose driver runs and began with two executors, of which one has come."""
    kept = Kept(
        applicationRef=None,
        application={"image": "i", "mainFile": "local:///job.py"},
        executors={"min": 2, "max": 4},
    )
    runs(kept)
    kept.reports(agent(executors={"1": "ready"}), **told)
    kept.look()
    return kept


def test_why_the_api_server_takes_no_further_executor_is_told() -> None:
    """Spark's log alone had a quota's words: there is no pod that anybody could look at."""
    kept = missing_one()
    kept.api.before["try"] = used_up
    kept.look()
    assert kept.condition("ExecutorsAvailable") == "False/WaitingForExecutors"  # they may be about to come
    kept.look(after_s=MISSING_S)
    assert kept.condition("ExecutorsAvailable") == "False/ExecutorRefused"
    message = next(one["message"] for one in kept.status()["conditions"] if one["type"] == "ExecutorsAvailable")
    assert "1 of 2 executors are ready" in message
    assert "exceeded quota: small" in message
    del kept.api.before["try"]
    kept.look()
    assert kept.condition("ExecutorsAvailable") == "False/WaitingForExecutors"


def test_nothing_is_tried_for_executors_that_are_there_or_have_pods() -> None:
    kept = missing_one()
    for name in ("1", "2"):
        labels = {"spark-app-selector": "app-1", "spark-exec-id": name, "spark-role": "executor"}
        kept.api.put(PODS, {"metadata": {"name": f"exec-{name}", "namespace": "n", "labels": labels}})
    kept.api.calls.clear()
    kept.look(after_s=MISSING_S)
    assert ("try", PODS.plural) not in kept.api.calls
    kept.reports(agent(executors={"1": "ready", "2": "ready"}))
    kept.look(after_s=MISSING_S)
    assert ("try", PODS.plural) not in kept.api.calls


@pytest.mark.parametrize("said", ["webhook does not support dry run", "error looking up service account n/default"])
def test_what_cannot_be_tried_is_no_refusal(said: str) -> None:
    kept = missing_one()

    def refuse(_: str) -> None:
        raise Refused(403, "Forbidden", said)

    kept.api.before["try"] = refuse
    kept.look(after_s=MISSING_S)
    assert kept.condition("ExecutorsAvailable") == "False/WaitingForExecutors"
