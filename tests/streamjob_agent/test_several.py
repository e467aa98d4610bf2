"""Two queries in one driver: each with a plan of its own, an executor that both leave, and one that dies."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from fake_bridge import APPLICATION, FakeBridge

from streamjob_agent.agent import Agent
from streamjob_agent.bridge import Executor, Scene, SparkBridge, Usage
from streamjob_agent.config import AgentConfig
from streamjob_agent.wire import Assignment, GroupKey

NAMES = ("one", "other")


class TwoQueries(FakeBridge):
    """A driver whose queries have a bridge on paper each, and the same executors."""

    def __init__(self) -> None:
        super().__init__()
        self.queries_of = {name: FakeBridge() for name in NAMES}
        for name, one in self.queries_of.items():
            one.query_id, one.alive = name, self.alive

    def run_batch(self) -> None:
        for one in self.queries_of.values():
            one.run_batch()

    def look(self) -> Scene:
        queries = tuple(query for one in self.queries_of.values() for query in one.look().queries)
        return Scene(executors=super().look().executors, queries=queries)

    def drain(self) -> Usage:
        drained = [one.drain() for one in self.queries_of.values()]
        return Usage(
            groups={name: groups for usage in drained for name, groups in usage.groups.items()},
            batches=tuple(batch for usage in drained for batch in usage.batches),
            other_busy_s={},
            executor_busy_s={},
            failed_tasks=0,
            longest_stateful_stage_s=None,
        )

    def place(self, query_id: str, owners: Mapping[GroupKey, Executor]) -> None:
        self.queries_of[query_id].place(query_id, owners)

    def homes(self, name: str) -> Collection[str]:
        return self.queries_of[name].ran.values()


class Driver:
    def __init__(self) -> None:
        self.bridge = TwoQueries()
        bridge: SparkBridge = self.bridge
        self.agent = Agent(bridge, AgentConfig())
        self.agent.prepare()
        self.agent.round()
        self.batches(2)

    def batches(self, count: int) -> None:
        for _ in range(count):
            self.bridge.run_batch()
            self.agent.round()

    def assign(self, name: str, owners: tuple[str, ...], generation: int = 1, **fields: object) -> str | None:
        rows = dict.fromkeys((0, 1), owners)
        return self.agent.submit(
            Assignment(generation=generation, application_id=APPLICATION, query_id=name, owners=rows, **fields)  # type: ignore[arg-type]
        )


def test_each_query_has_a_plan_of_its_own() -> None:
    driver = Driver()
    assert driver.assign("one", ("0",) * 6) is None
    assert driver.assign("other", ("1",) * 6) is None
    driver.batches(3)
    assert [set(driver.bridge.homes(name)) for name in NAMES] == [{"0"}, {"1"}]
    assert [query.moves_pending for query in driver.agent.status().queries] == [0, 0]


def test_an_executor_goes_once_both_have_left_it() -> None:
    driver = Driver()
    stay = ("0", "1") * 3
    assert driver.assign("one", stay, marked_for_removal=("2",)) is None
    driver.batches(1)
    refused = driver.assign("one", stay, generation=2, marked_for_removal=("2",), remove=("2",))
    assert refused is not None
    assert refused.startswith("HoldsGroups")
    driver.batches(12)  # the other one has no plan and leaves by itself, a quarter at a time
    assert driver.assign("one", stay, generation=2, marked_for_removal=("2",), remove=("2",)) is None
    driver.batches(1)
    assert driver.bridge.called("decommission") == ["2"]


def test_groups_of_both_are_rescued_from_an_executor_that_dies() -> None:
    driver = Driver()
    del driver.bridge.alive["2"]
    driver.batches(2)
    assert [set(driver.bridge.homes(name)) for name in NAMES] == [{"0", "1"}, {"0", "1"}]
    assert driver.agent.facts().moves["guard"] == 8
