"""The agent's wire form of a plan as the adviser's values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from streamjob_agent.plan_form import KeyColumn, PlanShuffle, QueryPlan
from streamjob_planners.advice.values import JobPlan, Operator, Shuffle


def job_plan(plan: QueryPlan) -> JobPlan:
    """Columns by name, with their number where two columns have one name."""
    keys = (*(one.key for one in plan.operators), *(one.key for one in plan.shuffles))
    names = _names(column for key in keys for column in key)
    return JobPlan(
        operators=tuple(
            Operator(
                number=one.operator,
                kind=_kind(one.kind),
                partitions=one.partitions,
                key=tuple(names[column.number] for column in one.key),
                state_bytes=one.state_bytes,
            )
            for one in plan.operators
        ),
        shuffles=tuple(_shuffle(plan, one) for one in plan.shuffles),
        together=tuple(
            (link.source, link.target) for link in plan.links if link.shuffle is None and link.target is not None
        ),
    )


def _shuffle(plan: QueryPlan, one: PlanShuffle) -> Shuffle:
    told = [seconds for seconds in (one.write_s, one.wait_s) if seconds is not None]
    return Shuffle(
        number=one.shuffle,
        sources=tuple(sorted({link.source for link in plan.links if link.shuffle == one.shuffle})),
        target=one.operator,
        feeds=one.feeds,
        size_bytes=one.size_bytes,
        records=one.records,
        seconds=sum(told) if told else None,
        rows_before_sums=one.rows_before_sums,
    )


def _names(columns: Iterable[KeyColumn]) -> Mapping[int, str]:
    """The first name that each column was met under; columns of one name are told apart by their number."""
    first: dict[int, str] = {}
    for column in columns:
        first.setdefault(column.number, column.name)
    often = Counter(first.values())
    return {number: name if often[name] == 1 else f"{name}#{number}" for number, name in first.items()}


_SUFFIX = "Exec"
_KINDS = {
    "StateStoreSave": "aggregation",
    "StateStoreRestore": "aggregation",
    "SessionWindowStateStoreSave": "session windows",
    "StreamingDeduplicate": "deduplication",
    "StreamingDeduplicateWithinWatermark": "deduplication",
    "StreamingSymmetricHashJoin": "join",
    "StreamingGlobalLimit": "limit",
}


def _kind(name: str) -> str:
    """A plain word where there is one, else Spark's name."""
    short = name.removesuffix(_SUFFIX)
    return _KINDS.get(short, short)
