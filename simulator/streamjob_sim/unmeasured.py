"""What the agent of a simulated job says of itself while its measurements are missing."""

from __future__ import annotations

import dataclasses

import numpy as np

from streamjob_operator.sight import Sight, resting
from streamjob_sim.job import SimulatedJob
from streamjob_sim.measure import truth


def sight_of(job: SimulatedJob) -> Sight:
    """Executors and where key groups are, without any figure of work."""
    real = truth(job, 1.0)
    nothing, now_s = np.zeros(len(real.group_ids)), job.world.start + job.now_s
    return Sight(
        snapshot=dataclasses.replace(
            real,
            taken_at_s=now_s,
            busy_s=nothing,
            cpu_s=nothing,
            records=nothing,
            state_bytes=nothing,
            traffic_bytes=None,
            traffic_sent_bytes=None,
            read_bytes=None,
            remote_read_bytes=None,
            warmup_s=None,
            stages=(),
            series=None,
            rates=resting(now_s),
        ),
        awaiting=len(job.agent.places),
    )
