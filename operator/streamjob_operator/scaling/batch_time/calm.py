"""How long a wish must have lasted: the fewest of a time upwards, the most of a time downwards, no hole between.

Downwards the time is that of what was measured: however often one measurement is looked at, it covers no time.
"""

from __future__ import annotations

import dataclasses

from streamjob_operator.scaling.batch_time.state import Calm, High, Wished

HOLE_PERIODS = 1.5
"""Statistics periods, or batches, between two measurements from which there is a hole."""


def with_wish(calm: Calm, executors: int, taken_at_s: float, period_s: float, down_s: float) -> Calm:
    """The wishes with this one, of the last `down_s` seconds; all anew after a hole of some `period_s`.

    `taken_at_s`: what the wish rests on was measured up to then. It stands until the next measurement; of several looks
    at one the largest counts.
    """
    if calm.newest_s is None or calm.since_s is None or taken_at_s - calm.newest_s > HOLE_PERIODS * period_s:
        return Calm(since_s=taken_at_s, newest_s=taken_at_s, wishes=(Wished(at_s=taken_at_s, executors=executors),))
    now_s = max(taken_at_s, calm.newest_s)
    if now_s == calm.newest_s:
        executors = max(executors, calm.wishes[-1].executors)
    before = (*calm.wishes[:-1], *(dataclasses.replace(one, at_s=now_s) for one in calm.wishes[-1:]))
    larger = [one for one in before if one.executors > executors and one.at_s > now_s - down_s]
    wishes = (*larger, Wished(at_s=now_s, executors=executors))
    return Calm(since_s=calm.since_s, newest_s=now_s, wishes=wishes)


def downwards(calm: Calm, wanted: int, down_s: float) -> int:
    """What every measurement of the last `down_s` seconds left room for; `wanted` until they cover that time."""
    if calm.since_s is None or calm.newest_s is None or calm.newest_s - calm.since_s < down_s:
        return wanted
    return min(
        wanted, max(one.executors for one in calm.wishes if one.at_s > calm.newest_s - down_s or one is calm.wishes[-1])
    )


def with_need(high: High | None, executors: int, wanted: int, now_s: float) -> High | None:
    """Since when more than `wanted` were asked for; None where they are not."""
    if executors <= wanted:
        return None
    if high is None:
        return High(since_s=now_s, least=executors)
    return High(since_s=high.since_s, least=min(high.least, executors))


def upwards(high: High | None, executors: int, wanted: int, now_s: float, up_s: float) -> int:
    """What every look of the last `up_s` seconds asked for; `wanted` until they cover that time."""
    if high is None or now_s - high.since_s < up_s:
        return wanted
    return executors if up_s == 0 else max(wanted, high.least)
