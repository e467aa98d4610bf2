"""A person's stop is followed, or tried again; it is never forgotten."""

from __future__ import annotations

import pytest
from agent_reports import agent
from fake_api import once
from kept import Kept

from streamjob_agent.map_form import assignment_to_spec
from streamjob_agent.wire import Assignment
from streamjob_operator.kube.api.kinds import PARTITION_MAPS, STREAM_JOBS
from streamjob_operator.kube.api.refusals import Conflict
from streamjob_operator.kube.job.spread import next_s
from streamjob_operator.kube.kubectl.cli import token
from streamjob_operator.kube.names import Annotation
from streamjob_operator.ports import Unavailable


@pytest.fixture
def kept() -> Kept:
    """A job in mid-drain, whose moves a person has just stopped."""
    kept = Kept(balancing={"mode": "Off"})
    kept.driver()
    kept.look()
    kept.reports(agent())
    draining = Assignment(
        generation=1,
        application_id="app-1",
        query_id="query-1",
        owners={0: ("0",) * 12},
        marked_for_removal=("1",),
        executors_target=1,
    )
    kept.api.put(PARTITION_MAPS, {**kept.found(PARTITION_MAPS, "orders"), "spec": assignment_to_spec(draining)})
    kept.annotate(Annotation.STOP, "now")
    return kept


def generation(kept: Kept) -> int:
    return int(kept.found(PARTITION_MAPS, "orders")["spec"]["generation"])


def test_a_stop_is_followed_once(kept: Kept) -> None:
    for _ in range(2):
        assert kept.look()["handled"]["stop"] == "now"
        assert generation(kept) == 2
    assert not kept.found(PARTITION_MAPS, "orders")["spec"].get("markedForRemoval")


def test_a_stop_that_could_not_be_written_is_not_told_as_followed(kept: Kept) -> None:
    def conflict(name: str) -> None:
        raise Conflict(409, "Conflict", f"{name} has changed")

    kept.api.before["apply"] = conflict
    with pytest.raises(Unavailable, match="attempts to stop its moves"):
        kept.look()
    assert "stop" not in kept.status().get("handled", {})
    del kept.api.before["apply"]
    assert kept.look()["handled"]["stop"] == "now"
    assert generation(kept) == 2


def test_a_report_that_comes_in_between_does_not_keep_it_from_being_followed(kept: Kept) -> None:
    kept.api.before["apply"] = once(lambda: kept.reports(agent(now_s=2000.0)))
    assert kept.look()["handled"]["stop"] == "now"
    assert generation(kept) == 2


def test_two_stops_within_a_second_are_two() -> None:
    assert len({token() for _ in range(100)}) == 100


def test_a_plan_that_cannot_be_read_is_stopped_too(kept: Kept) -> None:
    """A later version's, before the step back to this one."""
    there = kept.found(PARTITION_MAPS, "orders")
    kept.api.put(PARTITION_MAPS, {**there, "spec": {**there["spec"], "form": 2}})
    assert kept.look()["handled"]["stop"] == "now"
    assert generation(kept) == 2
    assert not kept.found(PARTITION_MAPS, "orders")["spec"].get("markedForRemoval")


def looked_at() -> Kept:
    """A job that had a cycle; its statistics period is 30 s."""
    kept = Kept(balancing={"mode": "Off", "statisticsPeriod": "30s"})
    kept.driver()
    kept.look()
    kept.reports(agent())
    while "lastCycle" not in kept.look(after_s=5.0):
        assert kept.now_s < 1_000_100.0
    return kept


def test_a_refresh_is_told_as_followed_with_the_cycle_that_follows_it() -> None:
    kept = looked_at()
    before = kept.status()["lastCycle"]["id"]
    kept.annotate(Annotation.REFRESH, "now")
    assert "refresh" not in kept.look(after_s=0.1).get("handled", {})  # cycles are a few seconds apart
    after = kept.look(after_s=10.0)
    assert (after["handled"]["refresh"], after["lastCycle"]["id"] != before) == ("now", True)


def test_what_was_asked_for_while_no_operator_ran_is_done_as_soon_as_anything_is_known() -> None:
    """Others wait for their own moment, so that not all come at once."""
    kept = looked_at()
    kept.annotate(Annotation.REFRESH, "now")
    uid, period_s = kept.found(STREAM_JOBS, "orders")["metadata"]["uid"], 30.0
    kept.now_s = next_s(kept.now_s, uid, period_s)
    kept.restart()
    kept.look(after_s=1.0)  # a second after its moment, so that it is 29 s to the next one
    assert "refresh" not in kept.status().get("handled", {})
    assert kept.look(after_s=period_s)["handled"]["refresh"] == "now"
