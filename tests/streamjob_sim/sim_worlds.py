"""Small worlds, in the words of a world file."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

import yaml

from streamjob_sim.reading import parse_world
from streamjob_sim.score import Score
from streamjob_sim.simulate import job_of, simulate
from streamjob_sim.world import World

BASE: dict[str, Any] = {
    "duration": "30m",
    "operators": [{"name": "count", "partitions": 32, "recordsPerSlotSecond": 1000, "state": {"initial": "1Mi"}}],
    "arrival": {"rate": 4000},
    "executors": {"initial": 4, "cores": 2, "startup": "30s"},
    "batch": {"trigger": "10s", "fixed": "200ms"},
    "policy": {
        "executors": {"min": 4, "max": 4},
        "balancing": {
            "mode": "Auto",
            "statisticsPeriod": "60s",
            "planDeadline": "300ms",
            "maxIterations": 20000,
            "migrationBudget": {"maxCost": "5s"},
        },
    },
}
ELASTIC = {"executors": {"min": 1, "max": 8}, "scaling": {"mode": "Auto", "stabilization": {"up": "0s", "down": "3m"}}}
HOT = {"keys": 2000, "exponent": 0.8, "hotPartitions": 2, "hotShare": 0.1}


def world(changes: Mapping[str, Any] | None = None) -> World:
    """The base world with changes merged into its maps."""
    return parse_world(yaml.safe_dump(merged(BASE, changes or {})))


def merged(base: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    result = copy.deepcopy(dict(base))
    for name, change in changes.items():
        inner = result.get(name)
        result[name] = merged(inner, change) if isinstance(inner, dict) and isinstance(change, dict) else change
    return result


def elastic(rule: str) -> dict[str, Any]:
    """The elastic policy under a scaling rule."""
    return merged(ELASTIC, {"scaling": {"rule": rule}})


def operators(*specs: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Operators like the base one, each with changes."""
    return [merged(BASE["operators"][0], spec) for spec in specs]


def run(changes: Mapping[str, Any] | None = None, planner: str = "search", seed: int = 1) -> Score:
    """The score of a planner in the changed base world."""
    # Steps limit every planner but milp, so that a busy machine changes nothing: the others have time.
    patient = {} if planner == "milp" else {"policy": {"balancing": {"planDeadline": "20s"}}}
    given = world(merged(patient, changes or {}))
    return simulate(given, job_of(given), planner, seed)


def near_bound(score: Score, within: float = 1.1) -> bool:
    """Whether batches are about as short as can be, at the last plan: within a tenth of what is proven."""
    plans = [turn.record.verdict.plan for turn in score.turns if turn.record is not None]
    last = next(plan for plan in reversed(plans) if plan is not None)
    assert last.before.batch_s is not None
    assert last.batch_bound_s is not None
    return last.before.batch_s <= within * last.batch_bound_s
