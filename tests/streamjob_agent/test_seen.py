"""What a round shows of where key groups are, beside the plain definition of it."""

from __future__ import annotations

from collections import Counter

from fake_bridge import QUERY, FakeBridge
from hypothesis import given
from hypothesis import strategies as st

from streamjob_agent.actuation import Actuation
from streamjob_agent.bridge import GroupUsage, Moments, Query, Usage
from streamjob_agent.guard import Guard
from streamjob_agent.ledger import Ledger
from streamjob_agent.memory import AssignmentMemory
from streamjob_agent.seen import homes_of, owner_rows
from streamjob_agent.spread import group_keys
from streamjob_agent.wire import GroupKey
from streamjob_agent.wish import Wish

KEYS = group_keys({0: 2, 3: 1})
OWNERS = st.dictionaries(st.sampled_from(KEYS), st.sampled_from("123"))
"""Executor 3 is gone."""


@given(OWNERS, st.none() | OWNERS, st.sets(st.sampled_from(KEYS)))
def test_a_home_is_where_the_newest_task_ran_unless_it_is_gone_or_obeys(
    observed: dict[GroupKey, str], other: dict[GroupKey, str] | None, obeying: set[GroupKey]
) -> None:
    registered = observed if other is None else other
    expected = {}
    for key, ran in observed.items():
        wanted = registered.get(key)
        goes = wanted is not None and wanted in "12" and (key in obeying or ran == "3")
        expected[key] = wanted if goes else ran
    assert homes_of(observed, registered, ("1", "2"), obeying) == expected


@given(OWNERS)
def test_rows_have_a_place_for_each_partition_of_the_plan(homes: dict[GroupKey, str]) -> None:
    query = Query(query_id="q", run_id="r", name=None, operators={3: 2, 0: 1}, trigger_interval_s=None)
    first, third = GroupKey(operator=0, partition=0), GroupKey(operator=3, partition=0)
    rows = owner_rows(query, homes)
    assert rows == {3: (homes.get(third), None), 0: (homes.get(first),)}
    assert list(rows) == [3, 0]


def usage_of(observed: dict[GroupKey, str]) -> Usage:
    """Tasks of the batch that runs, by key group."""
    none = {"tasks": 0, "first_tasks": 0, "busy_s": 0.0, "cpu_s": 0.0, "records": 0, "local_bytes": 0}
    moments = Moments(batches=0, squared_s2=0.0)
    groups = tuple(
        GroupUsage(key=key, executor_id=ran, counted_on="", moments=moments, remote_bytes=0, state_rows=None, **none)  # type: ignore[arg-type]
        for key, ran in observed.items()
    )
    return Usage(
        groups={QUERY: groups},
        batches=(),
        other_busy_s={},
        executor_busy_s={},
        failed_tasks=0,
        longest_stateful_stage_s=None,
    )


@given(OWNERS, st.none() | OWNERS)
def test_an_executor_holds_what_ran_there_last_and_what_is_registered_there(
    observed: dict[GroupKey, str], other: dict[GroupKey, str] | None
) -> None:
    registered = observed if other is None else other
    ledger = Ledger(1, 1)
    ledger.take(usage_of(observed))
    actuation = Actuation(FakeBridge(), Guard(), AssignmentMemory(None), failed_after=5)
    actuation.meet(frozenset([QUERY]))
    actuation.wishes[QUERY] = Wish(registered=registered)
    places = {(key, owner) for owners in (observed, registered) for key, owner in owners.items()}
    assert actuation.held(ledger, ()) == Counter(owner for _, owner in places)
