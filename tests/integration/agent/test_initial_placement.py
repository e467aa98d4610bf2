"""`balancing.initialPlacement` to its end: what a plan says of the next start is where a new driver has key groups."""

from __future__ import annotations

import pathlib
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from streamjob_agent.wire import AgentStatus
from streamjob_operator.values import CycleRecord

pytestmark = pytest.mark.spark
JOB = pathlib.Path(__file__).with_name("sleepy.py")
PARTITIONS, ROWS = 8, 12
"""Key groups, and batches that are measured before a controller looks: CorGlobal asks for ten."""
HOT_MS, WARM_MS = 500, 30


class Swinging:
    """Two executors; the key groups of one of them are hot by turns, two in even batches and two in odd ones."""

    def __init__(self, driver: Any, keys: list[int]) -> None:
        self.driver, self.keys = driver, keys
        self.hot: tuple[list[int], list[int]] = ([], [])
        self.address = ""
        driver.write = self.write

    def write(self) -> None:
        """One more file: each key once."""
        hot = self.hot[self.driver.files % 2]
        self.driver.add("".join(f"{key},{HOT_MS if at in hot else WARM_MS}\n" for at, key in enumerate(self.keys)))

    def begin(self) -> None:
        """To the first batch; from then on all that is hot lies on one executor."""
        self.write()
        status = self.driver.until("a first batch", started, feed=False)
        heavy = [at for at, owner in enumerate(owners(status)) if owner == owners(status)[0]]
        self.hot = (heavy[:2], heavy[2:4])
        self.address = (self.driver.folder / "address").read_text().strip()

    def batch(self) -> None:
        """One more, to its end, and no other: a row of two batches would have what is hot by turns hot together."""
        self.write()
        self.driver.until("one more batch", lambda now: self.driver.behind(now) == 0, feed=False)


def started(status: AgentStatus) -> bool:
    return bool(status.queries) and status.queries[0].batch_id is not None


def owners(status: AgentStatus) -> tuple[str | None, ...]:
    return status.queries[0].owners[0]


def said(record: CycleRecord) -> tuple[int, ...]:
    """Place of each key group at the next start, by partition."""
    start = record.verdict.next_start
    assert start is not None
    assert record.model is not None
    place_of = {
        group.partition: int(place) for group, place in zip(record.model.group_ids, start.place_of, strict=True)
    }
    return tuple(place_of[partition] for partition in range(PARTITIONS))


@pytest.mark.parametrize(
    "policy", ["CorGlobal", *(pytest.param(policy, marks=pytest.mark.long) for policy in ("Rod", "Spread"))]
)
def test_a_driver_that_starts_again_places_its_first_batch_as_said(
    drivers: Callable[..., Any], brain: Any, spark_hash: Any, policy: str
) -> None:
    keys = [next(iter(spark_hash.keys_of(partition, PARTITIONS))) for partition in range(PARTITIONS)]
    first = Swinging(drivers(2, JOB), keys)
    first.begin()
    controller = brain(first, f"{{mode: Auto, statisticsPeriod: 2s, initialPlacement: {policy}}}")
    controller.metrics.scrape()
    for _ in range(ROWS):
        first.batch()
        controller.metrics.scrape()
    acted = controller.until(
        "a plan is carried out", lambda now: now.verdict.act and now.verdict.next_start, first.batch
    )
    places = said(acted)
    told = acted.verdict.next_start.told
    assert told.startswith(
        "A driver that starts again spreads key groups evenly."
        if policy == "Spread"
        else f"A driver that starts again places key groups by {policy}"
    )
    first.driver.until("the plan is followed", lambda now: now.queries[0].moves_pending == 0)
    result = first.driver.finish()
    assert (result["totals"], result["failed_tasks"]) == (first.driver.expected(), 0)

    second = Swinging(drivers(2, JOB), keys)
    second.write()
    seen = second.driver.until("its first batch", started)
    found = owners(seen)
    assert found == tuple(sorted({str(one) for one in found})[place] for place in places)
    if policy == "Spread":
        assert set(Counter(found).values()) == {PARTITIONS // 2}
    if policy == "CorGlobal":  # of what is hot in one batch each executor has one
        assert all(len({found[at] for at in hot}) == 2 for hot in first.hot)
    result = second.driver.finish()
    assert (result["totals"], result["failed_tasks"]) == (second.driver.expected(), 0)
