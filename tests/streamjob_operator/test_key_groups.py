"""How many key groups there are and might be, and how many are wanted: by a person, by what was approved, by nobody."""

from __future__ import annotations

import re
from typing import Any

import pytest
from key_group_cycles import job, record
from worlds import even, ruled, warm

from streamjob_operator.key_groups import KeyGroupsSeen, approval, asked, seen_in, wanted
from streamjob_operator.values import CycleRecord

SEEN = KeyGroupsSeen(now=4, proposed=16)


@pytest.mark.parametrize(
    ("policy", "annotations", "seen", "number"),
    [
        ({"count": 8}, {}, SEEN, 8),
        ({"count": 4}, {}, SEEN, None),
        ({"count": 8}, {}, None, None),
        ({"count": 8}, {"pause": "true"}, SEEN, None),
        ({"count": 8, "mode": "Approve"}, {"approve": approval(16)}, SEEN, 8),
        ({"mode": "Approve"}, {}, SEEN, None),
        ({"mode": "Approve"}, {"approve": "key-groups-16"}, SEEN, 16),
        ({"mode": "Approve"}, {"approve": "key-groups-32"}, SEEN, None),
        ({"mode": "Approve"}, {"approve": approval(16)}, KeyGroupsSeen(now=16), None),
        ({}, {"approve": approval(16)}, SEEN, None),
    ],
)
def test_who_decides(
    policy: dict[str, Any], annotations: dict[str, str], seen: KeyGroupsSeen | None, number: int | None
) -> None:
    assert wanted(job(policy, **annotations), seen) == number


@pytest.mark.parametrize(
    ("seen", "expected"),
    [
        (record(None, 16), None),
        (record((), 16), None),
        (record((0, 1, 2, 3), None), KeyGroupsSeen(now=4)),
        (record((0, 1, 2, 3), 16, scaled=False), KeyGroupsSeen(now=4)),
        (record((0, 1, 2, 3), 16), KeyGroupsSeen(now=4, proposed=16)),
        (record((3, 0), 16), KeyGroupsSeen(now=4, proposed=16)),
        (record((0,), None), KeyGroupsSeen(now=1)),
    ],
    ids=[
        "no model",
        "no group",
        "enough",
        "no answer",
        "more",
        "gaps",
        "one",
    ],
)
def test_what_a_cycle_saw(seen: CycleRecord, expected: KeyGroupsSeen | None) -> None:
    assert seen_in(seen) == expected


@pytest.mark.parametrize(("most", "number"), [(4096, 16), (12, 12), (8, None)])
def test_a_sentence_names_the_number_that_is_proposed(most: int, number: int | None) -> None:
    """One of eight key groups alone takes 2.4 s of the 2 s of a batch; with no room for more, none are proposed."""
    of = ruled("batch-time", ("planner: greedy", f"planner: greedy\n    keyGroups: {{max: {most}}}"))
    world = even(2, 4, 10.0)
    world.loads[0], world.rates = 120.0, {"trigger_interval_s": 2.0}
    cycle = warm(world, of).turn(of)
    assert cycle.scaling is not None
    assert seen_in(cycle) == KeyGroupsSeen(now=8, proposed=number)
    named = re.findall(r"--key-groups (\d+)", cycle.scaling.message)
    assert named == ([] if number is None else [str(number)])


@pytest.mark.parametrize(
    ("policy", "annotations", "holds"),
    [
        ({}, {}, False),
        ({"mode": "Approve"}, {}, False),
        ({"count": 8}, {}, True),
        ({"mode": "Approve"}, {"approve": "key-groups-16"}, True),
        ({"count": 8, "mode": "Approve"}, {"approve": "key-groups-16"}, True),
        ({"mode": "Approve"}, {"approve": "another-plan"}, False),
    ],
)
def test_who_asks_for_a_number(policy: dict[str, Any], annotations: dict[str, str], holds: bool) -> None:
    assert asked(job(policy, **annotations)) is holds
