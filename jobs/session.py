"""A Spark of its own with executors in processes of their own, as the command line uses it on one machine."""

from __future__ import annotations

import contextlib
import os
import pathlib
import sys
import time
from collections.abc import Iterator, Mapping

from pyspark.sql import SparkSession

from jobs.settings import CHECKED, COMMON

EXECUTORS, KEY_GROUPS = 3, 8
START_S = 600.0
SETTINGS = {
    **COMMON,
    **CHECKED,
    # Moves are a matter of placement alone: nothing waits for a place, nothing is started twice.
    "spark.locality.wait": "0s",
    "spark.decommission.enabled": "true",
    "spark.storage.decommission.enabled": "false",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    # Four young JVMs on few cores live for minutes: what they compile has to pay within seconds.
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.executor.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.files.minPartitionNum": "1",
    "spark.sql.streaming.pollingDelay": "100ms",
    # Without native Hadoop libraries each new file forks a chmod, and each checksum file another one.
    "spark.hadoop.fs.AbstractFileSystem.file.impl": "org.apache.hadoop.fs.local.RawLocalFs",
}


@contextlib.contextmanager
def local_cluster(key_groups: int = KEY_GROUPS, jars: pathlib.Path | None = None) -> Iterator[SparkSession]:
    """A session with EXECUTORS executors, all of them there, and that many key groups for each operator with state.

    What Spark itself does not have, as its Kafka source, comes from the folder `jars`.
    """
    os.environ["PYSPARK_PYTHON"] = sys.executable  # executors' Python workers need the same packages
    with _session(f"local-cluster[{EXECUTORS},1,1024]", jars, {"spark.sql.shuffle.partitions": str(key_groups)}) as one:
        _wait(one)
        yield one


@contextlib.contextmanager
def alone(jars: pathlib.Path) -> Iterator[SparkSession]:
    """A session without executors, for what is read and written by the way, with the jars of a folder."""
    with _session("local[1]", jars, {}) as one:
        yield one


@contextlib.contextmanager
def _session(master: str, jars: pathlib.Path | None, more: Mapping[str, str]) -> Iterator[SparkSession]:
    builder = SparkSession.builder.master(master).appName("jobs")
    of_jars = {} if jars is None else {"spark.jars": joined(jars)}
    for key, value in {**SETTINGS, **of_jars, **more}.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    try:
        yield session
    finally:
        session.stop()


def joined(jars: pathlib.Path) -> str:
    """All jars of a folder, as `spark.jars` wants them; ValueError where there are none."""
    found = sorted(str(one.absolute()) for one in jars.glob("*.jar"))
    if not found:
        raise ValueError(f"jars: {jars} given; there are none in it.")
    return ",".join(found)


def _wait(session: SparkSession) -> None:
    until_s = time.monotonic() + START_S
    while executors(session) < EXECUTORS:
        if time.monotonic() > until_s:
            raise RuntimeError(f"{EXECUTORS} executors were wanted, {executors(session)} came within {START_S:g} s.")
        time.sleep(0.1)


def executors(session: SparkSession) -> int:
    """Executors that are registered, the driver left out."""
    return int(session.sparkContext._jsc.sc().statusStore().executorList(True).size()) - 1


def failed_tasks(session: SparkSession) -> int:
    """Tasks that have failed since the Spark application began."""
    summaries = session.sparkContext._jsc.sc().statusStore().executorList(False)
    return sum(int(summaries.apply(i).failedTasks()) for i in range(summaries.size()))
