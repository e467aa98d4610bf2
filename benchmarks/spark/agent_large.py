"""What the agent costs the driver of one operator with many key groups, in CPU time a batch, beside a driver without.

    python benchmarks/spark/agent_large.py [--partitions 400,2000,20000] [--sides agent,plain] [--agent agent]
        [--executors 16] [--batches 5] [--warm 1] [--longest-s 3000] [--each-s 60] [--out out/benchmarks]

The first operator of overhead.py's job alone, since two chained ones of 10,000 partitions have a hundred million
shuffle blocks, which is more work for Spark than all of this. Its state is in memory (the HDFS-backed store), its files
are made without a process for each (PlainFiles.java): a task is as cheap as Spark's tasks get. Counted after batch
WARM, by thread as in agent_cpu.py, beside the driver's whole JVM, Spark's own work in it. Each run is appended to
OUT/agent_large.jsonl, with the threads that took most.

Each task tells Spark's driver of all stores that its executor holds (StateStore.get asks the coordinator which of them
to unload): with 20,000 on two executors that is nearly all the driver does, so there are EXECUTORS of them, one slot
each.

With EACH_S it is counted so often within batches, the first among them, for runs that are broken off before two have
ended: one line for each of these parts, to OUT/agent_large_parts.jsonl, with the tasks that ended in it.

A driver without the agent has threads of the same kinds, which wait for updates of accumulators or answer the job's own
calls: its row says how much of the agent's is theirs.
"""

from __future__ import annotations

import argparse
import itertools
import json
import pathlib
import tempfile
import time
import zipfile
from typing import Any

from agent_cpu import PARTS, parsed, parts_ms, spent_s, told
from runs import HERE, scratch, stamp
from task_ends import jvm

MEMORY_STORE = "org.apache.spark.sql.execution.streaming.state.HDFSBackedStateStoreProvider"
THREADS_TOLD = 12
SPENT = ("python", "calls", "listener", "driver")


def settings_of(jar: pathlib.Path, executors: int) -> dict[str, str]:
    """Settings beside overhead.py's."""
    return {
        "spark.master": f"local-cluster[{executors},1,1024]",
        "spark.executor.memory": "1g",
        "spark.driver.memory": "3g",
        "spark.driver.extraClassPath": str(jar),
        "spark.executor.extraClassPath": str(jar),
        "spark.hadoop.fs.file.impl": "streamjob.benchmarks.PlainFiles",
        "spark.sql.streaming.stateStore.providerClass": MEMORY_STORE,
        # Its round of all stores comes between batches or not, by chance; it is the executors' work.
        "spark.sql.streaming.stateStore.maintenanceInterval": "1h",
    }


def make_jar(path: pathlib.Path) -> pathlib.Path:
    """A jar of PlainFiles, compiled by the Janino that Spark ships."""
    gateway = jvm()
    try:
        compiler = gateway.jvm.org.codehaus.janino.SimpleCompiler()
        compiler.cook((HERE / "PlainFiles.java").read_text())
        with zipfile.ZipFile(path, "w") as out:
            for name, code in dict(compiler.getBytecodes()).items():
                out.writestr(name.replace(".", "/") + ".class", bytes(code))
    finally:
        gateway.shutdown()
    return path


def busiest_ms(early: dict[str, Any], late: dict[str, Any], of: str) -> dict[str, float]:
    """The threads `of` the JVM or of Python that took most between two counts, by name, ms a batch."""
    batches, sums = late["batch"] - early["batch"], dict[str, float]()
    for name, seconds in late[of].items():
        kind = name.rsplit("#", 1)[0].rstrip("0123456789")
        sums[kind] = sums.get(kind, 0.0) + seconds - early[of].get(name, 0.0)
    most = sorted(sums, key=lambda kind: -sums[kind])[:THREADS_TOLD]
    return {kind: round(1000.0 * sums[kind] / batches, 1) for kind in most}


def one_run(side: str, partitions: int, jar: pathlib.Path, args: argparse.Namespace) -> dict[str, Any]:
    """Run a side; its record."""
    agent = str(args.agent.resolve()) if side == "agent" else None
    wanted = {"batches": args.batches, "warm": args.warm, "operators": 1}
    began_s = time.monotonic()
    early, late = told(agent, partitions, wanted, settings_of(jar, args.executors), args.longest_s)
    record = {
        "side": side,
        "key_groups": partitions,
        "batches": late["batch"] - early["batch"],
        "at": stamp(),
        "executors": args.executors,
    }
    busiest = {"python_ms": busiest_ms(early, late, "threads_s"), "threads_ms": busiest_ms(early, late, "jvm_s")}
    return {**record, **parts_ms(early, late), "took_s": round(time.monotonic() - began_s, 1), **busiest}


def one_part(early: dict[str, Any], late: dict[str, Any]) -> dict[str, Any]:
    """What was spent between two counts within a batch, ms, and the tasks that ended meanwhile."""
    parts = {f"{part}_ms": round(1000.0 * seconds, 1) for part, seconds in spent_s(early, late).items()}
    return {"seconds": round(late["at_s"] - early["at_s"], 1), "tasks": late["tasks"] - early["tasks"], **parts}


def run_parts(side: str, partitions: int, jar: pathlib.Path, args: argparse.Namespace) -> list[dict[str, Any]]:
    """Run a side; a record for each two counts of one stage on end."""
    agent = str(args.agent.resolve()) if side == "agent" else None
    wanted = {"batches": args.batches, "warm": args.warm, "operators": 1, "each_s": args.each_s}
    found = told(agent, partitions, wanted, settings_of(jar, args.executors), args.longest_s)
    same = [(a, b) for a, b in itertools.pairwise(found) if a["batch"] == b["batch"] and 0 < a["tasks"] <= b["tasks"]]
    whose = {
        "side": side,
        "agent": str(args.agent),
        "key_groups": partitions,
        "at": stamp(),
        "executors": args.executors,
    }
    return [{**whose, "batch": a["batch"] + 1, "ended": a["tasks"], **one_part(a, b)} for a, b in same]


def report_parts(done: list[dict[str, Any]]) -> None:
    """The table in Markdown: what each run's batches came to, as far as they were counted."""
    print(
        "| agent | key groups | batch | s | tasks | python, ms a s | calls, ms a s | listener, us a task | driver, ms |"
    )
    print("|---|---|---|---|---|---|---|---|---|")
    for whose in sorted({(one["agent"], one["key_groups"], one["batch"]) for one in done}):
        rows = [one for one in done if (one["agent"], one["key_groups"], one["batch"]) == whose]
        seconds, tasks, python, calls, listener, driver = (
            sum(one[name] for one in rows) for name in ("seconds", "tasks", *(f"{part}_ms" for part in SPENT))
        )
        cells = (f"{python / seconds:.2f}", f"{calls / seconds:.2f}", f"{1000 * listener / max(1, tasks):.1f}")
        told = (*map(str, whose), f"{seconds:.0f}", str(tasks), *cells, f"{driver / max(1, tasks):.1f}")
        print(f"| {' | '.join(told)} |")


def report(done: list[dict[str, Any]]) -> None:
    """The table in Markdown, one line for each run."""
    print("| key groups | side | batches | python, ms | listener, ms | calls, ms | together | the driver's JVM, ms |")
    print("|---|---|---|---|---|---|---|---|")
    for one in sorted(done, key=lambda one: (one["key_groups"], one["side"])):
        cells = [f"{one[part]:.1f}" for part in PARTS]  # without an agent, Spark's own threads of the same kinds
        together = f"{sum(one[part] for part in PARTS):.0f}"
        told = (str(one["key_groups"]), one["side"], str(one["batches"]), *cells, together, f"{one['driver']:.0f}")
        print(f"| {' | '.join(told)} |")


def main() -> None:
    """Run, and report all that was run so far."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--partitions", default="400,2000,20000")
    parser.add_argument("--sides", default="agent,plain")
    parser.add_argument("--agent", type=pathlib.Path, default=pathlib.Path("agent"))
    parser.add_argument("--executors", type=int, default=16)
    parser.add_argument("--batches", type=int, default=5)
    parser.add_argument("--warm", type=int, default=1)
    parser.add_argument("--longest-s", type=float, default=3000.0)
    parser.add_argument("--each-s", type=float)
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("out/benchmarks"))
    args = parsed(parser)
    args.out.mkdir(parents=True, exist_ok=True)
    path = args.out / ("agent_large_parts.jsonl" if args.each_s else "agent_large.jsonl")
    with tempfile.TemporaryDirectory(dir=scratch()) as folder:
        jar = make_jar(pathlib.Path(folder) / "plain-files.jar")
        for partitions in map(int, args.partitions.split(",")):
            for side in args.sides.split(","):
                records = (
                    [one_run(side, partitions, jar, args)]
                    if not args.each_s
                    else run_parts(side, partitions, jar, args)
                )
                with path.open("a") as file:
                    file.writelines(json.dumps(one) + "\n" for one in records)
    (report_parts if args.each_s else report)([json.loads(line) for line in path.read_text().splitlines()])


if __name__ == "__main__":
    main()
