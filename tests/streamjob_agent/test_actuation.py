"""What is asked of Spark, how often and when no more; whole rounds are in test_agent.py."""

from __future__ import annotations

import pathlib
from collections.abc import Collection

import pytest
from fake_bridge import APPLICATION, QUERY, FakeBridge

from streamjob_agent.actuation import Actuation
from streamjob_agent.bridge import Query
from streamjob_agent.guard import Guard
from streamjob_agent.ledger import Ledger
from streamjob_agent.memory import AssignmentMemory
from streamjob_agent.wire import Assignment

MARKED = {"marked_for_removal": ("2",), "owners": dict.fromkeys((0, 1), ("0", "1") * 3)}
OTHER = Query(query_id="other", run_id="run", name=None, operators={0: 1}, trigger_interval_s=None)


class Rounds:
    """One query on executors 0, 1 and 2; a test says what happens in each round."""

    def __init__(self, folder: str | None = None) -> None:
        self.bridge = FakeBridge()
        self.ledger = Ledger(1, 1)
        self.actuation = Actuation(self.bridge, Guard(), AssignmentMemory(folder), failed_after=5)

    def adopt(self, **fields: object) -> None:
        assignment = Assignment(generation=1, application_id=APPLICATION, query_id=QUERY, **fields)  # type: ignore[arg-type]
        self.actuation.adopt(assignment, self.ledger)

    def act(self, ended: Collection[str] = ()) -> None:
        """A round in which the batches of these queries have ended."""
        scene = self.bridge.look()
        self.actuation.meet(frozenset(query.query_id for query in scene.queries))
        self.actuation.fleet.update(scene.executors)
        self.actuation.act(scene.queries, ended, self.ledger)

    def batches(self, count: int = 1) -> None:
        for _ in range(count):
            self.bridge.run_batch()
            self.ledger.take(self.bridge.drain())
            self.act((QUERY,))


@pytest.fixture
def rounds() -> Rounds:
    """A query that has run."""
    made = Rounds()
    made.act()
    made.batches()
    return made


@pytest.fixture
def drained(rounds: Rounds) -> Rounds:
    """A query that has left executor 2."""
    rounds.adopt(**MARKED)
    rounds.batches(2)
    assert "2" not in rounds.bridge.ran.values()
    return rounds


def refuse() -> None:
    raise RuntimeError("no quota")


def test_a_number_of_executors_that_is_refused_again_and_again_is_asked_for_after_64_rounds_at_last(
    rounds: Rounds,
) -> None:
    rounds.bridge.faults["request_executors"] = refuse
    rounds.adopt(executors_target=4)
    asked = []
    for number in range(265):
        rounds.act()
        asked += [number] * (len(rounds.bridge.called("request_executors")) - len(asked))
    assert asked == [0, 2, 5, 10, 19, 36, 69, 134, 199, 264]


def test_another_number_of_executors_is_asked_for_at_once(rounds: Rounds) -> None:
    rounds.bridge.faults["request_executors"] = refuse
    rounds.adopt(executors_target=4)
    for _ in range(7):
        rounds.act()
    rounds.adopt(executors_target=5)
    rounds.act()
    assert rounds.bridge.called("request_executors") == [4, 4, 4, 5]


def test_a_decommission_that_fails_is_tried_again_and_the_number_is_not_said_again_before(drained: Rounds) -> None:
    drained.bridge.faults["decommission"] = refuse
    drained.adopt(**MARKED, remove=("2",), executors_target=2)
    drained.batches(3)
    assert drained.bridge.called("decommission") == ["2"] * 3
    assert drained.bridge.called("request_executors") == [2]
    del drained.bridge.faults["decommission"]
    drained.batches(3)
    assert drained.bridge.called("decommission") == ["2"] * 4
    assert drained.bridge.called("request_executors") == [2, 2]


def test_marks_are_told_once(drained: Rounds) -> None:
    drained.batches(3)
    assert drained.bridge.called("mark") == [frozenset({"2"})]


def test_key_groups_that_ran_somewhere_are_held_there_before_anything_is_registered() -> None:
    rounds = Rounds()
    rounds.bridge.run_batch()
    rounds.ledger.take(rounds.bridge.drain())
    rounds.actuation.meet(frozenset({QUERY}))
    assert dict(rounds.actuation.held(rounds.ledger, ())) == {"0": 4, "1": 4, "2": 4}


def test_what_the_bridge_chose_by_itself_is_wanted_from_then_on(rounds: Rounds) -> None:
    key = next(key for key, owner in rounds.bridge.ran.items() if owner == "0")
    rounds.actuation.hear({QUERY: {key: "1"}})
    rounds.act()
    assert rounds.actuation.wishes[QUERY].registered[key] == "1"
    assert rounds.bridge.registered[key] == "1"


def test_what_the_bridge_chose_is_forgotten_with_its_query(rounds: Rounds) -> None:
    key = next(key for key, owner in rounds.bridge.ran.items() if owner == "0")
    rounds.actuation.hear({QUERY: {key: "1"}})
    rounds.actuation.forget(frozenset({QUERY}))
    rounds.act()
    assert rounds.actuation.wishes[QUERY].registered[key] == "0"


def test_a_query_that_was_measured_but_never_listed_can_be_forgotten(rounds: Rounds) -> None:
    rounds.actuation.forget(frozenset({"stateless", QUERY}))
    assert rounds.actuation.wishes == {}


def test_where_an_earlier_driver_had_its_queries_is_told_once_of_each(tmp_path: pathlib.Path) -> None:
    for query_id in (QUERY, "other"):
        last = Assignment(generation=1, application_id="app-0", query_id=query_id, owners={0: ("7",) * 6})
        AssignmentMemory(str(tmp_path)).save(last)
    rounds = Rounds(str(tmp_path))
    rounds.actuation.recall()
    rounds.act()
    told = [query_id for query_id, _ in rounds.bridge.called("remember")]  # type: ignore[misc]
    assert sorted(told) == ["other", QUERY]
