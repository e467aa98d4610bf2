"""Rows of Kubeflow's driver and executor: what becomes sizes, settings and pod templates."""

from __future__ import annotations

from typing import Any

from streamjob_operator.importing import puts
from streamjob_operator.importing.draft import Draft, Put, Way
from streamjob_operator.importing.finishing import take_template

TEMPLATED = (
    *("affinity", "tolerations", "schedulerName", "initContainers", "hostNetwork", "nodeSelector", "dnsConfig"),
    *("terminationGracePeriodSeconds", "hostAliases", "shareProcessNamespace", "priorityClassName"),
)
"""Fields that a pod's spec has under the same name."""


def _both(name: str, way: str, put: Put | None = None) -> Way:
    return Way((f"driver.{name}", f"executor.{name}"), way, put)


def _template(draft: Draft, path: str, value: Any) -> None:
    take_template(draft, path.partition(".")[0], value)


def later(draft: Draft, path: str, value: Any) -> None:
    """Read at the end, together with other fields."""


TEMPLATE_WAY = _both("template", "`podTemplate`; image, names, command and arguments are said elsewhere", _template)
"""The first of all rows: what fields say stands above it."""

POD_WAYS: tuple[Way, ...] = (
    _both("cores", "`driver.cores`, `executor.cores`", puts.of_role("cores")),
    _both("memory", "`driver.memory`, `executor.memory`", puts.memory),
    _both("image", "`driver.image`, `executor.image`", puts.of_role("image")),
    Way(("driver.coreRequest",), "`driver.podTemplate`, `resources.requests.cpu`", puts.resource("requests", "cpu")),
    Way(("driver.coreLimit",), "`driver.podTemplate`, `resources.limits.cpu`", puts.resource("limits", "cpu")),
    Way(("driver.memoryLimit",), "`driver.podTemplate`, `resources.limits.memory`", puts.resource("limits", "memory")),
    Way(("driver.memoryOverhead",), "`driver.podTemplate`, `resources`: heap and overhead together", later),
    Way(
        ("executor.coreRequest",),
        "`spark.kubernetes.executor.request.cores`",
        puts.conf("spark.kubernetes.executor.request.cores"),
    ),
    Way(
        ("executor.coreLimit",),
        "`spark.kubernetes.executor.limit.cores`",
        puts.conf("spark.kubernetes.executor.limit.cores"),
    ),
    Way(("executor.memoryOverhead",), "`spark.executor.memoryOverhead`", puts.conf("spark.executor.memoryOverhead")),
    Way(("executor.memoryLimit",), "not there: Spark limits an executor to heap and overhead; raise the overhead"),
    Way(
        ("driver.gpu.name", "driver.gpu.quantity", "executor.gpu.name", "executor.gpu.quantity"),
        "`podTemplate`, `resources.limits` of the container",
        later,
    ),
    Way(("driver.javaOptions",), "`spark.driver.extraJavaOptions`", puts.options),
    Way(("executor.javaOptions",), "`spark.executor.extraJavaOptions`", puts.options),
    Way(
        ("executor.deleteOnTermination",),
        "`spark.kubernetes.executor.deleteOnTermination`",
        puts.conf("spark.kubernetes.executor.deleteOnTermination"),
    ),
    _both("env", "`podTemplate`, `env` of the container", puts.more("env")),
    _both("envVars", "`podTemplate`, `env` of the container", puts.variables),
    _both("envSecretKeyRefs", "`podTemplate`, `env` of the container", puts.secret_variables),
    _both("envFrom", "`podTemplate`, `envFrom` of the container", puts.more("envFrom")),
    _both("configMaps", "`podTemplate`, `volumes` and `volumeMounts`", puts.mounted("configMap", "name")),
    _both("secrets", "`podTemplate`, `volumes`, `volumeMounts` and, for its type, a variable in `env`", puts.secrets),
    _both("volumeMounts", "`podTemplate`, `volumeMounts` of the container", puts.more("volumeMounts")),
    _both("labels", "`podTemplate.metadata.labels`", puts.metadata("labels")),
    _both("annotations", "`podTemplate.metadata.annotations`", puts.metadata("annotations")),
    _both("securityContext", "`podTemplate`, `securityContext` of the container", puts.container("securityContext")),
    _both("podSecurityContext", "`podTemplate.spec.securityContext`", puts.pod("securityContext")),
    _both("serviceAccount", "`podTemplate.spec.serviceAccountName`", puts.pod("serviceAccountName")),
    _both("lifecycle", "`podTemplate`, `lifecycle` of the container", puts.container("lifecycle")),
    _both("ports", "`podTemplate`, `ports` of the container", puts.more("ports")),
    _both("sidecars", "`podTemplate.spec.containers`, after the pod's own", puts.sidecars),
    *(_both(name, f"`podTemplate.spec.{name}`", puts.pod(name)) for name in TEMPLATED),
    Way(("driver.podName",), "not needed: the driver's pod is NAME-driver"),
    Way(("driver.kubernetesMaster",), "not there: executors run on the cluster of the StreamJob"),
    Way(
        ("driver.serviceAnnotations", "driver.serviceLabels"),
        "not there: make a Service of your own that selects `streamjob.dev/job: NAME, spark-role: driver`",
    ),
)
