"""Every call to Spark fails, in every way: the job goes on, and the status says why nothing moves."""

from __future__ import annotations

import dataclasses
import pathlib
import threading
import time
from collections.abc import Callable

import pytest
from fake_bridge import APPLICATION, METHODS, QUERY, FakeBridge
from py4j.protocol import Py4JError, Py4JNetworkError

from streamjob_agent.agent import Agent
from streamjob_agent.config import AgentConfig
from streamjob_agent.exporter import Exporter
from streamjob_agent.memory import AssignmentMemory
from streamjob_agent.wire import Assignment

BATCHES = 20


class UnprintableError(Exception):
    """As py4j's errors are when the JVM that knows their text is gone."""

    def __str__(self) -> str:
        raise Py4JNetworkError("gone")


def raising(error: type[BaseException]) -> Callable[[], None]:
    def fault() -> None:
        raise error("made to fail") if error is not UnprintableError else UnprintableError

    return fault


def hanging() -> None:
    time.sleep(0.1)


def wait_for(event: threading.Event) -> None:
    assert event.wait(10)


FAULTS: dict[str, Callable[[], None]] = {
    "value": raising(ValueError),
    "py4j": raising(Py4JError),
    "memory": raising(MemoryError),
    "exit": raising(SystemExit),
    "unprintable": raising(UnprintableError),
    "hang": hanging,
}


DRAIN = Assignment(
    generation=1,
    application_id=APPLICATION,
    query_id=QUERY,
    executors_target=2,
    marked_for_removal=("2",),
    owners=dict.fromkeys((0, 1), ("0", "1") * 3),
)
REMOVE = dataclasses.replace(DRAIN, generation=2, remove=("2",))


def asks(agent: Agent, assignment: Assignment) -> None:
    """A controller's request has a thread of its own."""
    asking = threading.Thread(target=agent.submit, args=(assignment,), daemon=True)
    asking.start()
    asking.join(10.0)


def run_job(bridge: FakeBridge, agent: Agent) -> None:
    """The job, never touching the agent: batch after batch. Beside it, a controller drains and removes executor 2."""
    agent.start()
    agent.join("the job's second session")
    for batch in range(BATCHES):
        bridge.run_batch()
        time.sleep(0.01)
        if batch == 3:  # a request for plans has a thread of its own
            threading.Thread(target=agent.plans, daemon=True).start()
        if batch >= 3:
            asks(agent, REMOVE if batch >= 10 else DRAIN)


def goes_on(bridge: FakeBridge, agent: Agent) -> None:
    """One batch more: a thread that got no time until the last one has something to do yet."""
    bridge.run_batch()
    asks(agent, DRAIN)
    asks(agent, REMOVE)


def eventually(condition: Callable[[], bool], meanwhile: Callable[[], None] = lambda: None) -> bool:
    for _ in range(1200):
        if condition():
            return True
        meanwhile()
        time.sleep(0.05)
    return False


@pytest.mark.parametrize("fault", sorted(FAULTS))
@pytest.mark.parametrize("method", METHODS)
def test_job_goes_on_whatever_a_call_does(method: str, fault: str, tmp_path: pathlib.Path) -> None:
    bridge = FakeBridge()
    bridge.faults[method] = FAULTS[fault]
    # An earlier driver's placement, so that there is something to remember.
    earlier = Assignment(generation=1, application_id="app-0", query_id=QUERY, owners={0: ("7",) * 6})
    AssignmentMemory(str(tmp_path)).save(earlier)
    agent = Agent(bridge, AgentConfig(poll_s=0.05, overhead_ratio=1.0, state_dir=str(tmp_path)))
    try:
        run_job(bridge, agent)
        assert bridge.batch_id == BATCHES
        assert agent._thread.is_alive()
        assert Exporter(agent.facts).page()
        if fault != "hang" and method not in ("set_actuation", "close"):
            assert eventually(lambda: agent.guard.errors().get(method, 0) > 0, lambda: goes_on(bridge, agent))
            assert agent.status().errors_total > 0
    finally:
        agent.stop()
    assert eventually(lambda: not agent._thread.is_alive())


@pytest.mark.parametrize("method", ["look", "drain"])
def test_essential_calls_that_fail_again_and_again_turn_actuation_off(method: str) -> None:
    bridge = FakeBridge()
    agent = Agent(bridge, AgentConfig())
    agent.prepare()
    agent.round()
    assert agent.status().actuation == "on"
    bridge.faults[method] = FAULTS["py4j"]
    for _ in range(4):
        agent.round()
    assert agent.status().actuation == "on"
    agent.round()
    status = agent.status()
    assert (status.actuation, status.reason) == ("off", "CallsFail")
    assert status.message.startswith(f"{method} failed 5 times in a row: Py4JError: made to fail.")
    assert bridge.called("set_actuation") == [False]


def test_placements_that_fail_again_and_again_turn_actuation_off() -> None:
    bridge = FakeBridge()
    agent = Agent(bridge, AgentConfig())
    agent.prepare()
    agent.round()
    bridge.run_batch()
    agent.round()
    bridge.faults["place"] = FAULTS["value"]
    everything = dict.fromkeys((0, 1), ("0",) * 6)
    assignment = Assignment(generation=1, application_id=APPLICATION, query_id=QUERY, owners=everything)
    assert agent.submit(assignment) is None
    for _ in range(6):
        bridge.run_batch()
        agent.round()
    status = agent.status()
    assert (status.actuation, status.reason) == ("off", "CallsFail")
    assert status.message.startswith("place failed 5 times in a row")
    bridge.run_batch()
    agent.round()
    assert agent.status().queries[0].batch_id == bridge.batch_id  # metrics go on


def test_a_rare_failure_changes_nothing() -> None:
    bridge = FakeBridge()
    agent = Agent(bridge, AgentConfig())
    agent.prepare()
    for index in range(20):
        bridge.faults = {"drain": FAULTS["py4j"]} if index % 4 else {}
        agent.round()
    assert agent.status().actuation == "on"
    assert agent.guard.errors()["drain"] == 15


def test_a_call_that_does_not_come_back_shows_in_the_status() -> None:
    now_s = [0.0]
    bridge = FakeBridge()
    release = threading.Event()
    bridge.faults["drain"] = lambda: wait_for(release)
    agent = Agent(bridge, AgentConfig(), clock=lambda: now_s[0])
    agent.prepare()
    thread = threading.Thread(target=agent.round, daemon=True)
    thread.start()
    assert eventually(lambda: bool(bridge.called("drain")))
    now_s[0] = 100.0
    status = agent.status()
    assert (status.actuation, status.reason) == ("off", "Stuck")
    assert "drain has not come back for 100 s" in status.message
    release.set()
    thread.join(5)
    assert agent.status().actuation == "on"


@pytest.mark.parametrize("method", ["memory", "diagnostics", "plan", "join"])
def test_a_call_beside_the_rounds_that_does_not_come_back_is_no_reason_to_move_nothing(method: str) -> None:
    now_s = [0.0]
    bridge = FakeBridge()
    release = threading.Event()
    bridge.faults[method] = lambda: wait_for(release)
    agent = Agent(bridge, AgentConfig(), clock=lambda: now_s[0])
    agent.prepare()
    bridge.run_batch()
    agent.round()
    asking = threading.Thread(target=agent.plans if method == "plan" else lambda: agent.join(None), daemon=True)
    asking.start()
    assert eventually(lambda: bool(bridge.called(method)))
    now_s[0] = 100.0
    assert agent.status().actuation == "on"
    release.set()
    asking.join(5)


def test_a_wait_as_long_as_the_longest_pause_is_no_call_that_hangs() -> None:
    now_s = [0.0]
    bridge = FakeBridge()
    release = threading.Event()
    bridge.faults["wait_for_boundary"] = lambda: wait_for(release)
    agent = Agent(bridge, AgentConfig(poll_s=60.0), clock=lambda: now_s[0])
    agent.prepare()
    thread = threading.Thread(target=agent.turn, daemon=True)
    thread.start()
    assert eventually(lambda: bool(bridge.called("wait_for_boundary")))
    now_s[0] = 60.2
    assert agent.status().actuation == "on"
    now_s[0] = 121.0
    assert agent.status().reason == "Stuck"
    release.set()
    thread.join(5)


def test_stop_does_not_wait_for_a_call_that_hangs() -> None:
    bridge = FakeBridge()
    release = threading.Event()
    bridge.faults["close"] = lambda: wait_for(release)
    agent = Agent(bridge, AgentConfig())
    agent.start()
    stopping = threading.Thread(target=agent.stop, args=(0.05,), daemon=True)
    stopping.start()
    stopping.join(5)
    assert not stopping.is_alive()
    release.set()


def test_each_kind_of_error_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    bridge = FakeBridge()
    bridge.faults["drain"] = FAULTS["value"]
    agent = Agent(bridge, AgentConfig())
    for _ in range(4):
        agent.round()
    warnings = [record for record in caplog.records if record.levelname == "WARNING"]
    assert [record.getMessage() for record in warnings] == [
        "StreamJob agent, drain: ValueError: made to fail (the job is not affected)"
    ]


def test_unwritable_state_dir_costs_only_the_memory() -> None:
    agent = Agent(FakeBridge(), AgentConfig(state_dir="/proc/streamjob-cannot-be-made"))
    agent.prepare()
    agent.round()
    assignment = Assignment(generation=1, application_id="app-1", query_id="query-1", owners={0: ("1", "2") * 3})
    assert agent.submit(assignment) is None
    agent.round()
    status = agent.status()
    assert (status.actuation, status.generation_applied) == ("on", 1)
    assert agent.guard.errors()["placements"] == 1
