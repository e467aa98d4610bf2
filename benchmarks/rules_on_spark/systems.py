"""Who decides how many executors there are."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class System:
    """A name, what it is in a few words, Spark's own settings, and the rule of StreamJob that decides, if any.

    `balances`: key groups are moved, too; without it Spark places them as it does.
    """

    name: str
    about: str
    settings: Mapping[str, str] = dataclasses.field(default_factory=dict)
    rule: str | None = None
    balances: bool = False


def systems(most: int, faster: float) -> tuple[System, ...]:
    """All of them with `most` executors at most, their windows `faster` times shorter than by default."""
    dynamic = {
        "spark.dynamicAllocation.enabled": "true",
        "spark.dynamicAllocation.shuffleTracking.enabled": "true",
        "spark.dynamicAllocation.minExecutors": "1",
        "spark.dynamicAllocation.initialExecutors": str(most),
        "spark.dynamicAllocation.maxExecutors": str(most),
        "spark.dynamicAllocation.executorIdleTimeout": f"{round(60 / faster)}s",
    }
    return (
        System(name="batch-time", about="StreamJob, rule `batch-time`", rule="batch-time", balances=True),
        System(name="utilization", about="StreamJob, rule `utilization`", rule="utilization", balances=True),
        System(name="keda", about="KEDA's rule on Kafka's lag, nothing is balanced", rule="keda"),
        System(name="dynamic", about="Spark's dynamic allocation", settings=dynamic),
    )


NAMES = tuple(one.name for one in systems(1, 1.0))
