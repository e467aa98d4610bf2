"""Traffic between key groups: the heavy pairs, a bounded and steady set of them, and what each group sends in all."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping

from streamjob_agent.bridge import Sent, Traffic
from streamjob_agent.wire import GroupKey

Pair = tuple[GroupKey, GroupKey]
_KEPT = 0.7  # share of the old score that stays at each reading
_LEAVE_RATIO = 0.25  # a pair leaves below this share of the threshold, so that one near it does not flap
_REPLACE_RATIO = 2.0  # a newcomer must be this much heavier than the lightest member to take its place


@dataclasses.dataclass(slots=True)
class _Member:
    score_bytes: float  # decayed mean per batch
    total_bytes: float


class TrafficTable:
    """Counters of bytes for at most `max_pairs` pairs, each of which once exceeded `min_bytes` in a batch."""

    def __init__(self, min_bytes: int, max_pairs: int) -> None:
        self._min_bytes = min_bytes
        self._max_pairs = max_pairs
        self._members: dict[Pair, _Member] = {}

    def take(self, pairs: Iterable[Traffic], batches: int) -> None:
        """Take in one batch's traffic, which stands for the `batches` batches since the last reading."""
        read = {(pair.from_key, pair.to_key): pair.size_bytes for pair in pairs}
        for pair, member in list(self._members.items()):
            size = read.pop(pair, 0)
            member.score_bytes = _KEPT * member.score_bytes + (1 - _KEPT) * size
            member.total_bytes += size * batches
            if member.score_bytes < _LEAVE_RATIO * self._min_bytes:
                del self._members[pair]
        ordered = sorted(self._members, key=lambda pair: self._members[pair].score_bytes, reverse=True)
        for pair, size in sorted(read.items(), key=lambda item: (-item[1], item[0])):
            if size < self._min_bytes or not self._make_room(size, ordered):
                break
            self._members[pair] = _Member(score_bytes=size, total_bytes=size * batches)

    def _make_room(self, size: int, ordered: list[Pair]) -> bool:
        """Whether a newcomer may join; the lightest of `ordered` leaves for it when there is no free place."""
        if len(self._members) < self._max_pairs:
            return True
        if not ordered or size < _REPLACE_RATIO * self._members[ordered[-1]].score_bytes:
            return False
        del self._members[ordered.pop()]
        return True

    def totals(self) -> dict[Pair, float]:
        """Bytes so far of each pair that has a series."""
        return {pair: member.total_bytes for pair, member in self._members.items()}


@dataclasses.dataclass(slots=True)
class SentTotals:
    """Bytes that one key group has sent so far, and to how many others in the newest reading."""

    total_bytes: float = 0.0
    partners: int = 0


def add_sent(totals: dict[GroupKey, SentTotals], sent: Mapping[GroupKey, Sent], batches: int) -> None:
    """Take in one batch's reading, which stands for `batches` batches."""
    for key, one in sent.items():
        total = totals.setdefault(key, SentTotals())
        total.total_bytes += one.size_bytes * batches
        total.partners = one.partners
