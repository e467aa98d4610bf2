"""From a trace to the world that it was measured in."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from pydantic import BaseModel, ValidationError

from streamjob_operator.recording.trace import Stage, Trace
from streamjob_operator.recording.trace_file import MOST_SENTENCES, TraceError
from streamjob_operator.spec import StreamJob
from streamjob_operator.spec.sentences import sentences
from streamjob_sim.shapes import Arrival, Skew, Step
from streamjob_sim.world import COLD_JVM, Batch, Fleet, Operator, Placement, Policy, World

BACK_TO_BACK_S = 1.0
"""Trigger interval of a job without one: batches follow each other at once, those that take less wait so long."""
NOTHING_RPS = 1e12
"""Rows of a slot second where rows take no time."""
_PARTS: dict[str, type[BaseModel]] = {one.__name__: one for one in (Arrival, Batch, Fleet, Operator, Skew, Step)}
STARTUP_S = 60.0
"""Time from asking for an executor to its being ready, where nobody tells."""


def world_of(trace: Trace, job: StreamJob, *, startup_s: float = STARTUP_S, alike: bool = True) -> World:
    """The world of a trace under a job's policy: the same rows at the same times, batches made of the same work.

    It begins with as many executors as were there, or as the first rate keeps busy to the policy's target, within its
    bounds. Stages of one level are one operator. Chance is left out: tasks take their means. `alike`: see Batch.

    Raises TraceError where what was measured, or `startup_s`, is beyond what a world may have.
    """
    try:
        return _world_of(trace, job, startup_s, alike=alike)
    except ValidationError as error:
        said = sentences(error, _PARTS.get(error.title, World))[:MOST_SENTENCES]
        raise TraceError(tuple(f"This trace cannot be simulated: {one}" for one in said)) from error


def _world_of(trace: Trace, job: StreamJob, startup_s: float, *, alike: bool) -> World:
    batches = trace.batches
    source_row_s = sum(one.row_seconds for one in batches.stages if one.tasks is None)
    source_fixed_s = sum(one.fixed_seconds for one in batches.stages if one.tasks is None)
    bounds, initial = job.spec.executors, _initial(trace, job)
    # As in a file: durations are text there.
    fleet = {
        "initial": initial,
        "cores": batches.slots,
        "startup": _text(startup_s),
        "placement": Placement.EVEN,
        **COLD_JVM,
    }
    batch = {
        "trigger": _text(batches.trigger_seconds or BACK_TO_BACK_S),
        "fixed": _text(batches.fixed_seconds + source_fixed_s / (batches.slots * initial)),
        "source_records_per_slot_second": 1.0 / source_row_s if source_row_s > 0 else None,
        "lag": "atEnd" if trace.lag is not None else "untold",
        "alike": alike,
    }
    policy = Policy(executors=bounds, balancing=job.spec.balancing, scaling=job.spec.scaling, metrics=job.spec.metrics)
    return World.model_validate(
        {
            "description": f"Replay of {trace.job}",
            "duration": _text(trace.duration_s),
            "start": trace.start,
            "operators": tuple(_operator(level, stages) for level, stages in _by_level(trace).items()),
            "arrival": _arrival(trace),
            "executors": Fleet.model_validate(fleet),
            "batch": Batch.model_validate(batch),
            "policy": policy,
        }
    )


def _initial(trace: Trace, job: StreamJob) -> int:
    bounds, batches = job.spec.executors, trace.batches
    busy = trace.known_rates()[0] * sum(one.row_seconds for one in batches.stages)
    by_rate = math.ceil(100.0 * busy / batches.slots / job.spec.scaling.target_utilization)
    there = next((one for one in trace.executors or () if one), by_rate)
    return min(max(there, bounds.min), bounds.max)


def _text(seconds: float) -> str:
    return f"{seconds:.6f}s"


def _by_level(trace: Trace) -> dict[int, list[Stage]]:
    found: dict[int, list[Stage]] = {}
    for stage in sorted(trace.batches.stages, key=lambda one: one.level):
        if stage.tasks is not None:
            found.setdefault(stage.level, []).append(stage)
    return found


def _operator(level: int, stages: Sequence[Stage]) -> Operator:
    tasks = sum(one.tasks or 0 for one in stages)
    row_s = sum(one.row_seconds for one in stages)
    shares = np.concatenate([_shares(one) * max(one.row_seconds, 1e-15) for one in stages])
    return Operator.model_validate(
        {
            "name": f"stage {level + 1}",
            "partitions": tasks,
            "records_per_slot_second": 1.0 / row_s if row_s > 0 else NOTHING_RPS,
            "taskOverhead": _text(sum(one.fixed_seconds for one in stages) / tasks),
            "record_bytes": 0.0,
            "skew": Skew(shares=tuple((shares / shares.sum()).tolist())),
        }
    )


def _shares(stage: Stage) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    share = np.array(stage.shares or (1.0,) * (stage.tasks or 1), dtype=np.float64)
    return np.asarray(share / share.sum())


def _arrival(trace: Trace) -> Arrival:
    rates = trace.known_rates()
    changes = [at for at in range(1, len(rates)) if not math.isclose(rates[at], rates[at - 1], rel_tol=1e-9)]
    steps = tuple(Step.model_validate({"at": _text(at * trace.step_seconds), "rate": rates[at]}) for at in changes)
    return Arrival(rate=rates[0], steps=steps)
