"""One run: the job reads Kafka while rows come at the trace's rate, and somebody decides on executors."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import pathlib
import shlex
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from typing import Any

import yaml
from benchmarks import event_log
from benchmarks.children import child
from benchmarks.jobs_on_spark.running import ROOT, SCRIPT, SEED
from benchmarks.rules_on_spark.course import LEAD_S, Course
from benchmarks.rules_on_spark.figures import curves, figures
from benchmarks.rules_on_spark.producer import GIVEN, LOG, Producer, create
from benchmarks.rules_on_spark.shape import FASTER, JOB, OBJECTIVE_S, PARTITIONS, STREAM, TRIGGER_S, settings, streamjob
from benchmarks.rules_on_spark.systems import System
from benchmarks.rules_on_spark.waiting import taken
from e2e.cluster import kafka
from e2e.cluster.broker import Broker
from jobs import feed
from jobs.session import alone
from jobs.sources import Kafka, Topics
from jobs.taken import newest
from jobs.topics import topic

WARM_BATCHES, ROWS_AT_ONCE = 4, 1_000
READY_S, END_S, REST_S, LOOK_S = 240.0, 60.0, 240.0, 0.5
"""Longest times: until the job is warm, until the last row has come after its time, until all are taken in."""


def run(course: Course, system: System, keep: pathlib.Path | None = None) -> dict[str, Any]:
    """What was measured. Raises RuntimeError where the job did not get through; `keep` is a folder for its files."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix=f"{course.name}-{system.name}-"))
    began_s = time.monotonic()
    try:
        with _broker(folder / "kafka") as address:
            producer = _through(course, system, address, folder)
            feed.publish({STREAM: producer.given}, folder / "input", 0)
            assert producer.began_s is not None
            seen = event_log.read(folder / "events")
            span = (producer.began_s + LEAD_S, producer.ticks[-1][0])
            found = figures(seen.batches, seen.executors, producer.ticks, span, OBJECTIVE_S)
            return {
                "at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
                **dataclasses.asdict(found),
                **dataclasses.asdict(curves(seen.batches, seen.executors, span)),
                "rows": len(producer.given),
                "failed_tasks": seen.failed_tasks,
                "differences": _differences(address, folder),
                "took_s": round(time.monotonic() - began_s, 1),
            }
    finally:
        if keep is not None:
            shutil.copytree(folder, keep, dirs_exist_ok=True, ignore=shutil.ignore_patterns("kafka", "local", "state"))
        shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def _broker(folder: pathlib.Path) -> Iterator[str]:
    broker = Broker(folder, PARTITIONS)
    try:
        broker.start()
        create(broker.address, topic(JOB.name, STREAM), PARTITIONS)
        yield broker.address
    finally:
        broker.kill()


def _through(course: Course, system: System, address: str, folder: pathlib.Path) -> Producer:
    """Start the job, get it warm, let all rows come, and wait until each has been taken in."""
    (folder / "events").mkdir()
    feed.prepare(JOB, folder / "input")
    words, env = _command(system, address, folder)
    rows = (row for batch in feed.batches(JOB, SEED, ROWS_AT_ONCE) for row in batch[STREAM])
    producer = Producer(course, rows, address, topic(JOB.name, STREAM), folder)
    checkpoint = _checkpoint(folder)
    with child(words, folder / "log", env=env, grace_s=25.0, cwd=ROOT) as process:
        try:
            producer.start()
            _await(lambda: newest(checkpoint / "commits") >= WARM_BATCHES, process.poll, READY_S, folder)
            producer.begin()
            _await(lambda: producer.done, process.poll, course.ends_s + END_S, folder)
            if producer.failure:
                raise RuntimeError(f"{producer.failure}\n{_last_words(folder)}")
            _await(lambda: taken(checkpoint) == len(producer.given), process.poll, REST_S, folder)
            time.sleep(TRIGGER_S)  # Spark's log tells of a batch after its commit
        finally:
            producer.close()
    return producer


def _await(done: Callable[[], bool], code: Callable[[], int | None], limit_s: float, folder: pathlib.Path) -> None:
    until_s = time.monotonic() + limit_s
    while not done():
        if code() is not None or time.monotonic() > until_s:
            raise RuntimeError(f"it did not get through, exit code {code()}\n{_last_words(folder)}")
        time.sleep(LOOK_S)


def _checkpoint(folder: pathlib.Path) -> pathlib.Path:
    return folder / "run" / "checkpoint" / JOB.queries[0].name


def _last_words(folder: pathlib.Path) -> str:
    logs = (folder / "log", folder / "out" / "driver.log", folder / LOG)
    return "\n".join(one.read_text(encoding="utf-8", errors="replace")[-2000:] for one in logs if one.exists())


def _differences(address: str, folder: pathlib.Path) -> list[str]:
    """What is wrong with the output, of each batch."""
    with alone(kafka.get(kafka.CONNECTOR)) as spark:
        return Topics(spark, JOB, folder / "input", Kafka(bootstrap=address), JOB.name).check(folder / "run")


def _command(system: System, address: str, folder: pathlib.Path) -> tuple[list[str], dict[str, str]]:
    """Words and environment."""
    conf = settings(system, folder)
    words = [JOB.name, "--input", str(folder / "input"), "--out", str(folder / "run"), "--source", "kafka"]
    words += ["--bootstrap", address, "--trigger", f"{TRIGGER_S:g} seconds", "--max-offsets-per-trigger", "100000000"]
    env = {
        **os.environ,
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_LOCAL_DIRS": str(folder / "local"),
        "PYSPARK_PYTHON": sys.executable,
    }
    if system.rule is None:
        pairs = [word for key, value in conf.items() for word in ("--conf", f"{key}={value}")]
        return [sys.executable, str(SCRIPT), *words], {
            **env,
            "PYSPARK_SUBMIT_ARGS": shlex.join([*pairs, "pyspark-shell"]),
        }
    spec = folder / "job.yaml"
    spec.write_text(yaml.safe_dump(streamjob(system, words, conf)), encoding="utf-8")
    quick = [sys.executable, "-m", "benchmarks.rules_on_spark.quick", str(spec)]
    quick += ["--given", str(folder / GIVEN), "--checkpoint", str(_checkpoint(folder))]
    return [*quick, "--out", str(folder / "out"), "--faster", f"{FASTER:g}"], env
