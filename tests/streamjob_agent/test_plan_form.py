"""Plans on the wire, and from the probe's text."""

from __future__ import annotations

import json

import pytest

from streamjob_agent.plan_form import (
    KeyColumn,
    PlanLink,
    PlanOperator,
    PlanShuffle,
    QueryPlan,
    plans_from_json,
    plans_to_json,
)
from streamjob_agent.spark.shape import read_plan
from streamjob_agent.wire import WireError

USER, PAGE = KeyColumn(number=0, name="user"), KeyColumn(number=1, name="page")
TEXT = """L\t0\t-1\t
O\t0\tStateStoreSaveExec\t4\t0=user
M\t0
X\t0\t0\t\t0=user
L\t1\t0\t0
O\t1\tStateStoreSaveExec\t4\t0=user\t1=page
M\t1
X\t1\t1\t\t0=user\t1=page
B\t2\t100\t400\t10\t2000000000\t500\t-1\t200\t1000\t20\t0\t0\t40
"""
PLAN = QueryPlan(
    query_id="q",
    name="views",
    batches=2,
    operators=(
        PlanOperator(operator=0, kind="StateStoreSaveExec", partitions=4, key=(USER,), state_bytes=50.0),
        PlanOperator(operator=1, kind="StateStoreSaveExec", partitions=4, key=(USER, PAGE), state_bytes=100.0),
    ),
    shuffles=(
        PlanShuffle(
            shuffle=0, operator=0, feeds=None, key=(USER,), size_bytes=200.0, records=5.0, write_s=1.0, wait_s=0.25
        ),
        PlanShuffle(
            shuffle=1,
            operator=1,
            feeds=None,
            key=(USER, PAGE),
            size_bytes=500.0,
            records=10.0,
            write_s=0.0,
            wait_s=0.0,
            rows_before_sums=20.0,
        ),
    ),
    links=(PlanLink(source=0, target=None, shuffle=None), PlanLink(source=1, target=0, shuffle=0)),
)


def test_the_probes_sums_become_means_in_the_order_of_its_lines() -> None:
    assert read_plan(TEXT, "q", "views") == PLAN


@pytest.mark.parametrize("text", ["", "B\t0\n"])
def test_there_is_no_plan_before_a_batch_has_ended(text) -> None:
    assert read_plan(text, "q", None) is None


def test_what_was_written_is_read() -> None:
    assert plans_from_json(plans_to_json([PLAN])) == (PLAN,)
    assert plans_from_json(plans_to_json([])) == ()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda d: d.update(version=7), "version: 7 given"),
        (lambda d: d.update(plans={}), "plans: '{}' given, a list"),
        (lambda d: d["plans"][0].update(links=[3]), "links: "),
        (lambda d: d["plans"][0]["shuffles"][0].update(size_bytes=-1), "size_bytes: '-1' given, a number of 0"),
        (lambda d: d["plans"][0]["shuffles"][0].update(shuffle=True), "shuffle: 'True' given"),
        (lambda d: d["plans"][0]["operators"][0].pop("kind"), "PlanOperator: .*kind"),
        (lambda d: d["plans"][0]["operators"][0].update(kind=["a"]), "kind: .* given, text is needed"),
        (lambda d: d["plans"][0]["operators"][0]["key"][0].update(name=7), "name: '7' given, text is needed"),
        (lambda d: d["plans"][0]["operators"][0]["key"][0].update(number=None), "number: 'None' given, a whole"),
        (lambda d: d["plans"][0].update(query_id=None), "query_id: 'None' given, text is needed"),
        (lambda d: d["plans"][0].update(name={}), "name: .* given, text, or null is needed"),
        (
            lambda d: d["plans"][0]["shuffles"][0].update(records=float("inf")),
            "records: 'inf' given, 1e.18 is the most",
        ),
        (lambda d: d["plans"][0]["shuffles"][0].update(records=float("nan")), "records: 'nan' given, a number"),
    ],
)
def test_anything_else_is_refused_with_the_field(change, said) -> None:
    document = json.loads(plans_to_json([PLAN]))
    change(document)
    with pytest.raises(WireError, match=said):
        plans_from_json(json.dumps(document))


def test_what_a_newer_agent_tells_beside_it_is_left_out() -> None:
    document = json.loads(plans_to_json([PLAN]))
    plan = document["plans"][0]
    for part in (plan, plan["operators"][0], plan["operators"][0]["key"][0], plan["shuffles"][0], plan["links"][0]):
        part["newer"] = [1]
    assert plans_from_json(json.dumps(document)) == (PLAN,)


def test_what_is_not_json_is_refused() -> None:
    with pytest.raises(WireError, match="plans: not JSON"):
        plans_from_json(b"{")
    with pytest.raises(WireError, match="version: 'list' given"):
        plans_from_json("[]")
