"""Planning beside the operator: what hangs there is ended, told, and nobody else's trouble."""

from __future__ import annotations

import pytest
from kubectl import eventually
from stage import Stage, balanced, last_reason

KILLS = "streamjob_operator_planner_kills_total"


def test_a_planner_that_hangs_in_one_job_does_not_stop_the_others(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HANG_AT", "0.1")
    operator = stage.operator("--planners=2")
    stuck = stage.job(name="stuck", balancing={"planDeadline": "100ms"})
    eventually(lambda: last_reason(stage.status("stuck")) == "PlannerOverran", timeout_s=90.0)
    well = stage.job()
    stage.until(balanced)
    assert well.distance() <= 5
    # In between it may say that the next process still loads.
    eventually(lambda: last_reason(stage.status("stuck")) == "PlannerOverran", timeout_s=90.0)
    assert stuck.moves == []
    kills = [line for line in operator.page("/metrics")[1].splitlines() if line.startswith(KILLS)]
    assert float(kills[0].split()[1]) >= 1
