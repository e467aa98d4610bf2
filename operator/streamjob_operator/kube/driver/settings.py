"""Spark's settings for a driver on Kubernetes: what actuation needs, the sizes of the spec, the user's. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping

from streamjob_operator.kube.driver import naming
from streamjob_operator.kube.driver.values import JobFacts
from streamjob_operator.kube.names import Label
from streamjob_operator.spec import Application, dependencies
from streamjob_operator.spec.application import PORTS
from streamjob_operator.spec.quantities import mebibytes, overhead_mib

DRIVER_PORT, BLOCK_PORT = PORTS
FOLDER = "/etc/streamjob"
EXECUTOR_TEMPLATE, SETTINGS_FILE = "executor.yaml", "spark.conf"
EXECUTOR_CONTAINER = "executor"
BIND_ADDRESS = "spark.driver.bindAddress"
SCRATCH = "/var/data/streamjob"
IVY = "spark.jars.ivy"
"""Where packages are fetched to: the user of a Spark image has no home to write to."""
_PYTHON_OVERHEAD = 0.4  # of the heap, for Python workers and RocksDB; Spark's own default for PySpark


def needed(job: JobFacts) -> dict[str, str]:
    """Settings that are ours: with others Spark would not find its driver, its pods, or key groups could not move."""
    pod = naming.driver_name(job.name)
    return {
        "spark.master": "k8s://https://kubernetes.default.svc",
        "spark.submit.deployMode": "client",
        "spark.driver.host": f"{pod}.{job.namespace}.svc",
        "spark.kubernetes.namespace": job.namespace,
        "spark.kubernetes.driver.pod.name": pod,
        "spark.kubernetes.executor.podTemplateFile": f"{FOLDER}/{EXECUTOR_TEMPLATE}",
        "spark.kubernetes.executor.podTemplateContainerName": EXECUTOR_CONTAINER,
        f"spark.kubernetes.executor.label.{Label.JOB.value}": job.name,
        "spark.kubernetes.allocation.pods.allocator": "direct",
        "spark.dynamicAllocation.enabled": "false",
        "spark.speculation": "false",
    }


def defaults(job: JobFacts) -> dict[str, str]:
    """Settings that the user's own replace."""
    application = job.application
    return {
        DRIVER_PORT: "7078",
        BLOCK_PORT: "7079",
        "spark.kubernetes.container.image": executor_image(application) or "",
        "spark.executor.instances": str(job.executors),
        "spark.driver.memory": application.driver.memory,
        "spark.driver.cores": str(application.driver.cores),
        "spark.executor.memory": application.executor.memory,
        "spark.executor.cores": str(application.executor.cores),
        "spark.executor.memoryOverheadFactor": str(_PYTHON_OVERHEAD),
        **({IVY: f"{SCRATCH}/ivy"} if application.deps.packages else {}),
        **dependencies.settings(application.deps),
    }


def executor_image(application: Application) -> str | None:
    """The image of executors' pods."""
    return application.executor.image or application.image


def merged(job: JobFacts) -> tuple[dict[str, str], tuple[str, ...]]:
    """All settings, and a sentence for each of the user's that gives way to one of ours."""
    own, theirs = needed(job), job.application.spark_conf
    conflicts = [
        f"sparkConf: {key} is '{theirs[key]}', and '{value}' is used: StreamJob needs it that way."
        for key, value in own.items()
        if theirs.get(key, value).strip().lower() != value.lower()
    ]
    if BIND_ADDRESS in theirs:
        conflicts.append(f"sparkConf: {BIND_ADDRESS} is given, and the pod's address is used: executors dial it.")
    kept = {key: value for key, value in theirs.items() if key != BIND_ADDRESS}
    return {**defaults(job), **kept, **own}, tuple(conflicts)


def properties(settings: Mapping[str, str]) -> str:
    """A properties file as Java reads it, sorted by key."""
    return "".join(f"{_escaped(key, ':= ')}={_escaped(value)}\n" for key, value in sorted(settings.items()))


def _escaped(text: str, also: str = "") -> str:
    for character in ("\\", *also):
        text = text.replace(character, f"\\{character}")
    text = text.replace("\n", "\\n").replace("\r", "\\r").replace("\t", "\\t")
    return f"\\{text}" if text[:1] in (" ", "#", "!") else text


def container_memory(heap: str) -> str:
    """What the driver's container needs for a JVM heap as Spark writes it: heap, and Python beside it. As `3072Mi`."""
    heap_mib = mebibytes(heap)
    if heap_mib is None:
        raise ValueError(f"{heap!r} is no size of Spark's")
    return f"{math.ceil(heap_mib + overhead_mib(heap_mib, _PYTHON_OVERHEAD))}Mi"
