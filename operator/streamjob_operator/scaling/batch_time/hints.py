"""What a person knows of hours to come: a rate, or a number of executors, by the clock."""

from __future__ import annotations

from streamjob_operator.spec import StreamJob
from streamjob_operator.spec.policies import Hint
from streamjob_operator.steps.windows import is_open


def hinted(job: StreamJob, now_s: float, ahead_s: float) -> tuple[float, int]:
    """The highest rate (rows/s) and the most executors of hints that hold now, or will in so many seconds; 0 and 0
    without one."""
    holding = [one for one in job.spec.scaling.hints if _holds(one, now_s, ahead_s)]
    rates = (one.rate for one in holding if one.rate is not None)
    executors = (one.executors for one in holding if one.executors is not None)
    return max(rates, default=0.0), max(executors, default=0)


def _holds(hint: Hint, now_s: float, ahead_s: float) -> bool:
    return is_open(hint, now_s) or is_open(hint, now_s + ahead_s)
