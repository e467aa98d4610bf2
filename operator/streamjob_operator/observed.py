"""What was observed of a job: executors, stages, rates, and the snapshot that holds them."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from scipy import sparse

from streamjob_operator.queries import QueryPart
from streamjob_operator.series import BatchSeries
from streamjob_planners.model import FloatArray, GroupId

LIVE_STATES = ("ready", "draining")
"""States of executors that own key groups, or may."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class ExecutorView:
    """One executor as observed. `state` is ready, draining, leaving or dead (see the agent's wire format).

    `groups` are key groups that ran there last or are registered there, of any query, by the agent's own count. Memory
    is what its process uses and what it may use, and the most that it can have for the query's state. All of these are
    None while nobody tells.
    """

    executor_id: str
    host: str
    cores: int
    state: str
    busy_s: float  # all its tasks of any stage within the window
    groups: int | None = None
    memory_used_bytes: float | None = None
    memory_limit_bytes: float | None = None
    state_limit_bytes: float | None = None


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class StageView:
    """One stage of the query's batches: means per batch over the window, in seconds.

    Attributes:
        operator: the operator whose key groups are its tasks; None for a stage without key groups.
        level: 0 or more; stages of one level run side by side, what reads from a stage has a higher one.
        wall_s: from the stage's submission to its end.
        busy_s: run time of all its tasks.
        longest_s: run time of its longest task.
        spread_s: standard deviation of a key group's seconds from batch to batch, pooled over its key groups; None
            without key groups or with fewer than two batches.
        wait_s: of all its tasks, from the stage's submission to their launch: for want of a slot.
    """

    operator: int | None
    level: int
    wall_s: float
    busy_s: float
    longest_s: float
    spread_s: float | None = None
    wait_s: float = 0.0


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class RunningBatch:
    """The batch that runs, once its sources are read: when it began, by the driver's clock, and its rows, at least."""

    began_at_s: float
    rows: float


BATCHES_IN_LAG = 1.5
"""Batches whose rows a lag holds that is no backlog: it is read at a batch's end, and what came during one is none."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class OthersLag:
    """What waits of another query of the driver, beyond what always does.

    `own_rows` are that query's, `rows` as many of the leading one's as its batches that wait stand for.
    """

    query: str
    own_rows: float
    rows: float


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class QueryRates:
    """The query over the window. Absent figures are None: a job without triggers, a source that tells no lag.

    `idle_since_s` is when the newest batch ended of a query that waits for data; None where a batch ended within the
    window, or one is being worked on.
    """

    batches: int
    mean_batch_s: float
    last_batch_s: float
    last_batch_at_s: float
    trigger_interval_s: float | None
    input_rps: float
    processed_rps: float
    lag_rows: float | None
    other_busy_s: float  # tasks of stages without key groups, and starts of the others, within the window
    idle_since_s: float | None = None
    running: RunningBatch | None = None  # the one after the newest that ended, where the agent tells
    others_lag: OthersLag | None = None  # of the query with most batches to do beside the leading one

    @property
    def waiting_rows(self) -> float | None:
        """Rows that wait, the leading query's own or what waits of another one, whichever takes longer."""
        if self.others_lag is None:
            return self.lag_rows
        return max(self.lag_rows or 0.0, self.others_lag.rows)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """What was measured over the window [taken_at_s - window_s, taken_at_s]. Rows are key groups.

    Several queries of one driver are one snapshot, see `measure.joining`: `queries` says whose operators are whose, the
    one that rates and batches are of first; it is empty for one query. `unmeasured`: executors that hold key groups of
    running queries that nothing is known of yet, by query.

    `owners[k]` is the executor the newest task of group k ran on; where that is gone, the one its next task will run
    on; None while nobody knows. Traffic is read seldom: `traffic_read_at_s` is the end of the window in which it was,
    None when that is this one.
    """

    taken_at_s: float
    window_s: float
    application_id: str
    query_id: str
    run_id: str
    actuation_on: bool
    actuation_reason: str
    generation_applied: int | None
    moves_pending: int
    executors: tuple[ExecutorView, ...]
    group_ids: tuple[GroupId, ...]
    owners: tuple[str | None, ...]
    busy_s: FloatArray  # (n_groups,), within the window
    cpu_s: FloatArray
    records: FloatArray
    state_bytes: FloatArray
    traffic_bytes: sparse.csr_array | None  # (n_groups, n_groups), bytes within the window, heavy pairs only
    rates: QueryRates
    traffic_read_at_s: float | None = None
    traffic_sent_bytes: FloatArray | None = None  # (n_groups,), bytes to other key groups within the window, all pairs
    read_bytes: FloatArray | None = None  # (n_groups,), shuffle bytes that its tasks read within the window
    remote_read_bytes: FloatArray | None = None  # (n_groups,), the part of them that came from other executors
    stages: tuple[StageView, ...] = ()  # empty while the agent does not tell
    warmup_s: FloatArray | None = None  # (n_groups,), seconds within the window that only moves and starts cost
    state_memory_bytes: FloatArray | None = None  # (n_groups,), memory of the groups' state; 0.0 where one tells none
    pinned: tuple[GroupId, ...] = ()  # the agent moves them only where their executor goes
    queries: tuple[QueryPart, ...] = ()
    unmeasured: Mapping[str, tuple[str, ...]] = dataclasses.field(default_factory=dict)
    refused: bool = False  # whether the agent has refused what was asked of it last
    series: BatchSeries | None = None  # the window and what came before it, batch by batch; None if read too seldom

    @property
    def rows_per_batch(self) -> float:
        """Rows from the sources in a mean batch of the window."""
        return self.rates.input_rps * self.window_s / max(self.rates.batches, 1)
