"""Every field of Kubeflow's SparkApplication: the row by which it becomes part of a StreamJob, or why it does not.

Read from the definition of sparkoperator.k8s.io/v1beta2 in version 2.5.2 of the operator.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from streamjob_operator.importing import finishing, puts
from streamjob_operator.importing.draft import ROLES, Draft, Way
from streamjob_operator.importing.kubeflow_pods import POD_WAYS, TEMPLATE_WAY, later
from streamjob_operator.importing.kubeflow_rest import REST_WAYS

API, VERSION = "sparkoperator.k8s.io/v1beta2", "2.5.2"


def _policy(draft: Draft, _: str, value: Any) -> None:
    draft.under("restart")["policy"] = value


def _most(draft: Draft, _: str, value: Any) -> None:
    draft.under("restart")["maxRestarts"] = value


def _interval(draft: Draft, _: str, value: Any) -> None:
    draft.under("restart", "backoff").update(
        {"initial": f"{min(value, 3600)}s", "max": f"{max(min(value, 3600), 300)}s"}
    )
    draft.note("restartPolicy.onFailureRetryInterval: StreamJob doubles the wait up to restart.backoff.max.")


def _hadoop(draft: Draft, _: str, value: Any) -> None:
    for key, text in value.items():
        draft.conf(f"spark.hadoop.{key}", text)


def _settings(draft: Draft, _: str, value: Any) -> None:
    for key, text in value.items():
        draft.conf(key, text)


def _suspend(draft: Draft, _: str, value: Any) -> None:
    draft.spec["suspend"] = value


def _pull_policy(draft: Draft, path: str, value: Any) -> None:
    puts.container("imagePullPolicy")(draft, "driver.", value)
    draft.conf("spark.kubernetes.container.image.pullPolicy", value)


def _pull_secrets(draft: Draft, path: str, value: Any) -> None:
    puts.pod("imagePullSecrets")(draft, path, [{"name": name} for name in value])


def _language(draft: Draft, path: str, value: Any) -> None:
    if value == "R":
        draft.note("type: R given; applications in Python, Java and Scala have a way: no agent can live in R.")


def _mode(draft: Draft, _: str, value: Any) -> None:
    if value != "cluster":
        draft.note(f"mode: {value} given; StreamJob's driver always runs in a pod of its own.")


WAYS: tuple[Way, ...] = (
    TEMPLATE_WAY,
    Way(
        ("type",),
        "not needed: a jar and `application.mainClass` are Java or Scala, else it is Python. An R application has no "
        "way, and cannot be adopted either",
        _language,
    ),
    Way(("mode",), "not needed: the driver always runs in a pod of its own, as in mode cluster", _mode),
    Way(("sparkVersion", "pythonVersion"), "not needed: they are the image's"),
    Way(("suspend",), "`spec.suspend`; the driver stops between two batches", _suspend),
    Way(
        ("proxyUser",), "not there: the job reads and writes as the driver's service account, or by keys in `sparkConf`"
    ),
    Way(
        ("image",), "`application.image`, with the agent in it ([install.md](../user/install.md))", puts.field("image")
    ),
    Way(
        ("imagePullPolicy",),
        "`driver.podTemplate`, `imagePullPolicy` of the container, and `spark.kubernetes.container.image.pullPolicy`",
        _pull_policy,
    ),
    Way(("imagePullSecrets",), "`podTemplate.spec.imagePullSecrets` of driver and executor", _pull_secrets),
    Way(("mainClass",), "`application.mainClass`", puts.field("mainClass")),
    Way(("mainApplicationFile",), "`application.mainFile`", puts.field("mainFile")),
    Way(("arguments",), "`application.args`", puts.field("args")),
    Way(("sparkConf",), "`application.sparkConf`; what a field says better is refused there", _settings),
    Way(("hadoopConf",), "`sparkConf`, each key with `spark.hadoop.` before it", _hadoop),
    Way(("sparkConfigMap",), "`application.sparkConfigMap`; no `spark-defaults.conf`", puts.field("sparkConfigMap")),
    Way(("hadoopConfigMap",), "`application.hadoopConfigMap`", puts.field("hadoopConfigMap")),
    Way(("volumes",), "`podTemplate.spec.volumes` of the pods that mount them", later),
    Way(("nodeSelector",), "`podTemplate.spec.nodeSelector` of driver and executor", puts.pod("nodeSelector")),
    Way(
        ("memoryOverheadFactor",),
        "`spark.executor.memoryOverheadFactor`; the driver's in `driver.podTemplate`, `resources` of the container",
        puts.conf("spark.executor.memoryOverheadFactor"),
    ),
    *(
        Way((f"deps.{name}",), f"`application.deps.{name}`", puts.field("deps", name))
        for name in ("pyFiles", "jars", "files", "archives", "packages", "repositories", "excludePackages")
    ),
    Way(("restartPolicy.type",), "`restart.policy`; never where nothing is said, as there", _policy),
    Way(
        ("restartPolicy.onFailureRetries",),
        "`restart.maxRestarts`, counted in a row: a run longer than `restart.backoff.max` starts the count over",
        _most,
    ),
    Way(("restartPolicy.onFailureRetryInterval",), "`restart.backoff.initial`, doubled up to `max`", _interval),
    Way(
        ("restartPolicy.onSubmissionFailureRetries", "restartPolicy.onSubmissionFailureRetryInterval"),
        "not needed: nothing is submitted; a pod that the API server refuses is told in Ready, and tried again",
    ),
    Way(("failureRetries", "retryInterval"), "not needed: `restart.maxRestarts` and `restart.backoff` say it"),
    Way(("executor.instances",), "`executors.min` and `executors.max`, the same number", later),
    Way(
        ("dynamicAllocation.enabled", "dynamicAllocation.minExecutors", "dynamicAllocation.maxExecutors"),
        "`executors.min` and `executors.max`; StreamJob scales in place of Spark's dynamic allocation",
        later,
    ),
    Way(
        (
            "dynamicAllocation.initialExecutors",
            "dynamicAllocation.shuffleTrackingEnabled",
            "dynamicAllocation.shuffleTrackingTimeout",
        ),
        "not needed: a job starts with `executors.min`, and an executor goes when it holds nothing any more",
    ),
    *POD_WAYS,
    *REST_WAYS,
)


def finish(draft: Draft, source: Mapping[str, Any]) -> None:
    """What needs several fields at once."""
    finishing.main_class(draft)
    executor, driver = source.get("executor") or {}, source.get("driver") or {}
    for role, spec in zip(ROLES, (driver, executor), strict=True):
        finishing.gpus(draft, role, spec.get("gpu") or {})
    finishing.share_volumes(draft, source.get("volumes") or [])
    finishing.driver_memory(draft, driver.get("memoryOverhead"), source.get("memoryOverheadFactor"))
    dynamic = finishing.allocation(draft) | (source.get("dynamicAllocation") or {})
    _count(draft, executor.get("instances") or finishing.stated_executors(draft) or 1, dynamic)
    draft.under("restart").setdefault("policy", "Never")
    if "image" not in draft.application and "image" in draft.under("executor"):
        draft.application["image"] = draft.under("executor").pop("image")


def _count(draft: Draft, instances: int, dynamic: Mapping[str, Any]) -> None:
    if dynamic.get("enabled"):
        least = max(1, dynamic.get("minExecutors") or 1)
        finishing.bound_executors(draft, least, dynamic.get("maxExecutors"), instances, allocated=True)
        return
    draft.note(f"executor.instances: executors.min and max are {instances}; a larger max lets StreamJob scale.")
    finishing.bound_executors(draft, instances, None, instances, allocated=False)
