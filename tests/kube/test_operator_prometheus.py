"""The operator's process and a Prometheus behind a log-in, whose Secret is on the API server."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from e2e.cluster import prometheus as program
from e2e.cluster.prometheus import Prometheus, static_target
from kube_jobs import JOB
from stage import Stage, balanced, condition

SECRET, USER, PASSWORD = "login", "ali", "open sesame"
BCRYPT = "$2b$04$xxylshLKSOwsMXpOdGmB.eByYRqW6t2eOEjBWU2Ycsy0vfn/2DpMW"  # of PASSWORD, the cheapest kind


@pytest.fixture
def guarded(tmp_path: Path) -> Iterator[Prometheus]:
    """One that answers to USER alone; it scrapes nothing yet."""
    found = program.get()
    if found is None:
        pytest.skip(program.HOW_TO_GET)
    login = "Basic " + base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()
    web = {"basic_auth_users": {USER: BCRYPT}}
    with Prometheus(tmp_path / "prometheus", found, web_config=web, authorization=login) as server:
        yield server


def secret(password: str) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": SECRET},
        "stringData": {"username": USER, "password": password},
    }


def denied(sentence: str) -> Any:
    """Checks a status for a log-in that was refused with this sentence."""

    def check(status: dict[str, Any]) -> bool:
        told = [one["message"] for one in status.get("conditions", ()) if one["type"] == "MetricsAvailable"]
        return condition(status, "MetricsAvailable") == "False/PrometheusDenied" and sentence in told[0]

    return check


def test_a_secret_is_missing_then_wrong_then_right(stage: Stage, guarded: Prometheus) -> None:
    stage.operator()
    spark = stage.job(metrics={"prometheus": {"url": guarded.url, "auth": {"secretRef": {"name": SECRET}}}})
    stage.until(denied("is not there"))
    stage.kubectl.apply(secret("guess"))
    status = stage.until(denied("refuses the log-in (401)"))
    assert "guess" not in str(status)
    assert (spark.moves, stage.generation()) == ([], 0)
    agent = stage.kubectl.get("partitionmap", JOB)["status"]["agentUrl"].removeprefix("http://").rstrip("/")
    guarded.scrape([static_target(agent, pod=f"{JOB}-driver")])
    stage.kubectl.apply(secret(PASSWORD))
    stage.until(lambda one: condition(one, "MetricsAvailable") == "True/MetricsFound")
    stage.until(balanced)
    assert spark.distance() <= 5
