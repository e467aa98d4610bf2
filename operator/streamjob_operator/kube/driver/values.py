"""What the driver's reconciler knows, decides and tells. Times are seconds since 1970."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Mapping
from typing import Any

from streamjob_operator.kube.driver.monitoring import Monitoring
from streamjob_operator.kube.names import KubeReason, Phase
from streamjob_operator.spec import Application, Spec


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class JobFacts:
    """A StreamJob whose spec has an application.

    Attributes:
        owner: the object as read, for owner references; only its metadata is used.
        executors: how many executors a new driver asks for; later on only the agent changes their number.
        deleted_at_s: when its deletion was asked for; None while it is to live.
        monitoring: how its Prometheus comes to scrape it.
        key_groups: so many are wanted in place of those that were measured; None for these.
        key_groups_asked: whether a person asks for a number, whatever it is.
    """

    name: str
    namespace: str
    generation: int
    owner: Mapping[str, Any]
    spec: Spec
    application: Application
    executors: int
    deleted_at_s: float | None = None
    monitoring: Monitoring = dataclasses.field(default_factory=Monitoring)
    key_groups: int | None = None
    key_groups_asked: bool = False

    @property
    def wanted(self) -> bool:
        """Whether a driver should run."""
        return not self.spec.suspend and self.deleted_at_s is None


class PodPhase(enum.StrEnum):
    """As Kubernetes names them."""

    PENDING = "Pending"
    RUNNING = "Running"
    SUCCEEDED = "Succeeded"
    FAILED = "Failed"
    UNKNOWN = "Unknown"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class DriverPod:
    """The driver's pod as read; what is told of a container is told of the driver's own, whatever stands beside it.

    Attributes:
        exited: its container has ended and is not started again in this pod, though a sidecar may run on.
        disrupted: something was done to the pod: evicted, preempted, drained, refused by its node.
        why: what ended it, in Kubernetes' words, such as OOMKilled or Evicted.
        last_words: the end of its log, where Kubernetes has kept it.
        trouble: why it does not run yet: the scheduler's or the kubelet's sentence.
    """

    name: str
    uid: str
    phase: PodPhase
    application_hash: str
    ready: bool = False
    deleting: bool = False
    started_at_s: float | None = None
    ended_at_s: float | None = None
    exit_code: int | None = None
    exited: bool = False
    disrupted: bool = False
    why: str | None = None
    last_words: str | None = None
    unschedulable: str | None = None
    trouble: str | None = None
    address: str | None = None
    grace_s: float = 30.0

    @property
    def ended(self) -> bool:
        """Whether it ran and will not run again."""
        return self.exited or self.phase in (PodPhase.SUCCEEDED, PodPhase.FAILED)


class Step(enum.StrEnum):
    """What is done about a change of the number of key groups."""

    CHANGE = "Change"
    UNDO = "Undo"
    END = "End"
    """What came of it is known; its pod goes, and the driver starts."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A change of the number of key groups, or what is remembered of the newest one.

    Attributes:
        step: None when none is under way.
        wanted: how many are made.
        pod_uid: the operation's pod, once it was seen.
        since_s: when it was seen first, by our clock.
        tried: what is not tried again: the number, and the hash of the application.
        failure: why there are not as many; None when there are.
    """

    step: Step | None = None
    wanted: int | None = None
    pod_uid: str | None = None
    since_s: float | None = None
    tried: str | None = None
    failure: str | None = None


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class DriverMemory:
    """What must survive the operator; kept in `StreamJob.status.driver`.

    Attributes:
        pod_uid: the newest driver's pod.
        application_hash: hash of the application that it was started with.
        started_at_s: when its container was seen running first, by our clock.
        restarts: starts in a row that did not last for a healthy time.
        own_ends: those of them that were the driver's own doing, for the most restarts.
        awaited_since_s: since when the pod's first answer is waited for, by our clock; None once it has come.
        ending_since_s: since when a pod that was told to end is waited for, by our clock; None where none is.
        restart_at_s: when it is started next; None when it has not ended.
        ended_uid: the pod whose end was counted already.
        exit_code: of the last one that ended; None when it did not end by itself.
        why, last_words: of the last one that ended, see DriverPod.
        change: of the number of key groups; kept in `StreamJob.status.keyGroups`.
    """

    pod_uid: str | None = None
    application_hash: str | None = None
    started_at_s: float | None = None
    restarts: int = 0
    own_ends: int = 0
    awaited_since_s: float | None = None
    ending_since_s: float | None = None
    restart_at_s: float | None = None
    ended_uid: str | None = None
    exit_code: int | None = None
    why: str | None = None
    last_words: str | None = None
    change: Change = Change()


class Action(enum.Enum):
    """What is to be done to the driver's pod now."""

    NOTHING = "nothing"
    CREATE = "create"
    STOP = "stop"
    """Delete the pod: its driver gets SIGTERM, and time to stop between two batches."""

    CHANGE = "change"
    """Make the pod that changes the number of key groups, or sends the checkpoint back."""

    STOP_CHANGE = "stop change"
    """Delete that pod."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What to do, and what to tell about it. `stalled`: it cannot go on without a person."""

    action: Action
    phase: Phase
    reason: KubeReason
    sentence: str
    memory: DriverMemory
    next_look_s: float | None = None
    stalled: bool = False
    gone: bool = False


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class DriverState:
    """What the reconciler found and did.

    Attributes:
        phase: Pending, Submitting, Running, Failed or Suspended; what moves and scales is for others to say.
        ready: the driver runs and its agent answers.
        pod, address: name of the driver's pod and its place on the network, None while there is none.
        notes: sentences about Spark settings that gave way.
        lacking: sentences about what could not be made around it; None when that was not tried in this step.
        memory: to be kept in `status.driver` and given back next time.
        next_look_s: seconds until it should be looked at again; None when only a change matters.
        gone: nothing runs any more; a finalizer may end.
    """

    phase: Phase
    reason: KubeReason
    sentence: str
    ready: bool
    pod: str | None
    address: str | None
    notes: tuple[str, ...]
    memory: DriverMemory
    next_look_s: float | None
    stalled: bool
    gone: bool
    lacking: tuple[str, ...] | None = None
