"""More key groups, where their number keeps batches long: how many might do, and how they are made."""

from __future__ import annotations

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


def remedy(limit: Limit, groups: Sequence[GroupId], group: int | None, times: float) -> str:
    """What a person can do about that limit, as half a sentence after a semicolon; empty where it is another.

    `group` is the key group that takes longest, an index into `groups`, and takes `times` too long.
    """
    if group is None or limit not in (Limit.PARTITIONS, Limit.KEY_GROUP):
        return ""
    operator = groups[group].operator
    now = sum(one.operator == operator for one in groups)  # every operator of a query has as many
    helps = "help only if several keys share it" if limit is Limit.KEY_GROUP else "would help"
    command = f"streamjob repartition CHECKPOINT --key-groups {wanted(now, times)}"
    return f"; more key groups {helps}: {command} (in place of {now})"
