"""Which key groups no placement helps: those above a slot's share, by operator, the heaviest first."""

from __future__ import annotations

from streamjob_planners.advice.too_heavy import MOST_TOLD, sentence, too_heavy
from streamjob_planners.advice.values import JobPlan, Operator


def plan(*keys: tuple[str, ...]) -> JobPlan:
    operators = (Operator(number=at, kind="aggregation", partitions=8, key=key) for at, key in enumerate(keys))
    return JobPlan(operators=tuple(operators), shuffles=(), together=())


def test_a_group_above_its_share_is_named_with_what_is_true_for_its_keys() -> None:
    seconds = {0: {**dict.fromkeys(range(6), 10.0), 7: 40.0}}
    (found,) = too_heavy(plan(("user", "page")), seconds, 4)
    assert (found.operator, found.partition, found.part, found.share) == (0, 7, 0.4, 0.25)
    assert found.keys == "pmod(hash(user, page), 8) = 7"
    assert "takes 40 percent of its seconds, and a slot's share is 25" in sentence(found)
    assert sentence(found).endswith("streamjob repartition CHECKPOINT --key-groups 16.")


def test_columns_whose_names_spark_does_not_read_as_they_are_stand_in_backticks() -> None:
    (found,) = too_heavy(plan(("_id", "Käufer", "a b", "2nd", "x`y")), {0: {0: 10.0, 7: 40.0}}, 4)
    assert found.keys == "pmod(hash(_id, `Käufer`, `a b`, `2nd`, `x``y`), 8) = 7"


def test_groups_that_slots_can_share_out_are_not_named() -> None:
    assert too_heavy(plan(("user",)), {0: dict.fromkeys(range(8), 10.0)}, 4) == ()
    assert too_heavy(plan(("user",)), {0: {**dict.fromkeys(range(7), 10.0), 7: 29.0}}, 4) == ()  # 1.17 shares
    assert too_heavy(plan(("user",)), {0: dict.fromkeys(range(8), 0.0)}, 4) == ()
    assert too_heavy(plan(("user",)), {}, 4) == ()


def test_each_operator_is_looked_at_by_itself_and_one_without_a_key_has_nothing_to_split() -> None:
    seconds = {0: {0: 90.0, 1: 10.0}, 1: {0: 10.0, 1: 90.0}, 2: {0: 100.0}}
    found = too_heavy(plan(("user",), ("page",), ()), seconds, 2)
    assert [(one.operator, one.partition) for one in found] == [(0, 0), (1, 1)]


def test_of_many_the_heaviest_are_named() -> None:
    seconds = {0: {at: float(at + 1) for at in range(8)}}
    found = too_heavy(plan(("user",)), seconds, 100)
    assert [one.partition for one in found] == [7, 6, 5][:MOST_TOLD]
