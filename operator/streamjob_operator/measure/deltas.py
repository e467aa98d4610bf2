"""From two pages to a snapshot: differences of counters, which may have started anew, and the newest gauges."""

from __future__ import annotations

from collections.abc import Sequence

from streamjob_agent import metric_names as names
from streamjob_agent.wire import AgentStatus, QueryStatus
from streamjob_operator.measure.batches import grown, in_order, totals_of, worked_s
from streamjob_operator.measure.growth import growth
from streamjob_operator.measure.page import Page
from streamjob_operator.measure.stages import stages_between
from streamjob_operator.measure.traffic import Reading
from streamjob_operator.series import BatchSeries
from streamjob_operator.values import ExecutorView, QueryRates, RunningBatch, Snapshot
from streamjob_planners.model import FloatArray, GroupId


def snapshot_between(
    start: Page,
    end: Page,
    newest: Page,
    status: AgentStatus,
    traffic: Reading | None = None,
    series: BatchSeries | None = None,
) -> Snapshot:
    """What happened between two pages of one run; executors and owners as in the newest, moves as in the status."""
    query = next((one for one in status.queries if one.query_id == end.query_id), None)

    def used(name: str) -> FloatArray:
        return grown(in_order(start, name, end.group_ids), end.counters[name])

    busy_s = worked_s(totals_of(start, end.group_ids), totals_of(end, end.group_ids))
    batches, rates = end.batches - start.batches, _rates(start, end, newest)
    return Snapshot(
        taken_at_s=end.at_s,
        window_s=end.at_s - start.at_s,
        application_id=end.application_id,
        query_id=end.query_id,
        run_id=end.run_id,
        actuation_on=status.actuation == "on",
        actuation_reason=status.message or status.reason,
        generation_applied=status.generation_applied,
        refused=status.refused is not None,
        moves_pending=0 if query is None else query.moves_pending,
        executors=_executors(start, end, newest, status),
        group_ids=end.group_ids,
        owners=_owners(end, newest, query, idle=rates.idle_since_s is not None),
        busy_s=busy_s,
        cpu_s=used(names.GROUP_CPU_SECONDS),
        records=used(names.GROUP_RECORDS),
        state_bytes=end.state_bytes,
        state_memory_bytes=end.state_memory_bytes,
        traffic_bytes=None if traffic is None else traffic.matrix(end.group_ids, batches),
        rates=rates,
        traffic_read_at_s=None if traffic is None else traffic.read_at_s,
        traffic_sent_bytes=None if traffic is None else traffic.sent(end.group_ids, batches),
        read_bytes=used(names.GROUP_LOCAL_BYTES) + used(names.GROUP_REMOTE_BYTES),
        remote_read_bytes=used(names.GROUP_REMOTE_BYTES),
        stages=stages_between(start, end, busy_s),
        warmup_s=used(names.GROUP_WARMUP_SECONDS),
        pinned=newest.pinned,
        series=series,
    )


def _owners(end: Page, newest: Page, query: QueryStatus | None, *, idle: bool) -> tuple[str | None, ...]:
    """Where each group's newest task ran; where that executor is gone, or the query is idle, or an executor that is
    drained may have stolen the task, where the agent says that it will run next."""
    live = {executor_id for executor_id, _ in newest.executors}
    rows = {} if query is None else query.owners

    def owner(group: GroupId, ran: str | None) -> str | None:
        row = rows.get(group.operator, ())
        told = row[group.partition] if group.partition < len(row) else None
        agents = idle or newest.executor_states.get(ran or "") == "draining"
        first, second = (told, ran) if agents else (ran, told)
        return first if first in live else second if second in live else None

    return tuple(map(owner, end.group_ids, _ran(end, newest)))


def _ran(end: Page, newest: Page) -> Sequence[str | None]:
    """Where the newest page saw each key group of `end`."""
    if newest.group_ids == end.group_ids:
        return newest.owners
    ran = dict(zip(newest.group_ids, newest.owners, strict=True))
    return [ran.get(group) for group in end.group_ids]


def _executors(start: Page, end: Page, newest: Page, status: AgentStatus) -> tuple[ExecutorView, ...]:
    groups = {one.executor_id: one.groups for one in status.executors}

    def number(executor_id: str) -> tuple[int, str]:
        return (int(executor_id) if executor_id.isdecimal() else 0, executor_id)

    return tuple(
        ExecutorView(
            executor_id=executor_id,
            host=host,
            cores=cores,
            state=newest.executor_states.get(executor_id, "ready"),
            busy_s=growth(start.executor_busy_s, end.executor_busy_s, executor_id),
            groups=groups.get(executor_id),
            memory_used_bytes=newest.memory_used_bytes.get(executor_id),
            memory_limit_bytes=newest.memory_limit_bytes.get(executor_id),
            state_limit_bytes=newest.state_limit_bytes.get(executor_id),
        )
        for (executor_id, host), cores in sorted(newest.executors.items(), key=lambda one: number(one[0][0]))
    )


def _rates(start: Page, end: Page, newest: Page) -> QueryRates:
    def passed(name: str) -> float:
        return growth(start.query, end.query, name)

    batches, batch_s = passed(names.QUERY_BATCHES), passed(names.QUERY_BATCH_SECONDS)
    rows, last_s = passed(names.QUERY_INPUT_ROWS), end.query.get(names.QUERY_LAST_BATCH_SECONDS, 0.0)
    return QueryRates(
        batches=round(batches),
        mean_batch_s=batch_s / batches if batches else last_s,
        last_batch_s=last_s,
        last_batch_at_s=end.query.get(names.QUERY_LAST_BATCH_TIMESTAMP, end.at_s),
        trigger_interval_s=end.query.get(names.QUERY_TRIGGER_SECONDS),
        input_rps=rows / (end.at_s - start.at_s),
        processed_rps=rows / batch_s if batch_s > 0 else 0.0,
        lag_rows=end.query.get(names.QUERY_LAG_ROWS),
        other_busy_s=passed(names.QUERY_OTHER_BUSY_SECONDS),
        idle_since_s=None if batches else newest.query.get(names.QUERY_IDLE_SINCE),
        running=_running(newest) if newest.batches == end.batches else None,
    )


def _running(newest: Page) -> RunningBatch | None:
    rows, since_s = newest.query.get(names.QUERY_RUNNING_ROWS), newest.query.get(names.QUERY_RUNNING_SINCE)
    return None if rows is None or since_s is None else RunningBatch(began_at_s=since_s, rows=rows)
