"""More key groups, where their number keeps batches long: how many might do, and how they are made."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

from streamjob_planners.batch.rate import Limit
from streamjob_planners.model import GroupId

LEAST_TIMES, MOST_TIMES = 2.0, 64.0
"""Bounds of what is proposed, times today's number: less is no change, more is a guess by a batch far from it."""


def wanted(now: int, times: float) -> int:
    """So many key groups in place of `now`, for one to take `times` less: the next power of two times as many, so that
    each of today's is cut into equal numbers of new ones."""
    return now << math.ceil(math.log2(min(max(times, LEAST_TIMES), MOST_TIMES)))


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class MoreGroups:
    """So many key groups might do in place of those that there are `now`. `shared`: only if several keys share the one
    that is too heavy, which nobody measures."""

    now: int
    wanted: int
    shared: bool

    def told(self) -> str:
        """What a person can do, as half a sentence after a semicolon."""
        helps = "help only if several keys share it" if self.shared else "would help"
        command = f"streamjob repartition CHECKPOINT --key-groups {self.wanted}"
        return f"; more key groups {helps}: {command} (in place of {self.now})"


def number(groups: Sequence[GroupId]) -> int:
    """Key groups of each operator, of which a query's have as many, by those that were measured; 0 of none."""
    return 1 + max((one.partition for one in groups), default=-1)  # a few need not have been measured


def proposed(
    limit: Limit, groups: Sequence[GroupId], group: int | None, times: float, most: int | None = None
) -> MoreGroups | None:
    """What might do about that limit; None where it is another, or where there are `most` already.

    `group` is the key group that takes longest, an index into `groups`, and takes `times` too long. No more than `most`
    are proposed; None is no such bound.
    """
    if group is None or limit not in (Limit.PARTITIONS, Limit.KEY_GROUP):
        return None
    now = number(groups)
    more = wanted(now, times) if most is None else min(wanted(now, times), most)
    return MoreGroups(now=now, wanted=more, shared=limit is Limit.KEY_GROUP) if more > now else None


def remedy(limit: Limit, groups: Sequence[GroupId], group: int | None, times: float) -> str:
    """The same in words, empty where it is another limit."""
    found = proposed(limit, groups, group, times)
    return "" if found is None else found.told()
