"""A PartitionMap's spec and status say what the wire says, and stay small."""

from __future__ import annotations

import base64
import dataclasses
import json
import random
import zlib
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamjob_agent.map_form import assignment_from_spec, assignment_to_spec, status_from_map, status_to_map
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
)

ids = st.integers(0, 2000).map(str)
owner_maps = st.dictionaries(st.integers(0, 9), st.lists(st.none() | ids, max_size=40).map(tuple), max_size=3)
places = st.lists(st.none() | st.integers(1, 10_000), max_size=40).map(tuple)
place_maps = st.dictionaries(st.integers(0, 9), places, max_size=3)
keys = st.builds(GroupKey, operator=st.integers(0, 9), partition=st.integers(0, 999))
whole = st.integers(0, 2**53)
three_digits = st.floats(0, 1e6).map(lambda cost: float(f"{cost:.3g}"))
texts = st.text(st.characters(codec="utf-8"), max_size=9)


@st.composite
def assignments(draw: st.DrawFn) -> Assignment:
    order = draw(st.lists(keys, max_size=12, unique=True).map(tuple))
    costed = draw(st.lists(st.sampled_from(order), unique=True)) if order else []
    return Assignment(
        generation=draw(whole),
        application_id=draw(texts),
        query_id=draw(texts),
        executors_target=draw(st.none() | st.integers(0, 10_000)),
        marked_for_removal=draw(st.lists(ids, max_size=3).map(tuple)),
        remove=draw(st.lists(ids, max_size=3).map(tuple)),
        owners=draw(owner_maps),
        arrivals=(arrivals := draw(place_maps)),
        known_executors=draw(st.lists(ids, max_size=3).map(tuple)) if arrivals else (),
        next_start=draw(place_maps),
        move_order=order,
        move_cost_s={key: draw(three_digits) for key in costed},
        pace=Pace(
            max_moves=draw(st.none() | whole),
            max_state_bytes=draw(st.none() | whole),
            max_cost_s=draw(st.none() | st.floats(0, 1e9)),
        ),
    )


seconds = st.floats(0, 1e9)
unusual = st.builds(Unusual, batch_id=whole, ended_at_s=seconds, seconds=seconds, low_s=seconds, high_s=seconds)
statuses = st.builds(
    AgentStatus,
    agent_version=texts,
    spark_version=texts,
    application_id=texts,
    now_s=st.floats(0, 1e12),
    actuation=st.sampled_from(["on", "off"]),
    reason=texts,
    message=texts,
    generation_applied=st.none() | whole,
    refused=st.none() | texts,
    executors=st.lists(
        st.builds(ExecutorStatus, executor_id=ids, host=texts, cores=st.integers(0, 10_000), state=texts, groups=whole),
        max_size=3,
    ).map(tuple),
    queries=st.lists(
        st.builds(
            QueryStatus,
            query_id=texts,
            run_id=texts,
            name=st.none() | texts,
            batch_id=st.none() | whole,
            owners=owner_maps,
            moves_pending=whole,
            moves_done=whole,
            moves_failed=whole,
            moves_awaiting=whole,
            arrived=st.lists(ids, max_size=3).map(tuple),
            unusual=st.none() | unusual,
            risen=st.none() | st.builds(Risen, batch_id=whole, began_at_s=seconds, rows=whole, high_rows=whole),
        ),
        max_size=2,
    ).map(tuple),
    self_test=st.dictionaries(texts, texts, max_size=2),
    errors_total=whole,
)


def through_etcd(fields: dict[str, Any]) -> dict[str, Any]:
    """What comes back from the API server: plain JSON, and nothing that was null."""
    text = json.dumps(fields)
    return json.loads(text, object_hook=lambda found: {name: one for name, one in found.items() if one is not None})


@settings(deadline=None)
@given(assignments())
def test_assignments_come_back_as_they_were(assignment: Assignment) -> None:
    assert assignment_from_spec(through_etcd(assignment_to_spec(assignment))) == assignment


@settings(deadline=None)
@given(statuses)
def test_statuses_come_back_as_they_were(status: AgentStatus) -> None:
    assert status_from_map(through_etcd(status_to_map(status))) == status


def test_the_text_is_as_documented() -> None:
    order = tuple(GroupKey(operator=operator, partition=partition) for operator, partition in [(0, 3), (0, 7), (1, 4)])
    costs = {order[0]: 0.03, order[1]: 0.0300001}
    spec = assignment_to_spec(
        Assignment(
            generation=4,
            application_id="a",
            query_id="q",
            owners={0: ("0", "0", None)},
            move_order=order,
            move_cost_s=costs,
        )
    )
    assert spec == {
        "generation": 4,
        "applicationId": "a",
        "queryId": "q",
        "markedForRemoval": [],
        "remove": [],
        "owners": {"0": "0*2,-"},
        "moveOrder": "0:3,7;1:4",
        "moveCostSeconds": "0.03*2,-",
    }


def test_a_cost_without_a_move_is_refused_and_not_dropped() -> None:
    stray = {GroupKey(operator=0, partition=9): 1.0}
    with pytest.raises(WireError, match="0/9 is not in move_order"):
        assignment_to_spec(Assignment(generation=1, application_id="a", query_id="q", move_cost_s=stray))


def zipped(data: bytes) -> str:
    return "z:" + base64.b64encode(data).decode()


GOOD: dict[str, Any] = {"generation": 1, "applicationId": "a", "queryId": "q"}
UNREADABLE: list[tuple[dict[str, Any], str]] = [
    ({"generation": "1"}, "generation: '1' given, a whole number of 0 or more is needed"),
    ({"form": 2}, "form: '2' given, this version of the agent reads 1"),
    ({"pace": 3}, "pace: '3' given, an object is needed"),
    ({"owners": ["0"]}, "owners: \"['0']\" given, an object is needed"),
    ({"owners": {"0": 5}}, "owners, 0: '5' given, text is needed"),
    ({"owners": {"x": "0"}}, "owners: 'x': '0' given, an operator's number and text are needed"),
    ({"owners": {"0": "z:é"}}, "owners, 0: text after 'z:' is not the base64 of a zlib stream"),
    ({"moveOrder": zipped(zlib.compress(b"0:1" + b",1" * 200_000))}, "moveOrder: more than 200000 key groups given"),
    (
        {"moveOrder": "0:1", "moveCostSeconds": zipped(zlib.compress(b"1" + b",1" * 200_000))},
        "moveCostSeconds: not one cost for each of the 1 key groups",
    ),
    ({"owners": {"0": "z:!"}}, "owners, 0: text after 'z:' is not the base64 of a zlib stream"),
    ({"owners": {"0": zipped(b"junk")}}, "owners, 0: text after 'z:' is not the base64 of a zlib stream"),
    ({"owners": {"0": zipped(zlib.compress(b"1,2")[:-3])}}, "owners, 0: text after 'z:' is cut off"),
    ({"owners": {"0": zipped(zlib.compress(bytes(2**25)))}}, "owners, 0: text after 'z:' is cut off, or longer"),
    (
        {"owners": {str(one): zipped(zlib.compress(b"0," * 2**20)) for one in range(3)}},
        "owners, 2: text after 'z:' is cut off, or longer",
    ),
    ({"arrivals": {"0": 5}}, "arrivals, 0: '5' given, text is needed"),
    ({"arrivals": {"0": "x"}}, "arrivals: 'x' given, a place of 1 to 10000 or '-' is needed"),
    ({"moveOrder": "0-1"}, "moveOrder: '0-1' is not OPERATOR:PARTITION,PARTITION,..."),
    ({"moveOrder": "0:1,"}, "moveOrder: '0:1,' is not OPERATOR:PARTITION,PARTITION,..."),
    ({"moveOrder": "0:1", "moveCostSeconds": "much"}, "moveCostSeconds: 'much' given, seconds or '-' are needed"),
    ({"moveOrder": "0:1", "moveCostSeconds": "1*x"}, "moveCostSeconds: '1*x' is not SECONDS, or SECONDS*COUNT"),
    ({"moveOrder": "0:1", "moveCostSeconds": "1*9"}, "moveCostSeconds: not one cost for each of the 1 key groups"),
    ({"moveOrder": "0:1", "moveCostSeconds": "-1"}, "move_cost_s, 0/1: '-1.0' given, a number of seconds of 0 or more"),
    ({"moveOrder": "0:1", "moveCostSeconds": "nan"}, "Assignment: not JSON: NaN is not a number"),
]


@pytest.mark.parametrize(("fields", "sentence"), UNREADABLE, ids=lambda value: str(value)[:40])
def test_unreadable_specs_get_a_sentence(fields: dict[str, Any], sentence: str) -> None:
    with pytest.raises(WireError) as caught:
        assignment_from_spec({**GOOD, **fields})
    assert str(caught.value).startswith(sentence)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@settings(deadline=None, max_examples=300)
@given(
    st.sampled_from(sorted(assignment_to_spec(Assignment(generation=1, application_id="a", query_id="q")))), json_values
)
def test_a_field_of_any_kind_is_read_or_refused_with_a_wire_error(field: str, value: Any) -> None:
    try:
        assignment_from_spec({**GOOD, field: value})
    except WireError:
        return


@settings(deadline=None, max_examples=300)
@given(st.sampled_from(["executors", "queries", "selfTest", "generationApplied", "reason"]), json_values)
def test_a_status_of_any_kind_is_read_or_refused_with_a_wire_error(field: str, value: Any) -> None:
    blank = status_to_map(dataclasses.replace(BIG_STATUS, executors=(), queries=()))
    try:
        status_from_map({**blank, field: value})
    except WireError:
        return


def test_an_empty_status_is_refused_with_a_wire_error() -> None:
    with pytest.raises(WireError):
        status_from_map({})


def test_fields_of_a_newer_agent_are_skipped() -> None:
    fields = status_to_map(BIG_STATUS)
    assert status_from_map({**fields, "mood": "good"}) == BIG_STATUS


CHANCE = random.Random(5)
ALL_KEYS = [GroupKey(operator=operator, partition=partition) for operator in (0, 1) for partition in range(50_000)]


def random_owners() -> dict[int, tuple[str, ...]]:
    return {operator: tuple(str(CHANCE.randrange(1000)) for _ in range(50_000)) for operator in (0, 1)}


BIG_ASSIGNMENT = Assignment(
    generation=12345,
    application_id="spark-application-1700000000000",
    query_id="5f4c0a52-1df5-4c3a-8f0b-7f6dd1c1f7aa",
    executors_target=1000,
    marked_for_removal=tuple(str(one) for one in range(500)),
    owners=random_owners(),
    move_order=tuple(CHANCE.sample(ALL_KEYS, len(ALL_KEYS))),
    move_cost_s={key: float(f"{CHANCE.uniform(0, 10):.3g}") for key in ALL_KEYS},
)
BIG_STATUS = AgentStatus(
    agent_version="0.1.0",
    spark_version="4.3.0",
    application_id="spark-application-1700000000000",
    now_s=1.7e9,
    actuation="on",
    reason="Ok",
    message="every check passed",
    generation_applied=12345,
    refused=None,
    executors=tuple(
        ExecutorStatus(
            executor_id=str(one), host=f"10.244.{one // 250}.{one % 250}", cores=4, state="ready", groups=100
        )
        for one in range(1000)
    ),
    queries=(
        QueryStatus(query_id="5f4c0a52", run_id="9d", name=None, batch_id=7, owners=random_owners(), moves_pending=9),
    ),
)


def test_a_hundred_thousand_key_groups_on_a_thousand_executors_fit_into_one_object() -> None:
    """Worst case: owners, order and costs without any pattern, every group moves. Measured: 1.15 MB of 1.57 MB."""
    spec, status = assignment_to_spec(BIG_ASSIGNMENT), status_to_map(BIG_STATUS)
    size = len(json.dumps({"spec": spec, "status": status}, separators=(",", ":")))
    assert size < 0.8 * 1.5 * 2**20
    assert assignment_from_spec(spec) == BIG_ASSIGNMENT
    assert status_from_map(status) == BIG_STATUS


def test_a_share_for_as_many_executors_again_fits_too() -> None:
    """1,000 executors to come get half of the key groups, without any pattern, in the worst case from above."""
    rows = {
        operator: tuple(CHANCE.randrange(1, 1001) if CHANCE.random() < 0.5 else None for _ in range(50_000))
        for operator in (0, 1)
    }
    known = tuple(str(one) for one in range(1000))
    large = dataclasses.replace(BIG_ASSIGNMENT, arrivals=rows, known_executors=known)
    spec, status = assignment_to_spec(large), status_to_map(BIG_STATUS)
    assert len(json.dumps({"spec": spec, "status": status}, separators=(",", ":"))) < 1.5 * 2**20
    assert assignment_from_spec(spec) == large


def test_a_usual_plan_is_far_smaller() -> None:
    owners = {operator: tuple(str(p % 1000) for p in range(50_000)) for operator in (0, 1)}
    moves = BIG_ASSIGNMENT.move_order[:2000]
    usual = dataclasses.replace(
        BIG_ASSIGNMENT,
        owners=owners,
        move_order=moves,
        move_cost_s={key: BIG_ASSIGNMENT.move_cost_s[key] for key in moves},
    )
    assert len(json.dumps(assignment_to_spec(usual))) < 64 * 1024
