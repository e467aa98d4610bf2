"""The CRDs on a real API server: what may change, /scale, columns, explanations, what is kept as it is."""

from __future__ import annotations

import dataclasses
import json
import re
from typing import Any

import pytest
from admission import sentences
from kubectl import Kubectl, eventually

from streamjob_agent.map_form import status_to_map
from streamjob_agent.map_plan import plan_to_spec
from streamjob_agent.wire import AgentStatus, Assignment, ExecutorStatus, GroupKey, Pace, QueryStatus
from streamjob_operator.kube.models import MapSpec, MapStatus
from streamjob_operator.kube.models.partition_map import OtherQuery
from streamjob_operator.spec.application import PORT_HINT

APPLICATION = {"image": "registry.example/job:1", "mainFile": "job.py", "checkpoint": "s3a://bucket/one"}
LIVE = (
    'spec.application.checkpoint: Invalid value: "object": the checkpoint of a live job cannot be changed: '
    "another checkpoint is another state; set suspend to true first"
)
ONE_WAY = "application and applicationRef cannot be exchanged on a job that exists; make a new StreamJob"
IMAGE = "image is needed on Kubernetes, the container image of driver and executors"
WAYS = "exactly one of name and matchLabels is needed"
API = "apiVersion must be v1 for a Pod, and another one for a SparkApplication"


def job(**spec: Any) -> dict[str, Any]:
    spec = {"application": APPLICATION, "executors": {"min": 1, "max": 4}, **spec}
    return {"apiVersion": "streamjob.dev/v1alpha1", "kind": "StreamJob", "metadata": {"name": "a"}, "spec": spec}


def patch(kubectl: Kubectl, spec: dict[str, Any]) -> list[str]:
    """What the API server says to a merge patch; nothing when it takes it."""
    return sentences(kubectl.run("patch", "sj", "a", "--type=merge", "-p", json.dumps({"spec": spec})).stderr)


def test_the_checkpoint_of_a_live_job_stays(kubectl: Kubectl) -> None:
    kubectl.apply(job())
    assert patch(kubectl, {"application": {"checkpoint": "s3a://bucket/two"}}) == [LIVE]
    assert patch(kubectl, {"application": {"checkpoint": None}}) == [LIVE]
    assert patch(kubectl, {"suspend": True, "application": {"checkpoint": "s3a://bucket/two"}}) == [LIVE]
    assert patch(kubectl, {"suspend": True, "application": {"image": "registry.example/job:2"}}) == []
    assert patch(kubectl, {"suspend": False, "application": {"checkpoint": "s3a://bucket/two"}}) == []
    assert kubectl.get("sj", "a")["spec"]["application"]["checkpoint"] == "s3a://bucket/two"


def test_a_job_does_not_become_one_that_is_looked_after_for_somebody_else(kubectl: Kubectl) -> None:
    kubectl.apply(job())
    assert patch(kubectl, {"application": None, "applicationRef": {"name": "other"}}) == [
        f'spec: Invalid value: "object": {ONE_WAY}'
    ]


@pytest.mark.parametrize(
    ("spec", "sentence"),
    [
        ({"application": {"mainFile": "job.py"}}, f'spec.application.image: Invalid value: "object": {IMAGE}'),
        (
            {"application": {**APPLICATION, "sparkConf": {"spark.driver.port": "0"}}},
            f"spec.application.sparkConf[spark.driver.port]: Invalid value: \"object\": '0' given; {PORT_HINT}",
        ),
        ({"application": None, "applicationRef": {}}, f'spec.applicationRef: Invalid value: "object": {WAYS}'),
        (
            {"application": None, "applicationRef": {"kind": "Pod", "name": "x", "apiVersion": "spark.apache.org/v1"}},
            f'spec.applicationRef.apiVersion: Invalid value: "object": {API}',
        ),
    ],
)
def test_what_only_a_cluster_asks_for_is_refused_with_a_sentence(
    kubectl: Kubectl, spec: dict[str, Any], sentence: str
) -> None:
    refused = kubectl.run("apply", "--dry-run=server", "-f", "-", text=json.dumps(job(**spec)))
    assert sentences(refused.stderr) == [sentence]


def test_a_name_longer_than_a_label_is_refused(kubectl: Kubectl) -> None:
    named = {**job(), "metadata": {"name": "a" * 64}}
    refused = kubectl.run("apply", "--dry-run=server", "-f", "-", text=json.dumps(named))
    too_long = re.compile(r"metadata[.]name: Too long: may not be (more|longer) than 63")  # by version
    assert any(too_long.match(sentence) for sentence in sentences(refused.stderr)), refused.stderr


def test_a_pod_template_is_kept_as_it_is_and_defaults_are_filled_in(kubectl: Kubectl) -> None:
    template = {"spec": {"nodeSelector": {"disk": "fast"}, "containers": [{"name": "x", "anything": [1, {"b": "c"}]}]}}
    kubectl.apply(job(application={**APPLICATION, "executor": {"podTemplate": template}}))
    spec = kubectl.get("sj", "a")["spec"]
    assert spec["application"]["executor"] == {"cores": 1, "memory": "1g", "podTemplate": template}
    assert (spec["balancing"]["mode"], spec["balancing"]["statisticsPeriod"]) == ("Recommend", "5m")
    assert "replicas" not in spec["executors"]


def test_scale_sets_replicas_and_reports_ready_executors(kubectl: Kubectl) -> None:
    kubectl.apply(job())
    kubectl("scale", "sj/a", "--replicas=3")
    ready = {"status": {"executors": {"ready": 2, "selector": "streamjob.dev/job=a"}}}
    kubectl("patch", "sj", "a", "--subresource=status", "--type=merge", "-p", json.dumps(ready))
    scale = kubectl.get("sj", "a", "--subresource=scale")
    assert kubectl.get("sj", "a")["spec"]["executors"] == {"min": 1, "max": 4, "replicas": 3}
    assert (scale["spec"], scale["status"]) == ({"replicas": 3}, {"replicas": 2, "selector": "streamjob.dev/job=a"})


def test_an_autoscaler_of_kubernetes_steers_it(kubectl: Kubectl) -> None:
    """Below its least number it needs no metrics to raise the replicas: the whole path is there, selector included."""
    kubectl.apply(job())
    kubectl("scale", "sj/a", "--replicas=2")
    status = {"status": {"executors": {"ready": 2, "selector": "streamjob.dev/job=a"}}}
    kubectl("patch", "sj", "a", "--subresource=status", "--type=merge", "-p", json.dumps(status))
    target = {"apiVersion": "streamjob.dev/v1alpha1", "kind": "StreamJob", "name": "a"}
    cpu = {"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 70}}}
    spec = {"scaleTargetRef": target, "minReplicas": 3, "maxReplicas": 4, "metrics": [cpu]}
    kubectl.apply(
        {"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "metadata": {"name": "a"}, "spec": spec}
    )
    eventually(lambda: kubectl.get("sj", "a")["spec"]["executors"]["replicas"] == 3, timeout_s=60.0)


def test_a_list_reads_at_a_glance(kubectl: Kubectl) -> None:
    kubectl.apply(job())
    status = {
        "phase": "Draining",
        "executors": {"target": 6, "ready": 7, "summary": "7/6"},
        "load": {"distance": 3.2, "slow": "2 at 0.33"},
        "collocation": {"factor": 64},
        "migrations": {"summary": "31/43"},
        "why": "Draining",
        "batch": {"summary": "3.2s/5s"},
        "conditions": [
            {
                **{"type": "Ready", "status": "True", "reason": "DriverRunning", "message": "x"},
                "lastTransitionTime": "2026-01-01T00:00:00Z",
            }
        ],
        "lastAction": {"at": "2026-01-01T00:00:00Z", "decision": "Acted", "reason": "ScaleIn", "message": "x"},
    }
    kubectl("patch", "sj", "a", "--subresource=status", "--type=merge", "-p", json.dumps({"status": status}))
    head, row = kubectl("get", "streaming").splitlines()
    assert head.split() == ["NAME", "READY", "PHASE", "EXECUTORS", "BATCH", "MOVES", "WHY", "AGE"]
    assert row.split()[1:7] == ["True", "Draining", "7/6", "3.2s/5s", "31/43", "Draining"]
    head, row = kubectl("get", "sj", "-o", "wide").splitlines()
    assert head.split()[8:] == ["MODE", "PLANNER", "LOAD-DIST", "COLLOC", "SLOW", "LAST-ACTION", "ACTED"]
    assert row.split()[8:16] == ["Recommend", "search", "3.2", "64", "2", "at", "0.33", "ScaleIn"]


def test_what_operator_and_agent_write_is_what_the_schema_knows(kubectl: Kubectl) -> None:
    spec, status = plan_to_spec([ASSIGNMENT, OTHER]), {**status_to_map(STATUS), "heartbeatSeconds": 30.0}
    empty = {"apiVersion": "streamjob.dev/v1alpha1", "kind": "PartitionMap", "metadata": {"name": "a"}, "spec": {}}
    kubectl.apply(empty)
    kubectl.apply({**empty, "spec": spec})
    kubectl("patch", "pm", "a", "--subresource=status", "--type=merge", "-p", json.dumps({"status": status}))
    stored = kubectl.get("pm", "a")
    assert (stored["spec"], stored["status"]) == (spec, {**status, "ignored": []})
    # Of the spec the first form needs no number; to the wire format's status the agent's client adds three fields.
    assert {*spec, "form"} == {field.alias for field in MapSpec.model_fields.values()}
    assert {*spec["otherQueries"][0]} == {field.alias for field in OtherQuery.model_fields.values()}
    assert {*status, "agentUrl", "ignored"} == {field.alias for field in MapStatus.model_fields.values()}


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("sj.spec.balancing", ["key group", "load distance", "default 10", "enum: Off, Recommend, Approve, Auto"]),
        ("sj.spec.balancing.migrationBudget.maxCost", ["side by side", "Duration", "a tenth of a batch", "up to 1h"]),
        ("sj.spec.executors.replicas", ["HPA", "within min and max", "not set"]),
        ("sj.status.conditions", ["Ready", "lastTransitionTime"]),
        ("pm.spec.owners", ["operator", "16 KiB"]),
    ],
)
def test_an_explanation_reads_alone(kubectl: Kubectl, path: str, words: list[str]) -> None:
    text = " ".join(kubectl("explain", path).split())
    assert [word for word in words if word not in text] == []


KEY = GroupKey(operator=0, partition=1)
ASSIGNMENT = Assignment(
    generation=3,
    application_id="app-1",
    query_id="q",
    executors_target=4,
    marked_for_removal=("2",),
    remove=("2",),
    owners={0: ("0", "1", None)},
    arrivals={0: (None, None, 1)},
    known_executors=("0", "1", "2"),
    next_start={0: (1, 2, 1)},
    move_order=(KEY,),
    move_cost_s={KEY: 0.5},
    pace=Pace(max_moves=2, max_state_bytes=100, max_cost_s=0.5),
)
OTHER = dataclasses.replace(
    ASSIGNMENT, query_id="p", owners={0: ("1", "1")}, arrivals={0: (2, None)}, next_start={0: (1, 2)}
)
STATUS = AgentStatus(
    agent_version="0.1.0",
    spark_version="4.3.0",
    application_id="app-1",
    now_s=1.5,
    actuation="on",
    reason="Ok",
    message="It moves key groups.",
    generation_applied=3,
    refused="An older one.",
    executors=(ExecutorStatus(executor_id="1", host="10.0.0.1:7078", cores=2, state="ready", groups=2),),
    queries=(QueryStatus(query_id="q", run_id="r", name="flights", batch_id=7, owners={0: ("0", "1", "1")}),),
    self_test={"coordinator": "ok"},
)
