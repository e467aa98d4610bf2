"""What is left of a query that has ended: nothing that holds an executor, and no more than a few are remembered."""

from __future__ import annotations

from fake_bridge import APPLICATION, QUERY, FakeBridge

from streamjob_agent.agent import Agent
from streamjob_agent.config import AgentConfig
from streamjob_agent.lives import Lives
from streamjob_agent.wire import Assignment, GroupKey


def started(bridge: FakeBridge) -> Agent:
    agent = Agent(bridge, AgentConfig())
    agent.prepare()
    agent.round()
    return agent


def batch(bridge: FakeBridge, agent: Agent) -> None:
    bridge.run_batch()
    agent.round()


def drain(generation: int, *, remove: bool) -> Assignment:
    return Assignment(
        generation=generation,
        application_id=APPLICATION,
        query_id=QUERY,
        marked_for_removal=("2",),
        remove=("2",) if remove else (),
        owners=dict.fromkeys((0, 1), ("0", "1") * 3),
    )


def test_a_finished_query_holds_no_executor() -> None:
    bridge = FakeBridge()
    bridge.query_id = "backfill"
    agent = started(bridge)
    batch(bridge, agent)
    assert agent._seen.held == {"0": 4, "1": 4, "2": 4}
    bridge.next_query(QUERY)
    for _ in range(2):
        batch(bridge, agent)
    assert agent.submit(drain(1, remove=False)) is None
    for _ in range(3):
        batch(bridge, agent)
    assert agent.submit(drain(2, remove=True)) is None  # nobody but the backfill was there
    batch(bridge, agent)
    assert bridge.called("decommission") == ["2"]


def test_the_last_query_ends_and_what_was_to_be_removed_goes() -> None:
    bridge = FakeBridge()
    agent = started(bridge)
    batch(bridge, agent)
    assert agent.submit(drain(1, remove=False)) is None
    for _ in range(3):
        batch(bridge, agent)
    assert agent.submit(drain(2, remove=True)) is None
    bridge.choose({next(iter(bridge.registered)): "2"})  # the executor holds a key group again
    agent.round()
    assert bridge.called("decommission") == []
    bridge.idle = True  # no batch ends any more
    for _ in range(2):
        agent.round()
    assert bridge.called("decommission") == ["2"]


def test_a_query_that_starts_again_is_where_it_was() -> None:
    bridge = FakeBridge()
    agent = started(bridge)
    batch(bridge, agent)
    assert agent.submit(drain(1, remove=False)) is None
    for _ in range(3):
        batch(bridge, agent)
    before = dict(bridge.ran)
    bridge.running = False
    agent.round()
    assert agent._seen.held == {}
    bridge.running = True
    batch(bridge, agent)
    assert bridge.ran == before


def test_sixteen_ended_queries_are_remembered_older_ones_nowhere_but_their_moves_stay_counted() -> None:
    bridge = FakeBridge()
    agent = started(bridge)
    batch(bridge, agent)
    assert agent.submit(drain(1, remove=False)) is None
    for _ in range(3):
        batch(bridge, agent)
    moves = agent.facts().moves
    assert moves["done"] > 0
    for number in range(18):
        bridge.next_query(f"query-of-a-notebook-{number}")
        batch(bridge, agent)
    assert len(agent._actuation.wishes) == 16 + 1  # and the one that runs
    assert len(agent.facts().pages) == 16 + 1
    assert agent._accepted == {}
    assert agent.facts().moves["done"] == moves["done"]


def test_a_query_without_state_is_never_listed_but_lives_while_it_is_measured() -> None:
    lives = Lives(remembered=2)
    forgotten = [lives.look([], ["stateless", f"ended-{number}"]) for number in range(4)]
    assert forgotten == [frozenset(), {"ended-0"}, {"ended-1"}, {"ended-2"}]
    assert lives.look(["a", "b", "c"], []) == frozenset()


def test_key_groups_that_are_no_more_after_a_query_starts_again_hold_no_executor_and_nobody_waits_for_their_moves() -> (
    None
):
    bridge = FakeBridge(operators={0: 6})
    agent = started(bridge)
    batch(bridge, agent)
    agent._aside.wait(30.0)
    moves = Assignment(generation=1, application_id=APPLICATION, query_id=QUERY, owners={0: ("0",) * 6})
    bridge.disobeys = lambda key: key.partition > 1
    assert agent.submit(moves) is None
    for _ in range(3):
        batch(bridge, agent)
    assert agent.status().queries[0].moves_pending > 0
    few = {GroupKey(operator=0, partition=p) for p in (0, 1)}
    bridge.operators, bridge.run_id = {0: 2}, "run-2"  # its state was spread anew while it stood still
    bridge.ran = {key: owner for key, owner in bridge.ran.items() if key in few}
    bridge.registered = dict(bridge.ran)
    batch(bridge, agent)
    agent._aside.wait(30.0)
    status = agent.status()
    assert {one.executor_id: one.groups for one in status.executors} == {"0": 2, "1": 0, "2": 0}
    assert (status.queries[0].moves_pending, status.queries[0].moves_failed) == (0, 0)
    page = agent.facts().pages[0]
    assert {key for key, _ in page.groups} == set(page.state_bytes) == few
    assert not agent._actuation.busy
