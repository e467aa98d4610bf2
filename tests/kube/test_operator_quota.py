"""Jobs of a namespace that share a number of executors: an operator with a quota, on a real API server."""

from __future__ import annotations

from kubectl import eventually
from paper_spark import PaperSpark
from stage import Stage, last_reason

MOST = 5
BUSY = [15.3] * 16
"""245 points, which are four executors at 70 percent, whatever a window is off by within a seventh."""


def growing(stage: Stage, name: str) -> None:
    """A job of two executors that needs four."""
    stage.job(
        PaperSpark(BUSY, executors=2),
        name,
        executors={"min": 2, "max": 6},
        balancing={"statisticsPeriod": "3s"},  # of a dozen batches: one more or less is no executor
        scaling={"mode": "Auto", "rule": "utilization", "stabilization": {"up": "0s"}},
    )


def targets(stage: Stage) -> list[int]:
    return [(one.get("executors") or {}).get("target") or 2 for one in stage.statuses()]


def test_jobs_share_what_their_namespace_may_have(stage: Stage) -> None:
    stage.operator(f"--executor-quota={stage.namespace}={MOST}")
    growing(stage, "first")
    growing(stage, "second")

    def shared() -> bool:
        wanted = targets(stage)
        assert sum(wanted) <= MOST
        bound = [last_reason(one) == "QuotaBinds" for one in stage.statuses()]
        return sum(wanted) == MOST and all(bound)

    eventually(shared, 120.0, every_s=0.3)
    said = f"are needed, but namespace {stage.namespace} may have 5, other jobs hold 3, and 2 may be this job's"

    def told() -> bool:
        """By a cycle since the other one has grown."""
        bound = next(one for one in stage.statuses() if one["executors"]["target"] == 2)
        return said in bound["lastCycle"]["message"]

    eventually(told, 60.0, every_s=0.3)
    stage.kubectl("patch", "streamjob", "second", "--type=merge", "-p", '{"spec": {"scaling": {"priority": 1}}}')

    def served() -> bool:
        """The first gives back what it has beyond its fewest, and the second takes it once it is drained."""
        wanted = targets(stage)
        assert sum(wanted) <= MOST
        return wanted == [2, 3]

    eventually(served, 120.0, every_s=0.3)
