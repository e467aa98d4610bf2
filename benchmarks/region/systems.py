"""RR, Oracle*, LB-static and LB-adaptive on a region, and what a run of each gives."""

from __future__ import annotations

import dataclasses

import numpy as np
from benchmarks.kept import Array
from benchmarks.region.world import Load, Region

from streamjob_planners.capacity.balancer import Balancer, balancer
from streamjob_planners.capacity.blocking import STEPS
from streamjob_planners.model import FloatArray, IntArray

SYSTEMS = ("Oracle*", "LB-static", "LB-adaptive", "RR")
LONGEST_S = 40_000
FINAL_S = 30


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """Second by second: shares and blocking rates (seconds, n), tuples merged, clusters where there are any."""

    shares: Array
    blocking: Array
    merged: Array
    clusters: Array | None
    elapsed_s: float

    @property
    def final_rps(self) -> float:
        """Throughput over the last half minute of the run."""
        return float(self.merged[-FINAL_S:].mean())


def fair_total(load: Load, seconds: float) -> float:
    """Tuples that the best shares, load unchanged, process in so many seconds."""
    return seconds * min(float(load.rates(0.0).sum()), 8e6)


def run(system: str, load: Load, total: float, seed: int, *, least_s: int = 0) -> Run:
    """All tuples of a run, and at least so many seconds."""
    region = Region(load, total, np.random.default_rng(seed))
    n = load.factor.size
    state = balancer(n, adaptive=system == "LB-adaptive") if system.startswith("LB") else None
    rows: list[tuple[FloatArray, FloatArray, float]] = []
    clusters: list[IntArray] = []
    elapsed_s: float | None = None
    while (elapsed_s is None or len(rows) < least_s) and len(rows) < LONGEST_S:
        share = _share(system, region, state)
        before = region.merged
        blocking, merged = region.second(share)
        if elapsed_s is None and region.merged >= total:
            elapsed_s = len(rows) + (total - before) / merged
        rows.append((share, blocking, merged))
        if state is not None:
            state = state.observed(blocking)
            clusters += [] if state.cluster_of is None else [state.cluster_of]
    return Run(
        shares=np.stack([one for one, _, _ in rows]),
        blocking=np.stack([one for _, one, _ in rows]),
        merged=np.array([one for _, _, one in rows]),
        clusters=np.stack(clusters) if clusters else None,
        elapsed_s=float(len(rows)) if elapsed_s is None else elapsed_s,
    )


def _share(system: str, region: Region, state: Balancer | None) -> FloatArray:
    if state is not None:
        return np.asarray(state.weights / STEPS)
    if system == "RR":
        return np.full(region.load.factor.size, 1.0 / region.load.factor.size)
    rates = region.load.rates(region.sent / region.total)  # switches when the tuple is sent: too early
    return np.asarray(rates / rates.sum())
