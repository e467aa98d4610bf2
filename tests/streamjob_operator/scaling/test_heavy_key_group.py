"""Where one key group is too long for any number of executors: what the utilisation rule says of more key groups."""

from __future__ import annotations

import pytest
from situations import situation_of
from worlds import even, ruled

from streamjob_operator.scaling.utilization.needs import by_time
from streamjob_planners.advice.more_groups import MoreGroups


@pytest.mark.parametrize(("most", "number"), [(4096, 16), (12, 12), (8, None)])
def test_no_more_key_groups_are_named_than_the_policy_allows(most: int, number: int | None) -> None:
    """One of eight takes 2.4 s of the 2 s of a batch."""
    world = even(2, 4, 10.0)
    world.loads[0], world.rates = 120.0, {"trigger_interval_s": 2.0}
    policy = ruled("utilization", ("planner: greedy", f"planner: greedy\n    keyGroups: {{max: {most}}}"))
    need = by_time(situation_of(world.observe(1000.0, 10.0), policy=policy))
    assert "one key group alone is too heavy" in need.why
    assert need.more_groups == (None if number is None else MoreGroups(now=8, wanted=number, shared=True))
    assert ("--key-groups" in need.why) == (number is not None)
    assert number is None or f"--key-groups {number} (in place of 8)" in need.why
