"""The series of key groups on the agent's page, and of what they send each other."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from prometheus_client.core import Metric

from streamjob_agent import metric_names as names
from streamjob_agent.families import Row, counter, gauge
from streamjob_agent.totals import GroupTotals, QueryPage

_GROUP_COUNTERS: tuple[tuple[str, str, Callable[[GroupTotals], float]], ...] = (
    (names.GROUP_BUSY_SECONDS, "Run time of the key group's tasks.", lambda totals: totals.busy_s),
    (names.GROUP_CPU_SECONDS, "CPU time of the tasks in the executor's JVM.", lambda totals: totals.cpu_s),
    (names.GROUP_RECORDS, "Records read by the key group's tasks.", lambda totals: totals.records),
    (names.GROUP_LOCAL_BYTES, "Shuffle bytes read on the same executor.", lambda totals: totals.local_bytes),
    (names.GROUP_REMOTE_BYTES, "Shuffle bytes read from other executors.", lambda totals: totals.remote_bytes),
)

_GROUP_PARTS: tuple[tuple[str, str, Callable[[GroupTotals], float]], ...] = (
    (
        names.GROUP_WARMUP_SECONDS,
        "Part of the run time that is no load: of first tasks on an executor, and of the first on a slot in a stage.",
        lambda totals: totals.warmup_s,
    ),
    (
        names.GROUP_GC_SECONDS,
        "Part of the run time in which the executor collected garbage, whoever made it.",
        lambda totals: totals.gc_s,
    ),
    (
        names.GROUP_FETCH_SECONDS,
        "Part of the run time spent waiting for shuffle blocks of other executors.",
        lambda totals: totals.fetch_wait_s,
    ),
)
"""Left out where they are 0."""


def groups(pages: tuple[QueryPage, ...]) -> Iterator[Metric]:
    """Every family of them, with no sample where nothing is known."""
    rows = [
        ((page.query_id, str(key.operator), str(key.partition)), totals)
        for page in pages
        for key, totals in page.groups
    ]
    for name, text, value in _GROUP_COUNTERS:
        yield counter(name, text, names.GROUP_LABELS, ((labels, value(totals)) for labels, totals in rows))
    for name, text, part in _GROUP_PARTS:
        found = ((labels, part(totals)) for labels, totals in rows)
        yield counter(name, text, names.GROUP_LABELS, ((labels, seconds) for labels, seconds in found if seconds))
    yield gauge(
        names.GROUP_EXECUTOR_ID,
        "Executor of the key group's newest task.",
        names.GROUP_LABELS,
        ((labels, int(totals.executor_id)) for labels, totals in rows if totals.executor_id.isdecimal()),
    )
    yield gauge(
        names.GROUP_STATE_ROWS,
        "Rows in the key group's state.",
        names.GROUP_LABELS,
        ((labels, totals.state_rows) for labels, totals in rows if totals.state_rows is not None),
    )
    yield gauge(
        names.GROUP_STATE_MEMORY,
        "Memory of the key group's state after its newest task, as its stores report it.",
        names.GROUP_LABELS,
        ((labels, totals.state_memory_bytes) for labels, totals in rows if totals.state_memory_bytes is not None),
    )
    yield gauge(
        names.GROUP_STATE_BYTES,
        "Checkpoint bytes that a move of the key group would load.",
        names.GROUP_LABELS,
        (
            ((page.query_id, str(key.operator), str(key.partition)), size)
            for page in pages
            for key, size in sorted(page.state_bytes.items())
        ),
    )
    sent = [((page.query_id, str(key.operator), str(key.partition)), sent) for page in pages for key, sent in page.sent]
    yield counter(
        names.GROUP_SENT_BYTES,
        "Bytes from the key group to those of operators that read from its own, all pairs.",
        names.GROUP_LABELS,
        ((labels, totals.total_bytes) for labels, totals in sent),
    )
    yield gauge(
        names.GROUP_PARTNERS,
        "Key groups that got any of these bytes in the newest reading.",
        names.GROUP_LABELS,
        ((labels, totals.partners) for labels, totals in sent),
    )
    yield counter(
        names.TRAFFIC_BYTES, "Bytes between two key groups, heavy pairs only.", names.TRAFFIC_LABELS, _traffic(pages)
    )


def _traffic(pages: tuple[QueryPage, ...]) -> Iterator[Row]:
    for page in pages:
        for (source, target), size in page.traffic.items():
            ends = (source.operator, source.partition, target.operator, target.partition)
            yield (page.query_id, *(str(end) for end in ends)), size
