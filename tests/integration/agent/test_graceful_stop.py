"""SIGTERM in the middle of a batch, on a real Spark: it ends, no other begins, and a new driver goes on exactly."""

from __future__ import annotations

import json
import os
import pathlib
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import pytest

JOB = """
import json, pathlib, sys, time
from pyspark.sql import SparkSession, functions as F
folder, most = pathlib.Path(sys.argv[1]), int(sys.argv[2])
spark = (SparkSession.builder.master("local[2]").config("spark.sql.shuffle.partitions", "2")
         .config("spark.ui.enabled", "false").getOrCreate())
spark.sparkContext.setLogLevel("FATAL")
totals = {}
def keep(frame, batch):
    with (folder / "batches").open("a") as log:
        log.write(f"begin {batch}\\n")
    frame.groupBy().count().collect()  # the job's own query within the batch is no batch
    time.sleep(0.7)
    totals.update({row["k"]: row["n"] for row in frame.collect()})
    with (folder / "batches").open("a") as log:
        log.write(f"end {batch}\\n")
rows = (spark.readStream.schema("k string").option("maxFilesPerTrigger", 1).csv(str(folder / "input")))
query = (rows.groupBy("k").agg(F.count("*").alias("n")).writeStream.outputMode("update").foreachBatch(keep)
         .option("checkpointLocation", str(folder / "checkpoint")).start())
if most:
    query.processAllAvailable()
    query.stop()
    (folder / "totals.json").write_text(json.dumps(totals))
else:
    query.awaitTermination()
print("the script went on to its end")
"""
FILES, KEYS = 12, 5


def start(folder: pathlib.Path, most: int) -> subprocess.Popen[str]:
    env = {
        **os.environ,
        "STREAMJOB_AGENT_STOP_GRACE_S": "300",
        "SPARK_LOCAL_IP": "127.0.0.1",
        "PYSPARK_PYTHON": sys.executable,
    }
    command = [sys.executable, "-m", "streamjob_agent", "run", str(folder / "job.py"), str(folder), str(most)]
    output = (folder / f"output-{most}").open("w")
    with output:
        return subprocess.Popen(command, cwd=folder, env=env, stdout=output, stderr=output, text=True)


def until(process: subprocess.Popen[str], holds: Callable[[], Any]) -> None:
    deadline = time.monotonic() + 150
    while not holds():
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.mark.spark
def test_a_batch_ends_before_the_driver_does(tmp_path: pathlib.Path) -> None:
    (tmp_path / "job.py").write_text(JOB)
    (tmp_path / "input").mkdir()
    for number in range(FILES):
        (tmp_path / "input" / f"{number:03d}.csv").write_text("".join(f"k{key}\n" for key in range(KEYS)))
    log = tmp_path / "batches"
    process = start(tmp_path, 0)
    try:
        until(process, lambda: log.exists() and "begin 2" in log.read_text())
        process.send_signal(signal.SIGTERM)
        assert process.wait(400) == 0
    finally:
        process.kill()
    output = (tmp_path / "output-0").read_text()
    assert "the script went on to its end" in output
    assert "was stopped between two batches" in output
    assert "Traceback" not in output
    events = log.read_text().split("\n")[:-1]
    assert events == [f"{what} {batch}" for batch in range(len(events) // 2) for what in ("begin", "end")]
    assert len(events) // 2 < FILES
    commits = [int(file.name) for file in (tmp_path / "checkpoint" / "commits").iterdir() if file.name.isdecimal()]
    assert max(commits) == len(events) // 2 - 1
    plans = [int(file.name) for file in (tmp_path / "checkpoint" / "offsets").iterdir() if file.name.isdecimal()]
    assert max(plans) == max(commits), "a batch was left planned that nothing has begun of"

    process = start(tmp_path, 1)
    try:
        assert process.wait(120) == 0
    finally:
        process.kill()
    assert json.loads((tmp_path / "totals.json").read_text()) == {f"k{key}": FILES for key in range(KEYS)}
