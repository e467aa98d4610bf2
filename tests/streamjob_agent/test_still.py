"""Rounds that would find nothing are left out: what asks Spark for something, and what brings a round all the same."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from fake_bridge import APPLICATION, QUERY, FakeBridge, executor

from streamjob_agent import registration
from streamjob_agent.agent import Agent
from streamjob_agent.config import AgentConfig
from streamjob_agent.pacing import LONGEST_STILL_S, STILL_RATIO
from streamjob_agent.wire import Assignment, GroupKey


class Still:
    """An agent in the middle of a long batch, in which nothing has changed; its clock begins at 0."""

    def __init__(self) -> None:
        self.now_s = 0.0
        self.bridge = FakeBridge()
        self.agent = Agent(self.bridge, AgentConfig(poll_s=0.05), clock=lambda: self.now_s)
        self.agent.prepare()
        self.agent.turn()
        self.bridge.run_batch()
        self.agent.turn()
        self.agent._aside.wait(30.0)
        self.bridge.still = True

    def asked(self, turns: int = 1) -> set[str]:
        """What so many turns ask of Spark beside the wait."""
        before = len(self.bridge.calls)
        for _ in range(turns):
            self.agent.turn()
        self.agent._aside.wait(30.0)  # its readings are of this turn
        return {name for name, _ in self.bridge.calls[before:]} - {"wait_for_boundary", "changed", "wake"}

    def submit(self, **fields: object) -> str | None:
        assignment = Assignment(generation=1, application_id=APPLICATION, query_id=QUERY, **fields)  # type: ignore[arg-type]
        return self.agent.submit(assignment)


def broken() -> None:
    raise RuntimeError("not now")


def test_nothing_is_asked_of_spark_while_nothing_changes() -> None:
    assert Still().asked(turns=5) == set()


def test_a_batch_that_ends_is_looked_at() -> None:
    still = Still()
    still.bridge.run_batch()
    assert still.asked() >= {"look", "drain"}
    assert still.agent.status().queries[0].batch_id == 2
    assert still.asked() == set()


def test_what_changes_in_spark_is_looked_at() -> None:
    still = Still()
    still.bridge.alive["3"] = executor("3")
    still.bridge.still = False
    assert still.asked() >= {"look", "drain"}
    assert "3" in {one.executor_id for one in still.agent.status().executors}


def test_a_long_batch_is_looked_at_now_and_then() -> None:
    still = Still()
    still.now_s = LONGEST_STILL_S / 2
    assert still.asked() == set()
    still.now_s = LONGEST_STILL_S
    assert still.asked() >= {"look", "drain"}
    assert still.asked() == set()


def test_the_older_a_batch_is_the_more_seldom_it_is_looked_at_until_something_happens() -> None:
    still = Still()
    still.now_s = 1000.0
    assert still.asked() >= {"look", "drain"}
    still.now_s += 0.5 * STILL_RATIO * 1000.0
    assert still.asked() == set()
    still.now_s = 1000.0 + STILL_RATIO * 1000.0
    assert still.asked() >= {"look", "drain"}
    still.bridge.run_batch()
    still.asked()
    still.now_s += LONGEST_STILL_S
    assert still.asked() >= {"look", "drain"}


def test_a_query_that_waits_for_data_is_looked_at_as_often_as_in_a_young_batch() -> None:
    still = Still()
    still.bridge.idle = True
    still.now_s = 1000.0
    still.asked()
    still.now_s += LONGEST_STILL_S
    assert still.asked() >= {"look", "drain"}


def test_in_a_long_batch_key_groups_that_run_where_they_did_are_not_gone_through(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    still, stolen = Still(), GroupKey(operator=1, partition=4)
    home = still.bridge.registered[stolen]
    thief = next(name for name in still.bridge.alive if name != home)
    still.now_s = LONGEST_STILL_S
    still.asked()  # a look at all of them, which leaves them as they are
    monkeypatch.setattr(registration, "step", lambda *_: broken())
    before = {one.executor_id: one.groups for one in still.agent.status().executors}
    still.bridge.run_tasks({stolen: thief})
    still.now_s *= 2
    assert still.asked() >= {"look", "drain", "place"}
    status = still.agent.status()
    assert (status.queries[0].owners[1][4], status.errors_total) == (thief, 0)
    held = {one.executor_id: one.groups for one in status.executors}
    assert held == {**before, thief: before[thief] + 1}, "it is registered at home"
    still.bridge.run_tasks({stolen: home})
    still.asked()
    assert {one.executor_id: one.groups for one in still.agent.status().executors} == before
    assert still.agent.status().queries[0].owners[1][4] == home
    assert still.agent.guard.errors() == {}


def test_what_runs_for_the_first_time_need_not_be_waited_for_as_closely() -> None:
    bridge = FakeBridge()
    agent = Agent(bridge, AgentConfig(), clock=lambda: 0.0)
    agent.prepare()
    bridge.still = True
    agent.turn()
    agent.turn()
    bridge.run_tasks({GroupKey(operator=0, partition=0): "1"})
    bridge.still = False
    agent.turn()
    bridge.still = True
    agent.turn()
    assert bridge.called("wait_for_boundary") == [0.2, 0.2, 0.2, LONGEST_STILL_S]


def test_one_wait_is_as_long_as_nothing_is_under_way_and_an_assignment_ends_it() -> None:
    still = Still()
    still.asked()
    assert still.submit(owners=dict.fromkeys((0, 1), ("1",) * 6)) is None
    still.asked(turns=2)
    assert still.bridge.called("wait_for_boundary")[-3:] == [LONGEST_STILL_S, LONGEST_STILL_S, 0.05]
    assert len(still.bridge.called("wake")) == 1
    assert still.submit(owners=dict.fromkeys((0, 1), ("1",) * 6)) is None
    assert len(still.bridge.called("wake")) == 1, "it was taken already"


def test_an_assignment_is_taken_over_at_once_and_its_moves_are_followed() -> None:
    still = Still()
    assert still.submit(owners=dict.fromkeys((0, 1), ("1",) * 6)) is None
    assert still.asked() >= {"look", "drain"}
    assert still.agent.status().generation_applied == 1
    assert still.asked() >= {"look", "drain"}, "moves are under way"
    still.bridge.run_batch()
    assert "place" in still.asked()
    for _ in range(3):
        still.bridge.run_batch()
        still.agent.turn()
    assert set(still.bridge.ran.values()) == {"1"}
    assert still.asked() == set(), "they are done"


@pytest.mark.parametrize("method", ["look", "drain"])
def test_what_has_failed_is_tried_again(method: str) -> None:
    still = Still()
    still.bridge.faults[method] = broken
    still.bridge.run_batch()
    assert method in still.asked()
    assert method in still.asked()
    still.bridge.faults.clear()
    assert method in still.asked()
    assert still.asked() == set()


def _refuse(still: Still) -> None:
    still.bridge.faults["request_executors"] = broken


@pytest.mark.parametrize(
    ("fields", "prepare", "method"),
    [
        ({"executors_target": 4}, _refuse, "request_executors"),
        ({"marked_for_removal": ("2",)}, lambda still: still.bridge.faults.update(mark=broken), "mark"),
    ],
)
def test_what_spark_refuses_is_asked_for_again(
    fields: dict[str, object], prepare: Callable[[Still], None], method: str
) -> None:
    still = Still()
    prepare(still)
    assert still.submit(**fields) is None
    assert method in still.asked()
    still.bridge.faults.clear()
    assert method in still.asked(turns=3)
    assert still.asked() == set()


def test_an_executor_that_is_to_be_removed_is_until_it_is_empty() -> None:
    still = Still()
    rows = dict.fromkeys((0, 1), ("0", "1") * 3)
    assert still.submit(owners=rows, marked_for_removal=("2",)) is None
    for _ in range(4):
        still.bridge.run_batch()
        still.agent.turn()
    gone = Assignment(
        generation=2, application_id=APPLICATION, query_id=QUERY, marked_for_removal=("2",), remove=("2",), owners=rows
    )
    assert still.agent.submit(gone) is None
    assert "decommission" in still.asked()


def test_a_wait_that_fails_is_no_stillness() -> None:
    still = Still()
    still.bridge.faults["wait_for_boundary"] = broken
    assert still.asked() >= {"look", "drain"}


def test_a_bridge_that_cannot_tell_is_looked_at() -> None:
    still = Still()
    still.bridge.faults["changed"] = broken
    assert still.asked() >= {"look", "drain"}
