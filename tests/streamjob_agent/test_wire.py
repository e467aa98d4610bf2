"""What one side writes the other reads, and anything else gets a sentence."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamjob_agent.packed import pack_owners, unpack_owners
from streamjob_agent.wire import (
    AgentStatus,
    Assignment,
    ExecutorStatus,
    GroupKey,
    Pace,
    QueryStatus,
    Risen,
    Unusual,
    WireError,
    assignment_from_json,
    assignment_to_json,
    status_from_json,
    status_to_json,
)

ids = st.integers(0, 2000).map(str)
rows = st.lists(st.none() | ids, max_size=40).map(tuple)
owner_maps = st.dictionaries(st.integers(0, 9), rows, max_size=3)
places = st.lists(st.none() | st.integers(1, 10_000), max_size=40).map(tuple)
place_maps = st.dictionaries(st.integers(0, 9), places, max_size=3)
keys = st.builds(GroupKey, operator=st.integers(0, 9), partition=st.integers(0, 999))
whole = st.integers(0, 2**53)
seconds = st.floats(0, 1e9)
assignments = st.builds(
    Assignment,
    generation=whole,
    application_id=st.text(max_size=20),
    query_id=st.text(max_size=20),
    executors_target=st.none() | st.integers(0, 10_000),
    marked_for_removal=st.lists(ids, max_size=3).map(tuple),
    remove=st.lists(ids, max_size=3).map(tuple),
    owners=owner_maps,
    arrivals=place_maps,
    known_executors=st.lists(ids, max_size=3).map(tuple),
    next_start=place_maps,
    move_order=st.lists(keys, max_size=5).map(tuple),
    move_cost_s=st.dictionaries(keys, seconds, max_size=5),
    pace=st.builds(
        Pace,
        max_moves=st.none() | whole,
        max_state_bytes=st.none() | whole,
        max_cost_s=st.none() | seconds,
    ),
)
executor_statuses = st.builds(
    ExecutorStatus,
    executor_id=ids,
    host=st.text(max_size=9),
    cores=st.integers(0, 10_000),
    state=st.sampled_from(["ready", "draining", "leaving", "dead"]),
    groups=whole,
)
query_statuses = st.builds(
    QueryStatus,
    query_id=st.text(max_size=9),
    run_id=st.text(max_size=9),
    name=st.none() | st.text(max_size=9),
    batch_id=st.none() | whole,
    owners=owner_maps,
    moves_pending=whole,
    moves_done=whole,
    moves_failed=whole,
    moves_awaiting=whole,
    arrived=st.lists(ids, max_size=3).map(tuple),
    unusual=st.none()
    | st.builds(Unusual, batch_id=whole, ended_at_s=seconds, seconds=seconds, low_s=seconds, high_s=seconds),
    risen=st.none() | st.builds(Risen, batch_id=whole, began_at_s=seconds, rows=whole, high_rows=whole),
)
statuses = st.builds(
    AgentStatus,
    agent_version=st.text(max_size=9),
    spark_version=st.text(max_size=9),
    application_id=st.text(max_size=9),
    now_s=seconds,
    actuation=st.sampled_from(["on", "off"]),
    reason=st.text(max_size=9),
    message=st.text(max_size=9),
    generation_applied=st.none() | whole,
    refused=st.none() | st.text(max_size=9),
    executors=st.lists(executor_statuses, max_size=3).map(tuple),
    queries=st.lists(query_statuses, max_size=2).map(tuple),
    self_test=st.dictionaries(st.text(max_size=5), st.text(max_size=5), max_size=2),
    errors_total=whole,
)


@settings(deadline=None)
@given(assignments)
def test_assignments_come_back_as_they_were(assignment: Assignment) -> None:
    assert assignment_from_json(assignment_to_json(assignment)) == assignment


@settings(deadline=None)
@given(statuses)
def test_statuses_come_back_as_they_were(status: AgentStatus) -> None:
    assert status_from_json(status_to_json(status)) == status


@given(rows)
def test_owners_come_back_as_they_were(row: tuple[str | None, ...]) -> None:
    assert unpack_owners(pack_owners(row)) == row


GOOD: dict[str, Any] = {"version": 1, "generation": 1, "application_id": "a", "query_id": "q"}
UNREADABLE = [
    ({"version": 2}, "version: 2 given, this side speaks 1"),
    ({"generation": "1"}, "generation: '1' given, a whole number of 0 or more is needed"),
    ({"generation": True}, "generation: 'True' given, a whole number of 0 or more is needed"),
    ({"generation": -1}, "generation: '-1' given, a whole number of 0 or more is needed"),
    ({"query_id": None}, "query_id: 'None' given, text is needed"),
    ({"colour": "red"}, "colour: there is no such field in Assignment"),
    ({"executors_target": 2.5}, "executors_target: '2.5' given, a whole number of 0 or more, or null is needed"),
    ({"marked_for_removal": "12"}, "marked_for_removal: '12' given, a list is needed"),
    ({"owners": ["0"]}, "owners: \"['0']\" given, an object is needed"),
    ({"owners": {"x": "0"}}, "owners: 'x': '0' given, an operator's number and text are needed"),
    ({"owners": {"0": 5}}, "owners: '0': '5' given, an operator's number and text are needed"),
    ({"owners": {"0": "1*x"}}, "owners: '1*x' is not an executor id, '-' or one of these with '*COUNT'"),
    ({"owners": {"0": "0*9999999"}}, "owners: more than 200000 key groups given at '0*9999999'"),
    ({"owners": {"0": "0*" + "9" * 5000}}, "owners: more than 200000 key groups given at"),
    ({"owners": {"0": "0*150000,1*150000"}}, "owners: more than 200000 key groups given at '1*150000'"),
    ({"arrivals": {"0": "0"}}, "arrivals: '0' given, a place of 1 to 10000 or '-' is needed"),
    ({"arrivals": {"0": "first"}}, "arrivals: 'first' given, a place of 1 to 10000 or '-' is needed"),
    ({"known_executors": [1]}, "known_executors, 0: '1' given, text is needed"),
    ({"move_order": ["0-1"]}, "key group: '0-1' is not OPERATOR/PARTITION, two whole numbers"),
    ({"move_order": [{}]}, "key group: '{}' is not OPERATOR/PARTITION, two whole numbers"),
    ({"move_cost_s": {"0/1": "much"}}, "move_cost_s, 0/1: 'much' given, a number of seconds of 0 or more is needed"),
    ({"pace": {"max_moves": -3}}, "pace, max_moves: '-3' given, a whole number of 0 or more, or null is needed"),
    ({"pace": {"speed": 3}}, "speed: there is no such field in Pace"),
]


@pytest.mark.parametrize(("fields", "sentence"), UNREADABLE, ids=lambda value: str(value)[:40])
def test_unreadable_assignments_get_a_sentence(fields: dict[str, Any], sentence: str) -> None:
    with pytest.raises(WireError) as caught:
        assignment_from_json(json.dumps({**GOOD, **fields}))
    assert str(caught.value).startswith(sentence)


@pytest.mark.parametrize("text", ["", "[]", "null", "{", '{"version":1}', b"\xff", "[" * 100_000, '{"version":NaN}'])
def test_what_is_no_assignment_gets_a_sentence(text: str | bytes) -> None:
    with pytest.raises(WireError):
        assignment_from_json(text)


@settings(deadline=None)
@given(st.text() | st.binary() | st.recursive(st.none() | st.integers() | st.text(), st.lists).map(json.dumps))
def test_nothing_but_a_wire_error_comes_out(text: str | bytes) -> None:
    with pytest.raises(WireError):
        assignment_from_json(text)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@settings(deadline=None, max_examples=300)
@given(st.sampled_from(sorted(Assignment.__dataclass_fields__)), json_values)
def test_a_field_of_any_kind_is_read_or_refused_with_a_wire_error(field: str, value: Any) -> None:
    try:
        assignment = assignment_from_json(json.dumps({**GOOD, field: value}))
    except WireError:
        return
    assert assignment_from_json(assignment_to_json(assignment)) == assignment


def test_a_hundred_thousand_key_groups_stay_below_etcds_limit() -> None:
    owners = {operator: tuple(str(p * 7 % 1000) for p in range(50_000)) for operator in (0, 1)}
    text = assignment_to_json(Assignment(generation=1, application_id="a", query_id="q", owners=owners))
    assert len(text) < 512 * 1024


REPORT: dict[str, Any] = {
    "version": 1,
    **dict.fromkeys(("agent_version", "spark_version", "application_id", "actuation", "reason", "message"), "a"),
    **{"now_s": 1.0, "generation_applied": None, "refused": None, "errors_total": 0},
    "executors": [{"executor_id": "0", "host": "h", "cores": 1, "state": "ready", "groups": 1}],
    "queries": [
        {"query_id": "q", "run_id": "r", "name": None, "batch_id": 1, "owners": {"0": "0"}, "moves_pending": 0}
    ],
}
WRONG: list[Any] = [[], {}, ["1"], True, -1, 1.5e300]


@pytest.mark.parametrize("wrong", WRONG, ids=map(repr, WRONG))
def test_no_field_of_a_status_may_be_of_another_kind(wrong: Any) -> None:
    """What is computed with it would end the cycle, in a sentence of Python's."""
    inner = [("executors", name) for name in REPORT["executors"][0]] + [
        ("queries", name) for name in REPORT["queries"][0]
    ]
    for name in REPORT:
        if name not in ("version", "executors", "queries"):
            with pytest.raises(WireError, match=name):
                status_from_json(json.dumps({**REPORT, name: wrong}))
    for place, name in inner:
        if (name, wrong) != ("owners", {}):
            with pytest.raises(WireError, match=name):
                status_from_json(json.dumps({**REPORT, place: [{**REPORT[place][0], name: wrong}]}))


def test_a_part_of_the_self_test_is_text() -> None:
    with pytest.raises(WireError, match="self_test, moves: "):
        status_from_json(json.dumps({**REPORT, "self_test": {"moves": ["ok"]}}))


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        (
            {"executors": [{**REPORT["executors"][0], "cores": 10**9}]},
            "executors, cores: '1000000000' given, 10000 is the most",
        ),
        (
            {"queries": [{**REPORT["queries"][0], "owners": {"1000": "0"}}]},
            "owners: operator '1000' given, 999 is the most",
        ),
    ],
)
def test_what_is_made_by_number_is_bounded(fields: dict[str, Any], sentence: str) -> None:
    """A table of as many slots or operators would fill the memory of whoever reads it."""
    with pytest.raises(WireError, match=sentence):
        status_from_json(json.dumps({**REPORT, **fields}))
