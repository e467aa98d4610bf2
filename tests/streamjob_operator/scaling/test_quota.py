"""Executors that jobs share: by hand, and for any claims."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as some

from streamjob_operator.scaling.quota import Allowance, Claim, allowance, shares


def claim(name: str, needed: int, *, least: int = 1, holds: int | None = None, priority: int = 0) -> Claim:
    return Claim(name=name, least=least, needed=needed, holds=least if holds is None else holds, priority=priority)


@pytest.mark.parametrize(
    ("needed", "most", "found"),
    [
        ((3, 4, 5), 12, (3, 4, 5)),  # enough for all
        ((2, 9, 9), 12, (2, 5, 5)),  # who needs little has it, the others the same
        ((9, 9, 9), 11, (4, 4, 3)),  # whole executors: the last of the alphabet goes without
        ((9, 9, 9), 2, (1, 1, 1)),  # the fewest of each are more than there may be
    ],
)
def test_equals_have_the_same_unless_they_need_less(needed: tuple[int, ...], most: int, found: tuple[int, ...]) -> None:
    claims = [claim(name, one) for name, one in zip("abc", needed, strict=True)]
    assert tuple(shares(claims, most).values()) == found


def test_a_higher_priority_has_what_it_needs_before_others_have_more_than_the_fewest() -> None:
    claims = [claim("a", 9, least=2), claim("b", 7, priority=1), claim("c", 9, priority=-1)]
    assert shares(claims, 12) == {"b": 7, "a": 4, "c": 1}


def test_a_job_grows_into_what_nobody_holds() -> None:
    """The other holds eight and shall have six: until two of them have left, this one has four of its six."""
    found = allowance(claim("a", 6, holds=2), [claim("b", 8, holds=8)], 12, "namespace streams")
    assert found == Allowance(executors=4, most=12, others=8, where="namespace streams")
    assert found.sentence == "namespace streams may have 12, other jobs hold 8, and 4 may be this job's"


def test_a_job_gives_back_what_another_one_needs() -> None:
    assert allowance(claim("b", 8, holds=8), [claim("a", 6, holds=2)], 12, "x").executors == 6


def test_a_job_keeps_what_nobody_else_needs() -> None:
    assert allowance(claim("b", 8, holds=8), [claim("a", 3, holds=2)], 12, "x").executors == 8


def test_above_the_quota_nobody_grows() -> None:
    assert allowance(claim("a", 9, holds=4), [claim("b", 4, holds=9)], 12, "x").executors == 4


def test_the_fewest_are_allowed_in_any_case() -> None:
    assert allowance(claim("a", 9, least=3, holds=0), [claim("b", 12, holds=12)], 12, "x").executors == 3


@pytest.mark.parametrize("count", [40, 200])
def test_many_jobs_have_what_can_be_worked_out_by_sorting_them(count: int) -> None:
    """Max-min fairness in closed form: all who are short have the level, or one more."""
    claims = [claim(f"job-{number:03}", 1 + number * 7 % 23, priority=number % 3) for number in range(count)]
    for most in (0, count, 3 * count, 6 * count, 30 * count):
        found, left = shares(claims, most), max(0, most - count)  # each has its fewest
        for priority in (2, 1, 0):
            equals = [one for one in claims if one.priority == priority]
            given = sum(found[one.name] - one.least for one in equals)
            assert given == min(left, sum(one.needed - one.least for one in equals))
            level = min((found[one.name] for one in equals if found[one.name] < one.needed), default=30)
            assert all(min(one.needed, level) <= found[one.name] <= min(one.needed, level + 1) for one in equals)
            left -= given


@some.composite
def many(draw: some.DrawFn) -> list[Claim]:
    count = draw(some.integers(1, 6))
    claims = []
    for number in range(count):
        least = draw(some.integers(0, 4))
        needed = least + draw(some.integers(0, 12))
        claims.append(
            claim(
                f"job-{number}",
                needed,
                least=least,
                holds=draw(some.integers(0, 16)),
                priority=draw(some.integers(-1, 1)),
            )
        )
    return claims


@given(many(), some.integers(0, 40))
def test_shares_are_within_the_quota_and_fair(claims: list[Claim], most: int) -> None:
    found = shares(claims, most)
    fewest = sum(one.least for one in claims)
    assert sum(found.values()) <= max(most, fewest)
    assert all(one.least <= found[one.name] <= one.needed for one in claims)
    short = [one for one in claims if found[one.name] < one.needed]
    for one in short:
        for other in claims:
            extra = found[other.name] > other.least
            assert other.priority >= one.priority or not extra  # nobody below has more than he must
            if other.priority == one.priority and extra:
                assert found[other.name] <= found[one.name] + 1
    if short:
        assert sum(found.values()) >= most  # nothing is left over


@given(many(), some.integers(0, 40), some.data())
def test_whoever_comes_next_the_quota_is_never_overrun_by_growth(
    claims: list[Claim], most: int, chance: some.DataObject
) -> None:
    """Cycles of jobs in any order, each of which has at once what it may grow to, and drains what it may not keep."""
    jobs = {one.name: one for one in claims}
    for _ in range(12):
        name = chance.draw(some.sampled_from(sorted(jobs)))
        job, held = jobs[name], sum(one.holds for one in jobs.values())
        others = [one for one in jobs.values() if one.name != name]
        wanted = min(job.needed, allowance(job, others, most, "x").executors)
        jobs[name] = dataclasses.replace(job, holds=wanted)
        if wanted > max(job.holds, job.least):
            assert held - job.holds + wanted <= most
    for name, job in jobs.items():
        others = [one for one in jobs.values() if one.name != name]
        assert allowance(job, others, most, "x").executors >= job.least
