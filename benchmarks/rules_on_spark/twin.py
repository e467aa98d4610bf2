"""What the simulator says of a run before it is made: the same rates, the same policy, the same figures."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from typing import Any

import numpy as np
from benchmarks.event_log import Batch, Life
from benchmarks.looking import Looking
from benchmarks.rules_on_spark.course import LEAD_S, Course
from benchmarks.rules_on_spark.figures import curves, figures
from benchmarks.rules_on_spark.quick import rules
from benchmarks.rules_on_spark.shape import FASTER, KEY_GROUPS, MOST, OBJECTIVE_S, TRIGGER_S, policy
from benchmarks.rules_on_spark.systems import System

from streamjob_sim.score import Score
from streamjob_sim.simulate import job_of, simulate
from streamjob_sim.world import World

REST_S = 60.0
"""After the last row, for what waits then."""
SPARK_DYNAMIC = "spark-dynamic"
"""Our rendering of Spark's dynamic allocation, which stands for it in the simulator."""
FIXED_S, TASK_S, ROW_MS, NOISE, STARTUP_S, COLD_START_S = 0.37, 0.1, 2.15, 0.3, 3.0, 4.0
"""A batch's fixed part, a task's own time, that of a row (2 ms of it waits), what key groups vary by, an executor's
start, and what the first batch on it takes longer: by `taught`, between what two runs on `diurnal` say."""


def forecast(course: Course, system: System, seed: int) -> dict[str, Any]:
    """Figures and curves of a simulated run, as those of a real one are kept."""
    world = world_of(course, system)
    job = job_of(world)
    score = simulate(world, job, seed=seed, rule=lambda _: rules(system.rule or SPARK_DYNAMIC, FASTER), looking=Looking)
    batches, lives, span = _batches(score), _lives(score), (LEAD_S, course.ends_s)
    taken = sum(one.rows for one in batches)
    arrivals = [(float(at), min(int(rows), taken)) for at, rows in enumerate(score.arrived)]
    found = figures(batches, lives, arrivals, span, OBJECTIVE_S)
    return {**dataclasses.asdict(found), **dataclasses.asdict(curves(batches, lives, span))}


def world_of(course: Course, system: System) -> World:
    """The run on paper."""
    points = [{"at": _text(at_s), "rate": rate} for at_s, rate in zip(course.at_s, course.rate_rps, strict=True)]
    document = {
        "description": f"{course.name} on real Spark",
        "duration": _text(course.ends_s + REST_S),
        "operators": [
            {
                "name": "visits",
                "partitions": KEY_GROUPS,
                "recordsPerSlotSecond": 1000.0 / ROW_MS,
                "taskOverhead": _text(TASK_S),
                "skew": {"keys": 400, "exponent": 0.3},
            }
        ],
        "arrival": {
            "rate": float(course.rate_rps[0]),
            "points": [*points, {"at": _text(course.ends_s + 0.001), "rate": 0.0}],
        },
        "executors": {
            "initial": MOST,
            "cores": 1,
            "startup": _text(STARTUP_S),
            "coldFactor": 1,
            "coldStart": _text(COLD_START_S),
            "available": MOST,
        },
        "batch": {"trigger": _text(TRIGGER_S), "fixed": _text(FIXED_S), "noise": NOISE, "lag": _lag(system)},
        "policy": policy(system),
    }
    return World.model_validate_json(json.dumps(document))


def _lag(system: System) -> str:
    """KEDA looks at Kafka itself, the others at what Spark tells: what a batch left when it began."""
    return "atEnd" if system.rule == "keda" else "atBegin"


def _batches(score: Score) -> list[Batch]:
    taken = _whole([one.taken for one in score.batches])
    return [
        Batch(query="", number=at, began_s=one.started_s, took_s=one.end_s - one.started_s, rows=rows, state_rows=0)
        for at, (one, rows) in enumerate(zip(score.batches, taken, strict=True))
    ]


def _lives(score: Score) -> list[Life]:
    """But for those that are called off before they come."""
    return [
        Life(executor=str(at), from_s=one.ready_at_s, until_s=one.gone_at_s if np.isfinite(one.gone_at_s) else None)
        for at, one in enumerate(score.lives)
        if one.gone_at_s > one.ready_at_s
    ]


def _whole(taken: Sequence[float]) -> list[int]:
    """Whole rows whose sums are those of parts of rows, rounded down."""
    until = np.floor(np.cumsum(taken) + 1e-6).astype(int)
    return [int(one) for one in np.diff(until, prepend=0)]


def _text(seconds: float) -> str:
    return f"{round(1000 * seconds)}ms"
