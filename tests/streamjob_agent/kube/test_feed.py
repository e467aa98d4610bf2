"""Which maps reach the agent, and how often."""

from __future__ import annotations

from typing import Any

from streamjob_agent.kube.feed import Feed
from streamjob_agent.map_form import assignment_to_spec
from streamjob_agent.map_plan import plan_to_spec
from streamjob_agent.wire import Assignment


class Desk:
    def __init__(self) -> None:
        self.answer: str | None = None
        self.unknown: set[str] = set()
        self.queries: list[str] = []
        self.submitted: list[int] = []
        self.hints: list[int] = []
        self.feed = Feed(self.submit, lambda assignment: self.hints.append(assignment.generation))

    def submit(self, assignment: Assignment) -> str | None:
        self.submitted.append(assignment.generation)
        self.queries.append(assignment.query_id)
        return "UnknownQuery: not started yet" if assignment.query_id in self.unknown else self.answer

    def offer(self, generation: int, version: int, uid: str = "a", **spec: Any) -> None:
        whole = assignment_to_spec(Assignment(generation=generation, application_id="app", query_id="q"))
        self.feed.offer({"metadata": {"uid": uid, "generation": version}, "spec": {**whole, **spec}})


def test_each_new_spec_is_handed_over_once() -> None:
    desk = Desk()
    for generation, version in [(1, 2), (1, 2), (2, 3)]:
        desk.offer(generation, version)
    desk.feed.again()
    assert desk.submitted == [1, 2]


def test_an_older_answer_that_comes_late_is_skipped() -> None:
    desk = Desk()
    desk.offer(2, 3)
    desk.offer(1, 2)
    assert desk.submitted == [2]


def test_a_map_made_anew_is_handed_over_though_its_versions_start_again() -> None:
    desk = Desk()
    desk.offer(7, 9)
    desk.offer(1, 1, uid="b")
    assert desk.submitted == [7, 1]


def test_a_map_without_a_plan_asks_for_nothing() -> None:
    desk = Desk()
    desk.feed.offer({"metadata": {"uid": "a", "generation": 1}, "spec": {"generation": 0}})
    desk.feed.offer({"metadata": {"uid": "a", "generation": 2}})
    assert (desk.submitted, desk.hints, desk.feed.unreadable) == ([], [], None)


def test_what_is_refused_is_offered_again_until_it_is_taken() -> None:
    desk = Desk()
    desk.answer = "UnknownQuery: not started yet"
    desk.offer(1, 2)
    desk.feed.again()
    desk.answer = None
    desk.feed.again()
    desk.feed.again()
    assert desk.submitted == [1, 1, 1]


def test_a_newer_map_replaces_a_refused_one() -> None:
    desk = Desk()
    desk.answer = "StaleApplication: another driver"
    desk.offer(1, 2)
    desk.offer(2, 3)
    desk.feed.again()
    assert desk.submitted == [1, 2, 2]


def test_an_unreadable_map_is_told_and_not_handed_over() -> None:
    desk = Desk()
    desk.offer(1, 2, owners={"0": "z:junk"})
    assert desk.submitted == []
    assert desk.feed.unreadable is not None
    assert desk.feed.unreadable.startswith("Unreadable: owners, 0:")
    desk.offer(2, 3)
    assert (desk.feed.unreadable, desk.submitted) == (None, [2])


def test_an_unreadable_map_ends_the_wait_of_the_one_before() -> None:
    desk = Desk()
    desk.answer = "NotReady: no batch yet"
    desk.offer(1, 2)
    desk.offer(2, 3, form=2)
    desk.feed.again()
    assert desk.submitted == [1]


def test_only_the_first_plan_is_a_hint() -> None:
    desk = Desk()
    for generation in (3, 4):
        desk.offer(generation, generation)
    assert desk.hints == [3]


def several(generation: int) -> dict[str, Any]:
    plan = [Assignment(generation=generation, application_id="app", query_id=one) for one in ("q", "p", "o")]
    return {"metadata": {"uid": "a", "generation": generation}, "spec": plan_to_spec(plan)}


def test_each_query_gets_its_own_and_one_that_is_refused_keeps_no_other_waiting() -> None:
    desk = Desk()
    desk.unknown = {"p"}
    desk.feed.offer(several(4))
    assert (desk.queries, desk.hints) == (["q", "p", "o"], [4, 4, 4])
    assert desk.feed.refused == "UnknownQuery: not started yet"
    desk.feed.again()
    desk.unknown = set()
    desk.feed.again()
    desk.feed.again()
    assert desk.queries == ["q", "p", "o", "p", "p"]
    assert desk.feed.refused is None


def test_a_newer_plan_of_several_queries_replaces_what_is_left_of_the_one_before() -> None:
    desk = Desk()
    desk.unknown = {"q"}
    desk.feed.offer(several(4))
    desk.unknown = set()
    desk.feed.offer(several(5))
    desk.feed.again()
    assert (desk.submitted, desk.feed.refused) == ([4, 4, 4, 5, 5, 5], None)
