"""One run: the job's own script as plain Spark or under StreamJob, over a backlog that lies there, to its end."""

from __future__ import annotations

import dataclasses
import json
import os
import pathlib
import shlex
import shutil
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from typing import Any

import yaml
from benchmarks import event_log
from benchmarks.children import child
from benchmarks.event_log import Told
from benchmarks.jobs_on_spark import systems, waits
from benchmarks.jobs_on_spark.figures import figures
from benchmarks.jobs_on_spark.machine import Meter, loop_s
from benchmarks.jobs_on_spark.piece import Piece
from benchmarks.jobs_on_spark.shapes import Shape, named
from jobs import feed
from jobs.checking import check
from jobs.job import Job
from jobs.registry import find
from jobs.settings import CHECKED, COMMON
from jobs.taken import reached, taken

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "jobs" / "script.py"
SEED = 0
SHARED_MEMORY = pathlib.Path("/dev/shm")
LOOK_S, LIMIT_S, REST_S, RESTLESS_S = 0.5, 400.0, 3.0, 20.0
"""How often a run is looked at, how long it may take, and without a new batch for how long it is through."""
# Without native Hadoop libraries each new file forks a chmod, which makes a commit of state dearer: on all sides as
# seldom as can be. JVMs that compile themselves on two cores take minutes to calm down, the quick compiler seconds.
FILES = {
    "spark.sql.streaming.checkpointFileManagerClass": (
        "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager"
    ),
    "spark.hadoop.fs.AbstractFileSystem.file.impl": "org.apache.hadoop.fs.local.RawLocalFs",
}
CALM = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
PERIOD_S = 10


def settings(piece: Piece, shape: Shape, log: pathlib.Path, jar: pathlib.Path) -> dict[str, str]:
    """What Spark is told: the same for all systems, and the system's own."""
    waiting = {} if shape.wait_ms is None else waits.settings(jar, shape.wait_ms)
    return {
        **COMMON,
        **CHECKED,
        **FILES,
        "spark.master": f"local-cluster[{shape.executors},1,1024]",
        "spark.scheduler.minRegisteredResourcesRatio": "1.0",
        "spark.sql.shuffle.partitions": str(piece.amounts.key_groups),
        # What executors fetch of each other goes over sockets, as between machines, and is counted as remote.
        "spark.shuffle.readHostLocalDisk": "false",
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": log.as_uri(),
        "spark.eventLog.compress": "false",
        "spark.eventLog.rolling.enabled": "false",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.extraJavaOptions": CALM,
        "spark.executor.extraJavaOptions": CALM,
        **waiting,
        **systems.named(piece.system).settings,
    }


def streamjob(piece: Piece, shape: Shape, words: list[str], conf: Mapping[str, str]) -> dict[str, Any]:
    """The StreamJob of a run; what is not said is the default."""
    ours = systems.named(piece.system).ours
    if ours is None:
        raise ValueError(f"systems: {piece.system} is none of StreamJob's.")
    balancing = {"mode": "Auto" if ours.balance else "Off", "planner": ours.planner, "statisticsPeriod": f"{PERIOD_S}s"}
    return {
        "apiVersion": "streamjob.dev/v1alpha1",
        "kind": "StreamJob",
        "metadata": {"name": piece.job},
        "spec": {
            "application": {"mainFile": str(SCRIPT), "args": words, "sparkConf": dict(conf)},
            "executors": {"min": 1 if ours.scale else shape.executors, "max": shape.executors},
            "balancing": balancing,
            "scaling": {"mode": "Auto" if ours.scale else "Off"},
        },
    }


def run(piece: Piece, out: pathlib.Path, keep: pathlib.Path | None = None) -> dict[str, Any]:
    """What was measured, as a line of the file of runs has it. Raises RuntimeError where the job did not get through.

    `out` keeps what jobs read, `keep` is a folder for the run's own files.
    """
    began_s = time.monotonic()
    job, loop_before_s = find(piece.job), loop_s()
    given, jar = backlog(job, piece, out / "input"), out / "waits.jar"
    if named(piece.shape).wait_ms is not None:
        waits.made(jar)
    folder = pathlib.Path(tempfile.mkdtemp(prefix=f"{piece.job}-{piece.system}-", dir=_scratch()))
    try:
        meter = _through(piece, job, _command(piece, given, folder, jar), folder)
        loop_after_s = loop_s()
        seen = of_input(event_log.read(folder / "events"), _checkpoints(job, folder))
        found = figures(seen, piece.amounts.skip, meter.seen, os.cpu_count() or 1)
        return {
            "at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            **dataclasses.asdict(found),
            "loop_s": [round(loop_before_s, 3), round(loop_after_s, 3)],
            "failed_tasks": seen.failed_tasks,
            "differences": check(job, given, folder / "run"),
            "took_s": round(time.monotonic() - began_s, 1),
        }
    finally:
        if keep is not None:
            shutil.copytree(folder, keep, dirs_exist_ok=True, ignore=shutil.ignore_patterns("checkpoint", "local"))
        shutil.rmtree(folder, ignore_errors=True)


def of_input(seen: Told, checkpoints: Sequence[pathlib.Path]) -> Told:
    """The run with the rows of the input that each batch took in. Spark counts a stream's as often as a query uses it,
    and none that a filter kept back in the scan. KeyError for a batch that no checkpoint has."""
    rows = {}
    for checkpoint in checkpoints:
        query = json.loads((checkpoint / "metadata").read_text(encoding="utf-8"))["id"]
        for number, one in enumerate(taken(checkpoint)):
            rows[query, number] = sum(map(len, one.rows.values()))
    batches = tuple(dataclasses.replace(one, rows=rows[one.query, one.number]) for one in seen.batches)
    return dataclasses.replace(seen, batches=batches)


def _checkpoints(job: Job, folder: pathlib.Path) -> list[pathlib.Path]:
    return [folder / "run" / "checkpoint" / query.name for query in job.queries]


def backlog(job: Job, piece: Piece, inputs: pathlib.Path) -> pathlib.Path:
    """The job's input, all of it there before it begins: made once."""
    given = inputs / job.name / piece.amounts.input
    if not given.exists():
        draft = given.with_suffix(".draft")
        shutil.rmtree(draft, ignore_errors=True)
        feed.publish_all(job, draft, SEED, piece.amounts.rows, piece.amounts.batches)
        draft.rename(given)
    return given


def _scratch() -> pathlib.Path | None:
    """Memory where there is some, since a disk that others use blurs comparisons."""
    return SHARED_MEMORY if SHARED_MEMORY.is_dir() else None


Command = tuple[list[str], dict[str, str]]
"""Words and environment."""


def _through(piece: Piece, job: Job, command: Command, folder: pathlib.Path) -> Meter:
    """Run it until every query has taken in all there is."""
    (folder / "events").mkdir()
    words, env = command
    with child(words, folder / "log", env=env, grace_s=25.0, cwd=ROOT) as process:
        meter, until_s = Meter(process.pid), time.monotonic() + LIMIT_S
        checkpoints, end = _checkpoints(job, folder), End(piece.amounts.batches, time.monotonic())
        while process.poll() is None and time.monotonic() < until_s:
            time.sleep(LOOK_S)
            meter.look()
            if end.come([reached(one) for one in checkpoints], time.monotonic()):
                return meter
        raise RuntimeError(
            f"{piece.system} {piece.job}: {end.last} of {piece.amounts.batches} batches, exit code {process.poll()}\n"
            + _last_words(folder)
        )


class End:
    """When a run is over: every query has taken in its `batches`, and for REST_S none has made another one, as those
    that close windows have no rows. A query with timers or lives of its own by the clock makes them without end, so
    RESTLESS_S after the last rows it is over all the same."""

    def __init__(self, batches: int, now_s: float) -> None:
        self.last: list[tuple[int, int]] = []
        self._batches, self._since_s, self._in_s = batches, now_s, now_s

    def come(self, now: list[tuple[int, int]], now_s: float) -> bool:
        """Whether it has, as each query has committed so many batches and taken in so many steps of its sources."""
        if not (now and all(steps >= self._batches for _, steps in now)):
            self._in_s = now_s
        if now != self.last:
            self.last, self._since_s = now, now_s
        return now_s - self._in_s > RESTLESS_S or (self._in_s < now_s and now_s - self._since_s > REST_S)


def _last_words(folder: pathlib.Path) -> str:
    logs = (folder / "log", folder / "out" / "driver.log")
    return "\n".join(one.read_text(encoding="utf-8", errors="replace")[-2000:] for one in logs if one.exists())


def _command(piece: Piece, given: pathlib.Path, folder: pathlib.Path, jar: pathlib.Path) -> Command:
    shape = named(piece.shape)
    conf = settings(piece, shape, folder / "events", jar)
    words = [piece.job, "--input", str(given.absolute()), "--out", str(folder / "run")]
    words += ["--trigger", "0 seconds", "--files-per-batch", "1"]
    env = {
        **os.environ,
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_LOCAL_DIRS": str(folder / "local"),
        "PYSPARK_PYTHON": sys.executable,
    }
    if systems.named(piece.system).ours is None:
        pairs = [word for key, value in conf.items() for word in ("--conf", f"{key}={value}")]
        env["PYSPARK_SUBMIT_ARGS"] = shlex.join([*pairs, "pyspark-shell"])
        return [sys.executable, str(SCRIPT), *words], env
    spec = folder / "job.yaml"
    spec.write_text(yaml.safe_dump(streamjob(piece, shape, words, conf)), encoding="utf-8")
    program = pathlib.Path(sys.executable).with_name("streamjob")
    return [str(program), "run", str(spec), "--out", str(folder / "out")], env
