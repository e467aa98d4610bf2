"""Traffic between key groups, which the agent reads seldom: the newest reading, for windows without one."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import numpy as np
from scipy import sparse

from streamjob_agent import metric_names as names
from streamjob_operator.measure.growth import growth
from streamjob_operator.measure.page import Page
from streamjob_operator.measure.weight import held_bytes, pairs_bytes
from streamjob_planners.model import FloatArray, GroupId

KEPT_WINDOWS = 10.0
"""Windows for which a reading counts: planning must not forget traffic from cycle to cycle, nor believe it for ever."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """Bytes per batch between pairs of key groups, and the end of the window in which the agent read them.

    `sent_per_batch` is all that each key group sends, heavy pairs or not; empty where the agent does not tell.
    """

    identity: tuple[str, str, str]
    read_at_s: float
    per_batch: Mapping[tuple[GroupId, GroupId], float]
    sent_per_batch: Mapping[GroupId, float]

    @property
    def size_bytes(self) -> int:
        """What it holds, key groups included, which the page that it was read from may hold, too."""
        return pairs_bytes(self.per_batch) + held_bytes(self.sent_per_batch)

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

    def sent(self, group_ids: tuple[GroupId, ...], batches: float) -> FloatArray | None:
        """All that each key group sends in that many batches, (n_groups,); None when nobody tells."""
        if not self.sent_per_batch:
            return None
        return np.array([self.sent_per_batch.get(group, 0.0) * batches for group in group_ids], dtype=np.float64)


class TrafficReadings:
    """Keeps the newest reading of one query's run, which holds `size_bytes`."""

    def __init__(self) -> None:
        self._kept: Reading | None = None
        self.size_bytes = 0

    def newest(self, start: Page, end: Page) -> Reading | None:
        """What is known at the end of a window; None when nothing was read for KEPT_WINDOWS of its length."""
        found = read_between(start, end)
        if found is not None:
            self._kept, self.size_bytes = found, found.size_bytes
        kept = self._kept
        if kept is None or kept.identity != end.identity:
            return None
        return kept if end.at_s - kept.read_at_s <= KEPT_WINDOWS * (end.at_s - start.at_s) else None


def read_between(start: Page, end: Page) -> Reading | None:
    """What the agent read within the window; None when it did not.

    A reading stands for all batches since the one before, which the agent counts: they may be more than the window's.
    """
    grown = {pair: growth(start.traffic, end.traffic, pair) for pair in end.traffic}
    sent = _sent(start, end)
    if not any(grown.values()) and not sent:
        return None
    batches = growth(start.query, end.query, names.QUERY_TRAFFIC_BATCHES) or end.batches - start.batches
    per_batch = {pair: size / max(batches, 1.0) for pair, size in grown.items()}
    return Reading(
        identity=end.identity,
        read_at_s=end.at_s,
        per_batch=per_batch,
        sent_per_batch={group: size / max(batches, 1.0) for group, size in sent.items()},
    )


def _sent(start: Page, end: Page) -> dict[GroupId, float]:
    """How much more each key group has sent, those that have."""
    name = names.GROUP_SENT_BYTES
    before = dict(zip(start.group_ids, start.counters[name].tolist(), strict=True))
    after = dict(zip(end.group_ids, end.counters[name].tolist(), strict=True))
    grown = {group: growth(before, after, group) for group in after}
    return {group: size for group, size in grown.items() if size > 0}
