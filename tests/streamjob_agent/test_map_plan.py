"""Several queries of one driver in one PartitionMap: each gets its own, what is the driver's stands once."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamjob_agent.map_form import assignment_from_spec
from streamjob_agent.map_plan import MOST_OTHERS, plan_from_spec, plan_to_spec, unknown_fields
from streamjob_agent.wire import Assignment, GroupKey, Pace, WireError

KEY = GroupKey(operator=0, partition=1)
LEAD = Assignment(
    generation=4,
    application_id="a",
    query_id="clicks",
    executors_target=3,
    marked_for_removal=("2",),
    owners={0: ("0", "1", None)},
    move_order=(KEY,),
    move_cost_s={KEY: 0.5},
    pace=Pace(max_cost_s=0.2),
)
OTHER = dataclasses.replace(
    LEAD,
    query_id="orders",
    owners={0: ("1",)},
    arrivals={0: (1,)},
    known_executors=("0", "1", "2"),
    next_start={0: (2,)},
    move_order=(),
    move_cost_s={},
    pace=Pace(max_cost_s=0.7),
)


def test_what_is_the_drivers_stands_once() -> None:
    spec = plan_to_spec([LEAD, OTHER])
    assert spec["otherQueries"] == [
        {
            "queryId": "orders",
            "owners": {"0": "1"},
            "arrivals": {"0": "1"},
            "nextStart": {"0": "2"},
            "moveOrder": "",
            "moveCostSeconds": "",
            "pace": {"maxCostSeconds": 0.7},
        }
    ]
    assert (spec["generation"], spec["markedForRemoval"], spec["knownExecutors"]) == (4, ["2"], ["0", "1", "2"])
    assert plan_from_spec(json.loads(json.dumps(spec))) == (LEAD, OTHER)


def test_one_query_is_written_as_ever_and_an_agent_of_one_query_reads_the_leading_one() -> None:
    assert "otherQueries" not in plan_to_spec([LEAD])
    assert (
        assignment_from_spec(plan_to_spec([LEAD, dataclasses.replace(OTHER, arrivals={}, known_executors=())])) == LEAD
    )


@settings(deadline=None)
@given(st.lists(st.sampled_from("abcdefgh"), min_size=1, unique=True), st.data())
def test_plans_come_back_as_they_were(names: list[str], data: st.DataObject) -> None:
    kinds = [data.draw(st.sampled_from([LEAD, OTHER])) for _ in names]
    plan = tuple(dataclasses.replace(kind, query_id=name) for name, kind in zip(names, kinds, strict=True))
    assert plan_from_spec(json.loads(json.dumps(plan_to_spec(plan)))) == plan


@pytest.mark.parametrize("more", [{"generation": 5}, {"marked_for_removal": ()}, {"executors_target": None}])
def test_queries_that_say_different_things_of_the_driver_are_not_written(more: dict[str, Any]) -> None:
    with pytest.raises(WireError, match="otherQueries: orders says another thing of generation or executors"):
        plan_to_spec([LEAD, dataclasses.replace(OTHER, **more)])


UNREADABLE: list[tuple[Any, str]] = [
    ("orders", "otherQueries: 'orders' given, a list of at most 63 objects is needed"),
    (["orders"], "otherQueries: 'orders' given, an object is needed"),
    ([{"queryId": str(one)} for one in range(MOST_OTHERS + 1)], "otherQueries: \"[{'queryId': '0'}"),
    ([{"owners": {"0": "1"}}], "otherQueries, 0: query_id: absent, Assignment needs it"),
    ([{"queryId": "orders", "owners": {"0": 5}}], "otherQueries, 0: owners, 0: '5' given, text is needed"),
    ([{"queryId": "orders"}, {"queryId": "orders"}], "otherQueries: 1 of 3 queries are named twice"),
    ([{"queryId": str(one), "owners": {"0": "1*150000"}} for one in range(2)], "otherQueries: more than 200000 key"),
]


@pytest.mark.parametrize(("others", "sentence"), UNREADABLE, ids=[sentence[:40] for _, sentence in UNREADABLE])
def test_unreadable_queries_get_a_sentence(others: Any, sentence: str) -> None:
    with pytest.raises(WireError) as caught:
        plan_from_spec({**plan_to_spec([LEAD]), "otherQueries": others})
    assert str(caught.value).startswith(sentence)


def test_fields_of_a_newer_operator_are_left_out_and_named() -> None:
    spec = plan_to_spec([LEAD, OTHER])
    own = {**spec["otherQueries"][0], "mood": "good", "pace": {"maxCostSeconds": 0.7, "maxHaste": 1}}
    later = {**spec, "weather": "fine", "otherQueries": [own]}
    assert plan_from_spec(later) == (LEAD, OTHER)
    assert unknown_fields(later) == ("otherQueries.mood", "otherQueries.pace.maxHaste", "weather")


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@settings(deadline=None, max_examples=200)
@given(st.sampled_from([None, "queryId", "owners", "arrivals", "moveOrder", "moveCostSeconds", "pace"]), json_values)
def test_queries_of_any_kind_are_read_or_refused_with_a_wire_error(field: str | None, value: Any) -> None:
    others = value if field is None else [{"queryId": "orders", field: value}]
    try:
        plan_from_spec({**plan_to_spec([LEAD]), "otherQueries": others})
    except WireError:
        return
    unknown_fields({"otherQueries": others})
