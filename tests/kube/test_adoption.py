"""Applications that somebody else starts: found, judged, explained; their kinds are on a real API server."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from bare_status import bare_status
from e2e.cluster.controlplane import ControlPlane
from e2e.simulated.pods import executor_pod
from e2e.simulated.spark_applications import APACHE, KUBEFLOW, SparkApplications
from foreign_objects import driver_pod, install
from kubectl import Kubectl, eventually, program

from streamjob_agent.wire import AgentStatus
from streamjob_operator.kube.api.client import KubeApi
from streamjob_operator.kube.api.kinds import PARTITION_MAPS, PODS, STREAM_JOBS
from streamjob_operator.kube.driver.grants import grant_map
from streamjob_operator.kube.job.adoption import AGENT_STARTS_S, NO_SUSPEND, Adoption, Awaited, adopt
from streamjob_operator.kube.names import KubeReason, Phase
from streamjob_operator.kube.partition_map.maps import Maps
from streamjob_operator.spec import Spec

STARTED = "2023-11-14T22:13:20Z"
STARTED_S = 1_700_000_000.0
AGENT = bare_status(
    agent_version="0.1.0",
    spark_version="4.3.0",
    application_id="spark-1",
    now_s=STARTED_S,
)


@pytest.fixture(scope="module", autouse=True)
def _kinds(api_server: Path) -> Iterator[None]:
    kubectl = Kubectl(program(), api_server)
    made = [install(kubectl, KUBEFLOW), install(kubectl, APACHE)]
    yield
    kubectl("delete", "crd", *made)


class Cluster:
    def __init__(self, kubectl: Kubectl, api: KubeApi, namespace: str) -> None:
        self.kubectl = kubectl
        self.api = api
        self.namespace = namespace
        self._awaited = Awaited()

    def run(self, pod: dict[str, Any], phase: str = "Running") -> None:
        """The pod, and what a kubelet would say of it."""
        self.kubectl.apply(pod)
        state = {"running": {"startedAt": STARTED}}
        container = {"name": "spark", "image": "spark", "imageID": "", "ready": True, "restartCount": 0, "state": state}
        status = {"phase": phase, "containerStatuses": [container] if phase == "Running" else []}
        self.api.merge_patch(PODS, pod["metadata"]["name"], self.namespace, {"status": status}, subresource="status")

    def adopt(self, agent: AgentStatus | None = AGENT, after_s: float = 1.0, **spec: Any) -> Adoption:
        reference = spec.pop("ref", {"kind": "Pod", "apiVersion": "v1", "name": "driver"})
        document = {"applicationRef": reference, "executors": {"min": 2, "max": 6}, **spec}
        parsed = Spec.model_validate_json(json.dumps(document))
        metadata = {"name": "orders", "namespace": self.namespace}
        found = adopt(self.api, metadata, parsed, agent, STARTED_S + after_s, self._awaited)
        self._awaited = Awaited(pod_uid=found.pod_uid, since_s=found.awaited_since_s)
        return found


@pytest.fixture
def cluster(kubectl: Kubectl, api_server: Path, namespace: str) -> Cluster:
    return Cluster(kubectl, KubeApi.from_kubeconfig(api_server), namespace)


def by_name(kind: SparkApplications) -> dict[str, str]:
    return {"kind": "SparkApplication", "apiVersion": kind.api_version, "name": "orders"}


def labels_of(kind: SparkApplications) -> dict[str, str]:
    return {kind.label: "orders"}


LABELS = {"kind": "Pod", "apiVersion": "v1", "matchLabels": {"team": "a"}}


def test_a_pod_by_its_name(cluster: Cluster) -> None:
    assert cluster.adopt().reason is KubeReason.APPLICATION_NOT_FOUND
    cluster.kubectl("create", "serviceaccount", "spark")
    cluster.run(driver_pod("driver", account="spark"))
    found = cluster.adopt()
    assert (found.phase, found.reason, found.pod, found.account) == (
        Phase.RUNNING,
        KubeReason.ADOPTED,
        "driver",
        "spark",
    )
    assert (found.application_id, found.limits) == ("spark-1", ())


def test_a_pod_by_its_labels_must_be_the_only_one_that_runs(cluster: Cluster) -> None:
    assert cluster.adopt(ref=LABELS).reason is KubeReason.APPLICATION_NOT_FOUND
    cluster.run(driver_pod("one", team="a"))
    cluster.run(driver_pod("other", team="b"))
    assert cluster.adopt(ref=LABELS).pod == "one"
    cluster.run(driver_pod("two", team="a"))
    found = cluster.adopt(ref=LABELS)
    assert (found.reason, found.pod, found.stalled) == (KubeReason.APPLICATION_AMBIGUOUS, None, True)
    assert "fits 2 driver pods, and one is needed: one, two" in found.sentence
    cluster.run(driver_pod("one", team="a"), phase="Failed")  # an attempt of before
    assert cluster.adopt(ref=LABELS).pod == "two"


def test_labels_of_a_whole_application_are_its_drivers_alone(cluster: Cluster) -> None:
    """Spark's own settings give executors the same labels, and these come after the driver."""
    cluster.run(driver_pod("driver", team="a"))
    assert cluster.adopt(ref=LABELS).pod == "driver"
    for executor in ("1", "2"):
        pod = executor_pod("orders", "spark-1", executor)
        cluster.run({**pod, "metadata": {**pod["metadata"], "labels": {**pod["metadata"]["labels"], "team": "a"}}})
    found = cluster.adopt(ref=LABELS)
    assert (found.reason, found.pod) == (KubeReason.ADOPTED, "driver")


@pytest.mark.parametrize("kind", [KUBEFLOW, APACHE], ids=["kubeflow", "apache"])
def test_a_spark_application_by_its_name(cluster: Cluster, kind: SparkApplications) -> None:
    reference = by_name(kind)
    assert cluster.adopt(ref=reference).reason is KubeReason.APPLICATION_NOT_FOUND
    cluster.kubectl.apply(kind.application("orders", sparkConf={"spark.executor.instances": "3"}))
    assert "has no driver pod yet" in cluster.adopt(ref=reference).sentence
    cluster.run(driver_pod("orders-0-driver", **labels_of(kind)))
    cluster.run(driver_pod("another-driver"))
    found = cluster.adopt(ref=reference)
    assert (found.reason, found.pod, found.limits) == (KubeReason.ADOPTED, "orders-0-driver", ())


def test_an_agent_that_never_reports_is_asked_for(cluster: Cluster) -> None:
    cluster.run(driver_pod("driver"))
    found = cluster.adopt(agent=None)
    assert (found.phase, found.reason, found.stalled) == (Phase.SUBMITTING, KubeReason.DRIVER_STARTING, False)
    found = cluster.adopt(agent=None, after_s=AGENT_STARTS_S + 2)
    assert (found.phase, found.reason, found.stalled) == (Phase.PENDING, KubeReason.AGENT_MISSING, True)
    assert f"STREAMJOB_AGENT_PARTITION_MAP={cluster.namespace}/orders" in found.sentence
    assert "does not restart it" in found.sentence


def test_an_agent_of_an_earlier_driver_is_none(cluster: Cluster) -> None:
    cluster.run(driver_pod("driver", **{"spark-app-selector": "spark-2"}))
    assert cluster.adopt().reason is KubeReason.DRIVER_STARTING
    assert cluster.adopt(after_s=AGENT_STARTS_S + 2).reason is KubeReason.AGENT_MISSING


@pytest.mark.parametrize(
    ("phase", "reason"), [("Succeeded", KubeReason.DRIVER_ENDED), ("Failed", KubeReason.DRIVER_FAILED)]
)
def test_an_ended_driver_is_left_to_whoever_started_it(cluster: Cluster, phase: str, reason: KubeReason) -> None:
    cluster.run(driver_pod("driver"), phase=phase)
    found = cluster.adopt()
    assert (found.phase, found.reason) == (Phase.FAILED, reason)
    assert "whoever started it decides" in found.sentence


TWO_MASTERS = [
    (KUBEFLOW, {"dynamicAllocation": {"enabled": True}}, "dynamicAllocation.enabled is on"),
    (
        KUBEFLOW,
        {"sparkConf": {"spark.speculation": "true"}},
        "sparkConf, spark.speculation is on",
    ),
    (
        APACHE,
        {"sparkConf": {"spark.dynamicAllocation.enabled": "true"}},
        "sparkConf, spark.dynamicAllocation.enabled is on",
    ),
]


@pytest.mark.parametrize(("kind", "spec", "sentence"), TWO_MASTERS, ids=lambda value: str(value)[:30])
def test_an_application_that_scales_itself_is_refused(
    cluster: Cluster, kind: SparkApplications, spec: dict[str, Any], sentence: str
) -> None:
    cluster.kubectl.apply(kind.application("orders", **spec))
    cluster.run(driver_pod("orders-driver", **labels_of(kind)))
    found = cluster.adopt(ref=by_name(kind))
    assert (found.phase, found.reason, found.stalled) == (Phase.PENDING, KubeReason.APPLICATION_REFUSED, True)
    assert sentence in found.sentence


def test_dynamic_allocation_that_is_off_is_no_hindrance(cluster: Cluster) -> None:
    off = {"dynamicAllocation": {"enabled": False}, "sparkConf": {"spark.dynamicAllocation.enabled": "False"}}
    cluster.kubectl.apply(KUBEFLOW.application("orders", **off))
    cluster.run(driver_pod("orders-driver", **labels_of(KUBEFLOW)))
    assert cluster.adopt(ref=by_name(KUBEFLOW)).reason is KubeReason.ADOPTED


LIMITS = [
    (KUBEFLOW, {"executor": {"instances": 9}}, "starts with 9 executors"),
    (
        APACHE,
        {"applicationTolerations": {"instanceConfig": {"initExecutors": 1}}},
        "starts with 1 executor",
    ),
    (
        APACHE,
        {"applicationTolerations": {"instanceConfig": {"minExecutors": 4}}},
        "expects at least 4 executors (instanceConfig.minExecutors)",
    ),
]


@pytest.mark.parametrize(("kind", "spec", "sentence"), LIMITS, ids=lambda value: str(value)[:30])
def test_bounds_of_theirs_are_told(
    cluster: Cluster, kind: SparkApplications, spec: dict[str, Any], sentence: str
) -> None:
    cluster.kubectl.apply(kind.application("orders", **spec))
    cluster.run(driver_pod("orders-driver", **labels_of(kind)))
    found = cluster.adopt(ref=by_name(kind))
    assert (found.phase, found.reason) == (Phase.RUNNING, KubeReason.ADOPTED_WITH_LIMITS)
    assert [sentence in limit for limit in found.limits] == [True]


def test_suspending_an_adopted_application_has_no_effect_and_says_so(cluster: Cluster) -> None:
    cluster.run(driver_pod("driver"))
    found = cluster.adopt(suspend=True)
    assert (found.phase, found.reason, found.limits) == (Phase.RUNNING, KubeReason.ADOPTED_WITH_LIMITS, (NO_SUSPEND,))


def test_the_drivers_account_is_let_at_the_map_and_at_nothing_else(
    cluster: Cluster, control_plane: ControlPlane
) -> None:
    reference = {"kind": "Pod", "apiVersion": "v1", "name": "driver"}
    job = {"apiVersion": "streamjob.dev/v1alpha1", "kind": "StreamJob", "metadata": {"name": "orders"}}
    cluster.kubectl.apply({**job, "spec": {"applicationRef": reference, "executors": {"min": 1, "max": 2}}})
    cluster.kubectl("create", "serviceaccount", "spark")
    document = cluster.api.get(STREAM_JOBS, "orders", cluster.namespace)
    assert document is not None
    Maps(cluster.api, document).ensure()
    for _ in range(2):  # as often as one likes
        grant_map(cluster.api, document, "spark")
    token = cluster.kubectl("create", "token", "spark").strip()
    kubeconfig = control_plane.kubeconfig_for("spark", token)
    driver = Kubectl(program(), kubeconfig, cluster.namespace)
    eventually(lambda: driver.run("get", "partitionmap", "orders").returncode == 0)
    patch = ("patch", "partitionmap", "orders", "--type=merge", "-p")
    account = KubeApi.from_kubeconfig(kubeconfig)  # kubectl reads a subresource before it patches it, an agent does not
    told = account.merge_patch(
        PARTITION_MAPS, "orders", cluster.namespace, {"status": {"reason": "Ok"}}, subresource="status"
    )
    assert told["status"]["reason"] == "Ok"
    assert "forbidden" in driver.run(*patch, '{"spec":{"generation":1}}').stderr
    assert "forbidden" in driver.run("get", "pods").stderr
    cluster.kubectl("delete", "streamjob", "orders")
    eventually(lambda: driver.run("get", "partitionmap", "orders").returncode != 0)
