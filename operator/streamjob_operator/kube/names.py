"""Names that StreamJob uses on a Kubernetes cluster: its API, labels, annotations, phases, conditions, reasons.

`docs/reference/` is made from the descriptions in this file.
"""

from __future__ import annotations

import enum

from streamjob_operator.spec.job import API_VERSION, APPROVE, PAUSE

GROUP, VERSION = API_VERSION.split("/")
JOB_KIND, JOB_PLURAL, JOB_SHORT = "StreamJob", "streamjobs", "sj"
MAP_KIND, MAP_PLURAL, MAP_SHORT = "PartitionMap", "partitionmaps", "pm"
CATEGORY = "streaming"

FIELD_MANAGER = "streamjob-operator"
"""Server-side apply: fields that the operator owns."""

AGENT_FIELD_MANAGER = "streamjob-agent"
"""Server-side apply: fields of PartitionMap.status, which the agent owns."""

FINALIZER = f"{GROUP}/operator"
"""Keeps a StreamJob until its driver has been stopped between two batches; its work is bounded and always ends."""

APPLICATION_HASH = f"{GROUP}/application-hash"
"""Hash of the spec.application that the driver was started with; when the spec has another one it is restarted."""

POD_DELETION_COST = "controller.kubernetes.io/pod-deletion-cost"
DRAINING_DELETION_COST = -1000
"""Marked executors' pods are the first that a controller deletes when it must delete some (the default is 0)."""


class Label(enum.StrEnum):
    """Labels that the operator sets on pods and on what it owns."""

    JOB = f"{GROUP}/job"
    """Name of the StreamJob that the object belongs to. On everything that a StreamJob owns, and on its driver's and
    executors' pods; pods of an application that somebody else started do not get it."""

    MARKED = f"{GROUP}/marked-for-removal"
    """"true" on the pod of an executor that is being drained; taken off when the drain is taken back."""


class Annotation(enum.StrEnum):
    """Annotations on a StreamJob by which a person steers it. The operator never changes them."""

    APPROVE = APPROVE
    """The hash of the plan that may be carried out (`status.lastPlan.hash`), of one that it has replaced of late
    (`status.approvable`), or key-groups-N for as many key groups as `status.keyGroups.proposed` names. Anything else
    approves nothing."""

    PAUSE = PAUSE
    """Anything but "false" or nothing: the job is measured, but nothing moves and no executor comes or goes."""

    REFRESH = f"{GROUP}/refresh"
    """A token of yours, such as the time. A new token starts a cycle at once; `status.handled.refresh` repeats it
    with what that cycle found."""

    STOP = f"{GROUP}/stop"
    """A token of yours, such as the time. A new token ends the running moves at the next batch boundary;
    `status.handled.stop` repeats it."""


class Phase(enum.StrEnum):
    """What a StreamJob is doing, in one word (`status.phase`)."""

    PENDING = "Pending"
    """Accepted, and nothing was started yet; or an adopted application's driver was not found yet."""

    SUBMITTING = "Submitting"
    """The driver's pod exists, its agent has not reported yet."""

    RUNNING = "Running"
    """The query runs and nothing is being changed."""

    REBALANCING = "Rebalancing"
    """Key groups move between executors."""

    SCALING = "Scaling"
    """Executors were asked for and are not all there yet."""

    DRAINING = "Draining"
    """Key groups leave executors that are marked for removal."""

    FAILED = "Failed"
    """The driver ended and is not started again, or waits for its next restart; the condition Ready says why."""

    SUSPENDED = "Suspended"
    """`spec.suspend` is true; the driver was stopped between two batches."""


class Condition(enum.StrEnum):
    """Types of `status.conditions`. Each has a reason and a sentence, and the generation of the spec it speaks of."""

    READY = "Ready"
    """True: the query runs and its agent reports. The condition to wait for."""

    RECONCILING = "Reconciling"
    """True: something is under way (a driver starts, executors come, key groups move)."""

    STALLED = "Stalled"
    """True: it cannot go on without a person, for example because the spec cannot be carried out."""

    ACCEPTED = "Accepted"
    """False: the API server let the spec pass, but the operator found a mistake in it, or the API server refuses the
    pods that the spec describes for what they are; the message is the sentence. Want of room, rights and policies of
    the cluster leave it True."""

    METRICS_AVAILABLE = "MetricsAvailable"
    """False: measurements are missing or stale; the message says which and since when. Nothing moves until then, but
    for what `scaling.failSafe` allows."""

    FAIL_SAFE = "FailSafe"
    """True: measurements have been missing for so long that executors may come without them (`scaling.failSafe`), and
    none leaves. It ends once measurements have been back for a statistics period."""

    ACTUATION_AVAILABLE = "ActuationAvailable"
    """False: the agent cannot move key groups, or not everything can be done for an adopted application."""

    EXECUTORS_AVAILABLE = "ExecutorsAvailable"
    """False: executors that were asked for do not come, for example because no node has room for a pod."""

    BALANCED = "Balanced"
    """True: no moves are known that make batches shorter, or, where the objective is loadDistance, the distance is
    within `balancing.maxLoadDistance`; and the number of executors fits."""

    BATCHES_PREDICTED = "BatchesPredicted"
    """False: predicted batches are too far off the measured ones, or have too many parts to be predicted, so the load
    distance decides about moves."""

    AWAITING_APPROVAL = "AwaitingApproval"
    """True: a plan waits for its hash in the annotation `streamjob.dev/approve`."""

    MORE_KEY_GROUPS = "MoreKeyGroups"
    """True: no number of executors is enough and more key groups might be, or their number was to be changed and was
    not; the message says how many, and what can be done."""


class KubeReason(enum.StrEnum):
    """Reasons of conditions and events that only Kubernetes knows; the loop's own are in `Reason`."""

    SPEC_ACCEPTED = "SpecAccepted"
    """The spec can be carried out."""

    INVALID_SPEC = "InvalidSpec"
    """The operator found a mistake in the spec that the API server cannot see, or the API server refuses what is made
    of it; the message names the field and what is allowed. To do: correct the field that the message names."""

    UNKNOWN_FIELDS = "UnknownFields"
    """The API server knows fields of the spec that this version of the operator does not; the message names them, they
    have no effect. To do: finish the upgrade: the operator is older than its CRDs."""

    SETTINGS_OVERRIDDEN = "SettingsOverridden"
    """A Spark setting of yours would keep key groups from moving; ours was used, the message names it. To do: take the
    setting out of sparkConf."""

    NOT_ALL_MADE = "NotAllMade"
    """Something around the driver could not be made, such as its PodMonitor, or executors' pods could not be marked:
    the message has the API server's words. The job runs. To do: give the right that the message names, or let the
    policy allow it; it is tried again, at the latest after a few minutes."""

    DRIVER_REFUSED = "DriverRefused"
    """The API server, a quota or a policy of the cluster refuses the driver's pod or what stands around it, or an
    object of that name is somebody else's; the message has their words. It is tried again every minute. To do: make
    room, give the right, or change what the policy forbids."""

    DRIVER_STARTING = "DriverStarting"
    """The driver's pod was made and is not ready yet."""

    DRIVER_RUNNING = "DriverRunning"
    """The driver runs and its agent reports."""

    DRIVER_ENDED = "DriverEnded"
    """The driver ended in order, and `restart.policy` does not start it again."""

    DRIVER_FAILED = "DriverFailed"
    """The driver failed, and `restart.policy` does not start it again. To do: read what it said last, in the message
    and in `status.driver`, or the log of its pod, which is kept; then change `spec.application`, or suspend and
    resume."""

    DRIVER_BACKOFF = "DriverBackoff"
    """The driver ended; it is started again after a wait that doubles each time. To do: read what ended it and what it
    said last, in the message and in `status.driver`; its pod is kept until the next start."""

    DRIVER_LATE = "DriverLate"
    """The driver's agent did not answer within `restart.startDeadline`; its pod is stopped, which counts as a failure.
    To do: read what kept it, in the message; make room, or allow more time."""

    RESTARTS_EXHAUSTED = "RestartsExhausted"
    """The driver ended by itself once more than `restart.maxRestarts` allows in a row. To do: read what it said last,
    in the message and in `status.driver`; then change `spec.application`, or suspend and resume."""

    DRIVER_STOPPING = "DriverStopping"
    """The driver was asked to stop between two batches: suspended, deleted, or to be started with a new spec."""

    DRIVER_NOT_ENDING = "DriverNotEnding"
    """A pod of the driver was to end a minute ago and more, and is still there: its node does not answer, or a
    finalizer holds it. Two drivers never share a checkpoint, so nothing is started beside it. To do: look at the node;
    once it is surely off, delete the pod as the message says."""

    CHECKPOINT_IN_USE = "CheckpointInUse"
    """Another StreamJob of the namespace has the same program, arguments and `application.checkpoint`, and a driver, or
    was made before this one, as after a copy under another name. Two drivers on one checkpoint harm each other, so this
    one waits. To do: give it a checkpoint of its own, or suspend or delete the other one."""

    KEY_GROUPS_CHANGING = "KeyGroupsChanging"
    """Another number of key groups is made: the driver stops between two batches, a pod of its image changes a copy of
    the checkpoint, checks it and puts it in place, and the driver starts again."""

    KEY_GROUPS_FAILED = "KeyGroupsFailed"
    """Their number was to be changed, and was not; the query goes on as it was, and the message says why. It is tried
    again only when another number is asked for, or `spec.application` changes. To do: read the message; take the wish
    back, and ask again once the cause is gone."""

    KEY_GROUPS_PROPOSED = "KeyGroupsProposed"
    """No number of executors keeps batches within their time, and more key groups might; the message says how many. To
    do: approve them as the message says, or set `balancing.keyGroups.count`."""

    KEY_GROUPS_ENOUGH = "KeyGroupsEnough"
    """Nothing says that more key groups would help."""

    DRIVER_UNSCHEDULABLE = "DriverUnschedulable"
    """No node has room for the driver's pod; the message is the scheduler's. To do: make room, or ask for less in
    `application.driver`."""

    DRIVER_RESTARTING = "DriverRestarting"
    """`spec.application` changed; the driver is stopped and started from its checkpoint."""

    SUSPENDED = "Suspended"
    """`spec.suspend` is true."""

    RESUMED = "Resumed"
    """`spec.suspend` is no longer true; the driver is started from its checkpoint. Event."""

    APPLICATION_NOT_FOUND = "ApplicationNotFound"
    """`applicationRef` names nothing that is there. To do: correct `applicationRef`, or start the application."""

    APPLICATION_AMBIGUOUS = "ApplicationAmbiguous"
    """`applicationRef.matchLabels` fits more than one driver pod; the message names them. To do: choose labels that
    one driver alone has."""

    APPLICATION_REFUSED = "ApplicationRefused"
    """The application lets Spark itself move tasks or executors; the message names the setting. To do: turn it
    off."""

    AGENT_MISSING = "AgentMissing"
    """An adopted driver runs, and no agent reports from it; the message says how to start it with one. To do: start
    the driver as the message says."""

    ADOPTED = "Adopted"
    """An application that somebody else started is looked after."""

    ADOPTED_WITH_LIMITS = "AdoptedWithLimits"
    """As Adopted, and the message says what cannot be done for it. To do: read the message."""

    AGENT_SILENT = "AgentSilent"
    """The agent has not written PartitionMap.status for more than 90 s at rest, when it does so every 30 s, or 60 s
    otherwise. To do: look at the driver's log; it may hang, or not reach the API server."""

    AGENT_REFUSED = "AgentRefused"
    """The agent did not take the newest map; the message is its own. To do: report it if the next plan is refused,
    too."""

    ACTUATION_ON = "ActuationOn"
    """The agent's self-test passed; it moves key groups."""

    EXECUTORS_READY = "ExecutorsReady"
    """All wanted executors are there."""

    EXECUTOR_UNSCHEDULABLE = "ExecutorUnschedulable"
    """No node has room for an executor's pod; the message is the scheduler's. To do: make room, lower `executors.max`,
    or ask for less in `application.executor`."""

    EXECUTOR_REFUSED = "ExecutorRefused"
    """The API server takes no further executor's pod: a quota that is used up, a LimitRange, a policy; the message has
    its words about a pod that was tried and not made. To do: make room, lower `executors.max`, ask for less in
    `application.executor`, or change what forbids it."""

    MARKED_FOR_REMOVAL = "MarkedForRemoval"
    """An executor is drained and will be removed when it is empty. Event on its pod."""

    UNMARKED = "Unmarked"
    """A drain was taken back; the executor stays. Event on its pod."""

    NODE_SILENT = "NodeSilent"
    """An executor's pod was to end a minute ago and its node does not answer. The pod is taken out of the API, so that
    Spark starts another executor. Event on its pod. To do: look at the node."""

    STOPPED = "Stopped"
    """A person ended the running moves with the annotation `streamjob.dev/stop`. Event."""

    NOTHING_STALLED = "NothingStalled"
    """Nothing waits for a person."""

    NOTHING_UNDER_WAY = "NothingUnderWay"
    """No driver starts, no executors come or go, no key groups move."""

    NOTHING_MISSING = "NothingMissing"
    """Measurements are there, so `scaling.failSafe` has nothing to do."""

    NO_PLAN_WAITS = "NoPlanWaits"
    """No plan waits for approval."""

    PREDICTIONS_HOLD = "PredictionsHold"
    """Batches take about what was predicted from their tasks."""

    PREDICTIONS_OFF = "PredictionsOff"
    """Batches take much longer or shorter than predicted, so nothing is planned on predictions. To do: look for work
    that is not Spark's tasks, such as calls in foreachBatch, or other jobs on the executors."""

    PREDICTIONS_UNTRIED = "PredictionsUntried"
    """No window of batches has been predicted and then measured yet."""

    BATCHES_TOO_LARGE = "BatchesTooLarge"
    """The query has more levels of stages, times executors, than batches are predicted of. To do: nothing where the
    load distance will do; else fewer stages one after the other, or fewer and larger executors."""

    METRICS_FOUND = "MetricsFound"
    """All series that are needed are there and fresh."""

    PROMETHEUS_UNAVAILABLE = "PrometheusUnavailable"
    """Prometheus does not answer, or answers with an error; the message has it. To do: look at Prometheus, which takes
    512 connections at a time from everybody unless `--web.max-connections` says otherwise, and at
    `metrics.prometheus.url`."""

    PROMETHEUS_DENIED = "PrometheusDenied"
    """Prometheus refuses the credentials, or a secret of `metrics.prometheus` is missing, incomplete, or may not be
    read. To do: correct the secret, or let the operator's account get it."""

    PROMETHEUS_TLS = "PrometheusTls"
    """Prometheus's certificate cannot be trusted with the given CA. To do: correct the secret of
    `metrics.prometheus.tls`."""

    TARGET_MISSING = "TargetMissing"
    """Prometheus has no fresh `streamjob_agent_info` of the application: it does not scrape the agent. To do: let
    Prometheus scrape the driver's pod, for example with the PodMonitor."""

    SERIES_MISSING = "SeriesMissing"
    """Prometheus scrapes the agent, but series are missing; the message names them. To do: look at relabelling rules
    that drop series."""

    OPERATOR_ERROR = "OperatorError"
    """A turn came to nothing: the API server refuses something, or the operator made a mistake; the message has it, and
    it is tried again. To do: give the right that a refusal names (`streamjob operator --self-check` lists what lacks);
    report anything else, with the operator's log of the cycle."""
