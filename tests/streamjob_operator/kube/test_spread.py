"""Each job's own moment in its period."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from streamjob_operator.kube.job.spread import moment_s, nearest_s, next_s

PERIODS_S, TIMES_S = st.floats(1.0, 3600.0), st.floats(1e9, 2e9)


@given(TIMES_S, PERIODS_S, st.uuids())
def test_a_moment_is_near_and_stays_the_same(due_s: float, period_s: float, uid: object) -> None:
    one = nearest_s(due_s, str(uid), period_s)
    assert abs(one - due_s) <= period_s / 2 + 1e-3
    assert 0 <= next_s(due_s, str(uid), period_s) - due_s < period_s + 1e-3
    again = nearest_s(one + 0.1 * period_s + period_s, str(uid), period_s)  # a cycle that began late
    assert abs(again - one - period_s) < 1e-3


def test_many_jobs_are_spread_evenly() -> None:
    moments = [moment_s(f"uid-{at}", 60.0) for at in range(1000)]
    counts, _ = np.histogram(moments, bins=6, range=(0.0, 60.0))
    assert counts.min() > 120
