"""A job as a StreamJob: for `streamjob run` on a laptop, or for `kubectl apply`."""

from __future__ import annotations

from typing import Any

from jobs.job import Job
from jobs.settings import CHECKED, COMMON

EVERYWHERE = {"spark.sql.shuffle.partitions": "32", **COMMON}
ON_LAPTOP = {
    "spark.master": "local-cluster[4,1,1024]",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.ui.enabled": "false",
    **CHECKED,
}
BALANCING = {"mode": "Auto", "statisticsPeriod": "30s"}


def laptop(job: Job) -> dict[str, Any]:
    """Reads and writes below out/jobs/NAME of the folder it is started in, the root of the repository."""
    folder = f"out/jobs/{job.name}"
    application = {
        "mainFile": "jobs/script.py",
        "args": [job.name, "--input", f"{folder}/input", "--out", f"{folder}/run"],
        "sparkConf": {**EVERYWHERE, **ON_LAPTOP},
    }
    return _streamjob(job, application, {"min": 2, "max": 4})


def cluster(job: Job) -> dict[str, Any]:
    """An image with this folder as /app/jobs, and a volume that driver and executors share."""
    template = {
        "spec": {
            "containers": [{"name": "NAME", "volumeMounts": [{"name": "data", "mountPath": "/data"}]}],
            "volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "jobs"}}],
        }
    }
    application = {
        "image": "registry.example/jobs:1",
        "mainFile": "local:///app/jobs/script.py",
        "args": [job.name, "--input", f"/data/{job.name}/input", "--out", f"/data/{job.name}/run"],
        "sparkConf": dict(EVERYWHERE),
        "driver": {"memory": "2g", "podTemplate": _named(template, "driver")},
        "executor": {"cores": 2, "memory": "4g", "podTemplate": _named(template, "executor")},
    }
    return _streamjob(job, application, {"min": 2, "max": 10})


def _named(template: dict[str, Any], name: str) -> dict[str, Any]:
    (container,) = template["spec"]["containers"]
    return {"spec": {**template["spec"], "containers": [{**container, "name": name}]}}


def _streamjob(job: Job, application: dict[str, Any], executors: dict[str, int]) -> dict[str, Any]:
    spec = {"application": application, "executors": executors, "balancing": BALANCING, "scaling": {"mode": "Auto"}}
    return {"apiVersion": "streamjob.dev/v1alpha1", "kind": "StreamJob", "metadata": {"name": job.name}, "spec": spec}
