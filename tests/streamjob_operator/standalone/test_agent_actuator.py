import dataclasses
from collections.abc import Iterator

import numpy as np
import pytest
from fake_agent import FakeAgent, Server
from worlds import even

from streamjob_agent.wire import GroupKey
from streamjob_operator.agent_http.client import AgentClient, fixed_address
from streamjob_operator.ports import Stale, Unavailable
from streamjob_operator.standalone.agent_actuator import AgentActuator
from streamjob_operator.steps.estimate import estimate
from streamjob_operator.values import Memory, Reason, Snapshot, Verdict
from streamjob_planners import plans

MEMORY = Memory(generation=3)


def observed() -> Snapshot:
    world = even(2, 2, 10.0)
    return dataclasses.replace(world.observe(1000.0, 10.0), query_id="q")


def moving(snapshot: Snapshot) -> Verdict:
    """Group 0 from executor 0 to 1, and executor 0 is marked."""
    model = estimate(snapshot, MEMORY).model
    plan = plans.make_plan(model, np.array([1, 0, 1, 1]), planner="hold", elapsed_s=0.0)
    return Verdict(
        act=True,
        reason=Reason.DRAINING,
        message="",
        plan=plan,
        executors_target=2,
        marked_for_removal=("0",),
        remove=(),
    )


@pytest.fixture
def agent() -> FakeAgent:
    return FakeAgent(generation=3)


@pytest.fixture
def actuator(agent: FakeAgent) -> Iterator[AgentActuator]:
    with Server(agent) as address:
        yield AgentActuator(AgentClient(fixed_address(address)))


def test_the_verdict_arrives_whole(agent: FakeAgent, actuator: AgentActuator) -> None:
    snapshot = observed()
    receipt = actuator.actuate(snapshot, moving(snapshot), MEMORY)
    assert (receipt.accepted, receipt.generation) == (True, 4)
    (assignment,) = agent.assignments
    assert assignment.owners == {0: ("1", "0", "1", "1")}
    assert assignment.move_order == (GroupKey(operator=0, partition=0),)
    assert list(assignment.move_cost_s) == [GroupKey(operator=0, partition=0)]
    assert (assignment.executors_target, assignment.marked_for_removal, assignment.remove) == (2, ("0",), ())
    assert (assignment.application_id, assignment.query_id) == ("app-1", "q")


def test_groups_that_nobody_measured_stay_free(agent: FakeAgent, actuator: AgentActuator) -> None:
    agent.owners, agent.busy_s = [*agent.owners, "1"], [0.0] * 5
    snapshot = observed()
    actuator.actuate(snapshot, moving(snapshot), MEMORY)
    assert agent.assignments[0].owners == {0: ("1", "0", "1", "1", None)}


@pytest.mark.parametrize("change", [{"application": "app-2"}, {"generation": 9}])
def test_a_world_that_moved_on_is_not_touched(
    change: dict[str, object], agent: FakeAgent, actuator: AgentActuator
) -> None:
    for name, value in change.items():
        setattr(agent, name, value)
    snapshot = observed()
    with pytest.raises(Stale):
        actuator.actuate(snapshot, moving(snapshot), MEMORY)
    assert agent.assignments == []


def test_a_query_that_ended_is_not_touched(agent: FakeAgent, actuator: AgentActuator) -> None:
    snapshot = dataclasses.replace(observed(), query_id="another")
    with pytest.raises(Stale, match="does not run"):
        actuator.actuate(snapshot, moving(snapshot), MEMORY)


@pytest.mark.parametrize(
    ("sentence", "reason"),
    [
        ("StaleGeneration: older", Reason.PLAN_STALE),
        ("HoldsGroups: 3 left", Reason.PLAN_STALE),
        ("ActuationOff: self-test", Reason.ACTUATION_OFF),
        ("WrongShape: 4 owners", Reason.PLAN_REFUSED),
    ],
)
def test_a_refusal_is_a_receipt(sentence: str, reason: Reason, agent: FakeAgent, actuator: AgentActuator) -> None:
    agent.refusal = sentence
    snapshot = observed()
    receipt = actuator.actuate(snapshot, moving(snapshot), MEMORY)
    assert (receipt.accepted, receipt.generation, receipt.reason, receipt.message) == (False, None, reason, sentence)


def test_an_agent_that_does_not_answer_is_unavailable(agent: FakeAgent, actuator: AgentActuator) -> None:
    agent.status_code = 503
    snapshot = observed()
    with pytest.raises(Unavailable, match="answered 503"):
        actuator.actuate(snapshot, moving(snapshot), MEMORY)
