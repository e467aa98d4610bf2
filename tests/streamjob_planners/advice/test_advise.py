"""Advice about small plans whose right answer a person can see."""

from __future__ import annotations

import dataclasses

import pytest

from streamjob_planners.advice import sentences
from streamjob_planners.advice.advise import advise
from streamjob_planners.advice.values import AsRows, JobPlan, Need, Operator, Shuffle

KIB = 1024.0


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


def test_bytes_are_not_promised_where_rows_take_the_place_of_sums() -> None:
    """As on real Spark (docs/figures/on-spark.md): 42 KiB were promised and 2 saved, since rows are wider than sums.

    157 KiB in two shuffles became 155 KiB in one of 10,000 rows.
    """
    plan = chained(("window", "user"), ("window", "user", "page"), records=10_000.0, rows_before_sums=10_000.0)
    between, first = plan.shuffles
    sizes = (dataclasses.replace(between, size_bytes=42.0 * KIB), dataclasses.replace(first, size_bytes=115.0 * KIB))
    (rewrite,) = advise(dataclasses.replace(plan, shuffles=sizes)).rewrites
    assert rewrite.net_bytes is None
    assert rewrite.even_row_bytes == pytest.approx(157.0 * KIB / 10_000)
    assert rewrite.even_row_bytes > 155.0 * KIB / 10_000
    assert rewrite.worth_it
    assert sentences.effect(rewrite) == (
        "1 shuffle less a batch, which carries 42 KiB and takes 0.5 s of tasks. Before operator 1 rows are shuffled as "
        "they come: 10,000 of them in place of 10,000 sums of 11.8 B. Less is shuffled in all if a row takes less than "
        "16.1 B there, which nobody measured."
    )


def test_many_rows_in_place_of_few_sums_are_not_worth_it() -> None:
    """10 sums of 30 bytes and 100 bytes saved: 12 rows may have 33.3 bytes each, 30 rows not even half of a sum's."""
    (little,) = advise(chained(("user",), ("user", "page"), rows_before_sums=12.0)).rewrites
    assert (little.even_row_bytes, little.worth_it) == (pytest.approx(400.0 / 12), True)
    (much,) = advise(chained(("user",), ("user", "page"), rows_before_sums=30.0)).rewrites
    assert (much.even_row_bytes, much.worth_it) == (pytest.approx(400.0 / 30), False)
    assert sentences.effect(much).endswith(
        "30 of them in place of 10 sums of 30.0 B. Not worth it, unless a row takes less than 13.3 B there."
    )


def test_all_shuffles_whose_sums_end_count_together() -> None:
    """A join by user and page of two summed streams: 10 sums of 300 bytes and 20 of 500 become 40 and 60 rows."""
    plan = chained(("user",), ("user", "page"), rows_before_sums=40.0)
    more = shuffle(2, (), 1, 500.0, records=20.0, rows_before_sums=60.0)
    (rewrite,) = advise(dataclasses.replace(plan, shuffles=(*plan.shuffles, more))).rewrites
    assert rewrite.as_rows == AsRows(rows=100.0, sums=30.0, sums_bytes=800.0)
    assert rewrite.even_row_bytes == 9.0


@pytest.mark.parametrize("unknown", [{"records": None}, {"size_bytes": None}, {"rows_before_sums": None}])
def test_sums_that_nobody_counted_count_as_rows(unknown) -> None:
    plan = chained(("user",), ("user", "page"), rows_before_sums=30.0)
    first = dataclasses.replace(plan.shuffles[1], **unknown)
    (rewrite,) = advise(dataclasses.replace(plan, shuffles=(plan.shuffles[0], first))).rewrites
    assert (rewrite.as_rows, rewrite.even_row_bytes, rewrite.net_bytes) == (None, None, 100.0)


def test_the_same_columns_in_another_order_need_no_repartition() -> None:
    (rewrite,) = advise(chained(("user", "window"), ("window", "user"), rows_before_sums=1000.0)).rewrites
    assert (rewrite.need, rewrite.columns, rewrite.net_bytes) == (Need.ORDER, ("window", "user"), 100.0)
    assert sentences.headline(rewrite, 4) == (
        "Group operators 0 and 1 by the same columns in the same order: window, user."
    )


def test_an_operator_already_keyed_by_the_shared_columns_needs_no_repartition() -> None:
    """A join by user feeds an aggregation by user and page: its rows are where they are needed."""
    (rewrite,) = advise(chained(("user", "page"), ("user",))).rewrites
    assert (rewrite.need, rewrite.before, rewrite.net_bytes) == (Need.SHARED, (), 100.0)
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
