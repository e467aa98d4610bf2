"""What happens in a job wakes its operator's next cycle: through the agent's report in the PartitionMap alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kubectl import eventually
from stage import Stage

PERIOD = "20s"


def woken_by(sentence: str) -> Callable[[dict[str, Any]], bool]:
    """Checks a status for a cycle that was woken by this."""
    return lambda status: sentence in status.get("lastCycle", {}).get("wokenBy", "")


def test_executors_and_batches_out_of_their_range_wake_a_cycle(stage: Stage) -> None:
    operator = stage.operator()
    spark = stage.job(balancing={"mode": "Off", "statisticsPeriod": PERIOD})
    first = stage.until(lambda one: one.get("lastCycle"))["lastCycle"]
    assert "wokenBy" not in first  # the clock's
    spark.request_executors(3)
    stage.until(woken_by("Executor 2 is ready."))
    spark.decommission("2")
    stage.until(woken_by("Executor 2 is gone."))
    known = spark.batches + 20
    eventually(lambda: spark.batches >= known)  # the agent learns anew what is usual
    spark.batch_s = 1.0
    stage.until(woken_by("were out of their range"))
    eventually(lambda: any("were out of their range" in line.get("wokenBy", "") for line in operator.lines()))
    kinds = {"ExecutorReady", "ExecutorGone", "BatchOutOfRange"}
    _, page = operator.page("/metrics")
    told = [line for line in page.splitlines() if line.startswith("streamjob_job_wakes_total{")]
    assert kinds <= {kind for kind in kinds for line in told if f'event="{kind}"' in line}
