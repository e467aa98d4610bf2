"""A job that reads Kafka, its key groups on the move, while the broker crashes and comes back."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[3]))

pytest.importorskip("pyspark.sql.streaming.stateful_processor", reason="Spark 4.0 and newer have it")
pytest.importorskip("pyspark", minversion="4.2", reason="the pinned Kafka connector is that of Spark 4.2 and newer")

from e2e.cluster import kafka
from e2e.cluster.broker import Broker

pytestmark = [
    pytest.mark.spark,
    # It takes minutes: it is run where somebody has fetched the jars, `make jobs-kafka` or the end-to-end suite.
    pytest.mark.skipif(kafka.to_fetch() is not None, reason=str(kafka.to_fetch())),
    pytest.mark.timeout(1_800),  # six JVMs: it took 14 minutes on a machine that did much else
]
ROOT = Path(__file__).parents[3]
WAIT_S = 600.0


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[Broker]:
    """Of this test alone."""
    one = Broker(tmp_path / "kafka")
    one.start()
    yield one
    one.kill()


def test_a_job_stays_exact_while_key_groups_move_and_the_broker_crashes(broker: Broker, tmp_path: Path) -> None:
    words = ["run", "vwap-bargains", "--streamjob", "--rows", "100", "--batches", "6", "--key-groups", "4"]
    words += ["--source", "kafka", "--bootstrap", broker.address, "--jars", str(kafka.get(kafka.CONNECTOR))]
    command = [sys.executable, "-m", "jobs", *words, "--out", str(tmp_path / "out")]
    run = tmp_path / "out" / "vwap-bargains" / "run"
    second = run / "checkpoint" / "bargains" / "commits" / "1"
    output = tmp_path / "output"
    with output.open("w") as file, subprocess.Popen(command, cwd=ROOT, stdout=file, stderr=file) as job:
        try:
            until_s = time.monotonic() + WAIT_S
            while not second.exists() and job.poll() is None and time.monotonic() < until_s:
                time.sleep(0.1)
            assert second.exists(), output.read_text()[-3000:]
            broker.restart()
            code = job.wait(WAIT_S)
        finally:
            job.kill()
    assert code == 0, output.read_text()[-3000:]
    assert "vwap-bargains: exact" in output.read_text()
    assert any(file.read_text() for file in (run / "output" / "bargains").iterdir())  # there was something to be right
