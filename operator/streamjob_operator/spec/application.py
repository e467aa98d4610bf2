"""What to run, or what to take care of."""

from __future__ import annotations

import enum
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, model_validator

from streamjob_operator.spec.base import Part
from streamjob_operator.spec.quantities import Duration, format_duration

CONTROLLED = (
    "spark.dynamicAllocation.enabled",
    "spark.speculation",
    "spark.storage.decommission.enabled",
)
"""Settings that would move or duplicate tasks behind StreamJob's back; only "false" is allowed."""


def _spark_memory(text: str) -> str:
    if not (text[:-1].isdigit() and text[-1:] in "kmgt") or int(text[:-1]) == 0:
        raise ValueError("a Spark memory size such as 512m or 4g is needed")
    return text


class Pod(Part):
    """Size and shape of one pod."""

    cores: int = Field(default=1, ge=1, le=256)
    """Task slots (executor) or cores (driver). Default 1, range 1 to 256."""

    memory: Annotated[str, AfterValidator(_spark_memory)] = "1g"
    """JVM heap, as Spark writes it: 512m, 4g. Default 1g."""

    pod_template: dict[str, Any] = Field(default_factory=dict)
    """Kubernetes pod template that is merged into the pod. Default: empty."""


class RestartPolicy(enum.StrEnum):
    """When an ended driver is started again."""

    NEVER = "Never"
    ON_FAILURE = "OnFailure"
    ALWAYS = "Always"


class Backoff(Part):
    """Waiting time between restarts: doubled from `initial` up to `max`."""

    initial_s: Duration = Field(default=10.0, alias="initial", ge=0.1, le=3600)
    """Wait before the first restart. Duration, default 10s, range 100ms to 1h."""

    max_s: Duration = Field(default=300.0, alias="max", ge=0.1, le=86400)
    """Longest wait between restarts. Duration, default 5m, range 100ms to 1d."""

    @model_validator(mode="after")
    def _ordered(self) -> Backoff:
        if self.initial_s > self.max_s:
            initial, longest = format_duration(self.initial_s), format_duration(self.max_s)
            raise ValueError(f"initial is {initial} and max is {longest}; initial must not be longer than max")
        return self


class Restart(Part):
    """What happens when the driver ends."""

    policy: RestartPolicy = RestartPolicy.NEVER
    """When to start the driver again: Never, OnFailure or Always. Default Never."""

    backoff: Backoff = Backoff()
    """Waiting time between restarts."""


class Application(Part):
    """A PySpark application that StreamJob starts itself; its code needs no change."""

    image: str | None = Field(default=None, min_length=1)
    """Container image of driver and executors. Needed on Kubernetes, unused standalone."""

    main_file: str = Field(min_length=1)
    """The user's PySpark script: a path (standalone) or local:///path inside the image. Required."""

    args: tuple[str, ...] = ()
    """Arguments of the script. Default: none."""

    spark_conf: dict[str, str] = Field(default_factory=dict)
    """Spark settings; every value is text. Default: none."""

    checkpoint: str | None = Field(default=None, min_length=1)
    """Checkpoint location that the script uses, given to it as STREAMJOB_CHECKPOINT. Default: the script's own."""

    driver: Pod = Pod()
    """The driver's pod."""

    executor: Pod = Pod()
    """Each executor's pod."""

    restart: Restart = Restart()
    """What happens when the driver ends."""

    @model_validator(mode="after")
    def _controlled_settings(self) -> Application:
        for name in CONTROLLED:
            value = self.spark_conf.get(name, "false")
            if value.lower() != "false":
                raise ValueError(
                    f"sparkConf: {name} is '{value}'; it would move tasks or executors behind StreamJob's back, "
                    'so only "false" is allowed'
                )
        return self


class ApplicationRef(Part):
    """An application that somebody else starts, whose driver runs the agent."""

    kind: Literal["SparkApplication", "Pod"] = "SparkApplication"
    """SparkApplication (Kubeflow's or Apache's operator) or Pod (any driver pod). Default SparkApplication."""

    api_version: Literal["sparkoperator.k8s.io/v1beta2", "spark.apache.org/v1", "v1"] = Field(
        default="sparkoperator.k8s.io/v1beta2"
    )
    """API of that object. Default sparkoperator.k8s.io/v1beta2."""

    name: str | None = Field(default=None, min_length=1)
    """Name of the object. Exactly one of name and matchLabels is needed."""

    match_labels: dict[str, str] | None = Field(default=None, min_length=1)
    """Labels of the driver pod. Exactly one of name and matchLabels is needed."""

    @model_validator(mode="after")
    def _one_way(self) -> ApplicationRef:
        if (self.name is None) == (self.match_labels is None):
            given = "neither is" if self.name is None else "both are"
            raise ValueError(f"{given} given; exactly one of name and matchLabels is needed")
        return self
