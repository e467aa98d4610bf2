"""What the operator asks the API server for while its watches tell it everything."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from foreign_objects import driver_pod
from kube_jobs import JOB, labels_of
from kubectl import Kubectl
from operator_process import OperatorProcess
from prometheus_client.parser import text_string_to_metric_families
from stage import Stage

from streamjob_operator.kube.api.access import configuration
from streamjob_operator.kube.api.kinds import PARTITION_MAPS, PODS
from streamjob_operator.kube.watched.api import WatchedApi
from streamjob_operator.kube.watched.relist import MOST_SINGLES, fill, make_stores, relist

WATCHED = ("streamjobs", "partitionmaps", "pods")
RELISTS = 3
"""One list of each kind may fall into the time of the test."""


def reads(operator: OperatorProcess) -> dict[str, float]:
    """Requests so far that read what is watched, by verb."""
    found = {"get": 0.0, "list": 0.0}
    for family in text_string_to_metric_families(operator.page("/metrics")[1]):
        for one in family.samples:
            verb = one.labels.get("verb", "")
            if one.name == "streamjob_operator_api_requests_total" and one.labels["resource"] in WATCHED:
                found[verb] = found.get(verb, 0.0) + one.value
    return found


def test_looks_and_cycles_of_an_adopted_job_read_nothing(stage: Stage) -> None:
    operator = stage.operator()
    wanted = {"matchLabels": {**labels_of(JOB), "spark-role": "driver"}}
    stage.job(balancing={"mode": "Off"}, applicationRef=wanted)
    stage.kubectl("label", "pod", f"{JOB}-driver", "spark-role=driver")
    stage.cycles(2)
    before = reads(operator)
    stage.cycles(6)
    after = reads(operator)
    assert after["get"] == before["get"]
    assert after["list"] - before["list"] <= RELISTS


def test_a_job_that_goes_while_nobody_watches_is_not_kept(stage: Stage) -> None:
    first = stage.operator()
    stage.job(balancing={"mode": "Off"})
    stage.cycles(1)
    assert first.end() == 0
    stage.kubectl("delete", "streamjob", JOB, "--wait=false")
    second = stage.operator()
    second.wait_for("This operator leads.")
    stage.kubectl("wait", "--for=delete", f"streamjob/{JOB}", "--timeout=60s")


@pytest.mark.parametrize("more", [0, MOST_SINGLES], ids=["a few", "many"])
def test_what_no_watch_told_is_seen_by_the_next_list(
    kubectl: Kubectl, api_server: Path, namespace: str, more: int
) -> None:
    """Nobody watches here: objects change, come and go behind the stores' back."""
    asked: list[str] = []
    stores = make_stores()
    api = WatchedApi(configuration(api_server), stores, called=lambda verb, plural, _: asked.append(f"{verb} {plural}"))
    kubectl.apply(partition_map("same"), partition_map("changes"), partition_map("goes"), driver_pod("driver"))
    assert fill(api, stores, (namespace,), lambda _: True, print)
    kubectl("label", "partitionmap", "changes", "team=blue")
    kubectl("delete", "partitionmap", "goes")
    kubectl.apply(*(partition_map(f"comes-{at}") for at in range(more + 1)))
    asked.clear()
    relist(api, stores, (namespace,), print)
    once = ["list streamjobs", "list partitionmaps", "list pods"]
    assert asked == [*once[:2], *(["list partitionmaps"] if more else ["get partitionmaps"] * 2), once[2]]
    there = {
        one["metadata"]["name"]: one["metadata"].get("labels", {})
        for one in stores[PARTITION_MAPS].fitting(namespace, {}) or ()
    }
    assert there == {"same": {}, "changes": {"team": "blue"}} | {f"comes-{at}": {} for at in range(more + 1)}
    assert stores[PODS].get(namespace, "driver")
    asked.clear()
    relist(api, stores, (namespace,), print)
    assert asked == once


def partition_map(name: str) -> dict[str, Any]:
    return {
        "apiVersion": PARTITION_MAPS.api_version,
        "kind": PARTITION_MAPS.kind,
        "metadata": {"name": name},
        "spec": {},
    }
