"""Jobs that the API server takes, and whose driver it does not: who is told to be at fault."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from kube_jobs import stream_job
from stage import Stage, condition

from streamjob_operator.kube.api.client import KubeApi
from streamjob_operator.kube.api.kinds import STREAM_JOBS

PLAIN = {"image": "registry.example/paper:1", "mainFile": "local:///opt/app/job.py"}
NEVER: dict[str, tuple[dict[str, Any], str]] = {
    "label": ({"driver": {"podTemplate": {"metadata": {"labels": {"team": "x" * 64}}}}}, "63 characters"),
    "executors": ({"executor": {"podTemplate": {"metadata": {"labels": {"team": "x" * 64}}}}}, "63 characters"),
    "annotations": ({"driver": {"podTemplate": {"metadata": {"annotations": {"a": "x" * 300_000}}}}}, "Too long"),
    "settings": ({"sparkConf": {f"spark.a{one}": "x" * 100_000 for one in range(11)}}, "Too long"),
}
NO_ROOM = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "none"}, "spec": {"hard": {"pods": "0"}}}


@pytest.fixture
def jobs(stage: Stage, api_server: Path) -> Stage:
    """Looked after by an operator, in a namespace where no pod has room."""
    stage.kubectl.apply(NO_ROOM)
    api = KubeApi.from_kubeconfig(api_server)  # kubectl would put the whole job into an annotation
    for name, (application, _) in {**NEVER, "plain": ({}, "")}.items():
        document = stream_job(name)
        del document["spec"]["applicationRef"]
        document["metadata"]["namespace"] = stage.namespace
        document["spec"]["application"] = {**PLAIN, **application}
        api.create(STREAM_JOBS, document)
    stage.operator()
    return stage


def told(status: dict[str, Any]) -> tuple[str, str]:
    return condition(status, "Ready"), condition(status, "Accepted")


def message(status: dict[str, Any]) -> str:
    return next(str(one["message"]) for one in status["conditions"] if one["type"] == "Accepted")


def test_what_can_never_be_made_is_not_accepted_and_want_of_room_is_not_the_specs_fault(jobs: Stage) -> None:
    for name, (_, said) in NEVER.items():
        status = jobs.until(lambda one: condition(one, "Ready") == "False/InvalidSpec", name=name)
        assert condition(status, "Accepted") == "False/InvalidSpec"
        assert said in message(status)
    refused = ("False/DriverRefused", "True/SpecAccepted")
    jobs.until(lambda one: told(one) == refused, name="plain")
    jobs.patch({"application": {"driver": {"podTemplate": None}}}, name="label")
    jobs.until(lambda one: told(one) == refused, name="label")
