"""When the next cycle is due: each period, earlier after changes that matter, and never twice for one report."""

from __future__ import annotations

import dataclasses
from typing import Any

import agent_reports
import pytest

from streamjob_agent.wire import AgentStatus, ExecutorStatus
from streamjob_operator.kube.cadence import EARLY_GAP_S, Cadence, agent_mark, speaks_of_newest
from streamjob_operator.kube.maps import MapView

PERIOD_S = 60.0


def agent(state: str = "ready", groups: int = 6, **changes: Any) -> AgentStatus:
    executor = ExecutorStatus(executor_id="0", host="h", cores=1, state=state, groups=groups)
    values: dict[str, Any] = {"generation_applied": 3, "queries": (), "executors": (executor,), **changes}
    return dataclasses.replace(agent_reports.agent(), **values)


def view(of: AgentStatus | None, generation: int = 3) -> MapView:
    spec = {"generation": generation, "applicationId": "app-1"}
    return MapView(generation=generation, resource_version="1", spec=spec, agent=of, agent_port=None)


def begun() -> Cadence:
    cadence = Cadence()
    cadence.done(100.0, "spec", agent_mark(agent()))
    return cadence


def test_the_first_cycle_waits_for_the_first_measurements() -> None:
    assert Cadence(first_s=7.0).due_s(PERIOD_S, "spec", None) == 7.0


def test_nothing_new_is_looked_at_each_period() -> None:
    assert begun().due_s(PERIOD_S, "spec", agent_mark(agent())) == 160.0
    assert begun().due_s(PERIOD_S, "spec", agent_mark(agent(groups=5))) == 160.0  # a move that ended is nothing new


@pytest.mark.parametrize(
    "changed",
    [
        agent(state="draining", groups=2),
        agent(state="draining", groups=0),
        agent(application_id="app-2"),
        agent(refused="why"),
        agent(executors=()),
    ],
)
def test_what_the_agent_reports_anew_is_looked_at_soon(changed: AgentStatus) -> None:
    assert begun().due_s(PERIOD_S, "spec", agent_mark(changed)) == 100.0 + EARLY_GAP_S
    assert begun().due_s(1.0, "spec", agent_mark(changed)) == pytest.approx(100.2)


def test_what_a_person_changes_is_looked_at_soon() -> None:
    assert begun().due_s(PERIOD_S, "another spec", agent_mark(agent())) == 100.0 + EARLY_GAP_S


@pytest.mark.parametrize(
    ("seen", "speaks"),
    [
        (view(None), True),
        (view(agent(), generation=0), True),
        (view(agent()), True),
        (view(agent(), generation=4), False),
        (view(agent(refused="StalePlan: why"), generation=4), True),
        (view(agent(application_id="app-2", generation_applied=None), generation=4), True),
    ],
    ids=["no agent", "no assignment", "applied", "not yet applied", "refused", "another driver"],
)
def test_a_report_of_before_the_newest_assignment_is_no_news(seen: MapView, speaks: bool) -> None:
    assert speaks_of_newest(seen) is speaks
