"""Imported SparkApplications on the real API server: it takes the StreamJob, and the pods that are made of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from kubectl import Kubectl

from streamjob_operator.importing.reading import imported
from streamjob_operator.kube.api.client import KubeApi
from streamjob_operator.kube.api.kinds import PODS, STREAM_JOBS
from streamjob_operator.kube.api.reading import read_job
from streamjob_operator.kube.driver import JobFacts
from streamjob_operator.kube.driver.pod import trials

DATA = Path(__file__).parents[1] / "data" / "sparkapplications"
NAMES = sorted(path.stem for path in DATA.glob("*.yaml") if path.stem != "kubeflow-r")


@pytest.mark.parametrize("name", NAMES)
def test_the_job_and_its_pods_are_taken(name: str, api_server: Path, namespace: str, kubectl: Kubectl) -> None:
    text = imported((DATA / f"{name}.yaml").read_text(encoding="utf-8")).text
    kubectl("apply", "-f", "-", text=text.replace("namespace: streams", f"namespace: {namespace}"))
    api = KubeApi.from_kubeconfig(api_server)
    (document,) = api.list(STREAM_JOBS, namespace)
    reading = read_job(document)
    assert reading.job is not None, reading.mistakes
    assert reading.job.spec.application is not None
    job = JobFacts(
        name=document["metadata"]["name"],
        namespace=namespace,
        generation=reading.generation,
        owner=document,
        spec=reading.job.spec,
        application=reading.job.spec.application,
        executors=2,
    )
    for account in {"clicks", "trips", f"{job.name}-driver"}:
        kubectl("create", "serviceaccount", account)
    kubectl("create", "priorityclass", f"high-{namespace}", "--value=1")
    for what, pod in trials(job):
        if "priorityClassName" in pod["spec"]:
            pod["spec"]["priorityClassName"] = f"high-{namespace}"
        made = api.create(PODS, pod, dry_run=True)
        assert made["spec"]["containers"][0]["image"], what
