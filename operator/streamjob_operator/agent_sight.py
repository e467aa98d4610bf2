"""What an agent's status shows of a job whose measurements are missing."""

from __future__ import annotations

import math

import numpy as np

from streamjob_agent.wire import AgentStatus, QueryStatus, Unusual
from streamjob_operator.observed import ExecutorView, Snapshot
from streamjob_operator.queries import QueryPart, too_many
from streamjob_operator.sight import Longer, Sight, resting
from streamjob_planners.model import GroupId


def sight_of(status: AgentStatus, now_s: float) -> Sight | None:
    """What the agent's status shows; None where no query with key groups runs, or too many do."""
    queries = sorted((one for one in status.queries if any(one.owners.values())), key=lambda one: one.query_id)
    if not queries or too_many(len(queries)):
        return None
    parts = _parts(queries)
    placed = [
        (GroupId(operator=part.first_operator + operator, partition=at), owner)
        for part, query in zip(parts, queries, strict=True)
        for operator, row in sorted(query.owners.items())
        for at, owner in enumerate(row)
    ]
    nothing = np.zeros(len(placed))
    snapshot = Snapshot(
        taken_at_s=now_s,
        window_s=1.0,
        application_id=status.application_id,
        query_id=queries[0].query_id,
        run_id="+".join(one.run_id for one in queries),
        actuation_on=status.actuation == "on",
        actuation_reason=status.message or status.reason,
        generation_applied=status.generation_applied,
        moves_pending=sum(one.moves_pending for one in queries),
        executors=tuple(
            ExecutorView(
                executor_id=one.executor_id,
                host=one.host,
                cores=one.cores,
                state=one.state,
                busy_s=0.0,
                groups=one.groups,
            )
            for one in status.executors
        ),
        group_ids=tuple(group for group, _ in placed),
        owners=tuple(owner for _, owner in placed),
        busy_s=nothing,
        cpu_s=nothing,
        records=nothing,
        state_bytes=nothing,
        traffic_bytes=None,
        rates=resting(now_s),
        queries=parts if len(parts) > 1 else (),
    )
    return Sight(
        snapshot=snapshot,
        awaiting=sum(one.moves_awaiting for one in queries),
        longer=_longest([one.unusual for one in queries]),
    )


def _parts(queries: list[QueryStatus]) -> tuple[QueryPart, ...]:
    parts: list[QueryPart] = []
    first = 0
    for one in queries:
        operators = 1 + max(one.owners)
        parts.append(
            QueryPart(
                query_id=one.query_id,
                name=one.name or one.query_id,
                first_operator=first,
                operators=operators,
                mean_batch_s=0.0,
            )
        )
        first += operators
    return tuple(parts)


def _longest(news: list[Unusual | None]) -> Longer | None:
    """Of all queries the one whose batches are above the middle of their usual range the farthest."""
    found = [
        Longer(ratio=one.seconds / math.sqrt(one.low_s * one.high_s), ended_at_s=one.ended_at_s)
        for one in news
        if one is not None and one.seconds > one.high_s and one.low_s > 0
    ]
    return max(found, key=lambda one: one.ratio, default=None)
