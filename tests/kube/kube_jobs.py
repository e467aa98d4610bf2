"""A StreamJob for the tests on a real API server, and the driver's pod that it adopts."""

from __future__ import annotations

import copy
from typing import Any

from e2e.simulated.pods import idle_pod

JOB = "paper"
SKEWED = [40.0, 30.0, 20.0, 10.0, 10.0, 10.0, 10.0, 10.0]
"""Loads of eight partitions; spread evenly by number over two executors they weigh 80 and 60."""


def driver_pod(job: str = JOB) -> dict[str, Any]:
    """The driver's pod: only its being there counts, the agent runs in the test."""
    return idle_pod(f"{job}-driver", labels_of(job), "driver")


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
                "objective": "loadDistance",  # the paper job's batches are too short to be predicted
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
