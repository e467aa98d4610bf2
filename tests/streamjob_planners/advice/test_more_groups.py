"""How many key groups are proposed, and when none are."""

from __future__ import annotations

import math

import pytest

from streamjob_planners.advice.more_groups import MoreGroups, number, proposed, remedy, wanted
from streamjob_planners.batch.rate import Limit
from streamjob_planners.model import GroupId

GROUPS = [GroupId(operator=operator, partition=at) for operator in (0, 1) for at in range(8)]


@pytest.mark.parametrize(
    ("now", "times", "expected"),
    [(4, 1.1, 8), (4, 2.0, 8), (4, 2.1, 16), (12, 5.0, 96), (8, 0.0, 16), (8, math.inf, 512), (1, 4.0, 4)],
)
def test_each_key_group_is_cut_into_equal_parts_enough_for_the_time(now: int, times: float, expected: int) -> None:
    assert wanted(now, times) == expected


def test_the_sentence_names_the_command_and_the_number_of_each_operator() -> None:
    said = remedy(Limit.PARTITIONS, GROUPS, 9, 3.0)
    assert said == "; more key groups would help: streamjob repartition CHECKPOINT --key-groups 32 (in place of 8)"


def test_of_a_heavy_key_group_it_is_said_when_more_would_help() -> None:
    assert "help only if several keys share it" in remedy(Limit.KEY_GROUP, GROUPS, 0, 3.0)


@pytest.mark.parametrize(
    ("most", "expected"), [(None, 32), (100, 32), (32, 32), (20, 20), (9, 9), (8, None), (4, None)]
)
def test_no_more_are_proposed_than_there_may_be_and_none_where_there_are_as_many(
    most: int | None, expected: int | None
) -> None:
    found = proposed(Limit.PARTITIONS, GROUPS, 9, 3.0, most)
    assert found == (None if expected is None else MoreGroups(now=8, wanted=expected, shared=False))


def test_key_groups_that_were_not_measured_count() -> None:
    assert number(GROUPS[:3] + GROUPS[5:6]) == 6
    found = proposed(Limit.PARTITIONS, [*GROUPS[1:3], *GROUPS[6:9]], 0, 2.0)
    assert found == MoreGroups(now=8, wanted=16, shared=False)
    assert number([]) == 0


@pytest.mark.parametrize("limit", [Limit.NOTHING, Limit.FIXED, Limit.FREE_STAGE, Limit.EXECUTORS])
def test_no_other_limit_is_one_of_key_groups(limit: Limit) -> None:
    assert remedy(limit, GROUPS, 0, 3.0) == ""
