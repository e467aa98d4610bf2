"""Everything measured since the driver's start, added up: what the exporter shows. Safe for several threads."""

from __future__ import annotations

import dataclasses
import threading
from collections import defaultdict, deque
from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from streamjob_agent import metric_names as names
from streamjob_agent.bridge import BatchEnd, GroupUsage, StageUsage, TrafficReading, Usage
from streamjob_agent.traffic import Pair, SentTotals, TrafficTable, add_sent
from streamjob_agent.warmup import Ages, Reading, StartCost, Warmup, squared_s2
from streamjob_agent.wire import GroupKey

_EXECUTORS = 500  # executors whose busy seconds stay, the newest ones
_STAGES = 200  # names of stages that a query may have; what comes later is one more
_MORE = names.stage_name(None, "more")
_LOADS = 100  # tasks that loaded their state, of which the longest load is told
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
    traffic_read_at: int = 0  # value of `batches` at the last reading
    traffic_batches: int = 0  # that the readings so far stand for
    ages: Ages = dataclasses.field(default_factory=Ages)
    # By operator.
    starts: defaultdict[int, StartCost] = dataclasses.field(default_factory=lambda: defaultdict(StartCost))

    def is_young(self) -> bool:
        """Whether these are the first batches that the query ever had, and few."""
        return self.newest is not None and self.newest.batch_id < self.batches <= _FIRST_BATCHES


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class QueryPage:
    """A copy of one query's totals, so that a reader needs no lock."""

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


class Ledger:
    """Adds up what the probe drains."""

    def __init__(self, traffic_min_bytes: int, traffic_max_pairs: int) -> None:
        self._traffic_min_bytes = traffic_min_bytes
        self._traffic_max_pairs = traffic_max_pairs
        self._lock = threading.Lock()
        self._queries: dict[str, QueryTotals] = {}
        self._executor_busy_s: dict[str, float] = {}
        self._loads_s: deque[float] = deque(maxlen=_LOADS)

    def take(self, usage: Usage) -> None:
        """Add one drain.

        Of key groups and stages it counts ended batches only: a page read in mid-batch would show some groups one batch
        ahead of the others, which within a window of a few batches is a large difference of load.
        """
        with self._lock:
            for query_id, groups in usage.groups.items():
                self._add_groups(self._query(query_id), groups)
            for query_id, stages in usage.stages.items():
                self._add_stages(self._query(query_id), stages)
            for query_id, busy_s in usage.other_busy_s.items():
                self._query(query_id).other_busy_s += busy_s
            for batch in usage.batches:
                self._add_batch(self._query(batch.query_id), batch)
            for executor, busy_s in usage.executor_busy_s.items():
                total_s = self._executor_busy_s.pop(executor, 0.0) + busy_s
                self._executor_busy_s[executor] = total_s  # moved to the end: the newest
            for executor in list(self._executor_busy_s)[:-_EXECUTORS]:
                del self._executor_busy_s[executor]

    def _query(self, query_id: str) -> QueryTotals:
        if query_id not in self._queries:
            table = TrafficTable(self._traffic_min_bytes, self._traffic_max_pairs)
            self._queries[query_id] = QueryTotals(groups={}, traffic=table)
        return self._queries[query_id]

    def _add_groups(self, query: QueryTotals, groups: Iterable[GroupUsage]) -> None:
        for usage in groups:
            totals = query.groups.get(usage.key)
            if totals is None:
                totals = query.groups[usage.key] = GroupTotals()
            totals.executor_id = usage.executor_id
            if usage.moments.batches == 0:
                continue
            young = query.ages.young(usage.counted_on, query.batches)
            query.moved += totals.counted_on not in ("", usage.counted_on)
            start = query.starts[usage.key.operator]
            beyond = totals.add(usage, start, young=young, batch=query.batches)
            query.other_busy_s += beyond.start_s  # work all the same, of the slot: whoever comes first there has it
            query.squared_s2[usage.key.operator] += beyond.squared_s2
            if beyond.load_s is not None:
                self._loads_s.append(beyond.load_s)
        query.ages.forget(_EXECUTORS)

    @staticmethod
    def _add_stages(query: QueryTotals, stages: Iterable[StageUsage]) -> None:
        for usage in stages:
            name = usage.stage if usage.stage in query.stages or len(query.stages) < _STAGES else _MORE
            query.stages.setdefault(name, StageTotals()).add(usage)

    @staticmethod
    def _add_batch(query: QueryTotals, batch: BatchEnd) -> None:
        query.batches += 1
        query.batch_s += batch.duration_s
        query.input_rows += batch.input_rows
        query.newest = batch
        for part, seconds in batch.parts_s.items():
            query.parts_s[part] = query.parts_s.get(part, 0.0) + seconds

    def set_state_bytes(self, query_id: str, state_bytes: Mapping[GroupKey, int]) -> None:
        """Take in sizes of a query's state; those that are not given stay. It may be forgotten by then."""
        with self._lock:
            query = self._queries.get(query_id)
            if query is not None:
                query.state_bytes = {**query.state_bytes, **state_bytes}

    def take_traffic(self, query_id: str, reading: TrafficReading) -> None:
        """Add one batch's traffic, standing for every batch since the last reading, of a query that is still known."""
        with self._lock:
            query = self._queries.get(query_id)
            if query is None:
                return
            batches = max(1, query.batches - query.traffic_read_at)
            if reading.pairs and query.first_traffic is None and query.is_young():
                query.first_traffic = reading
            query.traffic.take(reading.pairs, batches)
            add_sent(query.sent, reading.sent, batches)
            query.traffic_batches += batches
            query.traffic_read_at = query.batches

    def forget(self, queries: Collection[str]) -> None:
        """Drop queries that are over, with their series."""
        with self._lock:
            self._queries = {query_id: found for query_id, found in self._queries.items() if query_id not in queries}

    def owners(self, query_id: str) -> dict[GroupKey, str]:
        """The executor of each group's newest task."""
        with self._lock:
            query = self._queries.get(query_id)
            return {key: totals.executor_id for key, totals in query.groups.items()} if query else {}

    def recent_busy_s(self, query_id: str) -> dict[GroupKey, float]:
        """Decayed busy time of each group, for comparison with each other only."""
        with self._lock:
            query = self._queries.get(query_id)
            return {key: totals.recent_busy_s for key, totals in query.groups.items()} if query else {}

    def state_bytes(self, query_id: str) -> Mapping[GroupKey, int]:
        """Bytes that a move of each group would load, as read last."""
        with self._lock:
            query = self._queries.get(query_id)
            return query.state_bytes if query else {}

    def first_traffic(self, query_id: str) -> TrafficReading | None:
        """The first traffic that was read, in the first batches of a query that began with this driver."""
        with self._lock:
            query = self._queries.get(query_id)
            return query.first_traffic if query else None

    def newest_batch(self, query_id: str) -> BatchEnd | None:
        """The newest batch's end, None before the first."""
        with self._lock:
            query = self._queries.get(query_id)
            return query.newest if query else None

    def load_s(self) -> float | None:
        """The longest load of a key group's state among the newest ones, of any query; None before the first."""
        with self._lock:
            return max(self._loads_s, default=None)

    def executor_busy_s(self) -> dict[str, float]:
        """Busy seconds of every task, by executor."""
        with self._lock:
            return dict(self._executor_busy_s)

    def pages(self) -> tuple[QueryPage, ...]:
        """A copy of everything, by query."""
        with self._lock:
            return tuple(_page(query_id, query) for query_id, query in self._queries.items())


def _page(query_id: str, query: QueryTotals) -> QueryPage:
    return QueryPage(
        query_id=query_id,
        groups=tuple((key, dataclasses.replace(totals)) for key, totals in sorted(query.groups.items())),
        traffic=query.traffic.totals(),
        traffic_batches=query.traffic_batches,
        sent=tuple((key, dataclasses.replace(sent)) for key, sent in sorted(query.sent.items())),
        stages=tuple((name, dataclasses.replace(totals)) for name, totals in query.stages.items()),
        parts_s=dict(query.parts_s),
        squared_s2=dict(query.squared_s2),
        state_bytes=query.state_bytes,
        batches=query.batches,
        batch_s=query.batch_s,
        input_rows=query.input_rows,
        other_busy_s=query.other_busy_s,
        moved=query.moved,
        newest=query.newest,
    )
