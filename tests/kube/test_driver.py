"""The driver's reconciler on a real API server. No kubelet runs there: the tests say what a pod's status is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from e2e.cluster.controlplane import ControlPlane
from e2e.cluster.fault_proxy import FaultProxy, Rule
from e2e.cluster.kubectl import ESTABLISHED
from kubectl import Kubectl, eventually
from owned_driver import JOB, POD, Operator, change, failed, running

from streamjob_operator.kube.api.client import KubeApi
from streamjob_operator.kube.api.kinds import (
    CONFIG_MAPS,
    PARTITION_MAPS,
    PODS,
    ROLE_BINDINGS,
    ROLES,
    SERVICE_ACCOUNTS,
    SERVICES,
    Kind,
)
from streamjob_operator.kube.driver import DriverMemory, reconcile_driver
from streamjob_operator.kube.names import KubeReason, Phase

SETTINGS = (CONFIG_MAPS, "orders-spark")


def test_the_api_server_takes_everything_and_gives_it_all_back_when_the_job_goes(
    operator: Operator, kubectl: Kubectl
) -> None:
    assert operator.step().phase is Phase.SUBMITTING
    kinds = {SERVICE_ACCOUNTS: POD, ROLES: POD, ROLE_BINDINGS: POD, SERVICES: POD, CONFIG_MAPS: "orders-spark"}
    kinds |= {PARTITION_MAPS: "orders", PODS: POD}
    for kind, name in kinds.items():
        assert operator.api.get(kind, name, operator.namespace) is not None, kind
    assert operator.step().reason is KubeReason.DRIVER_STARTING
    kubectl("delete", "streamjob", "orders")
    for kind, name in kinds.items():
        eventually(lambda kind=kind, name=name: operator.api.get(kind, name, operator.namespace) is None)


def test_what_a_deletion_has_orphaned_is_taken_back_and_its_driver_makes_way(
    operator: Operator, kubectl: Kubectl
) -> None:
    """As after a restore from a backup, too, whose tool takes owners away."""
    operator.step()
    kubectl("delete", "streamjob", "orders", "--cascade=orphan")
    eventually(lambda: "ownerReferences" not in (operator.pod() or {"metadata": {"ownerReferences": ()}})["metadata"])
    kubectl.apply(JOB)
    operator.told = {}
    assert operator.step().phase is Phase.PENDING
    eventually(operator.gone)
    assert operator.step().reason is KubeReason.DRIVER_STARTING
    uid = operator.facts().owner["metadata"]["uid"]
    for kind, name in (*((one, POD) for one in (SERVICE_ACCOUNTS, ROLES, ROLE_BINDINGS, SERVICES, PODS)), SETTINGS):
        found = operator.api.get(kind, name, operator.namespace)
        assert found is not None
        assert [one["uid"] for one in found["metadata"]["ownerReferences"]] == [uid], kind


def test_the_driver_passes_the_restricted_pod_security_standard(operator: Operator, kubectl: Kubectl) -> None:
    kubectl("label", "namespace", operator.namespace, "pod-security.kubernetes.io/enforce=restricted")
    assert operator.step().phase is Phase.SUBMITTING
    assert operator.pod() is not None


def test_from_the_first_look_to_a_driver_that_runs(operator: Operator) -> None:
    operator.step()
    reason = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/3 nodes have room"}
    operator.say({"conditions": [reason]})
    state = operator.step()
    assert (state.reason, state.ready) == (KubeReason.DRIVER_UNSCHEDULABLE, False)
    assert "0/3 nodes have room" in state.sentence
    operator.say(running(ready=False))
    assert operator.step().reason is KubeReason.DRIVER_STARTING
    operator.say(running(ready=True))
    state = operator.step()
    assert (state.phase, state.reason, state.ready, state.pod) == (Phase.RUNNING, KubeReason.DRIVER_RUNNING, True, POD)


def test_a_failed_driver_is_started_again_after_a_wait_that_doubles(operator: Operator) -> None:
    for wait_s in (10, 20, 40):
        first = operator.step()
        made = operator.pod()
        assert (first.phase, made is not None) == (Phase.SUBMITTING, True)
        operator.now_s = 1_000_000_005.0  # when the kubelet says that it ended
        operator.say(failed(3))
        state = operator.step()
        assert (state.phase, state.reason) == (Phase.FAILED, KubeReason.DRIVER_BACKOFF)
        assert state.next_look_s == wait_s
        assert "exit code 3" in state.sentence
        assert operator.step(wait_s - 1).reason is KubeReason.DRIVER_BACKOFF
        operator.step(1)
        eventually(operator.gone)
    assert operator.told["restarts"] == 3


def test_a_changed_application_stops_the_driver_and_starts_the_new_one(operator: Operator, kubectl: Kubectl) -> None:
    operator.step()
    operator.say(running(ready=True))
    operator.step()
    change(kubectl, {"executors": {"max": 5}})
    assert operator.step().reason is KubeReason.DRIVER_RUNNING  # nothing that a running driver needs to know
    change(kubectl, {"application": {"args": ["--topic", "orders"]}})
    assert operator.step().reason is KubeReason.DRIVER_RESTARTING
    eventually(operator.gone)
    operator.step()
    pod = operator.pod()
    assert pod is not None
    assert pod["spec"]["containers"][0]["args"] == ["/opt/app/job.py", "--topic", "orders"]


def test_suspend_and_resume(operator: Operator, kubectl: Kubectl) -> None:
    operator.step()
    change(kubectl, {"suspend": True})
    assert operator.step().reason is KubeReason.DRIVER_STOPPING
    eventually(operator.gone)
    state = operator.step()
    assert (state.phase, state.reason, state.gone) == (Phase.SUSPENDED, KubeReason.SUSPENDED, True)
    change(kubectl, {"suspend": False})
    assert operator.step().phase is Phase.SUBMITTING
    assert operator.pod() is not None


def test_a_driver_that_stops_is_waited_for_before_the_next_is_made(operator: Operator, kubectl: Kubectl) -> None:
    """The finalizer plays the kubelet, which lets a pod go only when its containers have ended."""
    operator.step()
    kubectl("patch", "pod", POD, "--type=merge", "-p", '{"metadata":{"finalizers":["test/kubelet"]}}')
    change(kubectl, {"application": {"args": ["new"]}})
    operator.step()
    assert operator.step(600).reason is KubeReason.DRIVER_STOPPING
    for _ in range(2):
        late = operator.step(600)
        assert (late.reason, late.stalled) == (KubeReason.DRIVER_NOT_ENDING, True)
    kubectl("patch", "pod", POD, "--type=merge", "-p", '{"metadata":{"finalizers":null}}')
    eventually(operator.gone)
    operator.step()
    assert operator.pod() is not None


def test_a_deletion_ends_though_the_pod_does_not(operator: Operator, kubectl: Kubectl) -> None:
    operator.step()
    kubectl("patch", "pod", POD, "--type=merge", "-p", '{"metadata":{"finalizers":["test/kubelet"]}}')
    deleted = operator.now_s
    assert not operator.step(deleted_at_s=deleted).gone
    assert not operator.step(100, deleted_at_s=deleted).gone
    assert operator.step(60, deleted_at_s=deleted).gone
    kubectl("patch", "pod", POD, "--type=merge", "-p", '{"metadata":{"finalizers":null}}')


def test_a_pod_that_was_made_by_a_call_whose_answer_was_lost_is_the_drivers(
    operator: Operator, control_plane: ControlPlane
) -> None:
    with FaultProxy(control_plane) as proxy:
        lost = proxy.add(Rule(method="POST", path=".*/pods", status=500, after=True, times=1))
        operator.api = KubeApi.from_kubeconfig(proxy.kubeconfig)
        state = operator.step()
        assert lost.applied == 1
        assert (state.phase, state.reason, state.stalled) == (Phase.SUBMITTING, KubeReason.DRIVER_STARTING, False)
        assert operator.step().reason is KubeReason.DRIVER_STARTING
        made = [one for one in proxy.requests if one == ("POST", f"/api/v1/namespaces/{operator.namespace}/pods")]
        assert len(made) == 2  # the lost one, and its repetition
        assert operator.told["podUid"] == (operator.pod() or {})["metadata"]["uid"]


def test_a_pod_of_somebody_else_that_comes_in_between_is_told(
    operator: Operator, control_plane: ControlPlane, kubectl: Kubectl
) -> None:
    theirs = {"name": POD}
    spec = {"containers": [{"name": "c", "image": "i"}]}

    class Late(KubeApi):
        def create(self, kind: Kind, document: Mapping[str, Any], *, dry_run: bool = False) -> dict[str, Any]:
            if not dry_run:
                kubectl.apply({"apiVersion": "v1", "kind": "Pod", "metadata": theirs, "spec": spec})
            return super().create(kind, document, dry_run=dry_run)

    operator.api = Late.from_kubeconfig(control_plane.kubeconfig)
    assert operator.step().reason is KubeReason.DRIVER_STARTING
    state = operator.step()
    assert (state.reason, state.stalled) == (KubeReason.DRIVER_REFUSED, True)
    assert f"Pod {POD} is there already and does not belong to this StreamJob" in state.sentence


def test_nothing_of_anybody_else_is_taken_over(operator: Operator, kubectl: Kubectl) -> None:
    kubectl("create", "service", "clusterip", POD, "--tcp=80:80")
    state = operator.step()
    assert (state.phase, state.reason, state.stalled) == (Phase.FAILED, KubeReason.DRIVER_REFUSED, True)
    assert f"Service {POD} is there already and does not belong to this StreamJob" in state.sentence
    assert operator.pod() is None
    kubectl("delete", "service", POD)
    assert operator.step().phase is Phase.SUBMITTING


def test_what_the_api_server_refuses_is_told_in_its_words(operator: Operator, kubectl: Kubectl) -> None:
    change(kubectl, {"application": {"driver": {"podTemplate": {"spec": {"dnsPolicy": "Sometimes"}}}}})
    state = operator.step()
    assert (state.reason, state.stalled) == (KubeReason.INVALID_SPEC, True)
    assert "Sometimes" in state.sentence


def test_what_stands_around_a_running_driver_is_mended_and_others_fields_stay(
    operator: Operator, kubectl: Kubectl
) -> None:
    operator.step()
    kubectl("delete", "role", POD)
    kubectl("label", "service", POD, "team=a")
    reconcile_driver(operator.api, operator.facts(), DriverMemory(), operator.now_s, repair=True)
    assert operator.api.get(ROLES, POD, operator.namespace) is not None
    assert kubectl.get("service", POD)["metadata"]["labels"]["team"] == "a"


def test_a_pod_monitor_is_made_where_the_kind_is_known(operator: Operator, kubectl: Kubectl, pod_monitors: Any) -> None:
    operator.step()
    found = kubectl.get("podmonitors.monitoring.coreos.com", POD)
    assert found["spec"]["podMetricsEndpoints"][0]["port"] == "streamjob-agent"


@pytest.fixture
def pod_monitors(kubectl: Kubectl) -> Any:
    crd = custom_kind("monitoring.coreos.com", "v1", "PodMonitor", "podmonitors")
    kubectl.apply(crd)
    kubectl("wait", ESTABLISHED, "--timeout=30s", "crd", crd["metadata"]["name"])
    yield
    kubectl("delete", "crd", crd["metadata"]["name"])


def custom_kind(group: str, version: str, kind: str, plural: str) -> dict[str, Any]:
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    served = {"name": version, "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}"},
        "spec": {
            "group": group,
            "scope": "Namespaced",
            "names": {"plural": plural, "singular": kind.lower(), "kind": kind},
            "versions": [served],
        },
    }
