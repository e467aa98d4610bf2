"""Imported SparkApplications on the real API server: it takes the StreamJob, and the pods that are made of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from kubectl import Kubectl

from streamjob_operator.importing import kubeflow
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


def test_text_that_kubectl_would_take_for_a_number_or_a_boolean_stays_text(namespace: str, kubectl: Kubectl) -> None:
    """kubectl's YAML is not PyYAML's: 098 is a float there, 1e-3 and 0o17 are numbers, y and n are booleans."""
    words = [
        "098765432109",
        "08",
        "1e-3",
        "1.5e3",
        ".5e1",
        "-1e5",
        "0o17",
        "1_0e1",
        "y",
        "Y",
        "n",
        "N",
        "yes",
        "1",
        "x",
    ]
    settings = {f"spark.word.{at}": one for at, one in enumerate(words)}
    source = {
        "apiVersion": kubeflow.API,
        "kind": "SparkApplication",
        "metadata": {"name": "words", "labels": {"commit": "1234e5"}},
        "spec": {
            "image": "example/job:1",
            "mainApplicationFile": "local:///app/job.py",
            "arguments": words,
            "sparkConf": settings,
            "driver": {"env": [{"name": f"WORD_{at}", "value": one} for at, one in enumerate(words)]},
        },
    }
    kubectl("apply", "-f", "-", text=imported(json.dumps(source)).text)
    document = kubectl.get("streamjob", "words")
    application = document["spec"]["application"]
    (container,) = application["driver"]["podTemplate"]["spec"]["containers"]
    assert document["metadata"]["labels"] == {"commit": "1234e5"}
    assert application["args"] == words
    assert application["sparkConf"] == settings
    assert [one["value"] for one in container["env"]] == words
