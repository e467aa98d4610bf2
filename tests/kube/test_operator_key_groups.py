"""Another number of key groups on a real API server. No kubelet runs there: the tests say what becomes of a pod."""

from __future__ import annotations

import contextlib
import json
import signal
from typing import Any

import pytest
from kube_jobs import JOB
from kubectl import Kubectl, eventually
from owned_driver import Operator, change, container, failed, running
from paper_spark import PaperDriver
from stage import Stage, condition
from test_operator_driver import Owned, application_job

from streamjob_operator.kube.api.kinds import PODS
from streamjob_operator.kube.names import KubeReason

CHANGE = "orders-key-groups"
ASKED: dict[str, Any] = {"key_groups": 8, "key_groups_asked": True}
DONE = {
    "phase": "Succeeded",
    "containerStatuses": [
        container("driver", {"terminated": {"exitCode": 0, "startedAt": "2001-09-09T01:46:40Z"}}),
    ],
}


@pytest.fixture
def asked(operator: Operator, kubectl: Kubectl) -> Operator:
    """A driver that runs, of a job that asks for eight key groups: it was stopped, and their pod was made."""
    change(kubectl, {"suspend": True})
    change(kubectl, {"application": {"checkpoint": "s3a://b/c"}, "suspend": False})
    operator.step()
    operator.say(running(ready=True))
    assert operator.step().reason is KubeReason.DRIVER_RUNNING
    assert operator.step(**ASKED).reason is KubeReason.KEY_GROUPS_CHANGING
    eventually(operator.gone)
    operator.step(**ASKED)
    assert changing(operator) is not None
    return operator


def changing(operator: Operator) -> dict[str, Any] | None:
    return operator.api.get(PODS, CHANGE, operator.namespace)


def driver_comes(operator: Operator) -> None:
    for _ in range(4):
        operator.step(**ASKED)
        if operator.pod() is not None:
            break
        eventually(lambda: changing(operator) is None or operator.step(**ASKED))
    assert operator.pod() is not None
    assert changing(operator) is None
    operator.say(running(ready=True))
    assert operator.step(**ASKED).reason is KubeReason.DRIVER_RUNNING
    assert operator.step(**ASKED).reason is KubeReason.DRIVER_RUNNING, "it is not tried again"


def test_a_pod_that_fails_is_told_and_the_driver_goes_on(asked: Operator) -> None:
    words = "The query has run meanwhile"
    said = failed(2)
    said["containerStatuses"][0]["state"]["terminated"]["message"] = words
    asked.say(said, CHANGE)
    driver_comes(asked)
    assert asked.changed["failure"] == words


def test_a_pod_that_is_killed_is_followed_by_one_that_goes_back(asked: Operator) -> None:
    asked.say(failed(137), CHANGE)
    asked.step(**ASKED)
    asked.step(**ASKED)
    eventually(lambda: changing(asked) is None)
    asked.step(**ASKED)
    back = changing(asked)
    assert back is not None
    assert back["spec"]["containers"][0]["args"] == ["s3a://b/c", "--undo"]
    asked.say(DONE, CHANGE)
    driver_comes(asked)


def test_a_job_that_is_deleted_meanwhile_takes_the_pod_with_it(asked: Operator, kubectl: Kubectl) -> None:
    state = asked.step(deleted_at_s=asked.now_s, **ASKED)
    assert state.gone is False
    eventually(lambda: changing(asked) is None)
    assert asked.step(deleted_at_s=asked.now_s, **ASKED).gone is True
    kubectl("delete", "streamjob", "orders")


def test_a_person_approves_the_driver_stops_the_pod_changes_it_the_driver_runs_again(stage: Stage) -> None:
    """With an operator that is killed in the middle, and another one that goes on."""
    owned, name = Owned(stage), f"{JOB}-key-groups"
    operator = stage.operator()
    stage.kubectl.apply(application_job(checkpoint="s3a://b/c"))
    first = owned.new_pod()
    owned.play_kubelet()
    stage.stack.enter_context(PaperDriver(owned.spark, stage.namespace, JOB))
    stage.until(lambda one: one.get("keyGroups", {}).get("now") == 8)
    stage.patch({"balancing": {"keyGroups": {"mode": "Approve"}, "statisticsPeriod": "1h"}})

    def approved() -> dict[str, Any]:
        """Paper batches are too short to be proposed for: the test proposes, and the next cycle forgets it again."""
        proposed = json.dumps({"status": {"keyGroups": {"proposed": 16}}})
        stage.kubectl("patch", "streamjob", JOB, "--subresource=status", "--type=merge", "-p", proposed)
        with contextlib.suppress(AssertionError):  # it was forgotten by then
            stage.plugin("approve", JOB, "key-groups-16")
        return _pod(stage, name)

    pod = eventually(approved, timeout_s=60.0, every_s=2.0)
    assert pod["spec"]["containers"][0]["args"] == ["s3a://b/c", "--key-groups", "16"]
    assert owned.pod() == {}
    assert condition(stage.status(), "Ready") in ("False/KeyGroupsChanging", "False/DriverStopping")
    operator.end(signal.SIGKILL)
    stage.kubectl("patch", "pod", name, "--subresource=status", "--type=merge", "-p", json.dumps({"status": DONE}))
    operator.start()
    second = owned.new_pod(than=first["metadata"]["uid"])
    assert second["spec"]["containers"][0]["command"][-1] == "run"
    owned.play_kubelet()
    stage.until(lambda one: condition(one, "Ready") == "True/DriverRunning")
    assert _pod(stage, name) == {}
    stage.patch({"balancing": {"statisticsPeriod": "1s"}})
    status = stage.cycles(2)
    assert "step" not in status["keyGroups"]
    assert owned.pod()["metadata"]["uid"] == second["metadata"]["uid"]
    assert stage.events()["KeyGroupsChanging"] == 1


def _pod(stage: Stage, name: str) -> dict[str, Any]:
    found = stage.kubectl("get", "pod", name, "--ignore-not-found", "-o", "json")
    return json.loads(found) if found else {}
