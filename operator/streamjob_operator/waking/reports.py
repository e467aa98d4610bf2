"""What has happened between two of the agent's reports. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from streamjob_agent.wire import AgentStatus, ExecutorStatus, QueryStatus
from streamjob_operator.events import Event, EventKind
from streamjob_operator.values import LIVE_STATES

MOST_NAMED = 5
"""Executors that a sentence names; of more it tells the number."""


def reported(before: AgentStatus, now: AgentStatus) -> Iterator[Event]:
    """What the newer report says that the older one did not.

    Moves that end are no event: nothing has been measured of the new placement then. An executor that is empty is one,
    and one that is being drained and still has key groups then.
    """
    if now.application_id != before.application_id:  # ids of executors start anew, and so does everything else
        yield Event(kind=EventKind.DRIVER_CHANGED, sentence=f"The driver is {now.application_id} now.")
        return
    if now.actuation != before.actuation:
        sentence = f"The agent's actuation is {now.actuation} now: {now.message.rstrip('.')}."
        yield Event(kind=EventKind.ACTUATION_CHANGED, sentence=sentence)
    if now.refused not in (None, before.refused):
        sentence = f"The agent refuses the newest assignment: {str(now.refused).rstrip('.')}."
        yield Event(kind=EventKind.ASSIGNMENT_REFUSED, sentence=sentence)
    yield from _executors(
        {one.executor_id: one for one in before.executors}, {one.executor_id: one for one in now.executors}
    )
    yield from _left(before, now)
    known = {one.query_id: one for one in before.queries}
    for query in now.queries:
        yield from _batches(known.get(query.query_id), query)


def _executors(before: dict[str, ExecutorStatus], now: dict[str, ExecutorStatus]) -> Iterator[Event]:
    lived = {name for name, one in before.items() if one.state in LIVE_STATES}
    live = {name for name, one in now.items() if one.state in LIVE_STATES}
    ready = {name for name in live - lived if now[name].state == "ready"}
    if ready:
        yield Event(kind=EventKind.EXECUTOR_READY, sentence=f"{_named(ready, 'is', 'are')} ready.")
    # One that was empty and marked has gone as it was told to.
    gone = {name for name in lived - live if before[name].state == "ready" or before[name].groups > 0}
    if gone:
        yield Event(kind=EventKind.EXECUTOR_GONE, sentence=f"{_named(gone, 'is', 'are')} gone.")
    empty = {name for name in live if _empty(now[name]) and not (name in before and _empty(before[name]))}
    if empty:
        sentence = f"{_named(empty, 'is', 'are')} drained, and empty."
        yield Event(kind=EventKind.EXECUTOR_EMPTY, sentence=sentence)


def _left(before: AgentStatus, now: AgentStatus) -> Iterator[Event]:
    """Executors that are drained and still have key groups once no more move: another plan has to bring these away."""
    if any(one.moves_pending or one.moves_awaiting for one in now.queries):
        return
    had = {one.executor_id: one.groups for one in before.executors}
    holds = {one.executor_id for one in now.executors if _drains(one) and 0 < one.groups < had.get(one.executor_id, 0)}
    if holds:
        sentence = f"{_named(holds, 'is', 'are')} being drained, and no more key groups move away."
        yield Event(kind=EventKind.EXECUTOR_HOLDS, sentence=sentence)


def _empty(executor: ExecutorStatus) -> bool:
    return _drains(executor) and executor.groups == 0


def _drains(executor: ExecutorStatus) -> bool:
    return executor.state == "draining"


def _named(names: Collection[str], one: str, several: str) -> str:
    listed = sorted(names, key=lambda name: (len(name), name))
    if len(listed) == 1:
        return f"Executor {listed[0]} {one}"
    if len(listed) > MOST_NAMED:
        return f"{len(listed)} executors {several}"
    return f"Executors {', '.join(listed[:-1])} and {listed[-1]} {several}"


def _batches(before: QueryStatus | None, now: QueryStatus) -> Iterator[Event]:
    news, rise = now.unusual, now.risen
    if news is not None and (before is None or news != before.unusual):
        sentence = (
            f"Batch {news.batch_id} and the one before it were out of their range: {news.seconds:.3g} s, usual were "
            f"{news.low_s:.3g} to {news.high_s:.3g} s."
        )
        yield Event(kind=EventKind.BATCH_OUT_OF_RANGE, sentence=sentence, batch_ended_at_s=news.ended_at_s)
    if rise is not None and (before is None or rise != before.risen):
        sentence = (
            f"Batch {rise.batch_id}, which runs, and the one before it have more rows than usual: {rise.rows:,}, usual "
            f"were {rise.high_rows:,} at most."
        )
        yield Event(kind=EventKind.ROWS_ROSE, sentence=sentence, batch_began_at_s=rise.began_at_s)
