"""What Spark's handing on of events costs a listener that does nothing, beside the probe's thread in the same driver.

    python benchmarks/spark/listener_queues.py [--agent agent] [--partitions 200] [--batches 24] [--warm 8]
        [--gather-ms 0,20,100] [--out out/benchmarks]

The job of overhead.py under the agent. Each listener has an event queue of its own; one that gathers
sleeps when it finds its queue empty, so that events come together and the queue's thread is woken up less often.
CPU time of each queue's thread, ms a batch, counted after batch WARM. One row is appended to OUT/listener_queues.jsonl.
"""

from __future__ import annotations

import argparse
import json
import pathlib
from typing import Any

from agent_cpu import told
from runs import stamp

QUEUE = "spark-listener-group-"
PROBE = "streamjob-events"


def spent_ms(early: dict[str, Any], late: dict[str, Any], thread: str) -> float:
    """CPU time of a thread between two counts, milliseconds a batch."""
    prefix = f"{thread}#"
    found = [name for name in late["jvm_s"] if name.startswith(prefix)]
    seconds = sum(late["jvm_s"][name] - early["jvm_s"].get(name, 0.0) for name in found)
    return float(1000.0 * seconds / (late["batch"] - early["batch"]))


def main() -> None:
    """One run, and its row."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--agent", default="agent")
    parser.add_argument("--partitions", type=int, default=200)
    parser.add_argument("--batches", type=int, default=24)
    parser.add_argument("--warm", type=int, default=8)
    parser.add_argument("--gather-ms", default="0,20,100")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("out/benchmarks"))
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    gathers = [int(one) for one in args.gather_ms.split(",")]
    wanted = {"batches": args.batches, "warm": args.warm, "gather_ms": gathers}
    early, late = told(str(pathlib.Path(args.agent).resolve()), args.partitions, wanted)
    row: dict[str, Any] = {f"gathering {ms} ms": spent_ms(early, late, f"{QUEUE}handed-{ms}") for ms in gathers}
    row["probe"] = spent_ms(early, late, PROBE)
    row["events"] = (late["events"] - early["events"]) / (late["batch"] - early["batch"])
    with (args.out / "listener_queues.jsonl").open("a") as file:
        file.write(json.dumps({"at": stamp(), "partitions": args.partitions, **row}) + "\n")
    print("| queue | ms a batch |\n|---|---|")
    for name, value in row.items():
        print(f"| {name} | {value:.1f} |")


if __name__ == "__main__":
    main()
