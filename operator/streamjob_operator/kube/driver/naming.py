"""Names and labels of what a StreamJob owns."""

from __future__ import annotations

import hashlib

from streamjob_operator.kube.names import Label

LONGEST_NAME = 63  # a service's name, and the value of a label
SPARK_ROLE, DRIVER_ROLE = "spark-role", "driver"
"""Label that Spark gives its pods, and a driver's value; it is ours to set, because Spark has not made that pod."""


def driver_name(job: str) -> str:
    """Name of the driver's pod, service, account, role and binding."""
    return child_name(job, "driver")


def change_name(job: str) -> str:
    """Name of the pod that changes the number of key groups: one for each job, so that two never work on one state."""
    return child_name(job, "key-groups")


def settings_name(job: str) -> str:
    """Name of the ConfigMap with Spark's settings."""
    return child_name(job, "spark")


def child_name(job: str, suffix: str) -> str:
    """`job-suffix`, at most 63 characters; a long job's name is cut and told apart by its hash."""
    if len(job) + 1 + len(suffix) <= LONGEST_NAME:
        return f"{job}-{suffix}"
    digest = hashlib.sha256(job.encode()).hexdigest()[:8]
    return f"{job[: LONGEST_NAME - len(suffix) - 10].rstrip('-')}-{digest}-{suffix}"


def job_labels(job: str) -> dict[str, str]:
    """On everything that a StreamJob owns."""
    return {Label.JOB.value: job, "app.kubernetes.io/managed-by": "streamjob"}


def driver_labels(job: str) -> dict[str, str]:
    """On the driver's pod, and what selects it."""
    return {Label.JOB.value: job, SPARK_ROLE: DRIVER_ROLE}


def change_labels(job: str) -> dict[str, str]:
    """On the pod that changes the number of key groups: Spark's role is what pods are watched by, and no service, no
    monitor and no other selector of ours takes this one."""
    return {Label.JOB.value: job, SPARK_ROLE: "key-groups"}


def executor_selector(job: str) -> str:
    """Label selector of a job's executor pods, whichever of its drivers they belong to."""
    return f"{Label.JOB.value}={job},{SPARK_ROLE}=executor"
