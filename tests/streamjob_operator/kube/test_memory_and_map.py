"""Memory in the status, the PartitionMap written first: an operator that dies anywhere is completed by the next."""

from __future__ import annotations

import dataclasses
import json
import random
import time

import pytest
from agent_reports import agent
from bare_status import bare_status
from fake_api import FakeApi, once
from worlds import even, job, warm

from streamjob_agent.map_form import status_to_map
from streamjob_agent.wire import AgentStatus, Assignment, QueryStatus
from streamjob_operator.kube.api.kinds import PARTITION_MAPS, STREAM_JOBS
from streamjob_operator.kube.job.writing import write_status
from streamjob_operator.kube.models.status import (
    MOST_HISTORY,
    Condition,
    Decision,
    ExecutorsStatus,
    MarkedExecutor,
    Status,
)
from streamjob_operator.kube.names import Condition as Kind
from streamjob_operator.kube.partition_map.actuator import MapActuator
from streamjob_operator.kube.partition_map.maps import Maps, MapView
from streamjob_operator.kube.partition_map.memory import StatusMemory, adopt, memory_text, read_memory, recalled
from streamjob_operator.kube.partition_map.packing import PLAIN_BYTES, pack, unpack
from streamjob_operator.kube.report.compose import to_document
from streamjob_operator.memory import UnreadableMemory
from streamjob_operator.ports import Stale, Unavailable
from streamjob_operator.values import Memory, PendingPlan, Receipt

JOB_DOCUMENT = {"metadata": {"name": "j", "namespace": "n", "uid": "uid-j"}}
WRITTEN = Assignment(
    generation=5, application_id="app", query_id="q", executors_target=4, marked_for_removal=("2", "3"), remove=("3",)
)


def test_what_was_decided_and_not_saved_is_taken_over_from_the_map() -> None:
    memory = adopt(Memory(generation=4, application_id="app", executors_target=5, first_seen_s=1.0), [WRITTEN], 100.0)
    assert (memory.generation, memory.marked, memory.executors_target) == (5, ("2", "3"), 3)
    assert (memory.acted_at_s, memory.target_since_s, memory.first_seen_s) == (100.0, None, 1.0)


def test_a_wish_for_more_is_timed_from_now() -> None:
    memory = adopt(Memory(generation=4, executors_target=2), [WRITTEN], 100.0)
    assert memory.target_since_s == 100.0


@pytest.mark.parametrize("generation", [5, 6])
def test_what_was_saved_stays(generation: int) -> None:
    memory = Memory(generation=generation)
    assert adopt(memory, [WRITTEN], 100.0) is memory
    assert adopt(memory, (), 100.0) is memory


def test_a_memory_survives_its_text_and_long_ones_are_packed() -> None:
    memory = Memory(generation=7, counters={f"Reason{number}": number for number in range(5000)})
    text = memory_text(memory)
    assert text.startswith("z:")
    assert len(text) < 60_000
    assert read_memory(text) == memory
    assert read_memory(None) == Memory()
    assert pack("x" * PLAIN_BYTES) == "x" * PLAIN_BYTES


@pytest.mark.parametrize("text", ["{", "z:AAAA", "z:*", '{"version":99}', pack("x" * 100_000)[:50]])
def test_a_memory_that_cannot_be_read_is_told_and_begun_anew(text: str) -> None:
    with pytest.raises(UnreadableMemory):
        read_memory(text)
    seen = MapView(generation=0, resource_version="1", spec={}, agent=None, agent_port=None)
    told: list[str] = []
    assert StatusMemory(recalled(text, seen, 0.0), lambda _: None, told.append).load() == Memory()
    assert len(told) == 1


def later(generation: int, agent: AgentStatus | None = None) -> MapView:
    """What an operator of a later version has written, before the step back to this one."""
    spec = {"form": 2, "generation": generation, "applicationId": "app"}
    return MapView(generation=generation, resource_version="1", spec=spec, agent=agent, agent_port=None)


def test_a_plan_that_cannot_be_read_is_followed_by_the_next_one_and_nothing_else_is_forgotten() -> None:
    known = Memory(generation=6, application_id="app", executors_target=5, marked=("1",), first_seen_s=1.0)
    told: list[str] = []
    seen = later(7, agent(executors={"0": "ready", "1": "ready", "2": "draining"}))
    loaded = StatusMemory(recalled(memory_text(known), seen, 100.0), lambda _: None, told.append).load()
    assert (loaded.generation, loaded.first_seen_s) == (7, 1.0)
    assert (loaded.marked, loaded.executors_target) == (("2",), None)
    assert "form: '2' given" in told[0]
    assert StatusMemory(recalled(memory_text(known), later(7), 100.0), lambda _: None, told.append).load().marked == ()


def test_a_plan_that_cannot_be_read_is_replaced(cluster: Cluster) -> None:
    document = cluster.api.objects[("partitionmaps", "n", "j")]
    cluster.api.put(PARTITION_MAPS, {**document, "spec": dict(later(7).spec)})
    cluster.memory = dataclasses.replace(cluster.memory, generation=7)
    receipt = cluster.act()
    assert (receipt.accepted, cluster.generation) == (True, 8)


def test_the_largest_plan_that_waits_for_approval_fits_into_the_store() -> None:
    """100,000 moves in no order among 1,000 executors; etcd takes objects of at most 1.5 MiB."""
    chance = random.Random(1)
    keys = [f"{operator}/{partition}" for operator in range(10) for partition in range(10_000)]
    chance.shuffle(keys)
    moves = {key: (str(chance.randrange(1_000)), str(chance.randrange(1_000))) for key in keys}
    marked = tuple(str(one) for one in range(500))
    pending = PendingPlan(
        plan_hash="0123456789ab",
        made_at_s=1_795_238_801.25,
        application_id="spark-application-1795238801",
        moves=moves,
        executors_wanted=500,
        marked=marked,
    )
    memory = memory_text(Memory(generation=7, pending=pending, marked=marked))
    assert read_memory(memory).pending == pending
    said = {"reason": "AwaitingApproval", "message": "x" * 2_000}
    decision = Decision(at="2026-01-01T00:00:00Z", decision="Held", moves=100_000, count=1_000_000, **said)
    conditions = tuple(
        Condition(type=one.value, status="Unknown", last_transition_time="2026-01-01T00:00:00Z", **said) for one in Kind
    )
    drains = tuple(MarkedExecutor(id=one, pod=f"{'p' * 58}-{one}", groups_left=100_000) for one in marked)
    status = Status(
        memory=memory,
        conditions=conditions,
        history=(decision,) * MOST_HISTORY,
        last_action=decision,
        executors=ExecutorsStatus(marked_for_removal=drains),
    )
    size = len(json.dumps(to_document(status), separators=(",", ":")))
    assert 0.9 * 2**20 < len(memory) < size < 1.2 * 2**20


def test_packed_text_that_is_too_long_is_refused() -> None:
    with pytest.raises(ValueError, match="cut off"):
        unpack(pack("x" * 100_000)[:-8] + "AAAAAAA=")


class Cluster:
    """A job whose driver, on paper, follows its map; what an actuator needs."""

    def __init__(self) -> None:
        self.api = FakeApi()
        self.maps = Maps(self.api, JOB_DOCUMENT)  # type: ignore[arg-type]
        self.maps.ensure()
        self.world = warm(even(2, 6, 15.0), job())
        self.record = self.world.turn(job())
        self.memory = dataclasses.replace(self.world.load(), generation=0)
        self.report()

    def report(self, application: str | None = None, applied: int | None = None) -> None:
        query = QueryStatus(query_id="query-1", run_id="r", name=None, batch_id=1, owners={0: ("0",) * 12})
        status = bare_status(
            agent_version="1",
            spark_version="4",
            application_id=application or self.world.application,
            now_s=time.time(),
            generation_applied=applied,
            queries=(query,),
        )
        document = self.api.objects[("partitionmaps", "n", "j")]
        self.api.put(PARTITION_MAPS, {**document, "status": status_to_map(status)})

    def act(self) -> Receipt:
        assert self.record.snapshot is not None
        actuator = MapActuator(self.maps)
        return actuator.actuate(self.record.snapshot, self.record.verdict, self.memory)

    @property
    def generation(self) -> int:
        seen = self.maps.read()
        assert seen is not None
        return seen.generation


@pytest.fixture
def cluster() -> Cluster:
    return Cluster()


def test_a_decision_becomes_a_generation_of_the_map(cluster: Cluster) -> None:
    receipt = cluster.act()
    assert (receipt.accepted, receipt.generation, cluster.generation) == (True, 1, 1)
    seen = cluster.maps.read()
    assert seen is not None
    (written,) = seen.plan()
    assert written.executors_target == cluster.record.verdict.executors_target
    assert adopt(cluster.memory, [written], 0.0).executors_target == cluster.world.load().executors_target


def test_the_agents_writes_in_between_do_not_matter(cluster: Cluster) -> None:
    cluster.api.before["apply"] = once(cluster.report)
    assert cluster.act().generation == 1


def test_another_operators_write_in_between_refuses_the_plan(cluster: Cluster) -> None:
    def rival() -> None:
        seen = cluster.maps.read()
        assert seen is not None
        cluster.maps.write([dataclasses.replace(WRITTEN, generation=1)], seen)

    cluster.api.before["apply"] = once(lambda: (cluster.api.before.clear(), rival()))
    with pytest.raises(Stale, match="Generation 1 is written"):
        cluster.act()
    assert cluster.generation == 1


def test_a_driver_that_restarted_refuses_the_plan(cluster: Cluster) -> None:
    cluster.report(application="another")
    with pytest.raises(Stale, match="another"):
        cluster.act()
    assert cluster.generation == 0


def test_a_map_that_changes_all_the_time_is_given_up(cluster: Cluster) -> None:
    cluster.api.before["apply"] = lambda _: cluster.report()
    with pytest.raises(Unavailable, match="at each of 5 attempts"):
        cluster.act()


def stored(api: FakeApi, memory: str | None = None) -> dict[str, object]:
    metadata = {"name": "j", "namespace": "n", "annotations": {}}
    return api.put(STREAM_JOBS, {"metadata": metadata, "spec": {}, "status": {"memory": memory} if memory else {}})


def test_a_users_edit_in_between_does_not_lose_the_status() -> None:
    api = FakeApi()
    read = stored(api)
    api.before["apply"] = once(lambda: stored(api))
    write_status(api, read, Status(memory="new"))  # type: ignore[arg-type]
    nothing = {"approvable": [], "history": [], "conditions": []}
    assert api.objects[("streamjobs", "n", "j")]["status"] == {"memory": "new", **nothing}


def test_another_operators_memory_is_never_overwritten() -> None:
    api = FakeApi()
    read = stored(api, "old")
    api.before["apply"] = once(lambda: stored(api, "the other's"))
    with pytest.raises(Stale, match="Another operator"):
        write_status(api, read, Status(memory="mine"))  # type: ignore[arg-type]
    assert api.objects[("streamjobs", "n", "j")]["status"] == {"memory": "the other's"}


def test_an_unchanged_status_is_not_written() -> None:
    api = FakeApi()
    read = write_status(api, stored(api), Status(memory="m"))  # type: ignore[arg-type]
    api.calls.clear()
    write_status(api, read, Status(memory="m"))  # type: ignore[arg-type]
    assert api.calls == []


def test_a_status_whose_answer_was_lost_is_known_as_ours() -> None:
    """The client asks again, and hears of a conflict with what it has written itself; the turn's events follow."""
    api = FakeApi()
    read, mine = stored(api, "old"), Status(memory="mine")
    written = to_document(mine)
    api.before["apply"] = once(lambda: api.put(STREAM_JOBS, {**read, "status": written}))
    assert write_status(api, read, mine)["status"] == written  # type: ignore[arg-type]
