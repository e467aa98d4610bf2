"""What every scaling rule of the registry keeps, whatever it is made of."""

import json

import pytest
from situations import busy, situation_of
from worlds import job

from streamjob_operator.memory import from_json, to_json
from streamjob_operator.scaling import catalogue, registry
from streamjob_operator.steps.scale import ask
from streamjob_operator.values import Memory, RuleState

SMALL_BYTES = 16_384
POLICY = job(("up: 0s, down: 0s", "up: 0s, down: 15m"))

every_rule = pytest.mark.parametrize("name", registry.names())


def test_every_rule_has_its_words() -> None:
    assert set(catalogue.DESCRIPTIONS) == set(registry.names())


def test_an_unknown_rule_is_told_with_those_there_are() -> None:
    with pytest.raises(ValueError, match=r"there is no rule 'guess'; choose one of .*utilization"):
        registry.get("guess")


@every_rule
def test_it_goes_by_its_name_and_says_why(name: str) -> None:
    rule = registry.get(name)
    wish, _ = rule.decide(situation_of(busy(3, 60.0), policy=POLICY), None)
    assert rule.name == name
    assert wish.why
    assert not wish.why.endswith(".")
    assert wish.executors >= 0


@every_rule
def test_the_same_question_gets_the_same_answer(name: str) -> None:
    asked = situation_of(busy(3, 90.0), policy=POLICY)
    first, state = registry.get(name).decide(asked, None)
    again = [registry.get(name).decide(asked, None), registry.get(name).decide(asked, None)]
    assert again == [(first, state)] * 2


@every_rule
def test_its_state_survives_a_restart_and_stays_small(name: str) -> None:
    """The state that went through the memory's text gives the answers of the one that did not."""
    rule, kept, stored = registry.get(name), None, Memory()
    for cycle in range(400):
        at_s = 1000.0 + 10.0 * cycle
        asked = situation_of(busy(3, 20.0 + 7.0 * (cycle % 13), at_s), policy=POLICY)
        wish, kept = rule.decide(asked, kept)
        before = None if stored.scaling is None else stored.scaling.state
        other, state = registry.get(name).decide(asked, before)
        stored = from_json(to_json(Memory(scaling=RuleState(rule=name, state=state))))
        assert other == wish
    assert len(json.dumps(kept)) < SMALL_BYTES


@every_rule
def test_where_its_answer_waits_it_says_for_what(name: str) -> None:
    rule, state = registry.get(name), None
    for cycle in range(60):
        asked = situation_of(busy(3, (95.0, 20.0)[cycle >= 20], 1000.0 + 10.0 * cycle), policy=POLICY)
        wish, state = rule.decide(asked, state)
        assert wish.held or min(max(wish.needed, 1), 6) == min(max(wish.executors, 1), 6)


@every_rule
def test_a_state_that_it_cannot_read_is_begun_anew(name: str) -> None:
    asked = situation_of(busy(3, 60.0), policy=POLICY)
    rule = registry.get(name)
    assert rule.decide(asked, {"recommendations": 5, "wishes": "none"}) == rule.decide(asked, None)


def test_a_rule_is_handed_its_own_state_alone() -> None:
    class Counting:
        name = "counting"

        def decide(self, situation, state):
            count = 1 if state is None else state["count"] + 1
            return registry.get("utilization").decide(situation, None)[0], {"count": count}

    mine = Memory(scaling=RuleState(rule="counting", state={"count": 4}))
    others = Memory(scaling=RuleState(rule="utilization", state={"count": 4}))
    counts = [ask(Counting(), situation_of(busy(3, 60.0), memory=one))[1] for one in (mine, others, Memory())]
    assert [one.state["count"] for one in counts if one is not None] == [5, 1, 1]


def test_no_rule_has_a_say_while_somebody_else_sets_the_number() -> None:
    told = job(("{min: 1, max: 6}", "{min: 1, max: 6, replicas: 5}"))
    before = Memory(scaling=RuleState(rule="utilization", state={}))
    wish, state = ask(registry.get("utilization"), situation_of(busy(3, 60.0), policy=told, memory=before))
    assert (wish.executors, state) == (5, None)
