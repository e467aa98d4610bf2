"""A query waits for data when it is seen to rest between batches, and is in a batch when it is not for long."""

from __future__ import annotations

from fake_bridge import QUERY, FakeBridge

from streamjob_agent import metric_names
from streamjob_agent.agent import Agent
from streamjob_agent.bridge import Query
from streamjob_agent.config import AgentConfig
from streamjob_agent.exporter import Exporter
from streamjob_agent.rests import Rests


def query(*, idle: bool) -> Query:
    return Query(query_id="q", run_id="r", name=None, operators={0: 1}, trigger_interval_s=None, idle=idle)


def test_a_query_that_is_often_just_looking_for_data_waits_all_the_same() -> None:
    now = [0.0]
    rests = Rests(lambda: now[0])
    assert rests.look([query(idle=False)], ()) == frozenset()
    for at_s, idle, waits in ((1.0, True, True), (11.0, False, True), (11.25, False, False)):
        now[0] = at_s
        assert (rests.look([query(idle=idle)], ()) == {"q"}) is waits


def test_a_rest_before_a_batch_says_nothing_after_it() -> None:
    rests = Rests(lambda: 0.0)
    rests.look([query(idle=True)], ())
    assert rests.look([query(idle=False)], {"q"}) == frozenset()
    assert rests.look([query(idle=True)], {"q"}) == {"q"}
    assert rests.look([], ()) == frozenset()


def test_the_page_tells_since_when_and_owners_are_those_of_the_next_batch() -> None:
    bridge = FakeBridge()
    agent = Agent(bridge, AgentConfig())
    agent.prepare()
    agent.round()
    bridge.run_batch()
    agent.round()
    series = f'{metric_names.QUERY_IDLE_SINCE}{{query="{QUERY}"}}'
    assert series not in Exporter(agent.facts).page().decode()
    bridge.idle = True
    agent.round()
    assert series in Exporter(agent.facts).page().decode()
