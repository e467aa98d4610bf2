"""Fields of the SparkApplication of Apache's operator: the row by which each becomes part of a StreamJob, or why not.

Read from the definition of spark.apache.org/v1 in version 1.0.0 of the operator.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from streamjob_operator.importing import finishing, puts
from streamjob_operator.importing.draft import Draft, Put, Way

API, VERSION = "spark.apache.org/v1", "1.0.0"
_TOLERATIONS = "applicationTolerations"
_RESTART = f"{_TOLERATIONS}.restartConfig"
_TIMEOUTS = f"{_TOLERATIONS}.applicationTimeoutConfig"
_INSTANCES = f"{_TOLERATIONS}.instanceConfig"
_POLICIES = {"Never": "Never", "Always": "Always", "OnFailure": "OnFailure", "OnInfrastructureFailure": "Never"}


def _settings(draft: Draft, _: str, value: Any) -> None:
    for key, text in value.items():
        draft.conf(key, text)


def _listed(name: str) -> Put:
    def put(draft: Draft, _: str, value: Any) -> None:
        draft.under("deps")[name] = [one.strip() for one in value.split(",") if one.strip()]

    return put


def _py_files(draft: Draft, _: str, value: Any) -> None:
    script, _, others = value.partition(",")
    draft.application["mainFile"] = script.strip()
    if others:
        _listed("pyFiles")(draft, "", others)


def _policy(draft: Draft, _: str, value: Any) -> None:
    draft.under("restart")["policy"] = _POLICIES.get(value, value)
    if value == "OnInfrastructureFailure":
        draft.note(f"{_RESTART}.restartPolicy: read as Never; a driver that was evicted or drained is started again.")


def _most(draft: Draft, _: str, value: Any) -> None:
    draft.under("restart")["maxRestarts"] = value


def _wait(draft: Draft, _: str, value: Any) -> None:
    wait_ms = min(max(value, 100), 3_600_000)
    draft.under("restart", "backoff").update({"initial": f"{wait_ms}ms", "max": f"{max(wait_ms, 300_000)}ms"})


def _deadline(draft: Draft, _: str, value: Any) -> None:
    deadline_ms = min(max(value, 1000), 86_400_000)
    draft.under("restart")["startDeadline"] = f"{deadline_ms}ms"


def _template(role: str) -> Put:
    def put(draft: Draft, _: str, value: Any) -> None:
        finishing.take_template(draft, role, value)

    return put


def _later(draft: Draft, path: str, value: Any) -> None:
    """Read by `finish`, together with other fields."""


WAYS: tuple[Way, ...] = (
    Way(("mainClass",), "`application.mainClass`", puts.field("mainClass")),
    Way(("runtimeVersions",), "not needed: they are the image's"),
    Way(("pyFiles",), "the first is `application.mainFile`, the others `application.deps.pyFiles`", _py_files),
    Way(("jars",), "`application.deps.jars`; with `mainClass` the first is `application.mainFile`", _listed("jars")),
    Way(("files",), "`application.deps.files`", _listed("files")),
    Way(("sparkRFiles",), "not there: no agent can live in R"),
    Way(("deploymentMode",), "not needed: the driver always runs in a pod of its own"),
    Way(
        ("proxyUser",), "not there: the job reads and writes as the driver's service account, or by keys in `sparkConf`"
    ),
    Way(("driverArgs",), "`application.args`", puts.field("args")),
    Way(("sparkConf",), "`application.sparkConf`; what a field says better becomes that field", _settings),
    Way(("driverSpec.podTemplateSpec",), "`driver.podTemplate`", _template("driver")),
    Way(("executorSpec.podTemplateSpec",), "`executor.podTemplate`", _template("executor")),
    Way((f"{_RESTART}.restartPolicy",), "`restart.policy`; never where nothing is said, as there", _policy),
    Way((f"{_RESTART}.maxRestartAttempts",), "`restart.maxRestarts`, counted in a row", _most),
    Way((f"{_RESTART}.restartBackoffMillis",), "`restart.backoff.initial`, doubled up to `max`", _wait),
    Way(
        (
            *(f"{_RESTART}.restartCounterResetMillis", f"{_RESTART}.maxRestartOnFailure"),
            *(f"{_RESTART}.restartBackoffMillisForFailure", f"{_RESTART}.maxRestartOnSchedulingFailure"),
            f"{_RESTART}.restartBackoffMillisForSchedulingFailure",
        ),
        "not there: one number and one wait for all ends, and the count starts over after `restart.backoff.max`",
    ),
    Way((f"{_TIMEOUTS}.driverReadyTimeoutMillis",), "`restart.startDeadline`", _deadline),
    Way(
        (
            *(f"{_TIMEOUTS}.driverStartTimeoutMillis", f"{_TIMEOUTS}.executorStartTimeoutMillis"),
            *(f"{_TIMEOUTS}.forceTerminationGracePeriodMillis", f"{_TIMEOUTS}.terminationRequeuePeriodMillis"),
        ),
        "not there: `restart.startDeadline` is one for pod and agent; missing executors are told, not ended",
    ),
    Way((f"{_INSTANCES}.minExecutors", f"{_INSTANCES}.maxExecutors"), "`executors.min` and `executors.max`", _later),
    Way((f"{_INSTANCES}.initExecutors",), "not needed: a job starts with `executors.min`"),
    Way(
        (
            *(f"{_TOLERATIONS}.resourceRetainPolicy", f"{_TOLERATIONS}.resourceRetainDurationMillis"),
            f"{_TOLERATIONS}.ttlAfterStopMillis",
        ),
        "not there: an ended driver's pod stays until the next start; delete the StreamJob to delete all of it",
    ),
    Way(
        ("driverServiceIngressList", "driverHttpRouteList", "driverGrpcRouteList"),
        "not there: a Service of your own that selects `streamjob.dev/job: NAME, spark-role: driver`, and a route",
    ),
    Way(("configMapSpecs",), "not there: make the ConfigMaps yourself, and mount them by `podTemplate`"),
)


def finish(draft: Draft, source: Mapping[str, Any]) -> None:
    """What needs several fields at once."""
    _main_jar(draft)
    finishing.main_class(draft)
    draft.under("restart").setdefault("policy", "Never")
    limits = ((source.get(_TOLERATIONS) or {}).get("instanceConfig")) or {}
    dynamic = finishing.allocation(draft)
    stated = finishing.stated_executors(draft)
    if stated is None:
        stated = limits.get("minExecutors") or 2
    least = max(1, limits.get("minExecutors") or (dynamic.get("minExecutors", 1) if dynamic else stated))
    most = limits.get("maxExecutors") or dynamic.get("maxExecutors")
    finishing.bound_executors(draft, least, most, stated, allocated=bool(dynamic))


def _main_jar(draft: Draft) -> None:
    """There the first jar is the program, unless there is a script."""
    jars = draft.application.get("deps", {}).get("jars", [])
    if jars and "mainClass" in draft.application and "mainFile" not in draft.application:
        draft.application["mainFile"] = jars.pop(0)
        if not jars:
            del draft.application["deps"]["jars"]
