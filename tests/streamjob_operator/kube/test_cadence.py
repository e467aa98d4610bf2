"""What a turn takes for news: a report about the newest assignment, and what a person can change."""

from __future__ import annotations

import dataclasses
from typing import Any

import agent_reports
import pytest

from streamjob_agent.wire import AgentStatus
from streamjob_operator.kube.job.cadence import news_of
from streamjob_operator.kube.partition_map.maps import MapView


def agent(**changes: Any) -> AgentStatus:
    return dataclasses.replace(agent_reports.agent(), **{"generation_applied": 3, **changes})


def view(of: AgentStatus | None, generation: int = 3) -> MapView:
    spec = {"generation": generation, "applicationId": "app-1"}
    return MapView(generation=generation, resource_version="1", spec=spec, agent=of, agent_port=None)


@pytest.mark.parametrize(
    ("seen", "speaks"),
    [
        (view(None), False),
        (view(agent(), generation=0), True),
        (view(agent()), True),
        (view(agent(), generation=4), False),
        (view(agent(refused="StalePlan: why"), generation=4), True),
        (view(agent(application_id="app-2", generation_applied=None), generation=4), True),
    ],
    ids=["no agent", "no assignment", "applied", "not yet applied", "refused", "another driver"],
)
def test_a_report_of_before_the_newest_assignment_is_no_news(seen: MapView, speaks: bool) -> None:
    assert news_of(seen) is (seen.agent if speaks else None)
