"""Latency of tuples while an operator is scaled out under a growing rate (stateful load balancing paper, section 5.2).

Each instance is a queue of one server. A change of the assignment pauses the operator: tuples are buffered while the
moved state is sent, and replayed afterwards. Left open by the paper and chosen here: a tuple takes 0.2 ms (the 95th
percentile of 1.89 ms that it states rules out instances near 1000 tuples/s), and state is sent at 1000 tuples/s (the
largest latency that it states, 1.5 s, is what most of a state of 1600 tuples then takes).
"""

from __future__ import annotations

import dataclasses

import numpy as np
from benchmarks.stateful.policies import Policy

from streamjob_planners.model import FloatArray

SERVICE_S = 0.0002
TRANSFER_RPS, STATE_RATIO, RECONFIGURE_S = 1000.0, 0.1, 0.05
FIRST_RPS, LAST_RPS = 1000.0, 16_000.0
MOST_INSTANCES = 15
STEP_S, WINDOW_S = 0.1, 60.0


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Waits:
    """Latencies of the tuples of some windows: `latency_s` of each step and instance, and how many tuples had it."""

    latency_s: FloatArray
    tuples: FloatArray

    @property
    def mean_s(self) -> float:
        """Mean over tuples."""
        return float(np.average(self.latency_s, weights=self.tuples))

    def percentile_s(self, percent: float) -> float:
        """Latency that so many percent of the tuples did not exceed."""
        order = np.argsort(self.latency_s)
        reached = np.cumsum(self.tuples[order])
        return float(self.latency_s[order][np.searchsorted(reached, reached[-1] * percent / 100)])


def scaled_out(policy: Policy, series: FloatArray) -> dict[int, Waits]:
    """Latencies by number of instances, 1 to 15, each for as many windows; `series` gives the keys' shares."""
    windows = series.shape[0]
    kept: dict[int, list[Waits]] = {}
    n_nodes, backlog = 1, np.zeros(1)
    for at in range(windows):
        wanted = min(MOST_INSTANCES, 1 + at * MOST_INSTANCES // windows)
        moved = 0.0
        if wanted > n_nodes:
            moved = policy.grow(wanted)
            backlog, n_nodes = np.append(backlog, np.zeros(wanted - n_nodes)), wanted
        rate = FIRST_RPS + (LAST_RPS - FIRST_RPS) * at / (windows - 1)
        window = policy.window(series[at] / series[at].sum() * rate)
        moved = min(1.0, moved + window.moved_ratio)
        pause_s = RECONFIGURE_S + moved * STATE_RATIO * rate / TRANSFER_RPS if moved > 0 else 0.0
        waits, backlog = _window(window.load, pause_s, backlog)
        kept.setdefault(n_nodes, []).append(waits)
    return {n: joined(waits) for n, waits in kept.items()}


def joined(waits: list[Waits]) -> Waits:
    """Several as one."""
    return Waits(
        latency_s=np.concatenate([one.latency_s for one in waits]), tuples=np.concatenate([one.tuples for one in waits])
    )


def _window(rates: FloatArray, pause_s: float, backlog: FloatArray) -> tuple[Waits, FloatArray]:
    """One window in steps: tuples wait for the rest of the pause, the backlog, and chance (M/D/1)."""
    use = np.minimum(rates * SERVICE_S, 0.99)
    chance = use / (2 * (1 - use)) * SERVICE_S
    rows = []
    for step in range(round(WINDOW_S / STEP_S)):
        paused = float(np.clip(pause_s - step * STEP_S, 0.0, STEP_S))
        rest = max(0.0, pause_s - (step + 0.5) * STEP_S)
        rows.append(rest + backlog * SERVICE_S + chance + SERVICE_S)
        backlog = np.maximum(backlog + rates * STEP_S - (STEP_S - paused) / SERVICE_S, 0.0)
    latency = np.concatenate(rows)
    return Waits(latency_s=latency, tuples=np.tile(rates * STEP_S, len(rows))), backlog
