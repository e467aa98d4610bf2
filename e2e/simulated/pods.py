"""Pods that no node ever runs: only that they are there, their labels and their marks count."""

from __future__ import annotations

from typing import Any


def idle_pod(name: str, labels: dict[str, str], container: str, account: str = "default") -> dict[str, Any]:
    """A pod of one container."""
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "labels": labels},
        "spec": {"containers": [{"name": container, "image": "none"}], "serviceAccountName": account},
    }


def executor_pod(prefix: str, application_id: str, executor: str) -> dict[str, Any]:
    """PREFIX-exec-EXECUTOR, labelled as Spark labels its executors."""
    labels = {"spark-app-selector": application_id, "spark-exec-id": executor, "spark-role": "executor"}
    return idle_pod(f"{prefix}-exec-{executor}", labels, "executor")
