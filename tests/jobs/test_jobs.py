"""Every job without Spark: input that a seed decides, and an answer that has something to say."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence

import pytest
from jobs.feed import batches
from jobs.job import Job, Query, Rows, Taken
from jobs.registry import JOBS, find

KINDS = {"string": str, "long": int}
QUERIES = [pytest.param(job, query, id=f"{job.name}-{query.name}") for job in JOBS for query in job.queries]


def input_of(job: Job, seed: int = 1, count: int = 10) -> list[Taken]:
    """As many batches, and one without rows, as Spark runs when windows can still close."""
    some = itertools.islice(batches(job, seed, 400), count)
    taken = [Taken(rows=batch, clock_ms=1_700_000_000_000 + 1_000 * at) for at, batch in enumerate(some)]
    return [*taken, Taken(rows={}, clock_ms=taken[-1].clock_ms + 1_000)]


def columns(schema: str) -> dict[str, type]:
    return {name: KINDS[kind] for name, kind in re.findall(r"(\w+) (\w+)", schema)}


@pytest.mark.parametrize("job", JOBS, ids=lambda job: job.name)
def test_input_is_that_of_its_seed_and_of_its_schema(job: Job) -> None:
    first = input_of(job, count=3)
    assert first == input_of(job, count=3)
    assert first != input_of(job, seed=2, count=3)
    for stream, schema in job.streams.items():
        rows = [row for batch in first for row in batch.rows.get(stream, ())]
        assert rows
        assert all({name: type(value) for name, value in row.items()} == columns(schema) for row in rows)
    for schema, rows in job.tables.values():
        assert all({name: type(value) for name, value in row.items()} == columns(schema) for row in rows)


@pytest.mark.parametrize("job", JOBS, ids=lambda job: job.name)
def test_a_batch_has_about_as_many_rows_as_are_wanted(job: Job) -> None:
    """Of the streams that the job reads: who feeds 400 rows a second wants that many."""
    sizes = [sum(map(len, one.rows.values())) for one in input_of(job)[:-1]]
    assert 350 <= sum(sizes) / len(sizes) <= 450


@pytest.mark.parametrize(("job", "query"), QUERIES)
def test_an_answer_has_a_list_for_each_batch_and_rows_in_several(job: Job, query: Query) -> None:
    taken = input_of(job)
    right = query.answer(taken)
    assert len(right) == len(taken)
    assert sum(bool(rows) for rows in right) >= 2


@pytest.mark.parametrize(("job", "query"), QUERIES)
def test_an_answer_does_not_depend_on_the_order_within_a_batch(job: Job, query: Query) -> None:
    taken = input_of(job, count=5)
    turned = [
        Taken(rows={name: list(reversed(rows)) for name, rows in one.rows.items()}, clock_ms=one.clock_ms)
        for one in taken
    ]
    assert counted(query.answer(turned)) == counted(query.answer(taken))


def counted(right: Sequence[Rows]) -> list[list[str]]:
    return [sorted(map(repr, rows)) for rows in right]


def test_names_are_their_own_and_an_unknown_one_is_answered_with_them() -> None:
    assert len({job.name for job in JOBS}) == len(JOBS)
    assert all(len({query.name for query in job.queries}) == len(job.queries) for job in JOBS)
    with pytest.raises(ValueError, match=r"job: 'nexmark-99' given; known are .*nexmark-5"):
        find("nexmark-99")
