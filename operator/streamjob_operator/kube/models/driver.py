"""StreamJob.status.driver: what is known of the Spark driver, and of the one before it."""

from __future__ import annotations

from streamjob_operator.kube.models.marks import Time
from streamjob_operator.spec.base import Part


class DriverStatus(Part):
    """The Spark driver."""

    pod: str | None = None
    """Name of its pod."""

    pod_uid: str | None = None
    """Uid of the newest driver's pod."""

    ended_uid: str | None = None
    """Uid of the pod whose end was counted for the restart policy."""

    application_id: str | None = None
    """Spark's application id."""

    application_hash: str | None = None
    """Hash of the spec.application that it was started with."""

    started_at: Time | None = None
    """When it was started. RFC 3339."""

    restarts: int | None = None
    """How often it was started again since it last ran for longer than restart.backoff.max."""

    own_ends: int | None = None
    """How many of these ends were the driver's own doing, no eviction, drain or deletion: what restart.maxRestarts
    limits. Absent for none."""

    awaited_since: Time | None = None
    """Since when the newest pod's first answer is waited for; absent once it has come. RFC 3339."""

    ending_since: Time | None = None
    """Since when a pod that was told to end is waited for; absent where none is. RFC 3339."""

    restart_at: Time | None = None
    """When it is started next; absent when no restart is due. RFC 3339."""

    exit_code: int | None = None
    """Exit code of the last one that ended; absent when it did not end by itself."""

    end_reason: str | None = None
    """What ended the last one, in Kubernetes' words: OOMKilled, Error, Evicted and why."""

    last_words: str | None = None
    """The end of the log of the last one that ended, or what it left as its termination message; at most 800
    bytes."""

    spark_version: str | None = None
    """Spark's version."""

    agent_version: str | None = None
    """The agent's version."""
