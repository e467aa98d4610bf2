"""One run of a job on nodes, as plain Spark or under StreamJob: batches, bytes, moves, whether the answer is right."""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import datetime
import json
import os
import pathlib
import shlex
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from typing import Any

import yaml
from benchmarks import event_log
from benchmarks.children import child, exit_code
from benchmarks.event_log import Task
from benchmarks.nodes import talk
from benchmarks.nodes.driver import MADE
from benchmarks.nodes.fleet import Fleet
from benchmarks.nodes.network import HUB, Wire, wire
from jobs import feed
from jobs.checking import check, compare, read_output
from jobs.registry import find
from jobs.settings import COMMON

from streamjob_operator.history import read_history
from streamjob_planners.collocation.remote_cost import Evidence, seconds_per_byte

SCRIPT = pathlib.Path(__file__).with_name("driver.py")
VANILLA = "vanilla"
PLANNERS = ("search", "albic", "cola")
BATCHES = 24
LIMIT_S = 240.0
"""How long a run may take."""
SAMPLE_S = 1.0
MIB = 1024 * 1024


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """What is run: a real job's name or one of talk.SHAPES, and how much of it.

    `rows` are those of a real job's batch, `payload_bytes` what goes with a key of a made one. `budget` is the most
    moves of a plan; COLA, which has none, gets all.
    """

    job: str
    batches: int = BATCHES
    key_groups: int = 16
    rows: int = 20_000
    payload_bytes: int = 192 * 1024
    budget: int = 8
    period_s: int = 12
    seed: int = 1


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """One batch of one query: what Spark's progress, its event log and the time of its end say."""

    query: str
    number: int
    began_at_s: float
    took_s: float
    last_local_bytes: int
    last_remote_bytes: int
    remote_bytes: int
    fetch_wait_s: float
    run_s: float


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Cycle:
    """What a cycle of StreamJob's did, and the price of a remote byte it had learned by then."""

    at_s: float
    reason: str
    moves: int
    collocation_pct: float | None
    remote_s_per_byte: float


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """All of a run. `wire` is (seconds since 1970, bytes from node to node so far); `localities` counts tasks of the
    stages with key groups by Spark's level, `elsewhere` those that ran on another executor than in the batch before.
    """

    batches: tuple[Batch, ...]
    wire: tuple[tuple[float, int], ...]
    cycles: tuple[Cycle, ...]
    localities: dict[str, int]
    elsewhere: int
    differences: tuple[str, ...]


def run(fleet: Fleet, case: Case, system: str, folder: pathlib.Path) -> Ran:
    """One run in an empty folder. Raises RuntimeError with the end of its log."""
    folder.mkdir(parents=True)
    (folder / "events").mkdir()
    config = {**dataclasses.asdict(case), "folder": str(folder)}
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    if case.job not in talk.SHAPES:
        feed.publish_all(find(case.job), folder / "input", case.seed, case.rows, case.batches)
    with sampled(len(fleet.sites)) as wires:
        words, env = _command(fleet, case, system, folder), _environment(fleet, case, system, folder)
        with child(words, folder / "log", env=env, grace_s=15.0) as process:
            code = exit_code(process, LIMIT_S)
    if not (folder / "progress.json").exists():
        raise RuntimeError(f"{case.job} by {system}: exit {code}\n{_tail(folder)}")
    return _ran(case, folder, wires)


def spark_conf(fleet: Fleet, case: Case, folder: pathlib.Path) -> dict[str, str]:
    """What all sides are given."""
    return {
        **COMMON,
        **fleet.settings(),
        "spark.sql.shuffle.partitions": str(case.key_groups),
        # Chained stages in update mode: the made job's rows need no watermark to be right.
        "spark.sql.streaming.unsupportedOperationCheck": "false",
        # A payload is one digest again and again: compressed, nothing would be left to send.
        "spark.shuffle.compress": "false",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.streaming.numRecentProgressUpdates": "10000",
        "spark.sql.streaming.minBatchesToRetain": "100000",
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": (folder / "events").as_uri(),
        "spark.eventLog.compress": "false",
        "spark.eventLog.rolling.enabled": "false",
        # Without native Hadoop libraries each new file forks a chmod, and each checksum file another one.
        "spark.hadoop.fs.AbstractFileSystem.file.impl": "org.apache.hadoop.fs.local.RawLocalFs",
    }


def streamjob_spec(fleet: Fleet, case: Case, planner: str, folder: pathlib.Path) -> dict[str, Any]:
    """The StreamJob of a run: balancing on, the number of executors fixed."""
    budget = 10_000 if planner == "cola" else case.budget
    conf = spark_conf(fleet, case, folder)
    executor = {"cores": int(conf.pop("spark.executor.cores")), "memory": conf.pop("spark.executor.memory")}
    return {
        "apiVersion": "streamjob.dev/v1alpha1",
        "kind": "StreamJob",
        "metadata": {"name": f"nodes-{case.job}"},
        "spec": {
            "application": {
                "mainFile": str(SCRIPT),
                "args": [str(folder / "config.json")],
                "sparkConf": conf,
                "executor": executor,
            },
            "executors": {"min": fleet.executors, "max": fleet.executors},
            "balancing": {
                "mode": "Auto",
                "planner": planner,
                "statisticsPeriod": f"{case.period_s}s",
                "migrationBudget": {"maxMigrations": budget},
            },
            "scaling": {"mode": "Off"},
        },
    }


def _command(fleet: Fleet, case: Case, system: str, folder: pathlib.Path) -> list[str]:
    if system == VANILLA:
        return [*HUB.enter, sys.executable, str(SCRIPT), str(folder / "config.json")]
    spec = folder / "job.yaml"
    spec.write_text(yaml.safe_dump(streamjob_spec(fleet, case, system, folder)), encoding="utf-8")
    program = pathlib.Path(sys.executable).with_name("streamjob")
    return [*HUB.enter, str(program), "run", str(spec), "--out", str(folder / "out")]


def _environment(fleet: Fleet, case: Case, system: str, folder: pathlib.Path) -> dict[str, str]:
    added = {
        "SPARK_LOCAL_IP": HUB.address,
        "SPARK_LOCAL_DIRS": str(folder / "local"),
        "PYSPARK_PYTHON": sys.executable,
    }
    if system == VANILLA:
        settings = [word for pair in spark_conf(fleet, case, folder).items() for word in ("--conf", "=".join(pair))]
        added["PYSPARK_SUBMIT_ARGS"] = shlex.join([*settings, "pyspark-shell"])
    return {**os.environ, **added}


@contextlib.contextmanager
def sampled(nodes: int) -> Iterator[list[tuple[float, Wire]]]:
    """The wires' counters meanwhile, one reading a second or so, and one at the end."""
    found: list[tuple[float, Wire]] = []
    over = threading.Event()

    def look() -> None:
        while not over.wait(SAMPLE_S):
            found.append((time.time(), wire(nodes)))

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield found
    finally:
        over.set()
        thread.join()
        found.append((time.time(), wire(nodes)))


def _ran(case: Case, folder: pathlib.Path, wires: list[tuple[float, Wire]]) -> Ran:
    tasks = event_log.read(folder / "events").tasks
    progress = json.loads((folder / "progress.json").read_text(encoding="utf-8"))
    return Ran(
        batches=tuple(batches_of(progress, tasks)),
        wire=tuple((at_s, one.between_bytes) for at_s, one in wires),
        cycles=tuple(_cycles(folder / "out" / "history.jsonl")),
        localities=dict(collections.Counter(one.locality for one in tasks if one.stage is not None)),
        elsewhere=sum(1 for _ in event_log.moves(tasks)),
        differences=tuple(differences(case, folder)),
    )


def batches_of(progress: dict[str, list[dict[str, Any]]], tasks: Sequence[Task]) -> Iterator[Batch]:
    """Batches of each query, in order."""
    for name, some in progress.items():
        for one in some:
            own = [task for task in tasks if task.query == one["id"] and task.batch == one["batchId"]]
            last = [task for task in own if task.last]
            yield Batch(
                query=name,
                number=one["batchId"],
                began_at_s=_seconds(one["timestamp"]),
                took_s=one["durationMs"]["triggerExecution"] / 1000.0,
                last_local_bytes=sum(task.local_bytes for task in last),
                last_remote_bytes=sum(task.remote_bytes for task in last),
                remote_bytes=sum(task.remote_bytes for task in own),
                fetch_wait_s=sum(task.fetch_wait_s for task in own),
                run_s=sum(task.run_s for task in own),
            )


def _seconds(stamp: str) -> float:
    return datetime.datetime.fromisoformat(stamp.replace("Z", "+00:00")).timestamp()


def _cycles(history: pathlib.Path) -> Iterator[Cycle]:
    if not history.exists():
        return
    for record in read_history(history).cycles:
        verdict, memory = record.verdict, record.memory
        plan = verdict.plan
        evidence = (memory.remote_reads if memory is not None else None) or Evidence()
        yield Cycle(
            at_s=record.at_s,
            reason=verdict.reason.value,
            moves=len(plan.moves) if verdict.act and plan is not None else 0,
            collocation_pct=None if plan is None else plan.before.collocation_factor,
            remote_s_per_byte=seconds_per_byte(evidence),
        )


def differences(case: Case, folder: pathlib.Path) -> list[str]:
    """What is wrong with the answer, a sentence each."""
    if case.job not in talk.SHAPES:
        return check(find(case.job), folder / "input", folder / "run")
    keys = json.loads((folder / MADE).read_text(encoding="utf-8"))
    made = talk.talk(keys, case.job, case.payload_bytes, case.seed)
    found = [read_output(folder / "run" / "output" / "talk", number) for number in range(case.batches)]
    return compare([talk.answer(made, number) for number in range(case.batches)], found)


def _tail(folder: pathlib.Path) -> str:
    logs = [one for one in (folder / "log", folder / "out" / "driver.log") if one.exists()]
    return "\n".join(one.read_text(encoding="utf-8", errors="replace")[-3000:] for one in logs)
