"""What arrives in a run: rows a second over time, after a lead-in in which all executors are there."""

from __future__ import annotations

import dataclasses

import numpy as np

from streamjob_planners.model import FloatArray
from streamjob_sim.traces.catalogue import TRACES

LEAD_S = 60.0
"""At the first rate: JVMs get warm, and the executors with which every run begins may leave. Nothing is counted yet."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """Rates that change evenly between moments.

    Attributes:
        name: of the trace.
        at_s: seconds since the run's begin, (n,), rising from 0.
        rate_rps: rows a second then, (n,).
    """

    name: str
    at_s: FloatArray
    rate_rps: FloatArray

    @property
    def ends_s(self) -> float:
        """When the last row is due."""
        return float(self.at_s[-1])

    def rows_until(self, at_s: float) -> int:
        """Rows that are due by then, from the first one on."""
        moments = np.append(self.at_s[self.at_s < at_s], min(at_s, self.ends_s))
        return int(np.trapezoid(np.interp(moments, self.at_s, self.rate_rps), moments))


def course(name: str, seed: int, base_rps: float, duration_s: float) -> Course:
    """A trace of the simulator's arena, `duration_s` long; `base_rps` is height 1 of its curve.

    Raises ValueError for a trace that there is not.
    """
    if name not in TRACES:
        raise ValueError(f"traces: {name!r} given; known are {', '.join(TRACES)}.")
    curve = np.array(TRACES[name].curve(np.random.default_rng([seed, *name.encode()])))
    at_s, rate_rps = LEAD_S + duration_s * curve[:, 0], base_rps * curve[:, 1]
    return Course(name=name, at_s=np.concatenate(([0.0], at_s)), rate_rps=np.concatenate((rate_rps[:1], rate_rps)))
