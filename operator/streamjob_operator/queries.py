"""Whose key groups are whose, where several queries are one snapshot."""

from __future__ import annotations

import dataclasses

from streamjob_planners.model import GroupId

MOST_QUERIES = 64
"""Queries of one driver that are planned together: as many as a PartitionMap holds."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class QueryPart:
    """One query among several of a snapshot: its operators are those from `first_operator` on, `operators` numbers.

    `mean_batch_s` is of its own batches.
    """

    query_id: str
    name: str
    first_operator: int
    operators: int
    mean_batch_s: float

    def own(self, group: GroupId) -> GroupId | None:
        """The key group as the query itself numbers it; None for another query's."""
        at = group.operator - self.first_operator
        return GroupId(operator=at, partition=group.partition) if 0 <= at < self.operators else None


def too_many(queries: int) -> str | None:
    """A sentence where there are more than are planned together."""
    if queries <= MOST_QUERIES:
        return None
    return (
        f"{queries} streaming queries with key groups run in one driver, at most {MOST_QUERIES} are planned together."
    )
