"""Advice about small plans whose right answer a person can see."""

from __future__ import annotations

import dataclasses

import pytest

from streamjob_planners.advice import sentences
from streamjob_planners.advice.advise import advise
from streamjob_planners.advice.values import JobPlan, Need, Operator, Shuffle


def operator(number: int, *key: str, partitions: int = 4) -> Operator:
    return Operator(number=number, kind="aggregation", partitions=partitions, key=key, state_bytes=1000.0)


def shuffle(number: int, sources: tuple[int, ...], target: int | None, size_bytes: float = 100.0, **more) -> Shuffle:
    told = {"feeds": None, "records": 10.0, "seconds": 0.5, "rows_before_sums": None, **more}
    return Shuffle(number=number, sources=sources, target=target, size_bytes=size_bytes, **told)


def chained(upper: tuple[str, ...], lower: tuple[str, ...], **first) -> JobPlan:
    """The source, operator 1 with key `lower`, operator 0 with key `upper`."""
    return JobPlan(
        operators=(operator(0, *upper), operator(1, *lower)),
        shuffles=(shuffle(0, (1,), 0), shuffle(1, (), 1, 300.0, **first)),
    )


def test_keys_that_share_a_column_are_to_be_keyed_by_it() -> None:
    advice = advise(chained(("window", "user"), ("window", "user", "page")))
    assert advice.components == ((0, 1),)
    assert [note.need for note in advice.notes] == [Need.SHARED, Need.FIRST]
    (rewrite,) = advice.rewrites
    assert (rewrite.need, rewrite.shuffles, rewrite.columns, rewrite.before) == (Need.SHARED, (0,), ("user",), (1,))
    assert (rewrite.saved_bytes, rewrite.saved_s, rewrite.state_bytes) == (100.0, 0.5, 2000.0)
    assert sentences.headline(rewrite, 4) == (
        'Key operators 0 and 1 alike, by user. Put .repartition(4, "user") before operator 1 and set '
        "spark.sql.streaming.statefulOperator.useStrictDistribution to false before the first start."
    )
    assert sentences.effect(rewrite) == "1 shuffle less a batch, which carries 100 B and takes 0.5 s of tasks."


def test_a_key_of_nothing_but_time_is_still_a_key() -> None:
    (rewrite,) = advise(chained(("window",), ("window", "user"))).rewrites
    assert rewrite.columns == ("window",)


def test_rows_no_longer_summed_up_before_are_counted_against_it() -> None:
    """10 sums of 30 bytes were 12 rows: 2 more of 30 bytes. Were they 30 rows, 600 bytes more for 100 saved."""
    (little,) = advise(chained(("user",), ("user", "page"), rows_before_sums=12.0)).rewrites
    assert (little.added_bytes, little.net_bytes, little.worth_it) == (60.0, 40.0, True)
    (much,) = advise(chained(("user",), ("user", "page"), rows_before_sums=30.0)).rewrites
    assert (much.added_bytes, much.worth_it) == (600.0, False)
    assert sentences.effect(much).endswith("which then carries 600 B more: not worth it.")


def test_the_same_columns_in_another_order_need_no_repartition() -> None:
    (rewrite,) = advise(chained(("user", "window"), ("window", "user"), rows_before_sums=1000.0)).rewrites
    assert (rewrite.need, rewrite.columns, rewrite.added_bytes) == (Need.ORDER, ("window", "user"), 0.0)
    assert sentences.headline(rewrite, 4) == (
        "Group operators 0 and 1 by the same columns in the same order: window, user."
    )


def test_an_operator_already_keyed_by_the_shared_columns_needs_no_repartition() -> None:
    """A join by user feeds an aggregation by user and page: its rows are where they are needed."""
    (rewrite,) = advise(chained(("user", "page"), ("user",))).rewrites
    assert (rewrite.need, rewrite.before, rewrite.added_bytes) == (Need.SHARED, (), 0.0)
    assert sentences.headline(rewrite, 4).startswith("Key operators 0 and 1 alike, by user. Set spark.")


@pytest.mark.parametrize(
    ("plan", "need"),
    [
        (chained(("page",), ("user",)), Need.APART),
        (chained((), ("user",)), Need.NO_KEY),
        (JobPlan(operators=(operator(0, "user"),), shuffles=(shuffle(0, (0,), None),)), Need.SINK),
        (JobPlan(operators=(operator(0, "user"),), shuffles=(shuffle(0, (), 0),)), Need.FIRST),
    ],
)
def test_what_is_needed_is_left_alone(plan, need) -> None:
    advice = advise(plan)
    assert advice.notes[0].need is need
    assert advice.rewrites == ()


def test_unequal_partitions_cannot_be_keyed_alike() -> None:
    plan = chained(("user",), ("user", "page"))
    plan = dataclasses.replace(plan, operators=(plan.operators[0], operator(1, "user", "page", partitions=8)))
    assert advise(plan).components == ((0,), (1,))
    assert advise(plan).rewrites == ()


def test_of_three_that_do_not_all_fit_the_costlier_shuffle_is_spared() -> None:
    """Compatibility is not transitive: {a, b}, {b, c}, {c, d}, and the second shuffle carries more."""
    plan = JobPlan(
        operators=(operator(0, "c", "d"), operator(1, "b", "c"), operator(2, "a", "b")),
        shuffles=(shuffle(0, (1,), 0, 900.0), shuffle(1, (2,), 1, 100.0), shuffle(2, (), 2, 50.0)),
    )
    advice = advise(plan)
    assert advice.components == ((2,), (0, 1)) or advice.components == ((0, 1), (2,))
    assert [note.need for note in advice.notes] == [Need.SHARED, Need.ELSEWHERE, Need.FIRST]
    assert [rewrite.columns for rewrite in advice.rewrites] == [("c",)]


def test_rows_shuffled_twice_are_told_and_the_best_rewrite_comes_first() -> None:
    plan = chained(("user",), ("user", "page"))
    plan = dataclasses.replace(plan, shuffles=(*plan.shuffles, shuffle(2, (), 1, 5000.0, feeds=1)))
    assert [rewrite.need for rewrite in advise(plan).rewrites] == [Need.TWICE, Need.SHARED]


def test_nothing_measured_is_still_advice() -> None:
    plan = chained(("user",), ("user", "page"))
    blank = tuple(dataclasses.replace(s, size_bytes=None, records=None, seconds=None) for s in plan.shuffles)
    (rewrite,) = advise(dataclasses.replace(plan, shuffles=blank)).rewrites
    assert rewrite.net_bytes is None
    assert sentences.effect(rewrite) == "1 shuffle less a batch."


def test_a_query_without_stateful_operators_gets_none() -> None:
    assert advise(JobPlan(operators=(), shuffles=())).rewrites == ()


@pytest.mark.parametrize(
    ("size_bytes", "said"),
    [
        (None, "unknown"),
        (0.0, "0 B"),
        (1023.0, "1023 B"),
        (1536.0, "1.5 KiB"),
        (1010 * 1024.0**2, "1010 MiB"),
        (3e9, "2.79 GiB"),
    ],
)
def test_amounts_are_for_a_person(size_bytes, said) -> None:
    assert sentences.amount(size_bytes) == said
