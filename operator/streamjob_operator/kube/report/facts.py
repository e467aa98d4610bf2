"""What one turn found out about a StreamJob: all that its status is made from."""

from __future__ import annotations

import dataclasses

from streamjob_operator.kube.models.driver import DriverStatus
from streamjob_operator.kube.models.key_groups import KeyGroupsStatus
from streamjob_operator.kube.names import Phase
from streamjob_operator.kube.partition_map.maps import MapView
from streamjob_operator.spec import StreamJob
from streamjob_operator.values import CycleRecord, Memory


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class DriverFacts:
    """The driver, whoever started it.

    Attributes:
        phase: Pending, Submitting, Running, Failed or Suspended.
        reason, message: why, for the condition Ready.
        stalled: it does not go on without a person.
        limits: what cannot be done for an adopted application; None when all can.
        overridden: Spark settings of the user's that were overridden, as a sentence; None when none were.
        lacking: what could not be made around the driver, as a sentence; None when all was.
        executors_asked: executors that a driver of ours begins with; None for one of somebody else's.
        executors_trouble: why executors' pods do not come, in the scheduler's words; None when they do.
        executors_refused: why the API server takes no further executor's pod, in its words; None where it does.
        executors_admitted: executors' pods that exist; None when nobody knows.
        pods: name of each executor's pod by executor id, as far as known.
        selector: label selector of the executors' pods; None while it is not known.
        address: of the driver's pod on the network, as Kubernetes has it; None while it has none.
        pod_uid: of the driver's pod; None while there is none.
        change: of the number of key groups; only its fields of `status.keyGroups`, with `now` where that many have just
            been made; None where the driver is not ours.
    """

    phase: Phase
    reason: str
    message: str
    stalled: bool = False
    limits: str | None = None
    overridden: str | None = None
    lacking: str | None = None
    executors_asked: int | None = None
    executors_trouble: str | None = None
    executors_refused: str | None = None
    executors_admitted: int | None = None
    pods: dict[str, str] = dataclasses.field(default_factory=dict)
    selector: str | None = None
    address: str | None = None
    pod_uid: str | None = None
    status: DriverStatus | None = None
    change: KeyGroupsStatus | None = None


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class MetricsTrouble:
    """A finer reason for missing measurements than the cycle's own, and since when."""

    reason: str
    message: str
    since_s: float


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Cycle:
    """One cycle of the loop, with its id in the log. `note`: of measurements that are there."""

    id: str
    record: CycleRecord
    seconds: float
    trouble: MetricsTrouble | None = None
    note: str | None = None


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """One turn. `job` is None when the spec has `mistakes`; `cycle` None when no cycle was run in this turn.

    `uid` and `generation` are those of the StreamJob that was read.
    `memory_text` is what `memory` was read from, None where it is another memory: it need not be packed again.
    `agent_heard_s` is when the agent's newest report was seen first, by our clock; None when there was none.
    `agent_certain`: it came while this operator looked, so that it is as old as that.
    """

    now_s: float
    uid: str
    generation: int
    job: StreamJob | None
    mistakes: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()  # fields of the spec that this version does not know
    driver: DriverFacts | None = None
    map: MapView | None = None
    agent_heard_s: float | None = None
    agent_certain: bool = True
    memory: Memory | None = None
    memory_text: str | None = None
    cycle: Cycle | None = None
    error: str | None = None  # why the turn came to nothing: a refusal, or a mistake of the operator's own

    def agent_age_s(self) -> float | None:
        """Seconds since the agent's newest report was seen; None when there was none."""
        return None if self.agent_heard_s is None else max(0.0, self.now_s - self.agent_heard_s)
