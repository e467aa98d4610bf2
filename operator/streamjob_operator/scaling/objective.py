"""How long a batch may take, from the job's policy."""

from __future__ import annotations

from streamjob_operator.spec.policies import Scaling


def batch_objective_s(scaling: Scaling, trigger_s: float) -> float | None:
    """Seconds that a batch may take; None where nothing is asked of it but to keep up.

    A row that comes right after a batch began waits for that batch, or for the trigger, and then for its own: results
    are as old as the larger of trigger and batch, and one batch more. Without an objective batches are to end within
    their trigger.
    """
    latency_s = scaling.max_latency_s
    if latency_s is None:
        return trigger_s or None
    if latency_s >= 2.0 * trigger_s:
        return latency_s / 2.0
    return max(latency_s - trigger_s, 0.0)
