"""Two queries of one driver through the whole cycle: one plan, an assignment each, executors for both."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from bare_status import bare_status
from worlds import World, even, job, ruled

from streamjob_agent.wire import AgentStatus, Assignment, ExecutorStatus, QueryStatus
from streamjob_operator.assignment import make_assignments
from streamjob_operator.cycle import turn
from streamjob_operator.measure.joining import join
from streamjob_operator.ports import Ports, Stale
from streamjob_operator.spec import StreamJob
from streamjob_operator.values import CycleRecord, Memory, Reason, Receipt, Snapshot, Verdict

NAMES = {"a": "orders", "b": "clicks"}
CALM = job(("down: 0s", "down: 1h"))


@dataclasses.dataclass
class Driver:
    """Queries on the same executors; moves take effect before the next cycle. `running` are measured, `new` not yet."""

    queries: dict[str, World]
    new: dict[str, World] = dataclasses.field(default_factory=dict)
    stored: Memory = dataclasses.field(default_factory=Memory)
    assignments: list[tuple[Assignment, ...]] = dataclasses.field(default_factory=list)
    now_s: float = 1000.0
    generation: int | None = None
    refuse: str | None = None

    @property
    def executors(self) -> dict[str, str]:
        return next(iter(self.queries.values())).executors

    def observe(self, now_s: float, window_s: float) -> Snapshot:
        seen = [
            dataclasses.replace(
                world.observe(now_s, window_s), query_id=one, run_id=f"run-{one}", generation_applied=self.generation
            )
            for one, world in self.queries.items()
        ]
        held = {NAMES[one]: tuple(sorted(set(filter(None, world.owners)))) for one, world in self.new.items()}
        return join(seen, NAMES, held)

    def status(self) -> AgentStatus:
        return bare_status(
            application_id="app-1",
            generation_applied=self.generation,
            executors=tuple(
                ExecutorStatus(executor_id=one, host="h", cores=1, state=state, groups=0)
                for one, state in self.executors.items()
            ),
            queries=tuple(
                QueryStatus(query_id=one, run_id=f"run-{one}", name=None, batch_id=1, owners={0: tuple(world.owners)})
                for one, world in self.queries.items()
            ),
        )

    def actuate(self, snapshot: Snapshot, verdict: Verdict, memory: Memory) -> Receipt:
        made = make_assignments(snapshot, verdict, memory, self.status())
        assert {one.generation for one in made} == {(self.generation or 0) + 1}
        for one in made:
            if one.query_id == self.refuse:
                return Receipt(generation=None, accepted=False, reason=Reason.PLAN_REFUSED, message="")
            self._obey(one)
        self.assignments.append(made)
        return Receipt(generation=self.generation, accepted=True, reason=verdict.reason, message="")

    def _obey(self, told: Assignment) -> None:
        self.generation = told.generation
        world = self.queries[told.query_id]
        for row in told.owners.values():
            world.owners = [new or old for new, old in zip(row, world.owners, strict=True)]
        holders = {owner for one in (*self.queries.values(), *self.new.values()) for owner in one.owners}
        for executor in told.remove:
            assert executor not in holders, "an executor that holds key groups was removed"
            self.executors.pop(executor, None)
        for executor in self.executors:
            self.executors[executor] = "draining" if executor in told.marked_for_removal else "ready"

    def load(self) -> Memory:
        return self.stored

    def save(self, memory: Memory) -> None:
        self.stored = memory

    def turn(self, of: StreamJob = CALM) -> CycleRecord:
        ports = Ports(metrics=self, actuator=self, memory=self)
        record = turn(ports, of, self.now_s, np.random.default_rng(1), lambda: 0.0)
        self.now_s += 10.0
        return record


def driver(executors: int = 2, load: float = 4.0, groups_each: int = 4, names: tuple[str, ...] = ("a", "b")) -> Driver:
    """Each query with as many key groups on each executor, and they share the executors."""
    shared = even(executors, groups_each, load).executors
    worlds = {one: even(executors, groups_each, load) for one in names}
    for world in worlds.values():
        world.executors = shared
    made = Driver(queries=worlds)
    assert made.turn().verdict.reason is Reason.WARMING_UP
    return made


def heavy_on(world: World, owner: str, load: float) -> None:
    world.loads = [load if one == owner else 1.0 for one in world.owners]


def loads_of(world: World) -> dict[str, float]:
    return {
        name: sum(load for load, owner in zip(world.loads, world.owners, strict=True) if owner == name)
        for name in world.executors
    }


def test_each_query_is_balanced_by_one_plan_and_told_its_own_key_groups() -> None:
    both = driver()
    for name, owner in (("a", "0"), ("b", "1")):
        heavy_on(both.queries[name], owner, 12.0)
    assert {one: sum(loads_of(world)[one] for world in both.queries.values()) for one in ("0", "1")} == {
        "0": 52.0,
        "1": 52.0,
    }  # added up all is even, and each query waits for one executor
    record = both.turn(job(("maxMigrations: 4", "maxMigrations: 8"), ("down: 0s", "down: 1h")))
    assert record.verdict.reason is Reason.BATCH_TIME
    ((first, second),) = both.assignments
    assert (first.query_id, second.query_id) == ("a", "b")
    assert (first.generation, second.generation, both.stored.generation) == (1, 1, 1)
    assert {len(row) for one in (first, second) for row in one.owners.values()} == {8}
    assert {key.operator for one in (first, second) for key in one.move_order} == {0}
    for world in both.queries.values():
        assert max(loads_of(world).values()) <= 28.0, loads_of(world)


def test_queries_that_are_balanced_are_left_alone() -> None:
    both = driver()
    assert [both.turn().verdict.act for _ in range(4)] == [False] * 4


def test_an_executor_is_drained_of_both_before_it_goes() -> None:
    both, two = driver(executors=3, load=3.0), job(("min: 1, max: 6", "min: 1, max: 6, replicas: 2"))
    reasons = [both.turn(two).verdict.reason for _ in range(10)]
    assert Reason.SCALE_IN in reasons
    assert len(both.executors) == 2
    for world in both.queries.values():
        assert set(world.owners) == set(both.executors)
    assert len({one.marked_for_removal for one in both.assignments[0]}) == 1


def test_executors_are_for_the_work_of_both() -> None:
    both = driver(executors=2, load=14.0, groups_each=3)  # 42 points of each query on each executor
    record = both.turn()
    assert record.verdict.reason is Reason.SCALE_OUT
    assert record.verdict.executors_target == 3  # 168 points at 70 each
    assert {one.executors_target for one in both.assignments[0]} == {3}


def test_people_are_told_whose_key_group_it_is() -> None:
    both = driver()
    both.queries["b"].loads[3] = 60.0
    by_load = ruled("utilization", ("down: 0s", "down: 1h"))  # which leaves the executors as they are
    records = [both.turn(by_load) for _ in range(3)]
    assert any("of operator 0 of query clicks" in one.verdict.message for one in records), [
        one.verdict.message for one in records
    ]


def test_each_query_has_a_budget_at_its_own_boundaries() -> None:
    both = driver()
    heavy_on(both.queries["a"], "0", 12.0)
    free = job(("maxCost: 1h, ", ""), ("down: 0s", "down: 1h"))
    both.queries["a"].rates = {"mean_batch_s": 8.0}
    both.queries["b"].rates = {"mean_batch_s": 2.0}
    record = both.turn(free)
    assert record.verdict.boundaries_s == pytest.approx({"a": 0.8, "b": 0.2})
    ((first, second),) = both.assignments
    assert (first.pace.max_cost_s, second.pace.max_cost_s) == (pytest.approx(0.8), pytest.approx(0.2))


def test_a_query_that_nobody_knows_yet_keeps_executors_and_what_it_holds() -> None:
    both = driver(executors=3, load=2.0)
    two = job(("min: 1, max: 6", "min: 1, max: 6, replicas: 2"))
    both.new = {"b": both.queries.pop("b")}
    eager = job()
    assert [both.turn(eager).verdict.act for _ in range(4)] == [False] * 4  # one executor could do the work of "a"
    for _ in range(6):
        both.turn(two)  # somebody else's number is followed
    assert len(both.executors) == 3  # and one that it holds key groups on stays
    both.queries["b"] = both.new.pop("b")
    for _ in range(8):
        both.turn(two)
    assert len(both.executors) == 2


def test_queries_come_and_go_without_a_storm() -> None:
    both = driver(load=6.0)
    for _ in range(3):
        both.turn()
    gone = both.queries.pop("b")
    before = list(both.queries["a"].owners)
    assert [both.turn().verdict.act for _ in range(4)] == [False] * 4
    both.queries["b"] = gone
    assert [both.turn().verdict.act for _ in range(4)] == [False] * 4
    assert both.queries["a"].owners == before
    assert both.stored.queries == ("a", "b")


def test_a_plan_that_waits_is_void_once_the_queries_are_others() -> None:
    both, asks = driver(), job(("mode: Auto", "mode: Approve"), ("down: 0s", "down: 1h"))
    heavy_on(both.queries["a"], "0", 12.0)
    assert both.turn(asks).verdict.reason is Reason.AWAITING_APPROVAL
    waiting = both.stored.pending
    assert waiting is not None
    assert all(name.startswith("orders:0/") for name in waiting.moves)
    both.queries.pop("b")
    both.turn(asks)
    after = both.stored.pending
    assert after is None or after.plan_hash != waiting.plan_hash


def test_a_query_that_ends_between_measuring_and_acting_makes_the_plan_an_old_one() -> None:
    both = driver()
    snapshot = both.observe(both.now_s, 10.0)
    verdict = Verdict(
        act=True,
        reason=Reason.BATCH_TIME,
        message="",
        plan=None,
        executors_target=None,
        marked_for_removal=(),
        remove=(),
    )
    both.queries.pop("b")
    with pytest.raises(Stale, match="The query b does not run any more"):
        make_assignments(snapshot, verdict, Memory(), both.status())


def test_a_plan_that_only_one_query_takes_is_planned_anew() -> None:
    both = driver()
    heavy_on(both.queries["b"], "1", 12.0)
    both.refuse = "b"
    assert both.turn().receipt == Receipt(generation=None, accepted=False, reason=Reason.PLAN_REFUSED, message="")
    both.refuse = None
    assert both.turn().verdict.act
    assert both.stored.generation == both.generation == 2


def test_key_groups_that_are_always_in_each_others_way_are_kept_apart() -> None:
    both = driver()
    for name, owner in (("a", "0"), ("b", "1")):
        heavy_on(both.queries[name], owner, 12.0)
        both.queries[name].rates = {"mean_batch_s": 2.0}  # five batches in ten seconds
    assert not both.turn().verdict.act  # whoever ends last ends when the busier executor has done all
    for name in ("a", "b"):
        heavy_on(both.queries[name], "0", 12.0)
    assert both.turn().verdict.reason is Reason.BATCH_TIME
    total = [sum(loads_of(world)[one] for world in both.queries.values()) for one in ("0", "1")]
    assert max(total) <= 60.0


def test_executors_are_asked_for_a_query_that_falls_behind_beside_the_leading_one() -> None:
    """Half of what comes to the other one gathers, while it is always in a batch."""
    both, lags = driver(load=6.0), [400.0 + 50.0 * at for at in range(8)]
    both.queries["b"].rates = {"mean_batch_s": 2.0, "input_rps": 10.0}  # five batches of 20 rows in ten seconds
    calm = [both.turn().verdict for _ in range(3)]
    assert [one.reason for one in calm] == [Reason.BALANCED] * 3
    verdicts = []
    for lag in lags:
        both.queries["b"].rates = {**both.queries["b"].rates, "lag_rows": lag}
        verdicts.append(both.turn().verdict)
    assert Reason.SCALE_OUT in {one.reason for one in verdicts}
    told = next(one.message for one in verdicts if one.reason is Reason.SCALE_OUT)
    assert "of query clicks" in told
