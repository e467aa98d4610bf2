"""What the agent costs a job that has nothing to gain: batch durations without and with it, alternating.

    python benchmarks/spark/overhead.py [--partitions 20,60,200] [--rounds 2] [--out out/benchmarks]

Two chained operators, so 2 x PARTITIONS key groups. Prints the median batch of each side, their ratio by round, and
what the agent says of its own work per batch.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.request

import numpy as np
from runs import HERE, ROCKSDB, batch_ms, stamp

BATCHES, SKIP = 16, 6
SIDES = ("plain", "agent")


def settings(partitions: int) -> str:
    """Settings that both sides get, as arguments of spark-submit."""
    conf = {
        "spark.master": "local-cluster[2,1,1024]",
        "spark.sql.shuffle.partitions": str(partitions),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.streaming.stateStore.providerClass": ROCKSDB,
        "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
        "spark.sql.streaming.statefulOperator.checkCorrectness.enabled": "false",
        "spark.sql.streaming.numRecentProgressUpdates": "1000",
    }
    return " ".join(f"--conf {key}={value}" for key, value in conf.items()) + " pyspark-shell"


def run(side: str, partitions: int) -> tuple[np.ndarray, float | None]:
    """Batch durations (ms) after warm-up, and the agent's own seconds per batch."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="overhead-"))
    try:
        config = folder / "config.json"
        paths = {"checkpoint": str(folder / "checkpoint"), "progress": str(folder / "progress.jsonl")}
        config.write_text(json.dumps({**paths, "batches": BATCHES}))
        own = _watch(_start(side, partitions, folder, config), folder / "address")
        lines = (folder / "progress.jsonl").read_text().splitlines()
        return batch_ms([json.loads(line) for line in lines], SKIP), own
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _start(side: str, partitions: int, folder: pathlib.Path, config: pathlib.Path) -> subprocess.Popen[bytes]:
    env = {
        **os.environ,
        "SPARK_LOCAL_IP": "127.0.0.1",
        "PYSPARK_SUBMIT_ARGS": settings(partitions),
        "STREAMJOB_AGENT_ADDRESS_FILE": str(folder / "address"),
        "STREAMJOB_AGENT_STATE_DIR": str(folder / "state"),
    }
    agent = ["-m", "streamjob_agent", "run"] if side == "agent" else []
    command = [sys.executable, *agent, str(HERE / "chain_job.py"), str(config)]
    with open(folder / "log", "wb") as log:
        return subprocess.Popen(command, env=env, stdout=log, stderr=log)


def _watch(process: subprocess.Popen[bytes], address: pathlib.Path) -> float | None:
    """Wait for the end, at most ten minutes; the newest of the agent's overhead seconds per batch seen meanwhile."""
    own = None
    for _ in range(600):
        try:
            process.wait(timeout=1.0)
            return own
        except subprocess.TimeoutExpired:
            own = _own_seconds(address) or own
    process.kill()
    raise RuntimeError("the job did not end within ten minutes")


def _own_seconds(address: pathlib.Path) -> float | None:
    if not address.exists():
        return None
    try:
        place = address.read_text().strip()
        url = place if place.startswith("http") else f"http://{place}"
        page = urllib.request.urlopen(f"{url}/metrics", timeout=5).read().decode()
    except OSError:  # the job is starting or has just ended
        return None
    spent = re.search(r"^streamjob_agent_overhead_seconds_total(?:\{\})? (\S+)$", page, re.MULTILINE)
    batches = re.search(r"^streamjob_query_batches_total\{[^}]*\} (\S+)$", page, re.MULTILINE)
    return float(spent[1]) / float(batches[1]) if spent and batches and float(batches[1]) > 0 else None


def main() -> None:
    """Parse, alternate, print, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--partitions", default="20,60,200")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("out/benchmarks"))
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    rows = []
    print(f"{'groups':>7} {'plain ms':>9} {'agent ms':>9} {'ratio by round':>18} {'own ms a batch':>15}")
    for partitions in map(int, args.partitions.split(",")):
        row = one_size(partitions, args.rounds)
        rows.append(row)
        ratios = " ".join(f"{ratio:.3f}" for ratio in row["ratio_by_round"])
        print(
            f"{row['groups']:7} {row['plain_ms']:9.0f} {row['agent_ms']:9.0f} {ratios:>18} {row['own_ms']:15.1f}",
            flush=True,
        )
        (args.out / "overhead.json").write_text(json.dumps({"at": stamp(), "rows": rows}, indent=1))


def one_size(partitions: int, rounds: int) -> dict[str, object]:
    """Medians of both sides over all rounds, and the ratio of each round's medians."""
    kept: dict[str, list[np.ndarray]] = {side: [] for side in SIDES}
    own: list[float] = []
    for _ in range(rounds):
        for side in SIDES:
            durations, seconds = run(side, partitions)
            kept[side].append(durations)
            own += [seconds] if seconds is not None else []
    ratios = [float(np.median(a) / np.median(p)) for p, a in zip(kept["plain"], kept["agent"], strict=True)]
    return {
        "groups": 2 * partitions,
        "plain_ms": float(np.median(np.concatenate(kept["plain"]))),
        "agent_ms": float(np.median(np.concatenate(kept["agent"]))),
        "ratio_by_round": ratios,
        "own_ms": 1000 * float(np.mean(own)) if own else float("nan"),
    }


if __name__ == "__main__":
    main()
