"""The agent over a fake Spark: whole rounds, refusals, drains, and what the status says."""

from __future__ import annotations

import dataclasses
import pathlib
import threading
from collections import Counter
from typing import Any

import pytest
from fake_bridge import APPLICATION, QUERY, FakeBridge, executor

from streamjob_agent import metric_names
from streamjob_agent.agent import Agent
from streamjob_agent.bridge import Query, RunningBatch
from streamjob_agent.config import AgentConfig
from streamjob_agent.exporter import Exporter
from streamjob_agent.fleet import Fleet
from streamjob_agent.wire import Assignment, GroupKey, Pace


class Stage:
    """An agent whose rounds a test makes one by one."""

    def __init__(self, bridge: FakeBridge | None = None, **config: Any) -> None:
        self.bridge = bridge or FakeBridge()
        self.agent = Agent(self.bridge, AgentConfig(**config))
        self.agent.prepare()
        self.agent.round()

    def batches(self, count: int = 1) -> Stage:
        for _ in range(count):
            self.bridge.run_batch()
            self.agent.round()
            self.agent._aside.wait(30.0)
        return self

    def assignment(self, generation: int = 1, **fields: Any) -> Assignment:
        return Assignment(generation=generation, application_id=APPLICATION, query_id=QUERY, **fields)

    def submit(self, generation: int = 1, **fields: Any) -> str | None:
        return self.agent.submit(self.assignment(generation, **fields))


HOLDS_ONE, HOLDS_FOUR = (f"HoldsGroups: remove names 2, which still holds {count} key groups" for count in (1, 4))


def broken() -> None:
    raise RuntimeError("not now")


def everything_to(*names: str) -> dict[int, tuple[str, ...]]:
    return {operator: tuple(names[p % len(names)] for p in range(6)) for operator in (0, 1)}


def test_the_first_batch_is_the_bridges_and_an_executor_that_comes_in_it_changes_nothing() -> None:
    stage = Stage()
    stage.bridge.alive["3"] = executor("3")
    stage.agent.round()
    assert stage.bridge.called("place") == []


def test_a_drift_that_is_accepted_is_told_so_that_nobody_registers_the_old_wish() -> None:
    stage = Stage().batches()
    stray = GroupKey(operator=0, partition=0)
    home, stage.bridge.ran[stray] = stage.bridge.ran[stray], "2"
    stage.bridge.disobeys = lambda key: key == stray
    stage.batches(8)
    told = [placed[stray].executor_id for placed in stage.bridge.called("place") if stray in placed]  # type: ignore[attr-defined,operator,index]
    assert told[0] == home
    assert told[-1] == "2"
    assert stage.bridge.registered[stray] == "2"


def test_who_is_sent_away_by_somebody_else_is_told_and_gets_nothing_more() -> None:
    """A node that goes, Spark's own decommissioning: the agent has not asked for it."""
    stage = Stage().batches()
    stage.bridge.alive["2"] = dataclasses.replace(executor("2"), leaving=True)
    stage.agent.round()
    states = {one.executor_id: one.state for one in stage.agent.status().executors}
    assert states == {"0": "ready", "1": "ready", "2": "leaving"}
    assert stage.bridge.called("mark")[-1] == frozenset({"2"})
    refused = stage.submit(owners=everything_to("1", "2"))
    assert refused == "UnknownExecutor: owners names 2, known are 0, 1"
    assert stage.submit(owners=everything_to("0", "1")) is None
    stage.batches(2)
    assert "2" not in stage.bridge.ran.values()
    assert stage.bridge.called("decommission") == []


def test_a_plan_under_way_onto_one_that_is_sent_away_goes_no_further() -> None:
    stage = Stage().batches()
    assert stage.submit(owners=everything_to("2"), pace=Pace(max_moves=1)) is None
    stage.batches()
    stage.bridge.alive["2"] = dataclasses.replace(executor("2"), leaving=True)
    stage.agent.round()
    before = len(stage.bridge.called("place"))
    stage.batches(3)
    placed = [name for told in stage.bridge.called("place")[before:] for name in told.values()]  # type: ignore[attr-defined]
    assert "2" not in {one.executor_id for one in placed}


def test_assignment_is_applied_reported_and_measured() -> None:
    stage = Stage().batches()
    assert stage.submit(owners=everything_to("1", "2"), pace=Pace(max_moves=2)) is None
    stage.batches()
    status = stage.agent.status()
    assert status.generation_applied == 1
    assert status.queries[0].moves_pending == 8
    stage.batches(6)
    status = stage.agent.status()
    assert (status.queries[0].moves_pending, status.queries[0].moves_done) == (0, 8)
    assert status.queries[0].owners == everything_to("1", "2")
    assert {executor.executor_id: executor.groups for executor in status.executors} == {"0": 0, "1": 6, "2": 6}
    page = Exporter(stage.agent.facts).page().decode()
    assert f'{metric_names.AGENT_MOVES}{{result="done"}} 8.0' in page
    assert f"{metric_names.AGENT_GENERATION} 1.0" in page


def test_marked_executor_is_drained_then_removed_and_the_number_is_asked_for_once_more() -> None:
    stage = Stage().batches()
    drained = {"owners": everything_to("0", "1"), "marked_for_removal": ("2",), "executors_target": 2}
    assert stage.submit(remove=("2",), **drained) == "HoldsGroups: remove names 2, which still holds 4 key groups"
    assert stage.agent.status().refused is not None
    assert stage.submit(**drained) is None
    stage.batches()
    assert {executor.executor_id: executor.state for executor in stage.agent.status().executors}["2"] == "draining"
    stage.batches(2)
    assert stage.bridge.called("decommission") == []
    assert stage.submit(generation=2, remove=("2",), **drained) is None
    stage.batches(2)
    assert stage.bridge.called("decommission") == ["2"]
    assert stage.bridge.called("request_executors") == [2, 2]
    assert {executor.executor_id: executor.state for executor in stage.agent.status().executors}["2"] == "dead"
    assert frozenset({"2"}) in stage.bridge.called("mark")


def test_an_executor_is_said_to_hold_the_key_groups_for_which_it_may_not_be_removed() -> None:
    """Those that are registered there count before their first task has run, as they do for a removal."""
    stage = Stage().batches()
    moved = {"owners": everything_to("0", "1"), "marked_for_removal": ("2",)}
    assert stage.submit(**moved) is None
    stage.batches(3)
    held = {one.executor_id: one.groups for one in stage.agent.status().executors}
    assert held["2"] == 0
    assert stage.submit(generation=2, owners=everything_to("0", "2")) is None
    stage.batches()
    assert "2" not in stage.bridge.ran.values()
    held = {one.executor_id: one.groups for one in stage.agent.status().executors}
    refused = stage.submit(generation=3, remove=("2",), **moved)
    assert held["2"] > 0
    assert refused == f"HoldsGroups: remove names 2, which still holds {held['2']} key groups"


def test_removal_waits_for_an_executor_that_got_a_group_in_the_meantime() -> None:
    stage = Stage().batches()
    drained = {"owners": everything_to("0", "1"), "marked_for_removal": ("2",)}
    assert stage.submit(**drained) is None
    stage.batches(3)
    assert stage.submit(generation=2, remove=("2",), **drained) is None
    stage.bridge.choose({GroupKey(operator=0, partition=0): "2"})
    stage.agent.round()
    assert stage.bridge.called("decommission") == []
    assert stage.submit(generation=3, remove=("2",), **drained) == HOLDS_ONE
    stage.batches()
    assert stage.bridge.called("decommission") == ["2"]


def test_an_executor_that_is_drained_and_steals_a_task_in_each_batch_is_empty_and_goes() -> None:
    """As where the job's own wait for locality is shorter than its stages."""
    stage = Stage().batches()
    drained = {"owners": everything_to("0", "1"), "marked_for_removal": ("2",)}
    assert stage.submit(**drained) is None
    stage.batches(2)
    for partition in (3, 0, 0, 4):
        stage.bridge.steal("2", GroupKey(operator=0, partition=partition))
        stage.agent.round()
        assert "2" in stage.bridge.ran.values()
        status = stage.agent.status()
        assert {one.executor_id: one.groups for one in status.executors} == {"0": 6, "1": 6, "2": 0}
        assert status.queries[0].owners == everything_to("0", "1")
    assert stage.submit(generation=2, remove=("2",), **drained) is None
    stage.agent.round()
    assert stage.bridge.called("decommission") == ["2"]


def test_a_key_group_that_is_stolen_in_each_batch_since_its_move_began_keeps_nobody() -> None:
    stage = Stage().batches()
    late = next(key for key, owner in stage.bridge.ran.items() if owner == "2")
    drained = {"owners": everything_to("0", "1"), "marked_for_removal": ("2",)}
    assert stage.submit(**drained) is None
    stage.batches()
    held = []
    for _ in range(4):
        stage.bridge.steal("2", late)
        stage.agent.round()
        held.append({one.executor_id: one.groups for one in stage.agent.status().executors}["2"])
    assert held == [1, 0, 0, 0], "the first batch may have begun before the group was registered elsewhere"
    assert stage.submit(generation=2, remove=("2",), **drained) is None
    stage.agent.round()
    assert stage.bridge.called("decommission") == ["2"]


def test_a_key_group_that_the_bridge_could_not_be_told_of_is_not_stolen() -> None:
    stage = Stage().batches()
    drained = {"owners": everything_to("0", "1"), "marked_for_removal": ("2",)}
    stage.bridge.faults["place"] = broken
    assert stage.submit(**drained) is None
    stage.batches(4)
    assert {one.executor_id: one.groups for one in stage.agent.status().executors}["2"] == 4
    assert stage.agent.status().queries[0].owners != everything_to("0", "1")
    assert stage.submit(generation=2, remove=("2",), **drained) == HOLDS_FOUR
    del stage.bridge.faults["place"]
    stage.bridge.steal("2", *(key for key, owner in stage.bridge.ran.items() if owner == "2"))
    stage.agent.round()
    assert {one.executor_id: one.groups for one in stage.agent.status().executors}["2"] == 4, "it knows only now"


def test_what_an_executor_took_that_stays_is_its_own_until_the_next_batch() -> None:
    stage = Stage().batches(2)
    stolen = next(key for key, owner in stage.bridge.ran.items() if owner == "0")
    stage.bridge.steal("2", stolen)
    stage.agent.round()
    assert {one.executor_id: one.groups for one in stage.agent.status().executors} == {"0": 4, "1": 4, "2": 5}
    assert stage.agent.status().queries[0].owners[stolen.operator][stolen.partition] == "2"


def test_a_removal_is_asked_for_whatever_another_query_does_since_the_bridge_waits_for_its_batch() -> None:
    stage = Stage().batches()
    drained = {"owners": everything_to("0", "1"), "marked_for_removal": ("2",)}
    assert stage.submit(**drained) is None
    stage.batches(3)
    other = Query(query_id="other", run_id="run", name=None, operators={0: 1}, trigger_interval_s=None, idle=False)
    stage.bridge.others = (other,)
    assert stage.submit(generation=2, remove=("2",), **drained) is None
    stage.batches()
    assert stage.bridge.called("decommission") == ["2"]


def test_number_of_executors_is_requested_once_for_each_change() -> None:
    stage = Stage().batches()
    for generation, target in ((1, 4), (2, 4), (3, 5)):
        assert stage.submit(generation=generation, executors_target=target) is None
        stage.batches(2)
    assert stage.bridge.called("request_executors") == [4, 5]


def test_a_request_that_fails_is_made_again_ever_more_rarely_until_it_goes_through() -> None:
    stage = Stage().batches()

    def refuse() -> None:
        raise RuntimeError("no quota")

    stage.bridge.faults["request_executors"] = refuse
    assert stage.submit(executors_target=4) is None
    stage.batches(12)
    assert stage.bridge.called("request_executors") == [4] * 4  # in rounds 1, 3, 6 and 11
    del stage.bridge.faults["request_executors"]
    stage.batches(12)
    assert stage.bridge.called("request_executors") == [4] * 5


def test_groups_of_a_dead_executor_are_told_to_be_where_they_will_run_next() -> None:
    stage = Stage().batches()
    del stage.bridge.alive["2"]
    stage.agent.round()
    told = stage.agent.status().queries[0].owners
    rows = {
        operator: [stage.bridge.registered[GroupKey(operator=operator, partition=p)] for p in range(6)]
        for operator in (0, 1)
    }
    assert {operator: list(row) for operator, row in told.items()} == rows
    assert "2" not in {owner for row in told.values() for owner in row}


def test_placements_of_an_earlier_driver_are_told_before_any_query_is_seen(tmp_path: pathlib.Path) -> None:
    first = Stage(state_dir=str(tmp_path)).batches()
    assert first.submit(owners=everything_to("1", "2"), marked_for_removal=("2",), executors_target=2) is None
    first.batches()
    (tmp_path / "broken.assignment.json").write_text("{")
    bridge = FakeBridge()
    bridge.running = False
    second = Agent(bridge, AgentConfig(state_dir=str(tmp_path), poll_s=60.0))
    second.start()
    second.stop()
    assert bridge.called("remember") == [(QUERY, dict.fromkeys((0, 1), ("1", None) * 3))]


def test_groups_of_a_dead_executor_move_without_waiting_for_a_boundary() -> None:
    stage = Stage().batches(2)
    del stage.bridge.alive["0"]
    stage.agent.round()
    assert set(stage.bridge.registered.values()) == {"1", "2"}
    assert stage.agent.facts().moves["guard"] == 4


def test_a_query_that_begins_is_spread_by_its_first_traffic_and_one_that_ran_before_is_not() -> None:
    apart, together = (GroupKey(operator=1, partition=0), GroupKey(operator=0, partition=2)), Stage()
    together.bridge.batch_id = -1  # the next one is its first
    together.batches(3)
    assert len({together.bridge.ran[key] for key in apart}) == 1
    assert sorted(Counter((key.operator, owner) for key, owner in together.bridge.ran.items()).values()) == [2] * 6
    assert together.agent.facts().moves == {"done": 0, "failed": 0, "guard": 0, "gathered": 2}
    ran_before = Stage().batches(3)
    assert len({ran_before.bridge.ran[key] for key in apart}) == 2


def test_the_first_traffic_is_read_though_sizes_take_minutes() -> None:
    stage, release = Stage(), threading.Event()
    stage.bridge.faults["state_bytes"] = lambda: assert_true(release.wait(60))
    read = threading.Event()
    stage.bridge.faults["traffic"] = read.set
    stage.bridge.run_batch()
    stage.agent.round()
    assert read.wait(60)
    release.set()
    stage.agent._aside.wait(30.0)


REFUSED = [
    ({"application_id": "app-0"}, "StaleApplication: application_id 'app-0' given, the driver is 'app-1'"),
    ({"query_id": "other"}, "UnknownQuery: query_id 'other' given, active queries are: query-1"),
    ({"generation": 4}, "StaleGeneration: generation 4 given, 5 is applied already"),
    ({"generation": 5, "executors_target": 9}, "StaleGeneration: generation 5 given twice, with another content"),
    ({"owners": {0: ("0",)}}, "WrongShape: operator 0 has 1 owners, 6 partitions are needed"),
    ({"owners": {7: ("0",)}}, "WrongShape: operator 7 given, the query's operators are: 0, 1"),
    ({"owners": {0: ("9",) * 6}}, "UnknownExecutor: owners names 9, known are 0, 1, 2"),
    ({"marked_for_removal": ("9",)}, "UnknownExecutor: marked_for_removal names 9, known are 0, 1, 2"),
    ({"marked_for_removal": ("0", "1", "2")}, "AllMarked: every live executor is marked for removal"),
    ({"executors_target": 0}, "WrongTarget: executors_target 0 given, 1 or more is needed"),
    ({"remove": ("1",)}, "NotMarked: remove names 1, which is not in marked_for_removal"),
    ({"remove": ("1",), "marked_for_removal": ("1",)}, "HoldsGroups: remove names 1, which still holds 4 key groups"),
]


@pytest.mark.parametrize(("fields", "sentence"), REFUSED, ids=lambda value: str(value)[:30])
def test_refused_with_a_reason_and_nothing_changes(fields: dict[str, Any], sentence: str) -> None:
    stage = Stage().batches()
    assert stage.submit(generation=5) is None
    stage.batches()
    before = dict(stage.bridge.registered)
    given = dataclasses.replace(stage.assignment(generation=6), **fields)
    refused = stage.agent.submit(given)
    assert refused is not None
    assert refused.startswith(sentence)
    stage.batches(2)
    status = stage.agent.status()
    assert (status.refused, status.generation_applied) == (refused, 5)
    assert stage.bridge.registered == before


def test_the_same_assignment_twice_is_one() -> None:
    stage = Stage().batches()
    for _ in range(2):
        assert stage.submit(owners=everything_to("1")) is None
        stage.batches()
    assert stage.agent.status().queries[0].moves_done == 8


def test_before_the_first_batch_owners_are_not_ready() -> None:
    stage = Stage(FakeBridge(operators={}))
    refused = stage.submit(owners={0: ("0",)})
    assert refused is not None
    assert refused.startswith("NotReady: ")


def test_failed_self_test_turns_actuation_off_with_a_reason_while_metrics_go_on() -> None:
    bridge = FakeBridge()
    bridge.checks = {"version": "ok", "coordinator_round_trip": "it answered None"}
    stage = Stage(bridge).batches(2)
    status = stage.agent.status()
    assert (status.actuation, status.reason) == ("off", "SelfTestFailed")
    assert "coordinator_round_trip: it answered None" in status.message
    assert not bridge.on
    assert bridge.called("place") == []
    refused = stage.submit(owners=everything_to("1"))
    assert refused is not None
    assert refused.startswith("ActuationOff: ")
    page = Exporter(stage.agent.facts).page().decode()
    assert f'{metric_names.QUERY_BATCHES}{{query="{QUERY}"}} 2.0' in page
    assert f'{metric_names.AGENT_ACTUATION}{{reason="SelfTestFailed"}} 0.0' in page


def test_last_assignment_is_a_hint_for_the_next_driver(tmp_path: pathlib.Path) -> None:
    first = Stage(state_dir=str(tmp_path)).batches()
    together = {0: ("0", "0", "1", "1", "2", "2"), 1: ("2", "2", "0", "0", "1", "1")}
    assert first.submit(owners=together) is None
    first.batches()
    next_driver = FakeBridge(executors=("5", "6", "7"))
    Stage(next_driver, state_dir=str(tmp_path))
    assert next_driver.called("remember") == [(QUERY, together)]


def test_where_key_groups_shall_start_next_is_the_hint_and_not_where_the_plan_had_them(tmp_path: pathlib.Path) -> None:
    first = Stage(state_dir=str(tmp_path)).batches()
    together = {0: ("0", "0", "1", "1", "2", "2"), 1: ("2", "2", "0", "0", "1", "1")}
    places = {0: (1, 2, 1, 2, 1, 2), 1: (2, 2, 2, 1, 1, None)}
    assert first.submit(owners=together, next_start=places) is None
    first.batches()
    next_driver = FakeBridge(executors=("5", "6"))
    Stage(next_driver, state_dir=str(tmp_path))
    hint = {0: ("1", "2", "1", "2", "1", "2"), 1: ("2", "2", "2", "1", "1", None)}
    assert next_driver.called("remember") == [(QUERY, hint)]


def test_places_of_another_shape_are_refused() -> None:
    stage = Stage().batches()
    refused = stage.submit(owners=everything_to("1"), next_start={0: (1, 2)})
    assert refused is not None
    assert refused.startswith("WrongShape: operator 0 has 2 places in next_start")


@pytest.mark.parametrize("content", [b"", b"{", b'{"version": 99}', b"\xff\xfe", b'{"version":1,"generation":"x"}'])
def test_damaged_memory_is_no_hint(tmp_path: pathlib.Path, content: bytes) -> None:
    first = Stage(state_dir=str(tmp_path)).batches()
    assert first.submit(owners=everything_to("1")) is None
    first.batches()
    (file,) = tmp_path.iterdir()
    file.write_bytes(content)
    bridge = FakeBridge()
    stage = Stage(bridge, state_dir=str(tmp_path))
    assert bridge.called("remember") == []
    assert stage.agent.status().actuation == "on"


def test_locality_wait_follows_the_stages() -> None:
    stage = Stage().batches(3)
    assert stage.bridge.called("set_locality_wait") == [3.0]
    assert stage.agent.facts().locality_wait_s == 3.0


def test_a_locality_wait_of_the_jobs_own_is_not_shown_as_ours() -> None:
    stage = Stage()
    stage.bridge.own_wait = True
    stage.batches(3)
    assert stage.agent.facts().locality_wait_s is None


def test_new_executors_are_seen_but_get_nothing_by_themselves() -> None:
    stage = Stage().batches()
    stage.bridge.alive["3"] = executor("3")
    stage.batches(3)
    states = {found.executor_id: (found.state, found.groups) for found in stage.agent.status().executors}
    assert states["3"] == ("ready", 0)


def test_sizes_that_take_minutes_hold_nothing_up() -> None:
    bridge, release, now_s = FakeBridge(), threading.Event(), [0.0]
    bridge.faults["state_bytes"] = lambda: assert_true(release.wait(60))
    agent = Agent(bridge, AgentConfig(), clock=lambda: now_s[0])
    agent.prepare()
    for _ in range(12):
        bridge.run_batch()
        agent.round()
        now_s[0] += 30.0
    status = agent.status()
    assert (status.actuation, status.queries[0].batch_id) == ("on", 12)
    assert len(bridge.called("state_bytes")) == 1
    release.set()
    agent._aside.wait(30.0)
    assert agent.facts().pages[0].state_bytes


def assert_true(value: bool) -> None:
    assert value


def test_what_was_lost_is_counted() -> None:
    stage = Stage()
    stage.bridge.run_batch()
    stage.bridge._usage[-1] = dataclasses.replace(stage.bridge._usage[-1], dropped=7)
    stage.agent.round()
    assert stage.agent.facts().errors["dropped"] == 7
    assert stage.agent.status().errors_total == 7


def test_batches_out_of_their_range_are_told_until_key_groups_move() -> None:
    stage = Stage().batches(12)
    assert stage.agent.status().queries[0].unusual is None
    stage.bridge.batch_s = 3.0
    stage.batches(2)
    news = stage.agent.status().queries[0].unusual
    assert news is not None
    assert (news.batch_id, news.seconds) == (stage.bridge.batch_id, 3.0)
    assert stage.submit(owners=everything_to("1")) is None
    stage.batches(2)
    assert stage.agent.status().queries[0].unusual is None


def test_executors_that_have_left_are_not_remembered_for_ever() -> None:
    fleet = Fleet()
    for number in range(1000):
        fleet.update([executor(str(number))])
        fleet.left(str(number))
    assert "999" in fleet.shut
    assert len(fleet.past) <= 201


def test_an_executor_that_spark_takes_back_is_ready_again() -> None:
    fleet, one = Fleet(), executor("1")
    fleet.update([dataclasses.replace(one, leaving=True)])
    assert [status.state for status in fleet.statuses({})] == ["leaving"]
    assert fleet.past == fleet.shut == {"1"}
    fleet.update([one])
    assert [status.state for status in fleet.statuses({})] == ["ready"]
    assert not fleet.past | fleet.shut


def test_what_was_given_to_a_query_that_never_ended_a_task_is_forgotten_with_it() -> None:
    stage = Stage()
    for number in range(40):
        stage.bridge.run_batch()
        given = {f"brief-{number}": {GroupKey(operator=0, partition=0): "0"}}
        stage.bridge._usage[-1] = dataclasses.replace(stage.bridge._usage[-1], given=given)
        stage.agent.round()
    assert len(stage.agent._actuation._given) <= 16


def test_rows_that_rise_are_told_while_their_batch_runs() -> None:
    stage = Stage().batches(12)
    stage.bridge.input_rows = 300
    stage.batches(1)
    assert stage.agent.status().queries[0].risen is None
    stage.bridge.begin_batch(RunningBatch(batch_id=stage.bridge.batch_id + 1, began_at_s=50.0, rows=300))
    stage.agent.round()
    risen = stage.agent.status().queries[0].risen
    assert risen is not None
    assert (risen.batch_id, risen.began_at_s, risen.rows) == (stage.bridge.batch_id + 1, 50.0, 300)
    assert risen.high_rows < 300
