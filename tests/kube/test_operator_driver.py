"""The operator as a process that makes the driver itself: `spec.application` from its pod to its end.

There is no kubelet: the test says what a pod's status is, and runs the agent that the pod would.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from kube_jobs import JOB, SKEWED, stream_job
from kubectl import eventually
from paper_spark import PaperDriver, PaperSpark
from stage import Stage, balanced, condition

POD, SETTINGS = f"{JOB}-driver", f"{JOB}-spark"
FINALIZER = "streamjob.dev/operator"


def application_job(**application: Any) -> dict[str, Any]:
    """The job of the other tests, started by the operator; two settings of its user cannot be followed."""
    job = stream_job()
    del job["spec"]["applicationRef"]
    job["spec"]["application"] = {
        "image": "registry.example/paper:1",
        "mainFile": "local:///opt/app/job.py",
        "sparkConf": {"spark.kubernetes.namespace": "elsewhere", "spark.sql.shuffle.partitions": "8"},
        **application,
    }
    return job


class Owned:
    """A StreamJob with an application, under an operator; the test is kubelet and driver."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self.spark = PaperSpark(SKEWED, executors=2)

    def pod(self) -> dict[str, Any]:
        """The driver's pod, empty while there is none."""
        found = self.stage.kubectl("get", "pod", POD, "--ignore-not-found", "-o", "json")
        return json.loads(found) if found else {}

    def new_pod(self, than: str = "") -> dict[str, Any]:
        """The driver's pod once it is there and another one than that uid."""
        found: dict[str, Any] = eventually(
            lambda: (pod := self.pod()) and pod["metadata"]["uid"] != than and pod, timeout_s=60.0
        )
        return found

    def play_kubelet(self) -> None:
        """The pod runs and its probe answers."""
        container = {"name": "driver", "image": "i", "imageID": "", "ready": True, "restartCount": 0}
        container["state"] = {"running": {"startedAt": "2026-01-01T00:00:00Z"}}
        ready = [{"type": "Ready", "status": "True"}]
        status = {"phase": "Running", "podIP": "127.0.0.1", "conditions": ready, "containerStatuses": [container]}
        text = json.dumps({"status": status})
        self.stage.kubectl("patch", "pod", POD, "--subresource=status", "--type=merge", "-p", text)

    def run(self) -> dict[str, Any]:
        """Start it all; the pod of a driver that runs and reports."""
        self.stage.operator()
        self.stage.kubectl.apply(application_job())
        pod = self.new_pod()
        assert condition(self.stage.status(), "Ready") in ("", "False/DriverStarting")
        self.play_kubelet()
        self.stage.stack.enter_context(PaperDriver(self.spark, self.stage.namespace, JOB))
        self.stage.until(lambda one: condition(one, "Ready") == "True/DriverRunning")
        return pod


@pytest.fixture
def owned(stage: Stage) -> Owned:
    return Owned(stage)


def test_an_application_is_made_and_balanced(owned: Owned, stage: Stage) -> None:
    pod = owned.run()
    status = stage.until(balanced)
    assert owned.spark.distance() <= 5
    assert (status["phase"], status["driver"]["pod"], status["driver"]["podUid"]) == (
        "Running",
        POD,
        pod["metadata"]["uid"],
    )
    assert status["driver"]["applicationId"] == owned.spark.application
    assert pod["metadata"]["ownerReferences"][0]["kind"] == "StreamJob"


def test_a_setting_that_gives_way_is_named(owned: Owned, stage: Stage) -> None:
    owned.run()
    status = stage.until(lambda one: condition(one, "Accepted") == "True/SettingsOverridden")
    (accepted,) = (one for one in status["conditions"] if one["type"] == "Accepted")
    assert "spark.kubernetes.namespace is 'elsewhere'" in accepted["message"]
    assert "spark.sql.shuffle.partitions" not in accepted["message"]
    settings = stage.kubectl.get("configmap", SETTINGS)["data"]["spark.conf"].splitlines()
    assert f"spark.kubernetes.namespace={stage.namespace}" in settings
    assert "spark.sql.shuffle.partitions=8" in settings


def test_suspend_takes_the_pod_away_and_resume_makes_another(owned: Owned, stage: Stage) -> None:
    first = owned.run()["metadata"]["uid"]
    stage.patch({"suspend": True})
    stage.until(lambda one: one.get("phase") == "Suspended" and condition(one, "Ready") == "False/Suspended")
    assert owned.pod() == {}
    generation, moved = stage.generation(), len(owned.spark.moves)
    stage.patch({"suspend": False})
    second = owned.new_pod(than=first)
    assert (stage.generation(), len(owned.spark.moves)) == (generation, moved)
    owned.play_kubelet()
    status = stage.until(lambda one: condition(one, "Ready") == "True/DriverRunning")
    assert status["driver"]["podUid"] == second["metadata"]["uid"]
    events = stage.events()
    assert (events["Suspended"], events["Resumed"]) == (1, 1)


def test_changed_arguments_make_another_pod_and_other_changes_do_not(owned: Owned, stage: Stage) -> None:
    first = owned.run()
    stage.patch({"executors": {"max": 5}})
    stage.until(lambda one: one.get("observedGeneration") == 2)
    assert owned.pod()["metadata"]["uid"] == first["metadata"]["uid"]
    stage.patch({"application": {"args": ["--topic", "orders"]}})
    second = owned.new_pod(than=first["metadata"]["uid"])
    assert second["spec"]["containers"][0]["args"] == ["/opt/app/job.py", "--topic", "orders"]
    owned.play_kubelet()
    stage.until(lambda one: condition(one, "Ready") == "True/DriverRunning" and one["observedGeneration"] == 3)
    assert stage.events()["DriverRestarting"] == 1


def test_a_deleted_job_takes_its_driver_with_it(owned: Owned, stage: Stage) -> None:
    owned.run()
    assert FINALIZER in stage.kubectl.get("streamjob", JOB)["metadata"]["finalizers"]
    stage.kubectl("delete", "streamjob", JOB, "--timeout=60s")
    eventually(lambda: owned.pod() == {})
    left = stage.kubectl.run("get", "streamjob", JOB)
    assert left.returncode != 0
    assert "not found" in left.stderr
