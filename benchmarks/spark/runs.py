"""Start the benchmark job as plain Spark or under StreamJob, and read what each batch took."""

from __future__ import annotations

import dataclasses
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

import numpy as np
import yaml
from workload import key_group_ms

HERE = pathlib.Path(__file__).parent
ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One cell of the comparison. `total_ms` is the work of all key groups in one batch."""

    skew: str
    work: str
    slots: int
    partitions: int
    total_ms: float
    batches: int
    batches_per_phase: int = 40

    def group_ms(self) -> np.ndarray:
        """The same profile for every run of a case."""
        return key_group_ms(self.skew, self.partitions, self.total_ms, np.random.default_rng(7))


def spark_conf(case: Case) -> dict[str, str]:
    """What both sides are given: equal resources, the state store Spark recommends, no UI."""
    return {
        "spark.master": f"local-cluster[{case.slots},1,1024]",
        "spark.sql.shuffle.partitions": str(case.partitions),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.streaming.stateStore.providerClass": ROCKSDB,
        "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
        "spark.sql.streaming.numRecentProgressUpdates": "1000",
    }


def streamjob_spec(case: Case, config: pathlib.Path) -> dict[str, object]:
    """The StreamJob of a case: balancing on, the number of executors fixed."""
    return {
        "apiVersion": "streamjob.dev/v1alpha1",
        "kind": "StreamJob",
        "metadata": {"name": f"bench-{case.skew}-{case.work}"},
        "spec": {
            "application": {
                "mainFile": str(HERE / "job.py"),
                "args": [str(config)],
                "sparkConf": spark_conf(case),
            },
            "executors": {"min": case.slots, "max": case.slots},
            "balancing": {
                "mode": "Auto",
                "statisticsPeriod": "10s",
                "maxLoadDistance": 5,
                "migrationBudget": {"maxMigrations": case.partitions},
            },
            "scaling": {"mode": "Off"},
        },
    }


def run(case: Case, system: str, timeout_s: float = 900.0) -> list[dict[str, object]]:
    """One run in a folder of its own; the progress of every batch. Raises RuntimeError with the log's end."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix=f"bench-{case.skew}-{case.work}-{system}-"))
    try:
        return _run(case, system, folder, timeout_s)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _run(case: Case, system: str, folder: pathlib.Path, timeout_s: float) -> list[dict[str, object]]:
    config = folder / "config.json"
    progress = folder / "progress.jsonl"
    config.write_text(
        json.dumps(
            {
                "partitions": case.partitions,
                "keys_per_partition": 10,
                "batches_per_phase": case.batches_per_phase,
                "group_ms": case.group_ms().tolist(),
                "work": case.work,
                "checkpoint": str(folder / "checkpoint"),
                "progress": str(progress),
                "batches": case.batches,
            }
        )
    )
    command, env = _command(case, system, folder, config)
    with open(folder / "log", "w") as log:
        done = subprocess.run(command, env=env, stdout=log, stderr=log, timeout=timeout_s, check=False)
    if not progress.exists() or len(lines := progress.read_text().splitlines()) < case.batches:
        raise RuntimeError(f"{system} {case}: exit {done.returncode}\n{(folder / 'log').read_text()[-3000:]}")
    return [json.loads(line) for line in lines]


def _command(case: Case, system: str, folder: pathlib.Path, config: pathlib.Path) -> tuple[list[str], dict[str, str]]:
    env = {**os.environ, "SPARK_LOCAL_IP": "127.0.0.1"}
    if system == "vanilla":
        settings = " ".join(f"--conf {key}={value}" for key, value in spark_conf(case).items())
        env["PYSPARK_SUBMIT_ARGS"] = f"{settings} pyspark-shell"
        return [sys.executable, str(HERE / "job.py"), str(config)], env
    spec = folder / "job.yaml"
    spec.write_text(yaml.safe_dump(streamjob_spec(case, config)))
    return ["streamjob", "run", str(spec), "--out", str(folder / "out")], env


def batch_ms(progress: list[dict[str, object]], skip: int) -> np.ndarray:
    """Duration of each batch after the first `skip`, milliseconds."""
    return np.array([p["durationMs"]["triggerExecution"] for p in progress[skip:]], dtype=float)  # type: ignore[index]


def stamp() -> str:
    """Now, for result files."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
