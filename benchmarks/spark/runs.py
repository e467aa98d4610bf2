"""Start the benchmark job as plain Spark or under StreamJob, and read what each batch took."""

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
from typing import Any

import numpy as np
import yaml

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))  # benchmarks are in no wheel

from benchmarks.children import child, exit_code
from cases import Case
from cycles import cycles_of
from placements import Placed, placed_over_bound
from predictions import singles_of, windows_of
from throttle import throttled

HERE = pathlib.Path(__file__).parent
ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
SHARED_MEMORY = pathlib.Path("/dev/shm")
# Without native Hadoop libraries each new file forks a chmod, which makes a commit of state dearer: on both sides as
# seldom as can be. Not by fs.file.impl: RocksDB's snapshots are copied through LocalFileSystem and nothing else, and
# fail without it. The names are those of Spark 4.1 and newer.
FILES = {
    "spark.sql.streaming.checkpointFileManagerClass": (
        "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager"
    ),
    "spark.hadoop.fs.AbstractFileSystem.file.impl": "org.apache.hadoop.fs.local.RawLocalFs",
}
# Five JVMs that compile themselves on two cores need minutes to calm down; the quick compiler is done in seconds.
CALM = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
SYSTEMS = ("vanilla", "streamjob")
PLANNERS = {"streamjob": "search", "auto": "auto"}
"""Sides of StreamJob, and the planner of each."""
START_S, BATCH_S = 200.0, 10.0
"""How long a run and each of its batches may take."""


def spark_conf(case: Case) -> dict[str, str]:
    """What both sides are given: equal resources, all there from the start, Spark's recommended state store, no UI."""
    return {
        "spark.master": f"local-cluster[{case.executors},{case.cores},1024]",
        "spark.scheduler.minRegisteredResourcesRatio": "1.0",
        "spark.sql.shuffle.partitions": str(case.partitions),
        # Chained stages in update mode: the job's rows need no watermark to be right.
        "spark.sql.streaming.unsupportedOperationCheck": "false",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.streaming.stateStore.providerClass": ROCKSDB,
        "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
        "spark.sql.streaming.numRecentProgressUpdates": "1000",
        "spark.driver.extraJavaOptions": CALM,
        "spark.executor.extraJavaOptions": CALM,
        **FILES,
    }


def streamjob_spec(case: Case, planner: str, config: pathlib.Path) -> dict[str, object]:
    """The StreamJob of a case: balancing on, the number of executors fixed."""
    return {
        "apiVersion": "streamjob.dev/v1alpha1",
        "kind": "StreamJob",
        "metadata": {"name": f"bench-{case.name}"},
        "spec": {
            "application": {
                "mainFile": str(HERE / "job.py"),
                "args": [str(config)],
                "sparkConf": spark_conf(case),
            },
            "executors": {"min": case.executors, "max": case.executors},
            "balancing": {
                "mode": "Auto",
                "planner": planner,
                "statisticsPeriod": f"{case.period_s}s",
                "maxLoadDistance": 5,
                "migrationBudget": {"maxMigrations": case.partitions * len(case.levels)},
            },
            "scaling": {"mode": "Off"},
        },
    }


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """One run: the progress of every batch, what StreamJob's controller said of its windows and of single batches, how
    far its placements were from the bound, and what each of its cycles did."""

    progress: list[dict[str, Any]]
    windows: list[dict[str, Any]]
    singles: list[tuple[float, float, float]]
    placed: list[Placed]
    cycles: list[dict[str, Any]]


def run(case: Case, system: str, *, keep: pathlib.Path | None = None) -> Ran:
    """One run in a folder of its own. Raises RuntimeError with the log's end.

    `keep` is a folder that StreamJob's own record of the run is copied to.
    """
    folder = pathlib.Path(tempfile.mkdtemp(prefix=f"bench-{case.name}-{system}-", dir=scratch()))
    timeout_s = START_S + BATCH_S * case.batches
    try:
        progress = _run(case, system, folder, timeout_s)
        history = folder / "out" / "history.jsonl"
        if not history.exists():
            return Ran(progress=progress, windows=[], singles=[], placed=[], cycles=[])
        return Ran(
            progress=progress,
            windows=windows_of(history),
            singles=singles_of(history),
            placed=placed_over_bound(history, case),
            cycles=cycles_of(history),
        )
    finally:
        if keep is not None:
            _keep(folder, keep)
        shutil.rmtree(folder, ignore_errors=True)


def scratch() -> pathlib.Path | None:
    """Where runs keep their files: memory where there is some, since a disk that others use blurs comparisons."""
    return SHARED_MEMORY if SHARED_MEMORY.is_dir() else None


def _keep(folder: pathlib.Path, keep: pathlib.Path) -> None:
    keep.mkdir(parents=True, exist_ok=True)
    for name in ("progress.jsonl", "log", "out/history.jsonl", "out/driver.log"):
        if (folder / name).exists():
            shutil.copy(folder / name, keep)


def _run(case: Case, system: str, folder: pathlib.Path, timeout_s: float) -> list[dict[str, Any]]:
    config, progress = folder / "config.json", folder / "progress.jsonl"
    paths = {"checkpoint": str(folder / "checkpoint"), "progress": str(progress)}
    config.write_text(json.dumps({**case.config(), **paths}))
    command, env = _command(case, system, folder, config)
    with throttled(case.slow, progress), child(command, folder / "log", env=env, grace_s=15.0) as process:
        code = exit_code(process, timeout_s)
    if not progress.exists() or len(lines := progress.read_text().splitlines()) < case.batches:
        raise RuntimeError(f"{system} {case}: exit {code}\n{(folder / 'log').read_text()[-3000:]}")
    return [json.loads(line) for line in lines]


def _command(case: Case, system: str, folder: pathlib.Path, config: pathlib.Path) -> tuple[list[str], dict[str, str]]:
    env = {**os.environ, "SPARK_LOCAL_IP": "127.0.0.1", "SPARK_LOCAL_DIRS": str(folder / "local")}
    if system == "vanilla":
        settings = [word for key, value in spark_conf(case).items() for word in ("--conf", f"{key}={value}")]
        env["PYSPARK_SUBMIT_ARGS"] = shlex.join([*settings, "pyspark-shell"])
        return [sys.executable, str(HERE / "job.py"), str(config)], env
    spec = folder / "job.yaml"
    spec.write_text(yaml.safe_dump(streamjob_spec(case, PLANNERS[system], config)))
    program = pathlib.Path(sys.executable).with_name("streamjob")
    return [str(program), "run", str(spec), "--out", str(folder / "out")], env


def batch_ms(progress: list[dict[str, Any]], skip: int) -> np.ndarray:
    """Duration of each batch after the first `skip`, milliseconds."""
    return np.array([p["durationMs"]["triggerExecution"] for p in progress[skip:]], dtype=float)


def stamp() -> str:
    """Now, for result files."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
