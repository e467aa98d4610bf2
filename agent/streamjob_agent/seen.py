"""What the agent's thread shows the others after each round: one value, replaced as a whole."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping
from typing import NamedTuple

from streamjob_agent.actuation import Actuation
from streamjob_agent.bridge import Query
from streamjob_agent.ledger import Ledger
from streamjob_agent.rises import Rises
from streamjob_agent.usual import Usual
from streamjob_agent.wire import ExecutorStatus, GroupKey, QueryStatus


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """The world after the agent's last round."""

    queries: tuple[Query, ...] = ()
    resting: frozenset[str] = frozenset()
    query_statuses: tuple[QueryStatus, ...] = ()
    executors: tuple[ExecutorStatus, ...] = ()
    live: frozenset[str] = frozenset()
    past: frozenset[str] = frozenset()
    held: Mapping[str, int] = dataclasses.field(default_factory=dict)
    moves: Mapping[str, int] = dataclasses.field(default_factory=dict)
    generation: int | None = None


class News(NamedTuple):
    """What tells that batches are not what they were: how long they take, and how many rows they have."""

    usual: Usual
    rises: Rises


def look(
    queries: tuple[Query, ...],
    resting: frozenset[str],
    actuation: Actuation,
    ledger: Ledger,
    news: News,
    generation: int | None,
) -> Seen:
    """Make one; to be called on the agent's thread. `resting` queries wait for data."""
    held = actuation.held(ledger, resting)
    return Seen(
        queries=queries,
        resting=resting,
        query_statuses=tuple(
            query_status(query, actuation, ledger, news, rests=query.query_id in resting) for query in queries
        ),
        executors=actuation.fleet.statuses(held),
        live=frozenset(actuation.fleet.live),
        past=actuation.fleet.past,
        held=held,
        moves=actuation.moves(),
        generation=generation,
    )


def query_status(query: Query, actuation: Actuation, ledger: Ledger, news: News, *, rests: bool) -> QueryStatus:
    """Where the query's groups are, how its moves are getting on, and whether its batches take what they used to."""
    newest = ledger.newest_batch(query.query_id)
    wished = actuation.wishes[query.query_id]
    observed = ledger.owners(query.query_id)
    obeying = observed.keys() if rests else actuation.stolen(query.query_id, observed)
    homes = homes_of(observed, wished.registered, actuation.fleet.live, obeying)
    return QueryStatus(
        query_id=query.query_id,
        run_id=query.run_id,
        name=query.name,
        batch_id=newest.batch_id if newest else None,
        owners=owner_rows(query, homes),
        moves_pending=wished.moves_pending,
        moves_done=wished.done,
        moves_failed=wished.moves_failed,
        moves_awaiting=len(wished.places),
        arrived=wished.arrived,
        unusual=news.usual.news(query.query_id),
        risen=news.rises.news(query.query_id),
    )


def homes_of(
    observed: Mapping[GroupKey, str],
    registered: Mapping[GroupKey, str],
    live: Collection[str],
    obeying: Collection[GroupKey],
) -> Mapping[GroupKey, str]:
    """The executor of each group's newest task; where that is gone, and of those that will obey since their query waits
    for data or since they were only stolen, the one it is registered at and will run on next."""
    if (not obeying or observed == registered) and set(observed.values()) <= set(live):
        return observed
    return {
        key: registered[key] if (key in obeying or ran not in live) and registered.get(key) in live else ran
        for key, ran in observed.items()
    }


def owner_rows(query: Query, homes: Mapping[GroupKey, str]) -> dict[int, tuple[str | None, ...]]:
    """Operator -> the executor of each partition, None before its first task."""
    rows: dict[int, list[str | None]] = {operator: [None] * count for operator, count in query.operators.items()}
    for (operator, partition), owner in homes.items():
        row = rows.get(operator)
        if row is not None and partition < len(row):
            row[partition] = owner
    return {operator: tuple(row) for operator, row in rows.items()}
