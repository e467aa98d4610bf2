"""What the demo shuffles, a kilobyte a second, is worth neither a move nor the time to plan for it."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from streamjob_operator.offline.snapshot_file import read_moment
from streamjob_operator.steps.estimate import estimate
from streamjob_operator.values import Memory, Snapshot
from streamjob_planners import registry
from streamjob_planners.albic.improved.planner import AlbicPlanner
from streamjob_planners.albic.settings import INNER
from streamjob_planners.model import Clock, LoadModel, MoveReason, Objective, Plan, PlanParams

DEMO = Path(__file__).parents[3] / "samples" / "snapshots" / "demo.json"
KILOBYTE_BPS = 1000.0


class CountingInner:
    """The solver that ALBIC balances with; each call of it is one step of a plan, and nearly all of its time."""

    name = "counting"

    def __init__(self) -> None:
        self.steps = 0

    def solve(self, model: LoadModel, params: PlanParams, rng: np.random.Generator, clock: Clock) -> Plan:
        self.steps += 1
        return registry.get(INNER).solve(model, params, rng, clock)


def _demo(sent_bps: float) -> Snapshot:
    """The demo's snapshot with so much sent from every key group of operator 1 to every one of operator 0."""
    seen = read_moment(DEMO).snapshot
    of_operator = np.array([one.operator for one in seen.group_ids])
    pairs = np.outer(of_operator == 1, of_operator == 0) * (sent_bps * seen.window_s / 64)
    return dataclasses.replace(seen, traffic_bytes=sparse.csr_array(pairs), traffic_sent_bytes=pairs.sum(axis=1))


def _solved(model: LoadModel, objective: Objective) -> tuple[Plan, int]:
    inner, params = CountingInner(), PlanParams(objective=objective, deadline_s=60.0, max_iterations=20_000)
    plan = AlbicPlanner(inner=inner).solve(model, params, np.random.default_rng(0), lambda: 0.0)
    return plan, inner.steps


@pytest.mark.parametrize("objective", list(Objective))
def test_a_kilobyte_a_second_takes_no_step_and_no_move(objective: Objective) -> None:
    plan, steps = _solved(estimate(_demo(KILOBYTE_BPS), Memory()).model, objective)
    without, least = _solved(estimate(_demo(0.0), Memory()).model, objective)
    assert (plan.node_of.tolist(), steps) == (without.node_of.tolist(), least)
    assert MoveReason.COLLOCATE not in {move.reason for move in plan.moves}
    assert steps == 1


@pytest.mark.parametrize("objective", list(Objective))
def test_where_nothing_else_is_to_be_done_it_takes_no_move_at_all(objective: Objective) -> None:
    model = estimate(_demo(KILOBYTE_BPS), Memory()).model
    done = dataclasses.replace(model, node_of=_solved(model, objective)[0].node_of)
    plan, steps = _solved(done, objective)
    assert len(plan.moves) == 0
    assert steps <= 1


def test_traffic_that_pays_is_planned_for() -> None:
    """The same snapshot with a hundred megabytes a second: the tests above could fail."""
    plan, steps = _solved(estimate(_demo(1e8), Memory()).model, Objective.BATCH_TIME)
    assert plan.before.collocation_factor is not None
    assert steps > 1
