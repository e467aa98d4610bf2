"""What is kept between two observations of a Prometheus counts among what all jobs of an operator keep."""

from __future__ import annotations

import pytest
from fake_agent import FakeAgent

from streamjob_agent.wire import AgentStatus
from streamjob_operator.kube.metrics.http import Settings
from streamjob_operator.kube.metrics.prometheus import Known, PrometheusMetrics
from streamjob_operator.kube.metrics.target import Mark
from streamjob_operator.measure.page import parse_pages
from streamjob_operator.measure.room import Room, bytes_of
from streamjob_operator.ports import Unavailable

(PAGE,) = parse_pages(FakeAgent(batches=3).page().encode(), 1.0)
MARK = Mark(at_s=1.0, identity=PAGE.identity, batches=3.0)


class Others:
    """What other jobs keep."""


def silent() -> AgentStatus:
    raise Unavailable("The agent has not reported yet.")


def observed(room: Room) -> PrometheusMetrics:
    """One that has a page of a former observation, after one that came to nothing."""
    metrics = PrometheusMetrics(lambda: Settings(url="http://127.0.0.1:9"), silent, "n", room=room)
    metrics._known = {"q": Known(end=(MARK, PAGE))}
    with pytest.raises(Unavailable):
        metrics.observe(0.0, 10.0)
    return metrics


def test_the_page_that_the_next_window_begins_with_counts() -> None:
    room = Room(10**9)
    metrics = observed(room)
    assert metrics._known["q"].end is not None
    assert room.allowed_bytes(Others()) == 10**9 - bytes_of([PAGE])


def test_a_page_that_there_is_no_room_for_is_not_kept() -> None:
    room, others = Room(1000), Others()
    room.take(others, 10**6)
    metrics = observed(room)
    assert metrics._known["q"].end is None
    assert room.allowed_bytes(others) == 1000, "it has nothing then"
