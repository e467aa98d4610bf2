"""Whether rows come faster than they used to, told by the batch that runs: a load that rises need not be slow first.

Rows of batches have a range as their lengths have (:mod:`streamjob_agent.usual`). The batch before must have left it
upwards, and the one that runs must do so by the rows that it has read. Pure.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from streamjob_agent.bridge import BatchEnd, RunningBatch
from streamjob_agent.usual import Limits, Range
from streamjob_agent.wire import Risen


class Rises:
    """The rows of every query's batches. Used by the agent's thread alone."""

    def __init__(self) -> None:
        self._ranges: dict[str, Range] = {}
        self._news: dict[str, Risen] = {}

    def take(self, batch: BatchEnd) -> None:
        """One more batch has ended. One without rows says nothing of how many come."""
        if batch.input_rows > 0:
            self._ranges.setdefault(batch.query_id, Range()).take(batch.input_rows)

    def look(self, running: Mapping[str, RunningBatch]) -> None:
        """The batches that run, by query id. What was news stays until there is other news."""
        for query_id, batch in running.items():
            known = self._ranges.get(query_id)
            limits = None if known is None or batch.rows <= 0 else known.above(batch.rows)
            news = self._news.get(query_id)
            if limits is not None and (news is None or news.batch_id != batch.batch_id):
                self._news[query_id] = _risen(batch, limits)

    def news(self, query_id: str) -> Risen | None:
        """The newest batch of a query that had more rows than usual before it ended."""
        return self._news.get(query_id)

    def forget(self, queries: Collection[str]) -> None:
        """Drop queries that are over."""
        for query_id in queries:
            self._ranges.pop(query_id, None)
            self._news.pop(query_id, None)


def _risen(batch: RunningBatch, limits: Limits) -> Risen:
    return Risen(batch_id=batch.batch_id, began_at_s=batch.began_at_s, rows=batch.rows, high_rows=round(limits.high))
