"""Several queries of one driver as one snapshot: they share its executors, so they are planned together.

One query leads: the window and the batches are its own, and what the others did counts as so much per batch of it, in
the proportion in which their batches come. So the time of a mean batch is that of all queries' batches in one round.
Queries that are in a batch nearly all the time share levels, since their tasks share the slots: the last of them ends
when all have ended, whoever is served first. The others have levels of their own.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

import numpy as np

from streamjob_operator.measure.joined_arrays import blocks, columns, optional
from streamjob_operator.measure.joined_series import joined_series
from streamjob_operator.observed import BATCHES_IN_LAG, OthersLag
from streamjob_operator.ports import Unavailable
from streamjob_operator.queries import too_many
from streamjob_operator.values import ExecutorView, QueryPart, QueryRates, Snapshot, StageView
from streamjob_planners.model import GroupId

OVERLAP = 0.9
"""Part of the time from which a query in a batch counts as overlapping with others like it."""
IDLE_WEIGHT = 0.01
"""Batches of an idle query for one of the leading one: next to none, but who leaves an executor finds the right one."""
LEVELS_APART = 1000
"""More than the levels of any query."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """One query's snapshot among others: `weight` is its batches for each batch of the leading one; `level` is added to
    its levels, `overlaps` says whether it shares them."""

    snapshot: Snapshot
    part: QueryPart
    weight: float
    level: int
    overlaps: bool

    def scale(self, lead: Snapshot) -> float:
        """From what the query did in its window to what it did in as many of its batches as the lead's window stands
        for."""
        batches = self.snapshot.rates.batches
        return self.weight * lead.rates.batches / batches if batches else 0.0


def join(
    snapshots: Sequence[Snapshot], names: Mapping[str, str], unmeasured: Mapping[str, tuple[str, ...]]
) -> Snapshot:
    """One snapshot of all, (at least one); a single one as it is. `names` are what people call the queries, by id.

    Raises Unavailable for more than are planned together.
    """
    trouble = too_many(len(snapshots))
    if trouble is not None:
        raise Unavailable(trouble)
    if len(snapshots) == 1:
        return dataclasses.replace(snapshots[0], unmeasured=unmeasured)
    lead = min(snapshots, key=lambda one: (one.rates.batches == 0, -len(one.group_ids), one.query_id))
    shares = _shares(lead, snapshots, names)
    first, *_ = parts = tuple(sorted((one.part for one in shares), key=lambda one: one.query_id != lead.query_id))
    order = [one.snapshot for one in shares]
    scales = [one.scale(lead) for one in shares]
    return dataclasses.replace(
        lead,
        query_id=first.query_id,
        run_id="+".join(one.run_id for one in order),
        moves_pending=sum(one.moves_pending for one in order),
        executors=_executors(lead, order),
        group_ids=tuple(_renamed(one, group) for one in shares for group in one.snapshot.group_ids),
        owners=tuple(owner for one in order for owner in one.owners),
        busy_s=_busy_s(lead, shares),
        cpu_s=columns([one.cpu_s for one in order], scales),
        records=columns([one.records for one in order], scales),
        state_bytes=columns([one.state_bytes for one in order]),
        traffic_bytes=blocks([one.traffic_bytes for one in order], scales, [len(one.group_ids) for one in order]),
        traffic_sent_bytes=optional([one.traffic_sent_bytes for one in order], scales),
        read_bytes=optional([one.read_bytes for one in order], scales),
        remote_read_bytes=optional([one.remote_read_bytes for one in order], scales),
        stages=tuple(view for one in shares for view in _stages(one)),
        warmup_s=optional([one.warmup_s for one in order], scales),
        state_memory_bytes=_state_memory(order),
        pinned=tuple(_renamed(one, group) for one in shares for group in one.snapshot.pinned),
        rates=_rates(lead, shares, idle=not unmeasured),
        series=joined_series(lead, [(one.snapshot, one.weight, one.overlaps) for one in shares], first.first_operator),
        queries=parts,
        unmeasured=unmeasured,
    )


def _renamed(share: Share, group: GroupId) -> GroupId:
    """A key group of one query among those of all."""
    return GroupId(operator=group.operator + share.part.first_operator, partition=group.partition)


def _shares(lead: Snapshot, snapshots: Sequence[Snapshot], names: Mapping[str, str]) -> list[Share]:
    """In the order of their ids, so that the numbers of operators stay while the queries do."""
    shares, first = [], 0
    overlapping = [one.query_id for one in snapshots if _overlaps(one)]
    for at, one in enumerate(sorted(snapshots, key=lambda one: one.query_id)):
        operators = 1 + max(group.operator for group in one.group_ids)
        part = QueryPart(
            query_id=one.query_id,
            name=names.get(one.query_id, one.query_id),
            first_operator=first,
            operators=operators,
            mean_batch_s=one.rates.mean_batch_s,
        )
        overlaps = one.query_id in overlapping
        level = 0 if overlaps else LEVELS_APART * (at + 1)
        shares.append(Share(snapshot=one, part=part, weight=_weight(lead, one), level=level, overlaps=overlaps))
        first += operators
    return shares


def _weight(lead: Snapshot, one: Snapshot) -> float:
    if not lead.rates.batches or not one.rates.batches:
        return IDLE_WEIGHT
    return (one.rates.batches / one.window_s) / (lead.rates.batches / lead.window_s)


def _overlaps(one: Snapshot) -> bool:
    return one.rates.mean_batch_s * one.rates.batches >= OVERLAP * one.window_s


def _busy_s(lead: Snapshot, shares: Sequence[Share]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Seconds of key groups in the lead's window; of an idle query a small part of what its batches took before."""
    parts = []
    for one in shares:
        series = one.snapshot.series
        if one.snapshot.rates.batches or series is None:
            parts.append(one.snapshot.busy_s * one.scale(lead))
        else:
            parts.append(series.busy_s.sum(axis=0) / series.batches.sum() * one.weight * lead.rates.batches)
    return np.concatenate(parts)


def _stages(share: Share) -> list[StageView]:
    """The query's stages for one batch of the lead; where nobody tells any, its operators as a chain."""
    part, weight = share.part, share.weight
    told = share.snapshot.stages or tuple(
        StageView(operator=operator, level=part.operators - operator, wall_s=0.0, busy_s=0.0, longest_s=0.0)
        for operator in range(part.operators)
    )
    return [
        dataclasses.replace(
            one,
            operator=None if one.operator is None else one.operator + part.first_operator,
            level=one.level + share.level,
            wall_s=one.wall_s * weight,
            busy_s=one.busy_s * weight,
            longest_s=one.longest_s * weight,
            wait_s=one.wait_s * weight,
            spread_s=None if one.spread_s is None else one.spread_s * weight**0.5,  # of so many batches added up
        )
        for one in told
    ]


def _rates(lead: Snapshot, shares: Sequence[Share], *, idle: bool) -> QueryRates:
    """The lead's own, but for what all do together: those that overlap take as long as the longest of them."""
    times_s = [(one.weight * one.snapshot.rates.mean_batch_s, one.overlaps) for one in shares]
    since_s = [one.snapshot.rates.idle_since_s for one in shares]
    known_s = [at_s for at_s in since_s if at_s is not None]
    return dataclasses.replace(
        lead.rates,
        mean_batch_s=max((time_s for time_s, overlaps in times_s if overlaps), default=0.0)
        + sum(time_s for time_s, overlaps in times_s if not overlaps),
        other_busy_s=sum(one.snapshot.rates.other_busy_s * one.scale(lead) for one in shares),
        idle_since_s=max(known_s) if idle and len(known_s) == len(shares) else None,
        others_lag=_others_lag(lead, shares),
    )


def _others_lag(lead: Snapshot, shares: Sequence[Share]) -> OthersLag | None:
    """Of the query that has most batches to do, in rounds; only of those that are always in a batch: more executors
    shorten their batches, and nothing else would let them take more."""
    found = [(_rounds(one), one) for one in shares if one.snapshot is not lead and one.overlaps]
    rounds, share = max(found, key=lambda one: one[0], default=(0.0, None))
    if share is None or rounds <= 0.0 or lead.rows_per_batch <= 0.0:
        return None
    own_rows = rounds * share.weight * share.snapshot.rows_per_batch
    return OthersLag(query=share.part.name, own_rows=own_rows, rows=rounds * lead.rows_per_batch)


def _rounds(share: Share) -> float:
    """Rounds in which a query's batches would be done that wait beyond what always does, 0 where it tells none."""
    per_batch, lag = share.snapshot.rows_per_batch, share.snapshot.rates.lag_rows
    if lag is None or per_batch <= 0.0:
        return 0.0
    return max(0.0, lag / per_batch - BATCHES_IN_LAG) / share.weight


def _executors(lead: Snapshot, order: Sequence[Snapshot]) -> tuple[ExecutorView, ...]:
    """The lead's view of them. Room for state is told by query: the least of it is room for all of them."""
    limits: dict[str, list[float]] = {}
    for view in (view for one in order for view in one.executors if view.state_limit_bytes is not None):
        limits.setdefault(view.executor_id, []).append(view.state_limit_bytes or 0.0)
    return tuple(
        dataclasses.replace(view, state_limit_bytes=min(limits.get(view.executor_id, ()), default=None))
        for view in lead.executors
    )


def _state_memory(order: Sequence[Snapshot]) -> np.ndarray[tuple[int], np.dtype[np.float64]] | None:
    """Of all key groups; nothing for a query that tells none."""
    if all(one.state_memory_bytes is None for one in order):
        return None
    return np.concatenate(
        [np.zeros(len(one.group_ids)) if one.state_memory_bytes is None else one.state_memory_bytes for one in order]
    )
