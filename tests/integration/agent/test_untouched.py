"""What the agent leaves alone: a session that its job has made and not used yet."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys

import pytest

pytestmark = pytest.mark.spark

JOB = """
import sys
from pyspark.sql import SparkSession

spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
spark.sparkContext.setLogLevel("FATAL")
session = spark._jsparkSession
for name in ("sessionState", "sharedState"):
    field = session.getClass().getDeclaredField(name)
    field.setAccessible(True)
    print(name, field.get(session))
spark.sparkContext._jsc.hadoopConfiguration().set("fs.mine.secret", "late")
print(session.sharedState().hadoopConf().get("fs.mine.secret"))
rows = spark.readStream.format("rate").load()
query = rows.groupBy("value").count().writeStream.format("noop").outputMode("update").start()
print(len(spark.streams._jsqm.listListeners()) > 0)
query.stop()
"""


def test_settings_and_credentials_given_after_the_session_was_made_still_count(tmp_path: pathlib.Path) -> None:
    job = tmp_path / "job.py"
    job.write_text(JOB)
    done = subprocess.run(
        [sys.executable, "-m", "streamjob_agent", "run", str(job)],
        cwd=tmp_path,
        env={**os.environ, "SPARK_LOCAL_IP": "127.0.0.1"},
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )
    # Nothing is made before the job makes it; the agent is there when the first query starts.
    told = done.stdout.splitlines()
    assert told == ["sessionState None", "sharedState None", "late", "True"], done.stderr[-3000:]
