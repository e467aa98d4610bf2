"""Rates and capacities of the Flink autoscaler: see :mod:`streamjob_operator.scaling.rivals.flink` for the source."""

from __future__ import annotations

import dataclasses
import math

from streamjob_operator.scaling.rule import Situation

WINDOW_S, STABILIZATION_S = 900.0, 300.0
UTILIZATION, BOUNDARY = 0.7, 0.3
CATCH_UP_S, RESTART_S, BACKLOG_S = 1800.0, 300.0, 300.0
MAX_DOWN, MAX_UP, EFFECTIVE = 0.6, 100_000.0, 0.1


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One observation: rows taken per second, rows waiting, and the share of time in which the busiest slot worked."""

    at_s: float
    taken_rps: float
    lag: float
    load: float


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Evaluated:
    """Means of a window. `true_rps` is what could be taken were it busy all the time; infinite without a row."""

    arriving_rps: float
    lag: float
    true_rps: float
    taken_rps: float

    def target(self, utilization: float, *, restart: bool) -> float:
        """Rows per second that capacity is needed for: arrivals at a utilisation, backlog, those of a restart."""
        if utilization <= 0:
            return math.inf
        extra = self.arriving_rps * RESTART_S / CATCH_UP_S if restart else 0.0
        return float(round(self.lag / CATCH_UP_S + extra + self.arriving_rps / min(utilization, 1.0)))

    @property
    def outside(self) -> bool:
        """Whether utilisation is outside its bounds; while a backlog is worked off only too little capacity is."""
        backlog = self.taken_rps > 0 and self.lag / self.taken_rps > BACKLOG_S
        upper, lower = (1.0, 0.0) if backlog else (UTILIZATION + BOUNDARY, UTILIZATION - BOUNDARY)
        too_little = self.true_rps < self.target(upper, restart=False)
        return too_little or self.true_rps > self.target(lower, restart=True)


def sample(situation: Situation) -> Sample:
    """What this cycle observed; a source that tells no lag has none, as in the source."""
    rates, window_s = situation.snapshot.rates, situation.snapshot.window_s
    load = min(1.0, rates.batches * rates.mean_batch_s / window_s) if window_s > 0 else 0.0
    return Sample(at_s=situation.snapshot.taken_at_s, taken_rps=rates.input_rps, lag=rates.lag_rows or 0.0, load=load)


def evaluate(samples: tuple[Sample, ...]) -> Evaluated | None:
    """Means over the samples; None with fewer than two, of which no rate can be made."""
    if len(samples) < 2 or samples[-1].at_s <= samples[0].at_s:
        return None
    taken_rps = sum(one.taken_rps for one in samples) / len(samples)
    load = sum(one.load for one in samples) / len(samples)
    lag_rps = (samples[-1].lag - samples[0].lag) / (samples[-1].at_s - samples[0].at_s)
    return Evaluated(
        arriving_rps=max(0.0, taken_rps + lag_rps),
        lag=samples[-1].lag,
        true_rps=taken_rps / load if load > 0 and taken_rps > 0 else math.inf,
        taken_rps=taken_rps,
    )


def parallelism(
    current: int, target_rps: float, true_rps: float, *, max_down: float = MAX_DOWN, max_up: float = MAX_UP
) -> int:
    """The new parallelism, within the factors that one step may shrink or grow by."""
    factor = min(max(target_rps / true_rps, 1.0 - max_down), 1.0 + max_up)
    return max(1, math.ceil(factor * current - 1e-9))


def ineffective(promised: tuple[float, float] | None, true_rps: float) -> bool:
    """Whether the newest scale-up, from a rate to an expected one, brought less than a tenth of what it promised."""
    if promised is None or promised[1] <= promised[0]:
        return False
    return (true_rps - promised[0]) / (promised[1] - promised[0]) < EFFECTIVE
