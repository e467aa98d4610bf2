"""SparkApplications of the Kubeflow (v1beta2) and of the Apache operator (v1), as far as we read them. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from streamjob_operator.counting import executors
from streamjob_operator.kube.api.kinds import APACHE_APPLICATIONS, KUBEFLOW_APPLICATIONS, Kind
from streamjob_operator.spec import ApplicationRef, Spec
from streamjob_operator.spec.application import CONTROLLED

NAME_LABELS = {
    KUBEFLOW_APPLICATIONS.api_version: "sparkoperator.k8s.io/app-name",
    APACHE_APPLICATIONS.api_version: "spark.operator/spark-app-name",
}
"""apiVersion -> the label by which that operator gives its pods the application's name."""
Document = Mapping[str, Any]


def kind_of(ref: ApplicationRef) -> Kind:
    """The kind of the object that is named."""
    return APACHE_APPLICATIONS if ref.api_version == APACHE_APPLICATIONS.api_version else KUBEFLOW_APPLICATIONS


def name_label(ref: ApplicationRef) -> str:
    """See NAME_LABELS."""
    return NAME_LABELS[kind_of(ref).api_version]


def refusal(ref: ApplicationRef, application: Document | None) -> str | None:
    """Why the application cannot be looked after at all, as a sentence; None when it can."""
    if application is None:
        return None  # a bare pod: the agent in it looks at its own session
    spec = application.get("spec") or {}
    if kind_of(ref) is KUBEFLOW_APPLICATIONS and (spec.get("dynamicAllocation") or {}).get("enabled"):
        return _two_masters("dynamicAllocation.enabled")
    conf = spec.get("sparkConf") or {}
    on = next((name for name in CONTROLLED[:2] if str(conf.get(name, "false")).strip().lower() != "false"), None)
    return None if on is None else _two_masters(f"sparkConf, {on}")


def _two_masters(field: str) -> str:
    return (
        f"SparkApplication: {field} is on; Spark would move tasks and executors behind StreamJob's back. "
        "Turn it off there to have the job looked after."
    )


def limits(ref: ApplicationRef, application: Document | None, spec: Spec) -> tuple[str, ...]:
    """Sentences about what cannot be done for an application that is looked after."""
    return tuple(_limits(kind_of(ref), (application or {}).get("spec") or {}, spec)) if application else ()


def _limits(kind: Kind, theirs: Document, spec: Spec) -> Iterator[str]:
    start = _instances(kind, theirs)
    if start is not None and not spec.executors.min <= start <= spec.executors.max:
        yield (
            f"Each new driver starts with {executors(start)}, as its SparkApplication says; executors.min "
            f"({spec.executors.min}) and executors.max ({spec.executors.max}) hold from then on."
        )
    if kind is APACHE_APPLICATIONS:
        least = _whole(((theirs.get("applicationTolerations") or {}).get("instanceConfig") or {}).get("minExecutors"))
        if least is not None and least > spec.executors.min:
            yield (
                f"Its operator expects at least {executors(least)} (instanceConfig.minExecutors) and may end the "
                f"application below that; executors.min is {spec.executors.min}."
            )


def _instances(kind: Kind, theirs: Document) -> int | None:
    stated = (theirs.get("sparkConf") or {}).get("spark.executor.instances")
    if stated is None and kind is KUBEFLOW_APPLICATIONS:
        stated = (theirs.get("executor") or {}).get("instances")
    if stated is None and kind is APACHE_APPLICATIONS:
        config = (theirs.get("applicationTolerations") or {}).get("instanceConfig") or {}
        stated = config.get("initExecutors")
    return _whole(stated)


def _whole(value: Any) -> int | None:
    return int(value) if str(value).isdecimal() else None
