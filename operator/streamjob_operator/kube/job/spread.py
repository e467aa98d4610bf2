"""When in its period a job has its turn: each at a moment of its own, so that a thousand do not come at once. Pure."""

from __future__ import annotations

import hashlib
import math


def moment_s(uid: str, period_s: float) -> float:
    """The job's own moment within a period, [0, period_s): by chance, the same for its whole life."""
    digest = hashlib.sha256(uid.encode()).digest()
    return int.from_bytes(digest[:8]) / 2.0**64 * period_s


def nearest_s(due_s: float, uid: str, period_s: float) -> float:
    """The job's own moment nearest to `due_s`: at most half a period away. Times are seconds since the epoch."""
    return _own(due_s - period_s / 2, uid, period_s)


def next_s(due_s: float, uid: str, period_s: float) -> float:
    """The job's own moment that comes next, [due_s, due_s + period_s)."""
    return _own(due_s, uid, period_s)


def _own(from_s: float, uid: str, period_s: float) -> float:
    moment = moment_s(uid, period_s)
    return moment + math.ceil((from_s - moment) / period_s) * period_s
