"""The Kafka sample on a real broker: its backlog is known and worked off, its sums are exact."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator

import pytest
import yaml

from e2e.cluster import kafka
from e2e.suite.evidence import Sayer
from e2e.suite.job import Job, Status, condition, settled
from e2e.suite.samples import FOLDER, sample
from e2e.suite.topic import RATE, Topic
from e2e.suite.world import RESTRICTED, World, config_map, filled

NAMESPACE, NAME = "kafka", "sensors"
BACKLOG = 20_000
"""Readings that are there before the job, which takes 2,000 in a batch."""
START_S, BALANCED_S, MEASURED_S = 240.0, 200.0, 30.0
QUIET_BATCHES, CROWD, QUIET_S, WOKEN_S = 14, 8 * RATE, 200.0, 60.0
"""Batches by which the agent knows how many rows are usual, and the readings a second that are not."""
LAG = f'streamjob_query_source_lag_rows{{namespace="{NAMESPACE}"}}'


@pytest.fixture(scope="module")
def sensors(installed: World) -> Iterator[Job]:
    """The sample, with a backlog."""
    if "STREAMJOB_E2E_KAFKA_BROKER" not in os.environ:
        pytest.skip(kafka.HOW_TO_GET)
    installed.prometheus()
    kubectl = installed.namespace(NAMESPACE, RESTRICTED)
    volume = installed.volume(kubectl, NAMESPACE)
    for part in (kafka.BROKER, kafka.CONNECTOR):
        shutil.copytree(os.environ[f"STREAMJOB_E2E_KAFKA_{part.upper()}"], volume / part)
    kubectl("apply", "-f", "-", text=filled("kafka.yaml", SPARK_IMAGE=installed.images.spark))
    kubectl("wait", "--for=condition=Ready", "--timeout=120s", "pod/kafka", timeout_s=150.0)
    topic = Topic(kubectl, volume)
    topic.put(BACKLOG)
    topic.start()
    kubectl.apply(config_map("app", sensors__py=FOLDER / "sensors.py"))
    jars = ",".join(
        f"local:///data/{kafka.CONNECTOR}/{one.name}" for one in sorted((volume / kafka.CONNECTOR).iterdir())
    )
    changes = yaml.safe_load(filled("sensors.yaml", AGENT_IMAGE=installed.images.agent, CONNECTOR_JARS=jars))
    kubectl.apply(sample("kafka", changes))
    yield Job(kubectl, volume, topic, NAME)
    topic.end()
    kubectl("delete", "streamjob", NAME, "--wait=false")
    kubectl("delete", "pod", "kafka", "--wait=false")


def test_a_kafka_job_gets_ready_and_is_balanced(sensors: Job, say: Sayer) -> None:
    sensors.until(lambda one: condition(one, "Ready").startswith("True"), START_S, "Ready")
    status = sensors.until(settled(2), BALANCED_S, "balanced on two executors")
    say(f"load distance {status['load'].get('distance')}")


def test_its_backlog_is_measured_and_worked_off_exactly(sensors: Job, installed: World, say: Sayer) -> None:
    sensors.feed.rate = 0
    told = sensors.require_exact()
    assert sensors.failed_tasks() == ()
    until_s = time.monotonic() + MEASURED_S
    while (last := installed.measured(LAG)) != 0.0 and time.monotonic() < until_s:
        time.sleep(1.0)
    assert last == 0.0
    highest = installed.measured(f"max_over_time({LAG}[15m])")
    assert highest is not None
    assert highest >= BACKLOG / 4
    say(f"{told}; {highest:,.0f} readings were behind at most")


def test_a_crowd_of_rows_wakes_a_cycle_while_their_batch_runs(sensors: Job, say: Sayer) -> None:
    assert isinstance(sensors.feed, Topic)
    sensors.feed.rate = RATE
    wanted = sensors.feed.batches() + QUIET_BATCHES
    sensors.until(lambda _: sensors.feed.batches() >= wanted, QUIET_S, "batches of the usual size")
    sensors.feed.rate = CROWD
    crowd_s = time.monotonic()
    status = sensors.until(lambda one: "more rows than usual" in woken_by(one), WOKEN_S, "a cycle woken by the rows")
    took_s = time.monotonic() - crowd_s
    sensors.feed.rate = RATE
    say(f"after {took_s:.0f} s, batches are 5 s apart: {woken_by(status)}")


def woken_by(status: Status) -> str:
    """What woke the newest cycle, in its words; nothing where the clock did."""
    return str((status.get("lastCycle") or {}).get("wokenBy", ""))
