"""Each sample is applied as it is, and the operator does with it what its first lines say; the drivers are on paper."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from e2e.simulated.spark_applications import APACHE, KUBEFLOW, SparkApplications
from foreign_objects import driver_pod, install
from kubectl import Kubectl, eventually, program
from paper_spark import PaperDriver, PaperSpark
from stage import Stage, balanced, condition

SAMPLES = Path(__file__).resolve().parents[2] / "samples" / "streamjobs"
SOON = {"balancing": {"statisticsPeriod": "1s"}}
"""The one thing that is changed, when the job runs: nobody waits five minutes here."""
LOPSIDED = [40.0, 5.0, 30.0, 5.0, 20.0, 5.0, 10.0, 5.0]
"""Loads of eight partitions: spread by number over two executors they weigh 100 and 20, over four up to 60."""
RUNNING = {"running": {"startedAt": "2026-01-01T00:00:00Z"}}


class Applied:
    """A sample, its driver, and its status."""

    def __init__(self, stage: Stage, name: str) -> None:
        self.stage = stage
        self.sample = yaml.safe_load((SAMPLES / f"{name}.yaml").read_text(encoding="utf-8"))
        self.name: str = self.sample["metadata"]["name"]
        stage.kubectl("apply", "-f", str(SAMPLES / f"{name}.yaml"))
        stage.operator()

    def until(self, check: Callable[[dict[str, Any]], Any]) -> dict[str, Any]:
        found: dict[str, Any] = {}

        def look() -> bool:
            found.clear()
            found.update(self.stage.status(self.name))
            return bool(check(found))

        try:
            eventually(look, 90.0, every_s=0.3)
        except AssertionError as error:
            raise AssertionError(f"{error}; status: {found}") from error
        return found

    def pod(self) -> dict[str, Any]:
        """The driver's pod that the operator makes."""
        command = ("get", "pod", f"{self.name}-driver", "--ignore-not-found", "-o", "json")
        found: dict[str, Any] = eventually(lambda: json.loads(self.stage.kubectl(*command) or "{}"), 60.0)
        return found

    def run(self, pod: str, spark: PaperSpark) -> None:
        """Play kubelet and driver."""
        container = {"name": "driver", "image": "i", "imageID": "", "ready": True, "restartCount": 0, "state": RUNNING}
        ready = [{"type": "Ready", "status": "True"}]
        status = {"phase": "Running", "podIP": "127.0.0.1", "conditions": ready, "containerStatuses": [container]}
        text = json.dumps({"status": status})
        self.stage.kubectl("patch", "pod", pod, "--subresource=status", "--type=merge", "-p", text)
        self.stage.stack.enter_context(PaperDriver(spark, self.stage.namespace, self.name))
        self.until(lambda one: condition(one, "Ready").startswith("True"))
        self.stage.kubectl("patch", "streamjob", self.name, "--type=merge", "-p", json.dumps({"spec": SOON}))

    def adopt(self, labels: dict[str, str], executors: int) -> PaperSpark:
        """Somebody starts a driver with these labels, once the sample waits for it."""
        self.until(lambda one: condition(one, "Ready") == "False/ApplicationNotFound")
        spark = PaperSpark(LOPSIDED, executors=executors)
        self.stage.kubectl.apply(driver_pod("theirs", **{**labels, "spark-app-selector": spark.application}))
        self.run("theirs", spark)
        return spark


def test_every_sample_is_applied_here() -> None:
    here = {*OWN, *ADOPTED, "adopted-driver", "kafka"}
    assert {path.stem for path in SAMPLES.glob("*.yaml")} == here


OWN: dict[str, tuple[int, Callable[[dict[str, Any]], Any]]] = {
    "own-application": (2, balanced),
    "balancing-only": (4, balanced),
    "recommend": (2, lambda one: one.get("lastPlan", {}).get("decision") == "Recommended"),
    "approve": (2, lambda one: condition(one, "AwaitingApproval").startswith("True")),
}
"""Executors of its driver, and what the sample promises."""


@pytest.mark.parametrize("name", OWN)
def test_a_job_of_ones_own(stage: Stage, name: str) -> None:
    applied = Applied(stage, name)
    executors, promised = OWN[name]
    application = applied.sample["spec"]["application"]
    assert applied.pod()["spec"]["containers"][0]["image"] == application["image"]
    spark = PaperSpark(LOPSIDED, executors=executors)
    applied.run(f"{applied.name}-driver", spark)
    acts = applied.sample["spec"]["balancing"]["mode"] == "Auto"
    # A first window may show too little to be sure of a gain, which counts as balanced too.
    applied.until(lambda one: promised(one) and bool(spark.moves) == acts)


def test_the_kafka_job_has_its_volume_and_asks_its_prometheus(stage: Stage) -> None:
    applied = Applied(stage, "kafka")
    spec = applied.pod()["spec"]
    claims = [one["persistentVolumeClaim"]["claimName"] for one in spec["volumes"] if "persistentVolumeClaim" in one]
    assert claims == ["sensors"]
    assert spec["containers"][0]["args"][0] == "/app/sensors.py"
    assert "/data" in [one["mountPath"] for one in spec["containers"][0]["volumeMounts"]]
    applied.run("sensors-driver", PaperSpark(LOPSIDED, executors=2))
    applied.until(lambda one: condition(one, "MetricsAvailable").startswith("False"))  # there is no such host


def test_a_driver_is_adopted_by_its_labels(stage: Stage) -> None:
    applied = Applied(stage, "adopted-driver")
    spark = applied.adopt(applied.sample["spec"]["applicationRef"]["matchLabels"], executors=3)
    applied.until(lambda one: balanced(one) and spark.moves)


ADOPTED = {"adopted-kubeflow": KUBEFLOW, "adopted-apache": APACHE}


@pytest.fixture
def kinds(api_server: Path) -> Iterator[None]:
    kubectl = Kubectl(program(), api_server)
    made = [install(kubectl, kind) for kind in ADOPTED.values()]
    yield
    kubectl("delete", "crd", *made)


@pytest.mark.usefixtures("kinds")
@pytest.mark.parametrize(("name", "kind"), ADOPTED.items(), ids=ADOPTED)
def test_a_spark_application_is_adopted(stage: Stage, name: str, kind: SparkApplications) -> None:
    applied = Applied(stage, name)
    application = applied.sample["spec"]["applicationRef"]["name"]
    stage.kubectl.apply(kind.application(application))
    spark = applied.adopt({kind.label: application}, executors=2)
    applied.until(lambda one: balanced(one) and spark.moves)
