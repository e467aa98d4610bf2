"""The operator as a process against a real API server, with the real agent over a Spark on paper."""

from __future__ import annotations

from e2e.cluster.controlplane import ControlPlane
from e2e.cluster.fault_proxy import FaultProxy, Rule
from kube_jobs import JOB, stream_job
from kubectl import eventually
from operator_process import OperatorProcess
from stage import Stage, balanced, condition

HANDED_OVER_S = 8.0
"""A lease that is not given back is free after 15 s; another operator looks each 2 s."""


def test_a_skewed_job_ends_balanced(stage: Stage) -> None:
    operator = stage.operator()
    spark = stage.job()
    status = stage.until(balanced)
    assert spark.distance() <= 5
    assert condition(status, "Ready") == "True/Adopted"
    assert condition(status, "Reconciling").startswith("False/")
    assert condition(status, "Stalled").startswith("False/")
    assert condition(status, "MetricsAvailable") == "True/MetricsFound"
    assert status["phase"] == "Running"
    assert status["executors"]["summary"] == "2/2"
    assert status["lastAction"]["reason"] == "LoadDistance"
    assert all(one["observedGeneration"] == 1 for one in status["conditions"])
    moved = {move.key for move in spark.moves}
    assert len(moved) == len(spark.moves) >= 1
    assert stage.events()["LoadDistance"] >= 1  # more where a busy agent takes it after the next cycle
    assert operator.end() == 0


def test_one_that_ends_in_order_hands_its_lease_over(stage: Stage) -> None:
    first = stage.operator()
    first.wait_for("This operator leads.")
    stage.job(balancing={"mode": "Off"})
    stage.until(lambda one: one.get("lastCycle"))
    second = stage.operator()
    second.wait_for("Another operator holds the lease; waiting.", HANDED_OVER_S * 4)
    assert second.page("/readyz") == (200, "ok\n")
    assert first.end() == 0
    second.wait_for("This operator leads.", HANDED_OVER_S)
    stage.cycles(2)
    assert second.end() == 0
    lease = stage.kubectl.get("lease", "streamjob-operator")["spec"]
    assert (lease["holderIdentity"], lease["leaseTransitions"]) == ("", 1)


def test_its_pages_answer_and_its_log_names_job_and_cycle(stage: Stage) -> None:
    operator = stage.operator()
    stage.job(balancing={"mode": "Off"})
    cycle = stage.until(lambda one: one.get("lastCycle"))["lastCycle"]["id"]
    assert operator.page("/healthz") == (200, "ok\n")
    assert operator.page("/readyz") == (200, "ok\n")
    status, page = operator.page("/metrics")
    assert status == 200
    assert any(line.startswith("streamjob_job_cycles_total{") and stage.namespace in line for line in page.splitlines())
    assert operator.page("/else")[0] == 404
    eventually(lambda: any(line.get("cycle") == cycle for line in operator.lines()))
    line = next(one for one in operator.lines() if one.get("cycle") == cycle)
    assert (line["job"], line["level"]) == (f"{stage.namespace}/{JOB}", "info")


def test_a_driver_that_comes_after_its_job_gets_its_rights(stage: Stage) -> None:
    stage.operator()
    stage.kubectl.apply(stream_job())
    stage.until(lambda one: condition(one, "Ready") == "False/ApplicationNotFound")
    stage.job(balancing={"mode": "Off"})
    stage.until(lambda one: condition(one, "Ready") == "True/Adopted")
    (subject,) = stage.kubectl.get("rolebinding", f"{JOB}-map")["subjects"]
    assert (subject["kind"], subject["name"]) == ("ServiceAccount", "default")
    may = ("auth", "can-i", "get", f"partitionmaps.streamjob.dev/{JOB}")
    assert stage.kubectl(*may, f"--as=system:serviceaccount:{stage.namespace}:default").strip() == "yes"


def test_a_users_fields_stay_the_users(stage: Stage) -> None:
    stage.operator()
    stage.job()
    stage.until(balanced)
    found = stage.kubectl.get("streamjob", JOB, "--show-managed-fields")
    ours = [one for one in found["metadata"]["managedFields"] if one["manager"] == "streamjob-operator"]
    assert {one["operation"] for one in ours} == {"Apply"}
    for one in ours:
        fields = one["fieldsV1"]
        assert set(fields) <= {"f:status", "f:metadata"}
        assert set(fields.get("f:metadata", {})) <= {"f:finalizers"}
    annotations = found["metadata"]["annotations"]
    assert set(annotations) == {"kubectl.kubernetes.io/last-applied-configuration"}


def test_a_deleted_job_goes_and_leaves_the_application_alone(stage: Stage) -> None:
    stage.operator()
    spark = stage.job()
    stage.until(balanced)
    stage.kubectl("delete", "streamjob", JOB, "--timeout=60s")
    assert spark.batches > 0
    assert stage.kubectl.get("pod", "paper-driver")["status"]["phase"] == "Pending"


def test_kinds_that_come_after_the_operator_are_waited_for(stage: Stage, control_plane: ControlPlane) -> None:
    proxy = stage.stack.enter_context(FaultProxy(control_plane))
    proxy.add(Rule(path="/apis/streamjob.dev/v1alpha1", status=404))  # as without the CRDs
    operator = stage.stack.enter_context(OperatorProcess(proxy.kubeconfig, stage.namespace, "--planners=1"))
    sentence = "does not serve streamjobs, streamjobs/status, streamjobs/scale of streamjob.dev/v1alpha1"
    operator.wait_for(sentence)
    code, text = operator.page("/readyz")
    assert code == 503
    assert sentence in text
    assert operator.page("/healthz")[0] == 200
    proxy.clear()
    stage.job(balancing={"mode": "Off"})
    stage.until(lambda one: condition(one, "Ready") == "True/Adopted")
    assert operator.page("/readyz") == (200, "ok\n")


def test_an_operator_that_waits_for_its_kinds_ends_when_it_is_told_to(
    stage: Stage, control_plane: ControlPlane
) -> None:
    proxy = stage.stack.enter_context(FaultProxy(control_plane))
    proxy.add(Rule(path="/apis/streamjob.dev/v1alpha1", status=404))
    operator = stage.stack.enter_context(OperatorProcess(proxy.kubeconfig, stage.namespace, "--planners=1"))
    operator.wait_for("does not serve")
    assert operator.end() == 0
