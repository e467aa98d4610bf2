"""What memory keeps from being made is told only where it would be made otherwise."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from small_models import moved, timed

from streamjob_operator.spec import Balancing
from streamjob_operator.steps.kept_back import kept_back
from streamjob_operator.steps.solve import Solver
from streamjob_operator.steps.worth_time import AT_EASE, Standing
from streamjob_planners.model import LoadModel, Plan, PlanParams, Resource

FULL = dataclasses.replace(
    timed([1.06, 1.0, 1.0, 0.94], [0, 0, 1, 1]),
    resources=(Resource(name="memory", use=np.full(4, 3e8), limit=np.full(2, 7e8)),),
)
"""Two key groups that change places make a batch of 2.06 s one of 2 s; neither executor has room for one more."""


class Swaps:
    """A planner that knows one plan."""

    name = "swaps"

    def solve(self, model: LoadModel, *_: object) -> Plan:
        assert model.resources == ()
        return moved(model, [0, 1, 1, 0])


@pytest.mark.parametrize(("standing", "told"), [(AT_EASE, True), (Standing(off=0.03), False)], ids=["sure", "off"])
def test_what_gains_less_than_predictions_can_tell_is_not_kept_back_by_memory(standing: Standing, told: bool) -> None:
    solver = Solver(planner=Swaps(), params=PlanParams(), rng=np.random.default_rng(0), clock=lambda: 0.0)
    found = kept_back(FULL, moved(FULL, [0, 0, 1, 1]), solver, Balancing(), standing)
    assert (found is not None) is told
    assert found is None or "executor 1 has room for 95.4 MiB of state" in found
