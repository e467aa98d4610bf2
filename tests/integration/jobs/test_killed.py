"""A job whose executor and driver are killed in mid-batch while its key groups move, in a driver of its own."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[3]))

pytest.importorskip("pyspark.sql.streaming.stateful_processor", reason="Spark 4.0 and newer have it")

from jobs import suite
from jobs.__main__ import main
from jobs.reading import FILES
from jobs.trial import Kind

pytestmark = [
    pytest.mark.spark,
    pytest.mark.timeout(1_800),  # Spark starts twice, in turn with whatever else the machine does
]


def test_a_job_stays_exact_while_an_executor_and_the_driver_are_killed(tmp_path: Path) -> None:
    words = ["--rows", "100", "--batches", "8", "--key-groups", "4", "--kill-executors", "1", "--kill-driver"]
    code = main(["run", "nexmark-5", "--streamjob", *words, "--out", str(tmp_path)])
    found = suite.read(tmp_path / suite.RESULTS[FILES])[Kind("nexmark-5", moved=True, harmed=True)]
    log = tmp_path / "harmed" / "drivers.log"
    assert found.exact, f"{found.differences}\n{log.read_text()[-3000:]}"
    assert code == 0
    assert found.harm == {"executor killed": 1, "driver killed": 1}
