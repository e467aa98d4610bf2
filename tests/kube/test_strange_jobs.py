"""Strange StreamJobs on the real API server: refused with a sentence, or taken.

What a pod of theirs is refused for is told by the operator, which tries it (test_driver_trials.py).
"""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest

from streamjob_operator.kube.api.client import KubeApi
from streamjob_operator.kube.api.kinds import STREAM_JOBS
from streamjob_operator.kube.api.refusals import Refused

SPEC = {"application": {"image": "image:1", "mainFile": "local:///job.py"}, "executors": {"min": 1, "max": 2}}
TEMPLATE = "application.driver.podTemplate"
REFUSED = [
    ("executors", None, "spec.executors: Required value"),
    ("executors.max", 10**20, "spec.executors.max in body must be of type integer"),
    ("executors.max", -1, "min is 1 and max is -1; min must not be above max"),
    ("application", None, "exactly one of application and applicationRef is needed"),
    ("application.image", "", "spec.application.image in body should be at least 1 chars long"),
    ("application.mainFile", "", "'' given; a path is needed"),
    ("application.driver.memory", "", "'' given; a Spark memory size such as 512m or 4g is needed"),
    ("balancing.maxIterations", 10**300, "spec.balancing.maxIterations in body must be of type integer"),
    ("balancing.maxIterations", 10**12, "should be less than or equal to 1000000000"),
    ("balancing.pinnedOperators", [10**20], "spec.balancing.pinnedOperators[0] in body must be of type integer"),
    ("balancing.statisticsPeriod", "-5m", "'-5m' given; a duration such as 500ms, 90s, 5m or 1h30m is needed"),
    ("balancing.statisticsPeriod", "9" * 30 + "h", "given; at most 1d is allowed"),
    (f"{TEMPLATE}.spec.containers", [None], "containers[0] in body must be of type object"),
    (f"{TEMPLATE}.metadata.labels", {"a": 5}, "labels.a in body must be of type string"),
    (f"{TEMPLATE}.spec.containers", [{"name": "x", "image": "a"}] * 2, "application.image for all pods, leave it out"),
]
TAKEN = [
    *((one, None) for one in ("balancing", "scaling", "metrics", "application.driver", TEMPLATE)),
    *((f"{TEMPLATE}.{one}", None) for one in ("metadata", "spec")),
    (f"{TEMPLATE}.spec.containers", None),
    (f"{TEMPLATE}.spec.initContainers", [{"name": "a", "image": "b"}]),
    (f"{TEMPLATE}.spec.hostNetwork", True),
    (f"{TEMPLATE}.spec.volumes", [{"name": f"v{one}", "emptyDir": {}} for one in range(500)]),
    ("application.args", ["", "é", "x" * 1_000_000]),
]


@pytest.fixture(scope="module")
def api(api_server: Path) -> KubeApi:
    """Nothing is left behind: all of it is tried only."""
    return KubeApi.from_kubeconfig(api_server)


def tried(api: KubeApi, path: str = "executors.max", value: object = 2, **metadata: Any) -> str:
    """What the API server says to a job with that value; nothing where it takes it."""
    spec: dict[str, Any] = copy.deepcopy(SPEC)
    *folders, last = path.split(".")
    place = spec
    for one in folders:
        place = place.setdefault(one, {})
    place[last] = value
    try:
        api.create(
            STREAM_JOBS, {"metadata": {"name": "a", "namespace": "default"} | metadata, "spec": spec}, dry_run=True
        )
    except Refused as refusal:
        return refusal.message
    return ""


@pytest.mark.parametrize(("path", "value", "said"), REFUSED)
def test_what_nobody_can_carry_out_is_refused_with_a_sentence(
    api: KubeApi, path: str, value: object, said: str
) -> None:
    assert said in tried(api, path, value)


@pytest.mark.parametrize(("path", "value"), TAKEN)
def test_what_is_merely_strange_is_taken(api: KubeApi, path: str, value: object) -> None:
    assert tried(api, path, value) == ""


@pytest.mark.parametrize(("name", "said"), [("größe", "lowercase RFC 1123"), ("a" * 64, "Too long"), ("a.b", "match")])
def test_names_are_those_of_labels(api: KubeApi, name: str, said: str) -> None:
    assert said in tried(api, name=name)
    assert tried(api, name="a" * 63) == ""


def test_annotations_are_as_large_as_kubernetes_allows(api: KubeApi) -> None:
    assert tried(api, annotations={"a": "x" * 262_143}) == ""
    assert "Too long" in tried(api, annotations={"a": "x" * 262_144})
