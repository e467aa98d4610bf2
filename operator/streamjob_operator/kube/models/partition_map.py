"""PartitionMap: spec is the operator's, status the agent's. `streamjob_agent.map_form` writes and reads both."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from streamjob_operator.spec.base import Part

ExecutorState = Literal["ready", "draining", "leaving", "dead"]


class Pace(Part):
    """How much may move at one batch boundary; absent is no limit, and one move is always allowed."""

    max_moves: int | None = Field(default=None, ge=0)
    """Moves, at least 0. Default: no limit."""

    max_state_bytes: int | None = Field(default=None, ge=0)
    """State that is loaded on new executors. Bytes, at least 0, default: no limit."""

    max_cost_seconds: float | None = Field(default=None, ge=0)
    """Expected pauses, together. Seconds, at least 0, default: no limit."""


class OtherQuery(Part):
    """Where the key groups of a further query of the same driver should be."""

    query_id: str
    """Id of the streaming query. Required."""

    owners: dict[str, str] = Field(default_factory=dict)
    """As spec.owners, of this query. Default: none."""

    arrivals: dict[str, str] | None = None
    """As spec.arrivals, of this query. Default: nothing."""

    next_start: dict[str, str] | None = None
    """As spec.nextStart, of this query. Default: as owners has them."""

    move_order: str | None = None
    """As spec.moveOrder, of this query. Default: by operator and partition."""

    move_cost_seconds: str | None = None
    """As spec.moveCostSeconds, of this query. Seconds, default: unknown."""

    pace: Pace | None = None
    """How much of this query may move at one of its batch boundaries. Default: no limits."""


class MapSpec(Part):
    """Where every key group should be. Empty until the first plan; written by the operator alone."""

    form: int | None = Field(default=None, ge=1)
    """Form of this spec, at least 1. An agent leaves out fields that it does not know, and refuses a form that it does
    not: where leaving out would be wrong, the form grows. Default: 1."""

    generation: int | None = Field(default=None, ge=0)
    """Grows by one with each plan, at least 0; the agent refuses an older one. Absent or 0: no plan yet."""

    application_id: str | None = None
    """Spark's application id that the plan was made for; another driver refuses it, as executor ids start anew.
    Absent: no plan yet."""

    query_id: str | None = None
    """Id of the streaming query, the same over restarts from one checkpoint; of several of a driver the leading one,
    which has the most key groups. Absent: no plan yet."""

    executors_target: int | None = Field(default=None, ge=0)
    """Executors that should exist, those being drained included; at least 0. Default: the number is left alone."""

    marked_for_removal: tuple[str, ...] = ()
    """Ids of executors that receive no key group and are being drained. Default: none."""

    remove: tuple[str, ...] = ()
    """Ids of marked executors to decommission now; the agent refuses while one holds a key group. Default: none."""

    owners: dict[str, str] = Field(default_factory=dict)
    """Executor of each partition, by operator: "0*3,2,-*2" is three on executor 0, one on 2, two left where they are.
    Text over 16 KiB is "z:" and the base64 of its zlib stream. Default: none; moves and arrivals of the generation
    before go on then."""

    arrivals: dict[str, str] | None = None
    """What executors that are to come will own, by operator: "-*3,1,2" is the fourth partition for the first one to be
    ready that is not in knownExecutors, the fifth for the second; until then they are where owners says. Long text as
    in owners. Default: nothing."""

    known_executors: tuple[str, ...] | None = None
    """Ids of the executors that were there when arrivals was written. Default: none."""

    next_start: dict[str, str] | None = None
    """Where key groups shall be when a driver starts again, by operator: "1*3,2" is three partitions on one executor
    and the fourth on another. Long text as in owners. Default: as owners has them."""

    move_order: str | None = None
    """Order of the moves: "0:3,7;1:4" is partitions 3 and 7 of operator 0, then 4 of operator 1. Long text as in
    owners. Default: by operator and partition."""

    move_cost_seconds: str | None = None
    """Expected pause of each move of moveOrder, "0.03*12,-,0.5" with "-" for unknown. Seconds, long text as in
    owners. Default: unknown."""

    pace: Pace | None = None
    """How much may move at one batch boundary. Default: no limits."""

    other_queries: tuple[OtherQuery, ...] | None = Field(default=None, max_length=63)
    """The driver's other queries, at most 63; generation, executors and marks hold for all. An agent that does not know
    this field leaves them where they are. Default: there is no other."""


class MapExecutor(Part):
    """One executor as the driver sees it."""

    KEEPS_UNKNOWN = True

    id: str
    """Spark's executor id."""

    host: str | None = None
    """Its host: the pod's address."""

    cores: int | None = None
    """Its task slots."""

    state: ExecutorState | None = None
    """ready, draining (marked for removal), leaving (being decommissioned, or excluded by Spark for a time) or dead."""

    groups: int | None = None
    """Key groups that it holds."""


class MapUnusual(Part):
    """A batch that took longer or shorter than usual, as the one before it did."""

    KEEPS_UNKNOWN = True

    batch_id: int
    """Its number."""

    ended_at_seconds: float
    """When it ended, by the driver's clock. Seconds since 1970."""

    seconds: float
    """How long it took. Seconds."""

    low_seconds: float
    """What batches usually took at least until then. Seconds."""

    high_seconds: float
    """What batches usually took at most until then. Seconds."""


class MapRisen(Part):
    """A batch that had more rows than usual before it ended, as the one before it did."""

    KEEPS_UNKNOWN = True

    batch_id: int
    """Its number."""

    began_at_seconds: float
    """When it began, by the driver's clock. Seconds since 1970."""

    rows: int
    """Rows that it had by then."""

    high_rows: int
    """Rows that batches usually had at most until then."""


class MapQuery(Part):
    """One streaming query."""

    KEEPS_UNKNOWN = True

    query_id: str
    """Its id, the same over restarts from one checkpoint."""

    run_id: str | None = None
    """Id of this run of it."""

    name: str | None = None
    """Its name, where the job gives one."""

    batch_id: int | None = None
    """Its newest batch."""

    owners: dict[str, str] = Field(default_factory=dict)
    """Executor on which each partition's newest task ran, by operator; written as spec.owners."""

    moves_pending: int | None = None
    """Moves of the applied generation that are still to be made."""

    moves_done: int | None = None
    """Moves of the applied generation that were made."""

    moves_failed: int | None = None
    """Moves of the applied generation that were given up."""

    moves_awaiting: int | None = None
    """Moves of the applied generation to executors that have not come."""

    arrived: tuple[str, ...] = ()
    """Ids of the executors that came for spec.arrivals, in the order of their places."""
    unusual: MapUnusual | None = None
    """The newest batch that left the usual range; wakes the operator. Absent: none has since key groups moved last."""

    risen: MapRisen | None = None
    """The newest batch that had more rows than usual before it ended; wakes the operator. Absent: none has."""


class MapStatus(Part):
    """What the agent reports; written by the agent in the driver alone.

    An agent's image is the user's to choose: a newer one may report more than the cluster's definitions know.
    """

    KEEPS_UNKNOWN = True

    agent_version: str | None = None
    """The agent's version."""

    spark_version: str | None = None
    """Spark's version."""

    application_id: str | None = None
    """Spark's application id of the driver that reports."""

    now_seconds: float | None = None
    """When this was written, by the driver's clock: a heartbeat. Seconds since 1970."""

    heartbeat_seconds: float | None = None
    """After how many seconds at most the next one comes: 10 while something is under way, 30 at rest. Absent: 10."""

    actuation: Literal["on", "off"] | None = None
    """Whether the agent moves key groups; off when its self-test failed or it has switched itself off."""

    reason: str | None = None
    """Stable code for it."""

    message: str | None = None
    """A sentence for a person."""

    generation_applied: int | None = None
    """The generation that the driver follows. Absent: none yet."""

    refused: str | None = None
    """Why the newest spec was not taken. Absent: it was."""

    executors: tuple[MapExecutor, ...] = ()
    """Executors as the driver sees them."""

    queries: tuple[MapQuery, ...] = ()
    """The streaming queries of the driver."""

    self_test: dict[str, str] = Field(default_factory=dict)
    """Result of each part of the agent's self-test."""

    agent_url: str | None = None
    """Where the agent's metrics page and status can be read, http://ADDRESS:PORT. Absent: it does not listen."""

    ignored: tuple[str, ...] = ()
    """Fields of spec that this version of the agent does not know, and leaves out."""

    errors_total: int | None = None
    """Errors of the agent's own since the driver started; it catches all of them."""
