"""Whose news a pod is that carries no label of ours."""

from __future__ import annotations

from typing import Any

import pytest

from streamjob_operator.kube.names import Label
from streamjob_operator.kube.pods.executors import APPLICATION
from streamjob_operator.kube.watched.adopted import Adopted

KUBEFLOW, APACHE = "sparkoperator.k8s.io/app-name", "spark.operator/spark-app-name"
DRIVER, EXECUTOR = {"spark-role": "driver"}, {"spark-role": "executor"}


def pod(name: str, labels: dict[str, str], namespace: str = "n") -> dict[str, Any]:
    return {"metadata": {"name": name, "namespace": namespace, "labels": labels}}


def job(job_name: str, **reference: Any) -> dict[str, Any]:
    return {"metadata": {"name": job_name, "namespace": "n"}, "spec": {"applicationRef": reference}}


def partition_map(name: str, application: str) -> dict[str, Any]:
    return {"metadata": {"name": name, "namespace": "n"}, "status": {"applicationId": application}}


@pytest.fixture
def adopted() -> Adopted:
    found = Adopted()
    found.job(job("by-name", kind="Pod", name="p"))
    found.job(job("by-labels", kind="Pod", matchLabels={"app": "x", "tier": "y"}))
    found.job(job("kubeflow", name="etl"))
    found.job(job("apache", apiVersion="spark.apache.org/v1", name="etl"))
    found.map(partition_map("kubeflow", "spark-1"))
    return found


@pytest.mark.parametrize(
    ("one", "told"),
    [
        (pod("p", DRIVER), ("by-name",)),
        (pod("q", DRIVER), ()),
        (pod("p", DRIVER, "elsewhere"), ()),
        (pod("q", DRIVER | {"app": "x", "tier": "y", "more": "z"}), ("by-labels",)),
        (pod("q", DRIVER | {"app": "x"}), ()),
        (pod("q", DRIVER | {KUBEFLOW: "etl"}), ("kubeflow",)),
        (pod("q", DRIVER | {APACHE: "etl"}), ("apache",)),
        (pod("q", EXECUTOR | {APPLICATION: "spark-1"}), ("kubeflow",)),
        (pod("q", EXECUTOR | {APPLICATION: "spark-2"}), ()),
        (pod("p", EXECUTOR | {Label.JOB.value: "own"}), ("own",)),
    ],
)
def test_a_pod_is_news_for(adopted: Adopted, one: dict[str, Any], told: tuple[str, ...]) -> None:
    assert adopted.jobs_of(one) == told


def test_what_is_gone_hears_nothing(adopted: Adopted) -> None:
    adopted.job(job("by-name", kind="Pod", name="p"), gone=True)
    adopted.map(partition_map("kubeflow", "spark-1"), gone=True)
    assert adopted.jobs_of(pod("p", DRIVER)) == ()
    assert adopted.jobs_of(pod("q", EXECUTOR | {APPLICATION: "spark-1"})) == ()


def test_a_driver_that_was_started_again_has_another_application(adopted: Adopted) -> None:
    adopted.map(partition_map("kubeflow", "spark-9"))
    assert adopted.jobs_of(pod("q", EXECUTOR | {APPLICATION: "spark-1"})) == ()
    assert adopted.jobs_of(pod("q", EXECUTOR | {APPLICATION: "spark-9"})) == ("kubeflow",)
