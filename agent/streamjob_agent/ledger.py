"""Everything measured since the driver's start, added up: what the exporter shows. Safe for several threads."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Collection, Iterable, Mapping

from streamjob_agent import metric_names as names
from streamjob_agent.bridge import BatchEnd, GroupUsage, StageUsage, TrafficReading, Usage
from streamjob_agent.totals import QueryPage, QueryTotals, StageTotals
from streamjob_agent.traffic import TrafficTable, add_sent
from streamjob_agent.wire import GroupKey

_EXECUTORS = 2000  # whose busy seconds and ages stay, the newest ones: more than are there at once
_STAGES = 200  # names of stages that a query may have; what comes later is one more
_MORE = names.stage_name(None, "more")
_LOADS = 100  # tasks that loaded their state, of which the longest load is told


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
            for query_id, query in self._queries.items():
                query.running = usage.running.get(query_id)
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
        query.shown_groups = None
        for usage in groups:
            totals = query.groups.get(usage.key)
            if totals is None or totals.executor_id != usage.executor_id:
                totals = query.moves(usage.key, usage.executor_id)
            if usage.moments.batches == 0:
                continue
            query.shown_recent_s = None
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
            query.shown_traffic = None
            batches = max(1, query.batches - query.traffic_read_at)
            if reading.pairs and query.first_traffic is None and query.is_young():
                query.first_traffic = reading
            query.traffic.take(reading.pairs, batches)
            add_sent(query.sent, reading.sent, batches)
            query.traffic_batches += batches
            query.traffic_read_at = query.batches

    def keep(self, query_id: str, groups: Collection[GroupKey]) -> None:
        """A query has these key groups and no others: series of others would hold executors that they ran on."""
        with self._lock:
            query = self._queries.get(query_id)
            if query is not None:
                query.keep(groups)

    def forget(self, queries: Collection[str]) -> None:
        """Drop queries that are over, with their series."""
        with self._lock:
            self._queries = {query_id: found for query_id, found in self._queries.items() if query_id not in queries}

    def owners(self, query_id: str) -> Mapping[GroupKey, str]:
        """The executor of each group's newest task. Asked for in each round: a copy is made when one has changed."""
        with self._lock:
            query = self._queries.get(query_id)
            if query is None:
                return {}
            if query.shown_owners is None:
                query.shown_owners = query.owners.copy()
            return query.shown_owners

    def moved_from(self, query_id: str) -> Mapping[GroupKey, str | None] | None:
        """The groups whose owner is another one than at the last call, each with the one before, None for none.

        None where any may be another one: at first, and where groups were dropped. For one caller alone.
        """
        with self._lock:
            query = self._queries.get(query_id)
            if query is None:
                return None
            moved, query.moved_from = query.moved_from, {}
            return moved

    def recent_busy_s(self, query_id: str) -> Mapping[GroupKey, float]:
        """Decayed busy time of each group, for comparison with each other only; copied once a batch."""
        with self._lock:
            query = self._queries.get(query_id)
            if query is None:
                return {}
            if query.shown_recent_s is None:
                query.shown_recent_s = {key: totals.recent_busy_s for key, totals in query.groups.items()}
            return query.shown_recent_s

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
            return tuple(query.page(query_id) for query_id, query in self._queries.items())
