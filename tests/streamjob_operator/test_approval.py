"""Approve mode: exactly the plan that a person saw is carried out."""

from worlds import World, even, job, warm

from streamjob_operator.values import Reason

APPROVE = ("mode: Auto\n    planner", "mode: Approve\n    planner")
SCALING_OFF = ("scaling: {mode: Auto", "scaling: {mode: 'Off'")
ASKING = job(APPROVE, SCALING_OFF)


HEAVIEST = (24.0, 24.0, 24.0, 24.0)


def skewed(heaviest: tuple[float, ...] = HEAVIEST) -> World:
    world = even(3, 4, 0.0)
    world.loads = [*heaviest] + [14.0] * 4 + [4.0] * 4
    return warm(world, ASKING)


def approved(plan_hash: str) -> object:
    return job(APPROVE, SCALING_OFF, annotations={"streamjob.dev/approve": plan_hash})


def asked(world: World) -> str:
    record = world.turn(ASKING)
    assert record.verdict.reason is Reason.AWAITING_APPROVAL
    assert record.verdict.pending is not None
    assert not record.verdict.act
    return record.verdict.pending.plan_hash


def test_a_plan_waits_unchanged_while_loads_change() -> None:
    others = (8.0, 8.0, 40.0, 40.0)
    assert asked(skewed(others)) != asked(skewed())
    world = skewed()
    first = asked(world)
    world.loads[: len(others)] = others
    assert [asked(world) for _ in range(3)] == [first] * 3
    assert world.assignments == []


def test_the_approved_plan_is_carried_out_as_it_was_shown() -> None:
    world = skewed()
    plan_hash = asked(world)
    assert world.stored.pending is not None
    shown = dict(world.stored.pending.moves)
    record = world.turn(approved(plan_hash))
    assert record.verdict.reason is Reason.BATCH_TIME
    assert {f"0/{group}": target for group, target in world.moved} == {name: to for name, (_, to) in shown.items()}
    assert world.stored.approved_plan == plan_hash
    assert world.stored.pending is None


def test_another_hash_approves_nothing() -> None:
    world = skewed()
    asked(world)
    record = world.turn(approved("0123456789ab"))
    assert record.verdict.reason is Reason.AWAITING_APPROVAL
    assert "approve names 0123456789ab, which is another plan: " in record.verdict.message
    assert world.assignments == []


def test_an_approval_is_void_once_a_key_group_has_moved() -> None:
    world = skewed()
    plan_hash = asked(world)
    assert world.stored.pending is not None
    group = int(next(iter(world.stored.pending.moves)).partition("/")[2])
    world.owners[group] = next(one for one in world.executors if one != world.owners[group])
    world.turn(approved(plan_hash))
    assert world.assignments == []


def test_a_plan_is_approved_once() -> None:
    world = skewed()
    plan_hash = asked(world)
    world.turn(approved(plan_hash))
    before = len(world.assignments)
    world.owners = ["0"] * 4 + ["1"] * 4 + ["2"] * 4
    world.turn(approved(plan_hash))
    assert len(world.assignments) == before


def test_a_plan_outlives_a_cycle_without_measurements() -> None:
    world = skewed()
    plan_hash = asked(world)
    pages, world.rates = world.rates, {"batches": 0}
    assert world.turn(ASKING).verdict.reason is Reason.METRICS_INCOMPLETE
    world.rates = pages
    assert asked(world) == plan_hash


def test_scaling_waits_for_approval_and_keeps_its_marks() -> None:
    asking = job(("scaling: {mode: Auto", "scaling: {mode: Approve"))
    world = warm(even(4, 4, 5.0), asking)
    first = world.turn(asking).verdict
    assert first.reason is Reason.AWAITING_APPROVAL
    assert first.pending is not None
    world.loads = [5.0] * 12 + [4.0] * 4
    second = world.turn(asking).verdict
    assert second.pending == first.pending
    go = job(
        ("scaling: {mode: Auto", "scaling: {mode: Approve"),
        annotations={"streamjob.dev/approve": first.pending.plan_hash},
    )
    assert world.turn(go).verdict.reason is Reason.SCALE_IN
    assert world.stored.marked == first.pending.marked
    for _ in range(6):  # what was approved is finished without a second question
        world.turn(asking)
    assert len(world.removed) == 2
