"""Dhalion: symptoms, a diagnosis, a resolution; after Heron's policy for throughput.

Source: Floratou et al., Dhalion: Self-Regulating Stream Processing in Heron, PVLDB 10(12), 2017, sections 4 and 5
(backpressure and pending packets detectors, resource over- and underprovisioning diagnosers, bolt scale up and scale
down resolvers, blacklist of actions that did harm). Slow instances and skew have resolvers of their own there; here key
groups are moved by the balancer. Backpressure suspends a source; what stands for it is the part of a batch beyond its
trigger interval, in which rows wait that would have been taken. Pending packets are rows beyond those of a batch.
"""

from __future__ import annotations

import dataclasses
import math

from streamjob_operator.scaling.measured import arriving_rps
from streamjob_operator.scaling.rule import Situation, State, Wish, kept, recalled

INTERVAL_S = 300.0
"""A resolution gets this long to show its effect; symptoms are looked for over as long before scaling down."""
DOWN_RATIO, PENDING_RATIO, FORGOTTEN_RATIO = 0.8, 1.2, 0.9
"""Executors kept by a resolution; rows over those of a batch up to which none are pending; arrivals over those at which
scaling down did harm, below which it may be tried again."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Log:
    """The newest action, and what was blacklisted: `harmful` executors were too few for `harmful_rps`."""

    acted_at_s: float | None = None
    calm_since_s: float | None = None
    reduced_to: int | None = None
    harmful: int | None = None
    harmful_rps: float = 0.0


class DhalionRule:
    """More by the share of time in backpressure; a fifth fewer after five minutes without any."""

    name = "dhalion"

    def decide(self, situation: Situation, state: State | None) -> tuple[Wish, State]:
        """A resolution, or the number there is while the newest one is still being judged."""
        wanted, now_s = situation.fleet.wanted, situation.now_s
        suspended, log = suspended_ratio(situation), _judged(recalled(Log, state), situation)
        if log.acted_at_s is not None and now_s - log.acted_at_s < INTERVAL_S:
            why = f"the newest resolution is judged for {INTERVAL_S:g} s"
            return Wish(executors=wanted, needed=wanted, why=why), kept(log)
        if suspended > 0:
            executors = scaled_up(wanted, suspended)
            log = dataclasses.replace(log, acted_at_s=now_s, reduced_to=None)
            why = f"backpressure for {100 * suspended:.0f} percent of the time"
            return Wish(executors=executors, needed=executors, why=why), kept(log)
        return _down(situation, log)


def suspended_ratio(situation: Situation) -> float:
    """Share of the time in which the source was held back; without a trigger interval, of rows that are not taken."""
    rates = situation.snapshot.rates
    if rates.trigger_interval_s is None:
        return max(0.0, 1.0 - 1.0 / situation.estimate.growth_ratio)
    if rates.mean_batch_s <= rates.trigger_interval_s:
        return 0.0
    return 1.0 - rates.trigger_interval_s / rates.mean_batch_s


def scaled_up(executors: int, suspended: float) -> int:
    """A fifth of the time in backpressure is a quarter more executors: its share over the share without."""
    return math.ceil(executors * (1.0 + suspended / (1.0 - suspended)) - 1e-9)


def _down(situation: Situation, log: Log) -> tuple[Wish, State]:
    wanted, now_s, rates = situation.fleet.wanted, situation.now_s, situation.snapshot.rates
    calm = log.calm_since_s is not None and now_s - log.calm_since_s >= INTERVAL_S
    per_batch = arriving_rps(situation) * max(rates.mean_batch_s, rates.trigger_interval_s or 0.0)
    pending = rates.lag_rows is None or rates.lag_rows > PENDING_RATIO * per_batch
    fewer = max(1, math.floor(DOWN_RATIO * wanted))
    blacklisted = log.harmful is not None and fewer <= log.harmful
    if not calm or pending or blacklisted or fewer == wanted:
        why = "fewer executors did harm" if blacklisted else "neither backpressure nor calm for long enough"
        return Wish(executors=wanted, needed=wanted, why=why), kept(log)
    log = dataclasses.replace(log, acted_at_s=now_s, reduced_to=fewer)
    return Wish(executors=fewer, needed=fewer, why="no backpressure and no rows pending"), kept(log)


def _judged(log: Log, situation: Situation) -> Log:
    """The log with what this cycle says of calm and of the newest action."""
    rps = arriving_rps(situation)
    if log.harmful is not None and rps < FORGOTTEN_RATIO * log.harmful_rps:
        log = dataclasses.replace(log, harmful=None)
    if suspended_ratio(situation) <= 0:
        return log if log.calm_since_s is not None else dataclasses.replace(log, calm_since_s=situation.now_s)
    if log.reduced_to is not None:
        log = dataclasses.replace(log, harmful=log.reduced_to, harmful_rps=rps, reduced_to=None)
    return dataclasses.replace(log, calm_since_s=None)
