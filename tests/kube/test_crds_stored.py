"""Objects from before a rule: their status, finalizer and deletion go on, and what is wrong must be mended once.

Kubernetes leaves alone what an update does not change (CRD validation ratcheting: on by default since 1.30), the status
not yet in 1.30.
"""

from __future__ import annotations

import copy
import json
import uuid
from collections.abc import Iterator
from typing import Any

import pytest
from admission import sentences
from kubectl import Kubectl, eventually

from streamjob_operator.kube.crd.definitions import stream_job
from streamjob_operator.kube.names import FINALIZER

RULES = "x-kubernetes-validations"
KIND, MADE = "storedjobs.stored.streamjob.dev", {"apiVersion": "stored.streamjob.dev/v1alpha1", "kind": "StoredJob"}
COMMAND = (
    'spec.application.driver.podTemplate.spec.containers: Invalid value: "array": command of the driver\'s container: '
    "a list given; the agent starts the script; application.mainFile names it, leave it out"
)


def definition() -> dict[str, Any]:
    """Ours, under names of its own: other tests use ours on the same API server."""
    found = stream_job()
    plural, _, group = KIND.partition(".")
    found["metadata"]["name"] = KIND
    found["spec"]["group"] = group
    named = {"kind": "StoredJob", "listKind": "StoredJobList", "plural": plural, "singular": "storedjob"}
    found["spec"]["names"] = named
    return found


def before() -> dict[str, Any]:
    """The definition when templates were open."""
    found = copy.deepcopy(definition())
    schema = found["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    application = schema["properties"]["spec"]["properties"]["application"]
    del application[RULES]
    for role in ("driver", "executor"):
        application["properties"][role]["properties"]["podTemplate"].pop("properties")
    return found


@pytest.fixture
def stored(kubectl: Kubectl) -> Iterator[Kubectl]:
    """A cluster with a job from before the rules, `a`, whose driver's template has a command."""
    template = {"spec": {"containers": [{"command": ["sh"]}]}}
    application = {
        "image": "registry.example/job:1",
        "mainFile": "job.py",
        "driver": {"podTemplate": template},
    }
    job = {
        **MADE,
        "metadata": {"name": "a", "finalizers": [FINALIZER]},
        "spec": {"application": application, "executors": {"min": 1, "max": 4}},
    }
    kubectl.apply(before())
    eventually(lambda: kubectl.run("apply", "-f", "-", text=json.dumps(job)).returncode == 0, timeout_s=90.0)
    kubectl.apply(definition())
    eventually(lambda: not taken(kubectl, job), timeout_s=90.0)
    yield kubectl
    kubectl.run("patch", KIND, "a", "--type=merge", "-p", '{"metadata": {"finalizers": null}}')
    kubectl("delete", "crd", KIND)


def taken(kubectl: Kubectl, job: dict[str, Any]) -> bool:
    """Whether another like it is made still."""
    other = {**job, "metadata": {"name": f"b-{uuid.uuid4().hex[:6]}"}}
    return kubectl.run("create", "--dry-run=server", "-f", "-", text=json.dumps(other)).returncode == 0


def patch(kubectl: Kubectl, change: dict[str, Any], *options: str) -> list[str]:
    """Why it is refused; nothing where it is taken, which may come with a warning of what is left alone."""
    done = kubectl.run("patch", KIND, "a", "--type=merge", "-p", json.dumps(change), *options)
    return sentences(done.stderr) if done.returncode else []


def knows_no_status(kubectl: Kubectl) -> bool:
    """Whether this API server looks at all of an object whose status is written."""
    version: dict[str, Any] = json.loads(kubectl("version", "-o", "json"))["serverVersion"]
    return bool(version["minor"] == "30")


def test_the_status_of_it_is_written(stored: Kubectl) -> None:
    change, written = {"status": {"phase": "Failed"}}, "--subresource=status"
    if knows_no_status(stored):
        assert patch(stored, change, written) == [COMMAND]
        return
    assert patch(stored, change, written) == []
    applied = {
        **MADE,
        "metadata": {"name": "a"},
        "status": {"why": "InvalidSpec"},
    }
    options = ("apply", "--server-side", "--force-conflicts", "--subresource=status", "--field-manager=x", "-f", "-")
    stored(*options, text=json.dumps(applied))
    status = stored.get(KIND, "a")["status"]
    assert (status["phase"], status["why"]) == ("Failed", "InvalidSpec"), status


def test_other_fields_of_it_are_written_and_it_can_be_mended(stored: Kubectl) -> None:
    assert patch(stored, {"metadata": {"annotations": {"streamjob.dev/pause": "true"}}}) == []
    assert patch(stored, {"spec": {"suspend": True, "application": {"args": ["x"]}}}) == []
    stored("scale", f"{KIND}/a", "--replicas=2")
    still = {"containers": [{"command": ["sh"], "resources": {}}]}
    assert patch(stored, {"spec": {"application": {"driver": {"podTemplate": {"spec": still}}}}}) == [COMMAND]
    assert patch(stored, {"spec": {"application": {"driver": {"podTemplate": None}}}}) == []


def test_it_is_deleted_once_its_finalizer_is_taken_off(stored: Kubectl) -> None:
    stored("delete", KIND, "a", "--wait=false")
    assert patch(stored, {"metadata": {"finalizers": None}}) == []
    eventually(lambda: stored.run("get", KIND, "a").returncode != 0)
