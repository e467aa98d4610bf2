"""What memory keeps from being made is told only where it would be made otherwise, whether or not a part is made."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from small_models import moved, timed

from streamjob_operator.spec import Balancing
from streamjob_operator.steps.kept_back import kept_back
from streamjob_operator.steps.solve import Solver
from streamjob_operator.steps.worth_time import AT_EASE, Standing
from streamjob_operator.values import Hold, Reason
from streamjob_planners.model import LoadModel, Plan, PlanParams, Resource

FULL = dataclasses.replace(
    timed([1.06, 1.0, 1.0, 0.94], [0, 0, 1, 1]),
    resources=(Resource(name="memory", use=np.full(4, 3e8), limit=np.full(2, 7e8)),),
)
"""Two key groups that change places make a batch of 2.06 s one of 2 s; neither executor has room for one more."""


PART = dataclasses.replace(
    timed([2.0, 2.0, 2.0, 2.0], [0, 0, 0, 0]),
    resources=(Resource(name="memory", use=np.full(4, 3e8), limit=np.array([20e8, 4e8])),),
)
"""Four key groups make a batch of 8 s: an empty executor has room for one of them, so 6 s, where two would make 4 s."""
MADE = moved(PART, [0, 0, 0, 1])


@dataclasses.dataclass(frozen=True)
class Knows:
    """A planner that knows one plan."""

    node_of: tuple[int, ...]
    name = "knows"

    def solve(self, model: LoadModel, *_: object) -> Plan:
        assert model.resources == ()
        return moved(model, self.node_of)


class Fails:
    """A planner that has no plan but the one that was made before."""

    name = "fails"

    def solve(self, *_: object) -> Plan:
        raise Hold(Reason.PLANNER_OVERRAN, "It took too long.")


def solver(planner: Knows | Fails) -> Solver:
    return Solver(planner=planner, params=PlanParams(), rng=np.random.default_rng(0), clock=lambda: 0.0)


@pytest.mark.parametrize(("standing", "told"), [(AT_EASE, True), (Standing(off=0.03), False)], ids=["sure", "off"])
def test_what_gains_less_than_predictions_can_tell_is_not_kept_back_by_memory(standing: Standing, told: bool) -> None:
    found = kept_back(FULL, moved(FULL, [0, 0, 1, 1]), solver(Knows((0, 1, 1, 0))), Balancing(), standing)
    assert (found is not None) is told
    assert found is None or "executor 1 has room for 95.4 MiB of state" in found


def test_a_plan_that_is_made_in_part_tells_what_the_rest_would_need() -> None:
    found = kept_back(PART, MADE, solver(Knows((0, 0, 1, 1))), Balancing())
    assert found is not None
    assert found.startswith("More is kept back by memory: executor 1 has room for 95.4 MiB of state then, key group 2")


@pytest.mark.parametrize(
    ("planner", "standing"),
    [
        (Knows((0, 0, 0, 1)), AT_EASE),  # without limits it would be the same
        (Knows((0, 0, 1, 0)), AT_EASE),  # another one, no better
        (Knows((0, 0, 1, 1)), Standing(behind=True)),  # rows wait, and so would the moves
        (Fails(), AT_EASE),  # what could be told is no reason to hold a plan
    ],
    ids=["the same", "no better", "behind", "fails"],
)
def test_a_plan_that_is_made_says_nothing_of_memory(planner: Knows | Fails, standing: Standing) -> None:
    assert kept_back(PART, MADE, solver(planner), Balancing(), standing) is None


def test_a_planner_that_fails_is_told_where_nothing_is_made() -> None:
    with pytest.raises(Hold):
        kept_back(FULL, moved(FULL, [0, 0, 1, 1]), solver(Fails()), Balancing())
