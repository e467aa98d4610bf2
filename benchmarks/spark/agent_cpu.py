"""What the agent costs its driver in CPU time a batch, by thread: versions of the agent side by side, in turns.

    python benchmarks/spark/agent_cpu.py [--agents now=agent,before=/another/checkout/agent,plain] [--partitions 200]
        [--rounds 3] [--runs 1] [--batches 24] [--warm 8] [--out out/benchmarks]

The job of overhead.py, 2 x PARTITIONS key groups. Counted after batch WARM, since classes are loaded and compiled
before: all threads of Python but the job's own, the thread that takes in what Spark's listener bus tells (or a queue of
the bus, of older agents), and the threads that answer the agent's calls. Nobody reads the agent's page meanwhile: what
a page costs says agent_exporter.py. What the probe does on the query's own thread is not in it. Threads of Spark's own
queues that the probe listens on, too, are told beside it: only between two sides do they say anything. Each finished
run is appended to OUT/agent_cpu.jsonl.

`plain` is a driver without the agent. It has threads of the same kinds, which wait for updates of accumulators or
answer the job's own calls: where it was run, the last column is what an agent takes beyond them.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from typing import Any

import numpy as np
from overhead import NO_CONF, settings
from runs import HERE, scratch, stamp

LONGEST_S = 540.0
RUNS = "agent_cpu.jsonl"
PARTS = ("python", "listener", "calls")
LISTENERS = ("streamjob-events", "spark-listener-group-streamjob")
SHARED = ("spark-listener-group-executorManagement", "spark-listener-group-appStatus")
PLAIN = "plain"


def run(agent: str | None, partitions: int, batches: int, warm: int) -> dict[str, float]:
    """Milliseconds of CPU time a batch, by part."""
    return parts_ms(*told(agent, partitions, {"batches": batches, "warm": warm}))


def told(
    agent: str | None,
    partitions: int,
    wanted: dict[str, Any],
    conf: Mapping[str, str] = NO_CONF,
    longest_s: float = LONGEST_S,
) -> list[dict[str, Any]]:
    """What threads had spent each time the job told it; `wanted` is what chain_job.py reads.

    `agent` is the folder of one, None for a driver without; `conf` are settings beside overhead.py's, or in place of
    them. Of a job that is broken off after `longest_s`, up to its last batch; raises RuntimeError with the end of its
    log where none has ended after the first count.
    """
    folder = pathlib.Path(tempfile.mkdtemp(prefix="agent-cpu-", dir=scratch()))
    try:
        config = folder / "config.json"
        paths = {name: str(folder / name) for name in ("checkpoint", "progress", "cpu")}
        config.write_text(json.dumps({**paths, **wanted}))
        finish(agent, settings(partitions, conf), folder, longest_s)
        return list(json.loads((folder / "cpu").read_text()))
    except (OSError, ValueError) as error:
        raise RuntimeError(f"the job did not end well: {(folder / 'log').read_text()[-2000:]}") from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def finish(agent: str | None, submit_args: str, folder: pathlib.Path, longest_s: float) -> None:
    """Run the job to its end, or for `longest_s`, under the agent if there is one, its files in `folder`."""
    env = {
        **os.environ,
        "PYTHONPATH": agent or "",
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_LOCAL_DIRS": str(folder / "local"),
        "PYSPARK_SUBMIT_ARGS": submit_args,
        "STREAMJOB_AGENT_ADDRESS_FILE": str(folder / "address"),
        "STREAMJOB_AGENT_STATE_DIR": str(folder / "state"),
    }
    under = ["-m", "streamjob_agent", "run"] if agent else []
    command = [sys.executable, *under, str(HERE / "chain_job.py"), str(folder / "config.json")]
    with open(folder / "log", "wb") as log:
        process = subprocess.Popen(command, env=env, stdout=log, stderr=log, start_new_session=True)
        try:
            process.wait(longest_s)
        except subprocess.TimeoutExpired:
            print(f"broken off after {longest_s:g} s", file=sys.stderr)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)


def parts_ms(early: dict[str, Any], late: dict[str, Any]) -> dict[str, float]:
    """What was spent between two counts, milliseconds a batch; a thread that began meanwhile counts from 0.

    `driver` is the whole JVM, Spark's own work in it among that.
    """
    batches = late["batch"] - early["batch"]
    return {part: 1000.0 * seconds / batches for part, seconds in spent_s(early, late).items()}


def spent_s(early: dict[str, Any], late: dict[str, Any]) -> dict[str, float]:
    """What was spent between two counts, CPU seconds, by part; see `parts_ms`."""
    spent = {name: late["jvm_s"][name] - early["jvm_s"].get(name, 0.0) for name in late["jvm_s"]}
    return {
        "python": late["python_s"] - early["python_s"],
        "listener": sum(one for name, one in spent.items() if name.startswith(LISTENERS)),
        "calls": sum(one for name, one in spent.items() if name.startswith("Thread-")),
        "shared": sum(one for name, one in spent.items() if name.startswith(SHARED)),
        "driver": late["driver_s"] - early["driver_s"],
    }


def parsed(parser: argparse.ArgumentParser) -> argparse.Namespace:
    """The arguments, of which there must be a batch to count after those that warm up."""
    args = parser.parse_args()
    if args.batches < args.warm + 2:
        parser.error(f"--batches: {args.batches} given, {args.warm + 2} or more are needed after --warm {args.warm}")
    return args


def main() -> None:
    """Run what is missing, and report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--agents", default="now=agent")
    parser.add_argument("--partitions", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--runs", type=int, default=1000, help="most runs in this call")
    parser.add_argument("--batches", type=int, default=24)
    parser.add_argument("--warm", type=int, default=8)
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("out/benchmarks"))
    args = parsed(parser)
    args.out.mkdir(parents=True, exist_ok=True)
    path = args.out / RUNS
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    named = (one.partition("=") for one in args.agents.split(","))
    agents = {name: str(pathlib.Path(folder).resolve()) if name != PLAIN else None for name, _, folder in named}
    done = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    have = {(one["agent"], one["partitions"], one["round"]) for one in done}
    turns = [(turn, name) for turn in range(args.rounds) for name in (agents if turn % 2 == 0 else reversed(agents))]
    for turn, name in [one for one in turns if (one[1], args.partitions, one[0]) not in have][: args.runs]:
        found = run(agents[name], args.partitions, args.batches, args.warm)
        done.append(
            {"agent": name, "partitions": args.partitions, "round": turn, "warm": args.warm, "at": stamp(), **found}
        )
        with path.open("a") as file:
            file.write(json.dumps(done[-1]) + "\n")
    report(done)


def report(done: list[dict[str, Any]]) -> None:
    """The table in Markdown: medians over rounds."""
    heads = (*(f"{part}, ms" for part in PARTS), "together", "rounds", f"beyond {PLAIN}", "shared, ms")
    print(f"| agent | key groups | {' | '.join(heads)} |")
    print(f"|---|---|{'---|' * len(heads)}")
    kinds = sorted({(one["partitions"], one["agent"]) for one in done})
    rows = {kind: [one for one in done if (one["partitions"], one["agent"]) == kind] for kind in kinds}
    together = {kind: np.median([sum(one[part] for part in PARTS) for one in rows[kind]]) for kind in kinds}
    for partitions, agent in kinds:
        cells = [f"{np.median([one[part] for one in rows[partitions, agent]]):.1f}" for part in PARTS]
        cells += [f"{together[partitions, agent]:.1f}", str(len(rows[partitions, agent]))]
        without = together.get((partitions, PLAIN))
        beyond = "" if without is None or agent == PLAIN else f"{together[partitions, agent] - without:.1f}"
        shared = np.median([one["shared"] for one in rows[partitions, agent]])
        print(f"| {agent} | {2 * partitions} | {' | '.join(cells)} | {beyond} | {shared:.1f} |")


if __name__ == "__main__":
    main()
