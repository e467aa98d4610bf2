"""Plans that wait for a person: what the hash speaks of, and when the plan is still the same."""

from __future__ import annotations

import dataclasses

import pytest
from small_models import flags, moved, placed
from worlds import even

from streamjob_operator.steps.approve import group_name, pend, revive
from streamjob_operator.steps.arrivals import Coming
from streamjob_operator.steps.resize import Resized
from streamjob_operator.values import Arrivals, Memory, PendingPlan, Reason, ScalingDecision
from streamjob_planners import what_if
from streamjob_planners.model import LoadModel

SEEN = even(3, 1, 10.0).observe(1000.0, 10.0)
PLACES = [0, 0, 1]
PLAN = [0, 1, 2]


def model(**changes: object) -> LoadModel:
    return placed([10.0] * 3, PLACES, nodes=3, **changes)


def resized(node_of: list[int] = PLAN, of: LoadModel | None = None, **changes: object) -> Resized:
    measured = of or model()
    decision = ScalingDecision(needed=3, target=3, reason=Reason.BALANCED, message="")
    plain = Resized(
        model=measured, plan=moved(measured, node_of, planner="albic"), decision=decision, wanted=3, marked=("2",)
    )
    return dataclasses.replace(plain, **changes)  # type: ignore[arg-type]


def growing(node_of: list[int]) -> Resized:
    """Two more executors are to come, nodes 3 and 4; only what is possible without them is carried out now."""
    extended = what_if.with_extra_nodes(model(), 2)
    now = [new if new < 3 else old for new, old in zip(node_of, PLACES, strict=True)]
    return resized(now, coming=Coming(model=extended, plan=moved(extended, node_of), executors=2))


def arriving(groups: tuple[int, ...], places: tuple[int, ...]) -> Arrivals:
    after = moved(model(), PLACES).after
    return Arrivals(executors=2, groups=groups, places=places, cost_s=(0.0,) * len(groups), after=after)


def pending(of: Resized | None = None, arrivals: Arrivals | None = None, generation: int = 4) -> PendingPlan:
    return pend(SEEN, Memory(generation=generation), of or resized(), arrivals)


def test_a_plan_waits_with_its_moves_by_name_and_its_executors() -> None:
    found = pending()
    assert found.moves == {"0/1": ("0", "1"), "0/2": ("1", "2")}
    assert (found.executors_wanted, found.marked) == (3, ("2",))
    assert (found.made_at_s, found.application_id) == (1000.0, "app-1")
    assert len(found.plan_hash) == 12


def test_moves_to_executors_that_are_to_come_wait_with_it() -> None:
    found = pending(growing([3, 1, 4]), arriving((0, 2), (1, 2)))
    assert found.moves == {"0/1": ("0", "1"), "0/0": ("0", "extra-1"), "0/2": ("1", "extra-2")}
    assert pending(growing([3, 1, 4])).moves == {"0/1": ("0", "1")}
    assert pending(resized(), arriving((0,), (1,))).moves == pending().moves


def test_the_same_plan_has_the_same_hash_and_any_other_another() -> None:
    assert pending() == pending()
    others = [
        pending(generation=5),
        pending(resized([0, 1, 1])),
        pending(resized(wanted=4)),
        pending(resized(marked=())),
        pend(dataclasses.replace(SEEN, application_id="app-2"), Memory(generation=4), resized(), None),
        pend(dataclasses.replace(SEEN, taken_at_s=1001.0), Memory(generation=4), resized(), None),
    ]
    assert len({pending().plan_hash, *(one.plan_hash for one in others)}) == 7


def test_it_is_the_same_plan_again_whatever_was_planned_since() -> None:
    again = revive(pending(), resized(PLACES))
    assert again is not None
    assert again.plan.node_of.tolist() == PLAN
    assert (again.plan.planner, again.plan.elapsed_s, again.coming) == ("albic", 0.0, None)


def test_with_executors_to_come_it_is_both_what_is_possible_now_and_what_is_not() -> None:
    waiting = pending(growing([3, 1, 4]), arriving((0, 2), (1, 2)))
    again = revive(waiting, growing([0, 0, 3]))
    assert again is not None
    assert again.plan.node_of.tolist() == [0, 1, 1]
    assert again.coming is not None
    assert again.coming.plan.node_of.tolist() == [3, 1, 4]
    assert (again.coming.executors, again.plan.elapsed_s, again.plan.planner) == (2, 0.0, "albic")
    gone = dataclasses.replace(waiting, moves={"0/0": ("0", "extra-9")})
    assert revive(gone, growing([0, 0, 3])) is None


@pytest.mark.parametrize(
    "move",
    [{"0/7": ("0", "1")}, {"0/1": ("9", "1")}, {"0/1": ("0", "9")}, {"0/1": ("1", "0")}],
    ids=["key group", "source", "target", "moved"],
)
def test_it_is_void_once_what_it_speaks_of_is_gone(move: dict[str, tuple[str, str]]) -> None:
    assert revive(dataclasses.replace(pending(), moves=move), resized(PLACES)) is None


def test_it_is_void_once_a_target_is_marked() -> None:
    assert revive(pending(), resized(PLACES, model(marked=flags(3, 2)))) is None
    assert revive(pending(), resized(PLACES, model(marked=flags(3, 0)))) is not None


def test_key_groups_are_named_by_their_query_where_there_are_several() -> None:
    assert group_name(model(), 1) == "0/1"
    assert group_name(model(queries={0: ("orders", 7)}), 1) == "orders:7/1"
    assert group_name(model(queries={5: ("orders", 7)}), 2) == "0/2"
