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
    begun: frozenset[str] = frozenset()  # of which a task was seen
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
        begun=frozenset(query.query_id for query in queries if actuation.where(query.query_id, ledger).executors),
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
    where, live = actuation.where(query.query_id, ledger), frozenset(actuation.fleet.live)
    obeying = actuation.obeying(query.query_id, where, rests=rests)
    leave = obeying or not live.issuperset(where.executors)
    elsewhere = rehomed(where.apart, wished.registered, live, obeying) if leave else {}
    return QueryStatus(
        query_id=query.query_id,
        run_id=query.run_id,
        name=query.name,
        batch_id=newest.batch_id if newest else None,
        owners=where.rows(query.operators, elsewhere),
        moves_pending=wished.moves_pending,
        moves_done=wished.done,
        moves_failed=wished.moves_failed,
        moves_awaiting=len(wished.places),
        arrived=wished.arrived,
        unusual=news.usual.news(query.query_id),
        risen=news.rises.news(query.query_id),
    )


def rehomed(
    apart: Mapping[GroupKey, str],
    registered: Mapping[GroupKey, str],
    live: Collection[str],
    obeying: Collection[GroupKey],
) -> dict[GroupKey, str]:
    """The groups, of those that run `apart` from where they are registered, that are shown as if they ran there.

    Those whose executor is gone, and those that will obey since their query waits for data or since they were only
    stolen: the executor they are registered at is the one they will run on next. The others are where their newest task
    ran.
    """
    return {
        key: registered[key]
        for key, ran in apart.items()
        if (key in obeying or ran not in live) and registered.get(key) in live
    }
