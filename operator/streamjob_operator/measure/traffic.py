"""Traffic between key groups, which the agent reads seldom: the newest reading, for windows without one."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import numpy as np
from scipy import sparse

from streamjob_agent import metric_names as names
from streamjob_operator.measure.growth import growth
from streamjob_operator.measure.page import Page
from streamjob_planners.model import GroupId

KEPT_WINDOWS = 10.0
"""Windows for which a reading counts: planning must not forget traffic from cycle to cycle, nor believe it for ever."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """Bytes per batch between pairs of key groups, and the end of the window in which the agent read them."""

    identity: tuple[str, str, str]
    read_at_s: float
    per_batch: Mapping[tuple[GroupId, GroupId], float]

    def matrix(self, group_ids: tuple[GroupId, ...], batches: float) -> sparse.csr_array | None:
        """Bytes of that many batches, (n_groups, n_groups); None when that is nothing."""
        index = {group: at for at, group in enumerate(group_ids)}
        cells = [
            (index[one], index[other], size * batches)
            for (one, other), size in self.per_batch.items()
            if size * batches > 0 and one in index and other in index
        ]
        if not cells:
            return None
        rows, columns, sizes = zip(*cells, strict=True)
        return sparse.csr_array((np.array(sizes, dtype=np.float64), (rows, columns)), shape=(len(index), len(index)))


class TrafficReadings:
    """Keeps the newest reading of one query's run."""

    def __init__(self) -> None:
        self._kept: Reading | None = None

    def newest(self, start: Page, end: Page) -> Reading | None:
        """What is known at the end of a window; None when nothing was read for KEPT_WINDOWS of its length."""
        found = read_between(start, end)
        if found is not None:
            self._kept = found
        kept = self._kept
        if kept is None or kept.identity != end.identity:
            return None
        return kept if end.at_s - kept.read_at_s <= KEPT_WINDOWS * (end.at_s - start.at_s) else None


def read_between(start: Page, end: Page) -> Reading | None:
    """What the agent read within the window; None when it did not.

    A reading stands for all batches since the one before, which the agent counts: they may be more than the window's.
    """
    grown = {pair: growth(start.traffic, end.traffic, pair) for pair in end.traffic}
    if not any(grown.values()):
        return None
    batches = growth(start.query, end.query, names.QUERY_TRAFFIC_BATCHES) or end.batches - start.batches
    per_batch = {pair: size / max(batches, 1.0) for pair, size in grown.items()}
    return Reading(identity=end.identity, read_at_s=end.at_s, per_batch=per_batch)
