"""The StreamJob: what users write. Field names and meanings are those of the Kubernetes resource."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from annotated_types import MaxLen
from pydantic import AfterValidator, Field, model_validator

from streamjob_operator.spec.application import Application, ApplicationRef
from streamjob_operator.spec.base import Part
from streamjob_operator.spec.key_groups import APPROVED, WHERE
from streamjob_operator.spec.object_names import SecretName
from streamjob_operator.spec.policies import Balancing, Executors, Mode, Scaling
from streamjob_operator.spec.quantities import Duration, format_duration
from streamjob_operator.spec.rules import Rule, exactly_one, matches, quoted, seconds, shaped, told

API_VERSION = "streamjob.dev/v1alpha1"
APPROVE, PAUSE = "streamjob.dev/approve", "streamjob.dev/pause"
NAME_PATTERN = "[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?"
_NAME_HINT = "1 to 63 lower-case letters, digits and '-' are needed, with a letter or digit at both ends"
URL = r"https?://[^\s/?#]+(?:/[^\s?#]*)?"
"""Without a query or a fragment: a question's path is put behind it, and would be left out, so that whoever writes a
StreamJob could have any page of the operator's network asked for."""
_HEADER = r"[A-Za-z0-9-]{1,100}"
_OURS = ("authorization", "cookie", "host", "content-length", "content-type", "connection", "transfer-encoding")
_HEADERS_HINT = "names of letters, digits and '-' are needed, values without line breaks, and none of " + ", ".join(
    _OURS
)
_WRONG_HEADER = (
    # Short patterns: the API server weighs each by the longest name that there could be.
    f"k, k == '' || k.size() > 100 || k.matches('[^A-Za-z0-9-]') || "
    f"k.lowerAscii() in [{', '.join(quoted(one) for one in _OURS)}] || self[k].matches('[\\\\r\\\\n]')"
)
_HEADERS_RULE = Rule(
    f"!self.exists({_WRONG_HEADER})",
    _HEADERS_HINT,
    told=told(f"%s: {_HEADERS_HINT}", f"self.filter({_WRONG_HEADER})[0]"),
)
_STALE = "metrics.staleAfter must not be shorter than balancing.statisticsPeriod"
URL_HINT = "an address such as http://prometheus.monitoring:9090 is needed, without ? and #"


def _headers(given: dict[str, str]) -> dict[str, str]:
    for name, value in given.items():
        if not re.fullmatch(_HEADER, name) or name.lower() in _OURS or re.search(r"[\r\n]", value):
            raise ValueError(f"{name}: {_HEADERS_HINT}")
    return given


class Metadata(Part):
    """Name and annotations."""

    name: Annotated[str, shaped(NAME_PATTERN, _NAME_HINT)]
    """Name of the job: lower-case letters, digits and '-', at most 63. Required."""

    namespace: str | None = None
    """Kubernetes namespace. Unused standalone."""

    labels: dict[str, str] = Field(default_factory=dict)
    """Labels. Default: none."""

    annotations: dict[str, str] = Field(default_factory=dict)
    """Annotations; streamjob.dev/approve and streamjob.dev/pause steer the loop. Default: none."""


class SecretRef(Part):
    """A secret of the same namespace."""

    name: SecretName
    """Name of the secret. Required."""


class Auth(Part):
    """How to log in."""

    secret_ref: SecretRef
    """Secret with the keys username and password, or token. Required."""


class Tls(Part):
    """Whom to trust."""

    RULES = (
        Rule(
            "!has(self.caSecretRef) || !self.insecureSkipVerify",
            "caSecretRef has no effect with insecureSkipVerify, leave one of them out",
            ".caSecretRef",
        ),
    )

    ca_secret_ref: SecretRef | None = None
    """Secret whose key ca.crt holds the authorities to trust. Default: those of the operator's image."""

    client_secret_ref: SecretRef | None = None
    """Secret of type kubernetes.io/tls (keys tls.crt and tls.key) with the certificate to show, for mutual TLS.
    Default: none is shown."""

    insecure_skip_verify: bool = False
    """Whether any certificate is taken. Default false."""

    @model_validator(mode="after")
    def _one_way(self) -> Tls:
        if self.insecure_skip_verify and self.ca_secret_ref is not None:
            raise ValueError("caSecretRef and insecureSkipVerify are given; one of them has no effect, leave it out")
        return self


class Prometheus(Part):
    """A Prometheus that scrapes the agent."""

    url: Annotated[str, shaped(URL, URL_HINT), matches(URL, URL_HINT)] = Field(max_length=2000)
    """Its address, http or https. Required."""

    auth: Auth | None = None
    """How to log in. Default: not at all."""

    tls: Tls = Tls()
    """Whom to trust when the address is https."""

    headers: Annotated[dict[str, Annotated[str, MaxLen(1000)]], AfterValidator(_headers), _HEADERS_RULE] = Field(
        default_factory=dict, max_length=20
    )
    """Headers of each request, such as X-Scope-OrgID (a tenant of Mimir or Cortex) or THANOS-TENANT; at most 20.
    Whoever may read the StreamJob sees them: log-ins belong into auth. Default: none."""

    timeout_s: Duration = Field(default=20.0, alias="timeout", ge=1, le=300)
    """Longest time that one query may take. Duration, default 20s, range 1s to 5m."""


class Metrics(Part):
    """Where measurements come from."""

    prometheus: Prometheus | None = None
    """A Prometheus that scrapes the agent. Default: the agent is read directly."""

    stale_after_s: Duration | None = Field(default=None, alias="staleAfter", ge=1, le=86400)
    """Age from which measurements are not acted on. Duration, range 1s to 1d, default: three statistics periods."""

    min_coverage: float = Field(default=90.0, ge=0, le=100)
    """Share of key groups that must have been measured before anything moves. Percent, default 90, range 0 to 100."""


class Spec(Part):
    """What is wanted."""

    RULES = (
        exactly_one("application", "applicationRef"),
        Rule(
            f"!has(self.metrics.staleAfter) || {seconds('self.metrics.staleAfter')} >= "
            f"{seconds('self.balancing.statisticsPeriod')}",
            _STALE,
            ".metrics.staleAfter",
            told(
                f"metrics.staleAfter is %s and balancing.statisticsPeriod is %s; {_STALE}",
                "self.metrics.staleAfter",
                "self.balancing.statisticsPeriod",
            ),
        ),
        Rule(
            "!(has(self.balancing.keyGroups.count) || self.balancing.keyGroups.mode == 'Approve') || "
            "(has(self.application) && has(self.application.checkpoint))",
            f"balancing.{WHERE}",
            ".balancing.keyGroups",
        ),
        Rule(
            "has(self.application) == has(oldSelf.application)",
            "application and applicationRef cannot be exchanged on a job that exists; make a new StreamJob",
        ),
        Rule(
            "!has(self.application) || !has(oldSelf.application) || oldSelf.suspend || "
            "(has(self.application.checkpoint) ? self.application.checkpoint : '') == "
            "(has(oldSelf.application.checkpoint) ? oldSelf.application.checkpoint : '')",
            "the checkpoint of a live job cannot be changed: another checkpoint is another state; "
            "set suspend to true first",
            ".application.checkpoint",
        ),
    )

    application: Application | None = None
    """A Spark application, in Python, Java or Scala, that StreamJob starts itself; its code needs no change. Exactly
    one of application and applicationRef is needed."""

    application_ref: ApplicationRef | None = None
    """A Spark application that somebody else starts and StreamJob takes care of; its driver runs the agent. Exactly
    one of application and applicationRef is needed."""

    suspend: bool = False
    """Whether the driver is stopped between two batches and kept stopped, on Kubernetes. Default false."""

    executors: Executors
    """Bounds on the number of executors. Required."""

    balancing: Balancing = Balancing()
    """When and how key groups (partitions of the state of the query) move between executors. An executor's load is the
    share of its task slots that its key groups keep busy; the load distance is the largest deviation from the mean."""

    scaling: Scaling = Scaling()
    """When executors are added and taken away. An executor that is taken away is marked, drained of its key groups
    within the migration budget, and removed when it is empty."""

    metrics: Metrics = Metrics()
    """Where measurements come from, and how fresh and complete they must be before anything moves."""

    @model_validator(mode="after")
    def _one_application(self) -> Spec:
        if (self.application is None) == (self.application_ref is None):
            given = "neither is" if self.application is None else "both are"
            raise ValueError(f"{given} given; exactly one of application and applicationRef is needed")
        return self

    @model_validator(mode="after")
    def _key_groups_somewhere(self) -> Spec:
        if self.balancing.key_groups.changes and (self.application is None or self.application.checkpoint is None):
            raise ValueError(f"balancing.{WHERE}")
        return self

    @model_validator(mode="after")
    def _slower_than_measured(self) -> Spec:
        stale, period = self.metrics.stale_after_s, self.balancing.statistics_period_s
        if stale is not None and stale < period:
            raise ValueError(
                f"metrics.staleAfter is {format_duration(stale)} and balancing.statisticsPeriod "
                f"{format_duration(period)}; staleAfter must not be the shorter one"
            )
        return self


class StreamJob(Part):
    """One streaming job under StreamJob's care."""

    api_version: Literal["streamjob.dev/v1alpha1"]
    """Always streamjob.dev/v1alpha1. Required."""

    kind: Literal["StreamJob"]
    """Always StreamJob. Required."""

    metadata: Metadata
    """Name and annotations. Required."""

    spec: Spec
    """What is wanted. Required."""

    @property
    def resizes(self) -> bool:
        """Whether executors may come and go: by our own rule, or because somebody else sets their number."""
        return self.spec.executors.replicas is not None or self.spec.scaling.mode in (Mode.APPROVE, Mode.AUTO)

    @property
    def paused(self) -> bool:
        """Whether the job is annotated to be left alone."""
        return self.metadata.annotations.get(PAUSE, "false").lower() not in ("", "false")

    @property
    def approved_plan(self) -> str | None:
        """Hash of the plan that a person approved."""
        return None if self._approved.startswith(APPROVED) else self.metadata.annotations.get(APPROVE)

    @property
    def approved_key_groups(self) -> str | None:
        """What a person approved, where it is a number of key groups: key-groups-N, as it was written."""
        return self._approved if self._approved.startswith(APPROVED) else None

    @property
    def _approved(self) -> str:
        return self.metadata.annotations.get(APPROVE, "")
