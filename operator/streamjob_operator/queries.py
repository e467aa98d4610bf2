"""Whose key groups are whose, where several queries are one snapshot."""

from __future__ import annotations

import dataclasses

from streamjob_planners.model import GroupId


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
