"""What the agent costs a job that has nothing to gain: batch durations without and with it, alternating.

    python benchmarks/spark/overhead.py [--partitions 20,60,200] [--rounds 3] [--runs 1] [--out out/benchmarks]
    python benchmarks/spark/overhead.py --report [--out out/benchmarks]

Two chained operators, so 2 x PARTITIONS key groups. Each finished run is appended to OUT/overhead.jsonl, so that a
call goes on where the last one stopped. Prints the median batch of each side, their ratio by round, and what
the agent says of its own work per batch.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import types
import urllib.request
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from runs import CALM, FILES, HERE, ROCKSDB, batch_ms, scratch, stamp
from table import figure, told_figure

BATCHES = {20: 45, 60: 35, 200: 9}
FEWEST_BATCHES = 20
SKIP = {20: 12, 60: 8}
FEWEST_SKIPPED = 3  # where a batch has many tasks, executors are warm soon
SIDES = ("plain", "agent")
RUNS = "overhead.jsonl"
NO_CONF: Mapping[str, str] = types.MappingProxyType({})
"""No settings beside those of all runs."""


def settings(partitions: int, others: Mapping[str, str] = NO_CONF) -> str:
    """Settings that both sides get, as arguments of spark-submit; `others` come beside them, or in place of them."""
    conf = {
        "spark.master": "local-cluster[2,1,1024]",
        "spark.sql.shuffle.partitions": str(partitions),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.streaming.stateStore.providerClass": ROCKSDB,
        "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
        "spark.sql.streaming.statefulOperator.checkCorrectness.enabled": "false",
        "spark.sql.streaming.numRecentProgressUpdates": "1000",
        "spark.driver.extraJavaOptions": CALM,
        "spark.executor.extraJavaOptions": CALM,
        **FILES,
        **others,
    }
    return shlex.join(
        [*(word for key, value in conf.items() for word in ("--conf", f"{key}={value}")), "pyspark-shell"]
    )


def run(side: str, partitions: int) -> tuple[np.ndarray, float | None]:
    """Batch durations (ms) after warm-up, and the agent's own seconds per batch."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="overhead-", dir=scratch()))
    try:
        config = folder / "config.json"
        paths = {"checkpoint": str(folder / "checkpoint"), "progress": str(folder / "progress.jsonl")}
        config.write_text(json.dumps({**paths, "batches": BATCHES.get(partitions, FEWEST_BATCHES)}))
        own = _watch(_start(side, partitions, folder, config), folder / "address")
        lines = (folder / "progress.jsonl").read_text().splitlines()
        return batch_ms([json.loads(line) for line in lines], SKIP.get(partitions, FEWEST_SKIPPED)), own
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
        return subprocess.Popen(command, env=env, stdout=log, stderr=log, start_new_session=True)


def _watch(process: subprocess.Popen[bytes], address: pathlib.Path) -> float | None:
    """Wait for the end, at most ten minutes; the newest of the agent's overhead seconds per batch seen meanwhile."""
    own = None
    try:
        for _ in range(600):
            try:
                process.wait(timeout=1.0)
                return own
            except subprocess.TimeoutExpired:
                own = _own_seconds(address) or own
        raise RuntimeError("the job did not end within ten minutes")
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


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
    """Run what is missing, or report what there is."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--partitions", default="20,60,200")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--runs", type=int, default=1000, help="most runs in this call")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("out/benchmarks"))
    parser.add_argument("--report", action="store_true")
    args = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that a run in progress is ended, too
    args.out.mkdir(parents=True, exist_ok=True)
    path = args.out / RUNS
    if not args.report:
        sizes = list(map(int, args.partitions.split(",")))
        for size, turn, side in list(missing(sizes, args.rounds, read_runs(path)))[: args.runs]:
            record = one_run(size, turn, side)
            with path.open("a") as file:
                file.write(json.dumps(record) + "\n")
    print_report(rows_of(args.out))


def missing(sizes: list[int], rounds: int, done: list[dict[str, Any]]) -> Iterator[tuple[int, int, str]]:
    """(partitions, round, side) still to run; the two sides take turns at going first."""
    have = {(one["partitions"], one["round"], one["side"]) for one in done}
    for turn in range(rounds):
        for size in sizes:
            for side in SIDES if turn % 2 == 0 else SIDES[::-1]:
                if (size, turn, side) not in have:
                    yield size, turn, side


def one_run(partitions: int, turn: int, side: str) -> dict[str, object]:
    """Run a side; its record."""
    durations_ms, own_s = run(side, partitions)
    own_ms = None if own_s is None else 1000 * own_s
    return {
        "partitions": partitions,
        "round": turn,
        "side": side,
        "at": stamp(),
        "durations_ms": durations_ms.tolist(),
        "own_ms": own_ms,
    }


def read_runs(path: pathlib.Path) -> list[dict[str, Any]]:
    """Every finished run of the file, none when there is no file."""
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def rows_of(out: pathlib.Path) -> list[dict[str, Any]]:
    """The figures of every size of which both sides were run."""
    runs = read_runs(out / RUNS)
    found = [one_size(size, [one for one in runs if one["partitions"] == size]) for size in sizes_of(runs)]
    return [row for row in found if row is not None]


def sizes_of(runs: list[dict[str, Any]]) -> list[int]:
    """Numbers of partitions, in order."""
    return sorted({one["partitions"] for one in runs})


def print_report(rows: list[dict[str, Any]]) -> None:
    """The table in Markdown."""
    print("| key groups | plain ms | with agent ms | ratio of medians | agent's own ms a batch | rounds |")
    print("|---|---|---|---|---|---|")
    for row in rows:
        ratio, own = row["ratio"], row["own_ms"]
        print(
            f"| {row['groups']} | {row['plain_ms']:.0f} | {row['agent_ms']:.0f} | {told_figure(ratio, 3)} "
            f"| {told_figure(own, 1)} | {ratio['trials']} |"
        )


def one_size(partitions: int, runs: list[dict[str, Any]]) -> dict[str, Any] | None:
    """Medians of both sides over all rounds, and the ratio of each round's medians; None before a round is whole."""
    by_side = {side: {one["round"]: one for one in runs if one["side"] == side} for side in SIDES}
    rounds = sorted(by_side["plain"].keys() & by_side["agent"].keys())
    if not rounds:
        return None
    warm = {side: [np.array(by_side[side][turn]["durations_ms"]) for turn in rounds] for side in SIDES}
    pairs = zip(warm["agent"], warm["plain"], strict=True)
    return {
        "groups": 2 * partitions,
        **{f"{side}_ms": float(np.median(np.concatenate(warm[side]))) for side in SIDES},
        "ratio": figure([float(np.median(agent) / np.median(plain)) for agent, plain in pairs]),
        "own_ms": figure([by_side["agent"][turn]["own_ms"] for turn in rounds]),
    }


if __name__ == "__main__":
    main()
