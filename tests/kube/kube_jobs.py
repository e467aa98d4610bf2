"""A StreamJob for the tests on a real API server, and the driver's pod that it adopts."""

from __future__ import annotations

import copy
from typing import Any

JOB = "paper"
SKEWED = [40.0, 30.0, 20.0, 10.0, 10.0, 10.0, 10.0, 10.0]
"""Loads of eight partitions; spread evenly by number over two executors they weigh 80 and 60."""


def driver_pod(job: str = JOB) -> dict[str, Any]:
    """A pod that no node ever runs: only its being there counts, the agent runs in the test."""
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": f"{job}-driver", "labels": labels_of(job)},
        "spec": {"containers": [{"name": "driver", "image": "paper"}]},
    }


def executor_pod(application: str, executor: str) -> dict[str, Any]:
    """An executor's pod as Spark labels it."""
    labels = {"spark-app-selector": application, "spark-exec-id": executor, "spark-role": "executor"}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": f"paper-exec-{executor}", "labels": labels},
        "spec": {"containers": [{"name": "executor", "image": "paper"}]},
    }


def labels_of(job: str) -> dict[str, str]:
    """Labels of its driver's pod."""
    return {"app": f"{job}-driver"}


def stream_job(name: str = JOB, **changes: dict[str, Any]) -> dict[str, Any]:
    """The job, with sections of its spec updated."""
    job: dict[str, Any] = {
        "apiVersion": "streamjob.dev/v1alpha1",
        "kind": "StreamJob",
        "metadata": {"name": name},
        "spec": {
            "applicationRef": {"kind": "Pod", "apiVersion": "v1", "matchLabels": labels_of(name)},
            "executors": {"min": 2, "max": 4},
            "balancing": {
                "mode": "Auto",
                "planner": "greedy",
                "statisticsPeriod": "1s",
                "maxLoadDistance": 5,
                "planDeadline": "500ms",
                "migrationBudget": {"maxCost": "10s"},
            },
            "scaling": {"mode": "Off"},
        },
    }
    spec = copy.deepcopy(job["spec"])
    for section, values in changes.items():
        spec[section] = {**spec.get(section, {}), **values}
    return {**job, "spec": spec}
