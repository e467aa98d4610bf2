"""The agent's Prometheus page, made from a copy of the ledger. Names: metric_names.py."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import TypeVar

from prometheus_client.core import Metric

from streamjob_agent import metric_names as names
from streamjob_agent.bridge import BatchEnd, ExecutorMemory, Query, RunningBatch
from streamjob_agent.families import counter, gauge
from streamjob_agent.group_series import groups
from streamjob_agent.stage_series import stages
from streamjob_agent.state_room import state_limits
from streamjob_agent.textformat import render
from streamjob_agent.totals import QueryPage
from streamjob_agent.wire import AgentStatus

B = TypeVar("B")


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """Everything one page shows. `resting` queries wait for data; `moves` and `errors` are by label value."""

    status: AgentStatus
    queries: tuple[Query, ...]
    resting: frozenset[str]
    pages: tuple[QueryPage, ...]
    executor_busy_s: Mapping[str, float]
    memory: Mapping[str, ExecutorMemory]
    moves: Mapping[str, int]
    errors: Mapping[str, int]
    overhead_s: float
    locality_wait_s: float | None


def others(facts: Facts) -> Iterator[Metric]:
    """Every family but those of key groups, with no sample where nothing is known."""
    yield from _executors(facts)
    yield from _queries(facts)
    yield from stages(facts.pages)
    yield from _agent(facts)


class Exporter:
    """Makes pages. Key groups' lines, nearly all of one, are made once for what they show: it changes with each batch,
    and a controller without Prometheus reads a page each second.
    """

    def __init__(self, facts: Callable[[], Facts]) -> None:
        self._facts = facts
        self._groups: tuple[tuple[object, ...], bytes] = ((), b"")

    def page(self) -> bytes:
        """The page in Prometheus text format."""
        facts = self._facts()
        shown, lines = self._groups
        now = tuple(part for page in facts.pages for part in _parts(page))
        if not shown or len(now) != len(shown) or any(one is not other for one, other in zip(now, shown, strict=True)):
            lines = render(groups(facts.pages))
            self._groups = (now, lines)
        return lines + render(others(facts))


def _parts(page: QueryPage) -> tuple[object, ...]:
    """What key groups' lines are made of: while it is unchanged it is the same object."""
    return page.query_id, page.groups, page.traffic, page.sent, page.state_bytes


def _executors(facts: Facts) -> Iterator[Metric]:
    alive = [executor for executor in facts.status.executors if executor.state != "dead"]
    yield gauge(
        names.EXECUTOR_CORES,
        "Task slots of a live executor.",
        ("executor", "host"),
        (((executor.executor_id, executor.host), executor.cores) for executor in alive),
    )
    yield gauge(
        names.EXECUTOR_STATE,
        "1 for the state the executor is in.",
        ("executor", "state"),
        (((executor.executor_id, executor.state), 1) for executor in facts.status.executors),
    )
    memory = [(one.executor_id, facts.memory[one.executor_id]) for one in alive if one.executor_id in facts.memory]
    yield gauge(
        names.EXECUTOR_MEMORY_USED,
        "The most memory that the executor has used since it began, without what native libraries take.",
        ("executor",),
        (((executor,), one.used_bytes) for executor, one in memory),
    )
    yield gauge(
        names.EXECUTOR_MEMORY_LIMIT,
        "Memory of the executor's container, by Spark's settings.",
        ("executor",),
        (((executor,), one.limit_bytes) for executor, one in memory if one.limit_bytes is not None),
    )
    yield gauge(
        names.EXECUTOR_STATE_LIMIT,
        "The most memory that the executor can have for the query's state, by what settings and its JVM say.",
        names.EXECUTOR_STATE_LABELS,
        state_limits(facts.pages, {query.query_id for query in facts.queries}, dict(memory)),
    )
    yield counter(
        names.EXECUTOR_BUSY_SECONDS,
        "Run time of every task of the executor.",
        ("executor",),
        (((executor,), busy_s) for executor, busy_s in facts.executor_busy_s.items()),
    )


def _queries(facts: Facts) -> Iterator[Metric]:
    for name, text, value in _QUERY_COUNTERS:
        yield counter(name, text, ("query",), (((page.query_id,), value(page)) for page in facts.pages))
    yield from _of_batches(_QUERY_GAUGES, [(page.query_id, page.newest) for page in facts.pages])
    yield from _of_batches(_RUNNING_GAUGES, [(page.query_id, page.running) for page in facts.pages])
    yield gauge(
        names.QUERY_TRIGGER_SECONDS,
        "Interval of the query's trigger.",
        ("query",),
        (
            ((query.query_id,), query.trigger_interval_s)
            for query in facts.queries
            if query.trigger_interval_s is not None
        ),
    )
    yield gauge(
        names.QUERY_IDLE_SINCE,
        "When the newest batch ended of a query that waits for data.",
        ("query",),
        (
            ((page.query_id,), page.newest.ended_at_s)
            for page in facts.pages
            if page.newest is not None and page.query_id in facts.resting
        ),
    )
    yield gauge(
        names.GROUP_PINNED,
        "1 for a key group that stays on its executor while it can, as another one that opens its state may fail.",
        names.GROUP_LABELS,
        (
            ((query.query_id, str(key.operator), str(key.partition)), 1)
            for query in facts.queries
            for key in sorted(query.pinned)
        ),
    )
    yield gauge(
        names.QUERY_INFO,
        "1 for each active query.",
        ("query", "name", "run"),
        (((query.query_id, query.name or "", query.run_id), 1) for query in facts.queries),
    )


def _of_batches(
    gauges: Iterable[tuple[str, str, Callable[[B], float | None]]], batches: Collection[tuple[str, B | None]]
) -> Iterator[Metric]:
    """Gauges of one batch of each query, with no sample where there is none or it does not tell."""
    for name, text, measured in gauges:
        known = ((query, measured(batch)) for query, batch in batches if batch is not None)
        yield gauge(name, text, ("query",), (((query,), number) for query, number in known if number is not None))


_QUERY_COUNTERS: tuple[tuple[str, str, Callable[[QueryPage], float]], ...] = (
    (names.QUERY_BATCHES, "Finished micro-batches.", lambda page: page.batches),
    (names.QUERY_BATCH_SECONDS, "Sum of the batches' durations.", lambda page: page.batch_s),
    (names.QUERY_INPUT_ROWS, "Rows read from the sources.", lambda page: page.input_rows),
    (
        names.QUERY_OTHER_BUSY_SECONDS,
        "Run time of tasks without a key group, and of what the first task of a slot fetches for the others.",
        lambda page: page.other_busy_s,
    ),
    (
        names.QUERY_MOVED_GROUPS,
        "Key groups whose task ran on another executor than in their batch before, each time.",
        lambda page: page.moved,
    ),
    (names.QUERY_TRAFFIC_BATCHES, "Batches that the traffic series stand for.", lambda page: page.traffic_batches),
)

_QUERY_GAUGES: tuple[tuple[str, str, Callable[[BatchEnd], float | None]], ...] = (
    (
        names.QUERY_LAST_BATCH_SECONDS,
        "Duration of the newest batch.",
        lambda batch: batch.duration_s,
    ),
    (
        names.QUERY_LAST_BATCH_TIMESTAMP,
        "When the newest batch ended.",
        lambda batch: batch.ended_at_s,
    ),
    (names.QUERY_LAST_BATCH_ID, "Id of the newest batch.", lambda batch: batch.batch_id),
    (names.QUERY_INPUT_RATE, "Input rate of the newest batch.", lambda batch: batch.input_rps),
    (names.QUERY_PROCESSED_RATE, "Processing rate of it.", lambda batch: batch.processed_rps),
    (
        names.QUERY_STATE_MEMORY_BYTES,
        "Memory of the state stores as they report it; of RocksDB a part only, see the agent's page.",
        lambda batch: batch.state_memory_bytes,
    ),
    (names.QUERY_LAG_ROWS, "Rows that the sources hold beyond it.", lambda batch: batch.lag_rows),
)

_RUNNING_GAUGES: tuple[tuple[str, str, Callable[[RunningBatch], float | None]], ...] = (
    (names.QUERY_RUNNING_ROWS, "Rows of the batch that runs, once its sources are read.", lambda batch: batch.rows),
    (names.QUERY_RUNNING_SINCE, "When the batch that runs began.", lambda batch: batch.began_at_s),
)


def _agent(facts: Facts) -> Iterator[Metric]:
    status = facts.status
    versions = (status.agent_version, status.spark_version, status.application_id)
    yield gauge(names.AGENT_INFO, "1.", ("agent_version", "spark_version", "application"), [(versions, 1)])
    on = 1 if status.actuation == "on" else 0
    yield gauge(names.AGENT_ACTUATION, "1 when key groups may be moved.", ("reason",), [((status.reason,), on)])
    applied = status.generation_applied
    yield gauge(
        names.AGENT_GENERATION, "Newest accepted assignment.", (), [((), applied)] if applied is not None else []
    )
    moves = (((result,), count) for result, count in sorted(facts.moves.items()))
    yield counter(
        names.AGENT_MOVES,
        "Moves by their result, guard (away from the dead) and gathered (by the first traffic) among them.",
        ("result",),
        moves,
    )
    errors = (((place,), count) for place, count in sorted(facts.errors.items()))
    yield counter(names.AGENT_ERRORS, "Errors of the agent's own, by place.", ("place",), errors)
    yield counter(names.AGENT_OVERHEAD_SECONDS, "Time of the agent's own work.", (), [((), facts.overhead_s)])
    wait_s = facts.locality_wait_s
    yield gauge(
        names.AGENT_LOCALITY_WAIT_SECONDS,
        "spark.locality.wait.process as last set.",
        (),
        [((), wait_s)] if wait_s is not None else [],
    )
