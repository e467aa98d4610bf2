"""What becomes of a StreamJob's task when a turn fails."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor

import pytest

from streamjob_operator.kube.jobs import TELL_AFTER, Jobs
from streamjob_operator.kube.refusals import Conflict, Refused
from streamjob_operator.ports import Stale, Unavailable

FORBIDDEN = Refused(403, "Forbidden", "pods is forbidden")


class Scripted:
    """A keeper whose first `times` turns end with `accident`; then its StreamJob is gone."""

    def __init__(self, accident: Exception, telling: Exception | None = None, times: int = 1) -> None:
        self.accidents = [accident] * times
        self.telling = telling
        self.told: list[str] = []
        self.closed = False

    def turn(self) -> float | None:
        if self.accidents:
            raise self.accidents.pop()
        return None

    def fail(self, sentence: str) -> None:
        self.told.append(sentence)
        if self.telling is not None:
            raise self.telling

    def close(self) -> None:
        self.closed = True


def run(keeper: Scripted) -> None:
    """Until the job's task has ended."""

    async def care() -> None:
        with ThreadPoolExecutor(1) as pool:
            jobs = Jobs(lambda *_: keeper, pool)
            jobs.wake("n", "orders")
            while len(jobs):
                jobs.wake("n", "orders")  # no wait for the next turn
                await asyncio.sleep(0.01)

    asyncio.run(asyncio.wait_for(care(), 30.0))
    assert keeper.closed


@pytest.mark.parametrize(
    ("accident", "told"),
    [(FORBIDDEN, "pods is forbidden"), (KeyError("spec"), "KeyError: 'spec'")],
    ids=["refused", "mistake"],
)
def test_what_will_not_pass_by_itself_is_told(accident: Exception, told: str) -> None:
    keeper = Scripted(accident)
    run(keeper)
    assert keeper.told == [told]


@pytest.mark.parametrize("accident", [Unavailable("down"), Stale("old"), Conflict(409, "Conflict", "faster")])
def test_what_passes_by_itself_is_not_told(accident: Exception) -> None:
    keeper = Scripted(accident)
    run(keeper)
    assert keeper.told == []


@pytest.mark.parametrize("accident", [Unavailable("failed calling webhook"), Conflict(409, "Conflict", "faster")])
def test_what_should_pass_by_itself_and_does_not_is_told(accident: Exception) -> None:
    keeper = Scripted(accident, times=TELL_AFTER + 1)
    run(keeper)
    assert keeper.told == [str(accident)] * 2


@pytest.mark.parametrize("telling", [FORBIDDEN, Unavailable("down"), KeyError("status")])
def test_a_failure_that_cannot_be_told_does_not_end_the_care(telling: Exception) -> None:
    keeper = Scripted(FORBIDDEN, telling)
    run(keeper)
    assert len(keeper.told) == 1
