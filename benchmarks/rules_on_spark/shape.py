"""What all runs share: the job, its executors and key groups, the policy, and Spark's settings."""

from __future__ import annotations

import pathlib
from collections.abc import Mapping
from typing import Any

from benchmarks.jobs_on_spark import waits
from benchmarks.jobs_on_spark.running import CALM, FILES, SCRIPT
from benchmarks.rules_on_spark.systems import System
from e2e.cluster import kafka
from jobs.registry import find
from jobs.session import joined
from jobs.settings import COMMON

JOB, STREAM = find("clicks-sessions"), "clicks"
MOST, KEY_GROUPS, PARTITIONS = 6, 12, 2
"""Executors of one slot at most, with which every run begins; key groups; and partitions of the topic."""
WAIT_MS, TRIGGER_S, OBJECTIVE_S = 2.0, 5.0, 10.0
"""What a task waits for each row; results are late from two trigger intervals on, as in the simulator's arena."""
FASTER = 10.0
"""How many times shorter than by default all windows are."""
PERIOD_S, DOWN_S, CATCH_UP_S, TARGET_PCT = 5.0, 30.0, 60.0, 70
LAG_THRESHOLD = 1000.0 / WAIT_MS * 0.7 * 0.7 * TRIGGER_S
"""Of KEDA: rows that wait after a batch for each executor that is busy to 70 percent, as in the arena."""


def policy(system: System) -> dict[str, Any]:
    """How executors come and go, as a StreamJob's spec and a simulated world say it; times are those of fast time."""
    return {
        "executors": {"min": 1, "max": MOST},
        "balancing": {"mode": "Auto" if system.balances else "Off", "statisticsPeriod": f"{PERIOD_S:g}s"},
        "scaling": {
            "mode": "Auto",
            **({} if system.rule is None else {"rule": system.rule}),
            "targetUtilization": TARGET_PCT,
            "lagThreshold": LAG_THRESHOLD,
            "catchUp": f"{CATCH_UP_S:g}s",
            "stabilization": {"down": f"{DOWN_S:g}s"},
        },
    }


def settings(system: System, folder: pathlib.Path) -> dict[str, str]:
    """What Spark is told: the same for all, and the system's own."""
    jar = waits.made(pathlib.Path("out/rules_on_spark/waits.jar"))
    return {
        **COMMON,
        **FILES,
        "spark.master": f"local-cluster[{MOST},1,1024]",
        "spark.scheduler.minRegisteredResourcesRatio": "1.0",
        "spark.sql.shuffle.partitions": str(KEY_GROUPS),
        "spark.sql.streaming.minBatchesToRetain": "100000",
        "spark.jars": joined(kafka.get(kafka.CONNECTOR)),
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": (folder / "events").as_uri(),
        "spark.eventLog.compress": "false",
        "spark.eventLog.rolling.enabled": "false",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.extraJavaOptions": CALM,
        "spark.executor.extraJavaOptions": CALM,
        **waits.settings(jar, WAIT_MS),
        **system.settings,
    }


def streamjob(system: System, words: list[str], conf: Mapping[str, str]) -> dict[str, Any]:
    """The StreamJob of a run."""
    application = {"mainFile": str(SCRIPT), "args": words, "sparkConf": dict(conf)}
    # Who looks at Kafka from outside goes by it, however old the job's own measurements are.
    metrics = {"metrics": {"staleAfter": "1h"}} if system.rule == "keda" else {}
    return {
        "apiVersion": "streamjob.dev/v1alpha1",
        "kind": "StreamJob",
        "metadata": {"name": JOB.name},
        "spec": {"application": application, **metrics, **policy(system)},
    }
