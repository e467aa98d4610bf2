"""Rows of Kubeflow's batch schedulers, UI, ingress, monitoring and clean-up, and the ways around."""

from __future__ import annotations

from typing import Any

from streamjob_operator.importing import puts
from streamjob_operator.importing.draft import Draft, Way

_KNOWN_SCHEDULERS = ("volcano", "yunikorn")
_SERVICE = "a Service of your own that selects `streamjob.dev/job: NAME, spark-role: driver`"


def _scheduler(draft: Draft, path: str, value: Any) -> None:
    if value in _KNOWN_SCHEDULERS:
        puts.pod("schedulerName")(draft, path, value)
    draft.note(f"batchScheduler: {value} finds pods by labels and annotations in podTemplate.metadata; add them there.")


REST_WAYS: tuple[Way, ...] = (
    Way(
        ("batchScheduler",),
        "`podTemplate.spec.schedulerName`, and the scheduler's own labels and annotations in `podTemplate.metadata` of "
        "driver and executor",
        _scheduler,
    ),
    Way(
        ("batchSchedulerOptions.queue", "batchSchedulerOptions.priorityClassName", "batchSchedulerOptions.resources"),
        "`podTemplate.metadata`: Kueue's `kueue.x-k8s.io/queue-name`, YuniKorn's `queue` and `applicationId`, "
        "Volcano's `scheduling.k8s.io/group-name` for a PodGroup that you make; nobody makes the group for you",
    ),
    Way(
        (
            *("sparkUIOptions.servicePort", "sparkUIOptions.servicePortName", "sparkUIOptions.serviceType"),
            *("sparkUIOptions.serviceAnnotations", "sparkUIOptions.serviceLabels"),
        ),
        f"not there: {_SERVICE}, port 4040; or `kubectl port-forward NAME-driver 4040`",
    ),
    Way(
        ("sparkUIOptions.ingressAnnotations", "sparkUIOptions.ingressTLS"),
        "not there: an Ingress of your own to that Service, with `spark.ui.proxyBase` in `sparkConf`",
    ),
    Way(
        tuple(
            f"driverIngressOptions.{name}"
            for name in (
                *("servicePort", "servicePortName", "serviceType", "serviceAnnotations", "serviceLabels"),
                *("ingressURLFormat", "ingressAnnotations", "ingressTLS"),
            )
        ),
        f"not there: {_SERVICE}, and an Ingress to it",
    ),
    Way(
        ("monitoring.exposeDriverMetrics", "monitoring.exposeExecutorMetrics"),
        "not needed by StreamJob, whose agent has metrics of its own; Spark's by `spark.ui.prometheus.enabled`",
    ),
    Way(
        ("monitoring.metricsProperties", "monitoring.metricsPropertiesFile"),
        "`sparkConf`, each line with `spark.metrics.conf.` before it, or a `metrics.properties` in `sparkConfigMap`",
    ),
    Way(
        (
            *("monitoring.prometheus.jmxExporterJar", "monitoring.prometheus.port", "monitoring.prometheus.portName"),
            *("monitoring.prometheus.configFile", "monitoring.prometheus.configuration"),
        ),
        "not there: `-javaagent` in `spark.driver.extraJavaOptions` and `spark.executor.extraJavaOptions`",
    ),
    Way(
        ("timeToLiveSeconds",),
        "not there: an ended driver's pod stays until the next start, `status.driver` has its last words; delete the "
        "StreamJob to delete all of it",
    ),
)
