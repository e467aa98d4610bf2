"""How many executors are wanted where nobody of ours says it: as many as somebody else has made them.

With Off and Recommend no executor is asked for and none is taken away. What there was when the job was seen first would
count as wanted for ever, whatever it is started with since, and be carried out once scaling is turned on.
"""

from __future__ import annotations

import dataclasses

from streamjob_operator.spec import StreamJob
from streamjob_operator.steps.scale import fleet, overdue
from streamjob_operator.values import Memory, Snapshot


def followed(memory: Memory, snapshot: Snapshot, job: StreamJob, now_s: float) -> Memory:
    """What is kept, after `recall`: where more executors are there than were wanted, they are wanted.

    Fewer are, once the others are given up, where somebody else starts the driver: one of ours starts again with as
    many as are remembered.
    """
    there = fleet(snapshot, memory)
    if not job.resizes and there.ready > there.wanted:
        return _wanting(there.ready, memory)
    return as_found(memory, snapshot, job, now_s) if job.spec.application is None else memory


def as_found(memory: Memory, snapshot: Snapshot, job: StreamJob, now_s: float) -> Memory:
    """What is thought with: executors that have been missing for `executorTimeout` are not waited for any more."""
    there = fleet(snapshot, memory)
    given_up = not job.resizes and there.ready > 0 and overdue(there, memory, job, now_s)
    return _wanting(there.ready, memory) if given_up else memory


def _wanting(executors: int, memory: Memory) -> Memory:
    return dataclasses.replace(memory, executors_target=executors, target_since_s=None)
