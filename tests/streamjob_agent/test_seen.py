"""What a round shows of where key groups are, beside the plain definition of it."""

from __future__ import annotations

from collections import Counter

from fake_bridge import QUERY, FakeBridge
from hypothesis import given
from hypothesis import strategies as st

from streamjob_agent.actuation import Actuation
from streamjob_agent.bridge import GroupUsage, Moments, Usage
from streamjob_agent.guard import Guard
from streamjob_agent.ledger import Ledger
from streamjob_agent.memory import AssignmentMemory
from streamjob_agent.seen import rehomed
from streamjob_agent.spread import group_keys
from streamjob_agent.wire import GroupKey
from streamjob_agent.wish import Wish

KEYS = group_keys({0: 2, 3: 1})
OWNERS = st.dictionaries(st.sampled_from(KEYS), st.sampled_from("123"))
"""Executor 3 is gone."""


@given(OWNERS, st.none() | OWNERS, st.sets(st.sampled_from(KEYS)))
def test_a_group_is_shown_where_its_newest_task_ran_unless_that_is_gone_or_it_obeys(
    observed: dict[GroupKey, str], other: dict[GroupKey, str] | None, obeying: set[GroupKey]
) -> None:
    registered = observed if other is None else other
    apart = {key: ran for key, ran in observed.items() if registered.get(key) != ran}
    expected = {}
    for key, ran in apart.items():
        wanted = registered.get(key)
        if wanted is not None and wanted in "12" and (key in obeying or ran == "3"):
            expected[key] = wanted
    assert rehomed(apart, registered, ("1", "2"), obeying) == expected


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
