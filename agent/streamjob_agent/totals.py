"""What is counted of key groups, stages and queries, and the copies of it that pages are made from."""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Collection, Mapping
from typing import NamedTuple

from streamjob_agent.bridge import BatchEnd, GroupUsage, RunningBatch, StageUsage, TrafficReading
from streamjob_agent.traffic import Pair, SentTotals, TrafficTable
from streamjob_agent.warmup import Ages, Reading, StartCost, Warmup, squared_s2
from streamjob_agent.wire import GroupKey

_FIRST_BATCHES = 10  # of a query: what is read later is no first traffic, and state may have grown by then
_RECENT = 0.8  # share of the recent busy time that stays at each drain


class Beyond(NamedTuple):
    """What one drain says of a group beside its counters.

    Seconds of starts; seconds by which it took longer than usual where it had moved, hence loaded its state, None where
    it had not, or nothing is usual yet; and the sum over its batches of squared seconds without any warm-up.
    """

    start_s: float
    load_s: float | None
    squared_s2: float


@dataclasses.dataclass(slots=True)
class GroupTotals:
    """Counters of one key group, and the newest values of what is no counter.

    Counters hold whole batches only; `executor_id` is that of the newest task of all.
    """

    busy_s: float = 0.0
    cpu_s: float = 0.0
    records: int = 0
    local_bytes: int = 0
    remote_bytes: int = 0
    gc_s: float = 0.0
    fetch_wait_s: float = 0.0
    executor_id: str = ""
    counted_on: str = ""  # executor of the newest task that is in the counters
    state_rows: int | None = None
    state_memory_bytes: int | None = None
    state_in_heap: bool = False
    recent_busy_s: float = 0.0
    warmup_s: float = 0.0
    warmup: Warmup = dataclasses.field(default_factory=Warmup)

    def add(self, usage: GroupUsage, start: StartCost, *, young: bool, batch: int) -> Beyond:
        """Count one drain's usage of this group; `young` when its executor is new."""
        known, moved = self.warmup.usual_s is not None, self.counted_on != usage.counted_on
        reading = Reading(
            busy_s=usage.busy_s,
            tasks=usage.tasks,
            first_tasks=usage.first_tasks,
            cold=young or moved,
            batch=batch,
        )
        start_s, cold_s = self.warmup.beyond_s(reading, start)
        self.warmup_s += start_s + cold_s
        self.busy_s += usage.busy_s
        self.cpu_s += usage.cpu_s
        self.records += usage.records
        self.local_bytes += usage.local_bytes
        self.remote_bytes += usage.remote_bytes
        self.gc_s += usage.gc_s
        self.fetch_wait_s += usage.fetch_wait_s
        self.counted_on = usage.counted_on
        self.state_rows = usage.state_rows if usage.state_rows is not None else self.state_rows
        if usage.state_memory_bytes is not None:
            self.state_memory_bytes, self.state_in_heap = usage.state_memory_bytes, usage.state_in_heap
        self.recent_busy_s = _RECENT * self.recent_busy_s + usage.busy_s
        return Beyond(
            start_s=start_s,
            load_s=cold_s if moved and known and not young else None,
            squared_s2=squared_s2(usage.moments, reading, start_s, usage.busy_s - start_s - cold_s),
        )


@dataclasses.dataclass(slots=True)
class StageTotals:
    """Counters of one stage, and its level in the newest batch."""

    level: int = 0
    wall_s: float = 0.0
    busy_s: float = 0.0
    longest_s: float = 0.0
    wait_s: float = 0.0

    def add(self, usage: StageUsage) -> None:
        """Count one drain's usage of this stage."""
        self.level = usage.level
        self.wall_s += usage.wall_s
        self.busy_s += usage.busy_s
        self.longest_s += usage.longest_s
        self.wait_s += usage.wait_s


@dataclasses.dataclass(slots=True)
class QueryTotals:
    """Counters of one query, its key groups and its newest batch."""

    groups: dict[GroupKey, GroupTotals]
    traffic: TrafficTable
    owners: dict[GroupKey, str] = dataclasses.field(default_factory=dict)  # executor of each group's newest task
    # Groups whose owner has changed since somebody asked, with the one before; None where all may have.
    moved_from: dict[GroupKey, str | None] | None = None
    first_traffic: TrafficReading | None = None
    sent: dict[GroupKey, SentTotals] = dataclasses.field(default_factory=dict)
    stages: dict[str, StageTotals] = dataclasses.field(default_factory=dict)
    parts_s: dict[str, float] = dataclasses.field(default_factory=dict)
    squared_s2: defaultdict[int, float] = dataclasses.field(default_factory=lambda: defaultdict(float))  # by operator
    state_bytes: Mapping[GroupKey, int] = dataclasses.field(default_factory=dict)
    batches: int = 0
    batch_s: float = 0.0
    input_rows: int = 0
    other_busy_s: float = 0.0
    moved: int = 0  # tasks of a key group that ran on another executor than its last one
    newest: BatchEnd | None = None
    running: RunningBatch | None = None
    traffic_read_at: int = 0  # value of `batches` at the last reading
    traffic_batches: int = 0  # that the readings so far stand for
    ages: Ages = dataclasses.field(default_factory=Ages)
    # By operator.
    starts: defaultdict[int, StartCost] = dataclasses.field(default_factory=lambda: defaultdict(StartCost))

    def is_young(self) -> bool:
        """Whether these are the first batches that the query ever had, and few."""
        return self.newest is not None and self.newest.batch_id < self.batches <= _FIRST_BATCHES

    # Copies, until what they show changes.
    shown_owners: Mapping[GroupKey, str] | None = None
    shown_recent_s: Mapping[GroupKey, float] | None = None
    shown_groups: tuple[tuple[GroupKey, GroupTotals], ...] | None = None
    shown_traffic: tuple[Mapping[Pair, float], tuple[tuple[GroupKey, SentTotals], ...]] | None = None

    def moves(self, key: GroupKey, executor_id: str) -> GroupTotals:
        """The group's newest task ran elsewhere than the one before, or is its first; its totals."""
        totals = self.groups.setdefault(key, GroupTotals())
        if self.moved_from is not None:
            self.moved_from.setdefault(key, self.owners.get(key))
        totals.executor_id = self.owners[key] = executor_id
        self.shown_owners = None
        return totals

    def keep(self, groups: Collection[GroupKey]) -> None:
        """Drop what is known of other key groups."""
        self.groups = {key: one for key, one in self.groups.items() if key in groups}
        self.owners = {key: owner for key, owner in self.owners.items() if key in groups}
        self.moved_from = None
        self.sent = {key: one for key, one in self.sent.items() if key in groups}
        self.state_bytes = {key: size for key, size in self.state_bytes.items() if key in groups}
        self.shown_owners = self.shown_recent_s = self.shown_groups = self.shown_traffic = None

    def page(self, query_id: str) -> QueryPage:
        """A copy."""
        if self.shown_groups is None:
            self.shown_groups = tuple((key, dataclasses.replace(one)) for key, one in sorted(self.groups.items()))
        if self.shown_traffic is None:
            sent = tuple((key, dataclasses.replace(one)) for key, one in sorted(self.sent.items()))
            self.shown_traffic = (self.traffic.totals(), sent)
        traffic, sent = self.shown_traffic
        return QueryPage(
            query_id=query_id,
            groups=self.shown_groups,
            traffic=traffic,
            traffic_batches=self.traffic_batches,
            sent=sent,
            stages=tuple((name, dataclasses.replace(totals)) for name, totals in self.stages.items()),
            parts_s=dict(self.parts_s),
            squared_s2=dict(self.squared_s2),
            state_bytes=self.state_bytes,
            batches=self.batches,
            batch_s=self.batch_s,
            input_rows=self.input_rows,
            other_busy_s=self.other_busy_s,
            moved=self.moved,
            newest=self.newest,
            running=self.running,
        )


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class QueryPage:
    """A copy of one query's totals, so that a reader needs no lock.

    What has not changed since an earlier copy is the same object: `groups`, `traffic`, `sent` and `state_bytes`.
    """

    query_id: str
    groups: tuple[tuple[GroupKey, GroupTotals], ...]
    traffic: Mapping[Pair, float]
    traffic_batches: int
    sent: tuple[tuple[GroupKey, SentTotals], ...]
    stages: tuple[tuple[str, StageTotals], ...]
    parts_s: Mapping[str, float]
    squared_s2: Mapping[int, float]
    state_bytes: Mapping[GroupKey, int]
    batches: int
    batch_s: float
    input_rows: int
    other_busy_s: float
    moved: int
    newest: BatchEnd | None
    running: RunningBatch | None
