"""What the ends of a batch's tasks cost the probe's listener, and what the drain after it costs, in CPU time.

    python benchmarks/spark/task_ends.py [--partitions 200,10000] [--figures 60] [--batches 30]

No Spark runs: events of its own, made by Replay.java, go through the probe's meter in a JVM with the settings of
overhead.py's drivers. Two operators of PARTITIONS key groups, FIGURES accumulators of each task. Prints milliseconds a
batch, for the first ten batches, in which the JVM is cold, and for the rest: of the listener, of the drain after the
batch on Python's side and the JVM's, and of a drain before its end, when all tasks have ended.
"""

from __future__ import annotations

import argparse
import importlib.resources
import pathlib
import statistics
import time
from typing import Any

import pyspark
from py4j.java_gateway import GatewayParameters, JavaGateway, launch_gateway
from runs import CALM

from streamjob_agent import spark
from streamjob_agent.ledger import Ledger
from streamjob_agent.spark import codec, source

COLD = 10
OPERATORS = 2
MIDDLE = 20


def jvm() -> JavaGateway:
    """A JVM with Spark's classes, and nothing of Spark running."""
    jars = pathlib.Path(pyspark.__file__).parent / "jars" / "*"
    port = launch_gateway(classpath=str(jars), javaopts=CALM.split(), die_on_exit=True)
    return JavaGateway(gateway_parameters=GatewayParameters(port=port))


def replay(gateway: JavaGateway, partitions: int, figures: int) -> Any:
    """A Replay, compiled together with the probe."""
    package = f"io.streamjob.probe.bench{partitions}"
    folder = importlib.resources.files(spark).joinpath("probe")
    own = (pathlib.Path(__file__).parent / "Replay.java").read_text()
    compiler = gateway.jvm.org.codehaus.janino.SimpleCompiler()
    compiler.cook(source.merged(package, [*source.java_files(folder), own]))
    number = gateway.jvm.java.lang.Integer.TYPE
    types = gateway.new_array(gateway.jvm.java.lang.Class, 3)
    arguments = gateway.new_array(gateway.jvm.java.lang.Object, 3)
    for at, value in enumerate((OPERATORS, partitions, figures)):
        types[at], arguments[at] = number, value
    return compiler.getClassLoader().loadClass(f"{package}.Replay").getDeclaredConstructor(types).newInstance(arguments)


def one_batch(probe: Any, ledger: Ledger) -> tuple[float, ...]:
    """Milliseconds of the listener, then of a drain in Python and in the JVM, at the batch's end and before."""
    listener_ms = probe.tasks() / 1e6
    drained(probe, ledger, 1)
    middle_ms = drained(probe, ledger, MIDDLE)
    listener_ms += probe.end() / 1e6
    return (listener_ms, *drained(probe, ledger, 1), *middle_ms)


def drained(probe: Any, ledger: Ledger, times: int) -> tuple[float, float]:
    """Milliseconds of Python's side of a drain and of the JVM's, the mean of so many."""
    jvm_ns, python_s = probe.spent(), time.process_time()
    for _ in range(times):
        ledger.take(codec.read_usage(probe.drain()))
    python_s = time.process_time() - python_s
    return 1000 * python_s / times, (probe.spent() - jvm_ns) / 1e6 / times


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--partitions", default="200,10000")
    parser.add_argument("--figures", type=int, default=60)
    parser.add_argument("--batches", type=int, default=30)
    args = parser.parse_args()
    gateway = jvm()
    try:
        print(
            "| key groups | batches | listener, ms | drain: Python, ms | JVM, ms | in mid-batch: Python, ms | JVM, ms |"
        )
        print("|---|---|---|---|---|---|---|")
        for partitions in map(int, args.partitions.split(",")):
            probe, ledger = replay(gateway, partitions, args.figures), Ledger(1024, 2000)
            rows = [one_batch(probe, ledger) for _ in range(args.batches)]
            for name, some in (("cold", rows[:COLD]), ("warm", rows[COLD:])):
                cells = [f"{statistics.fmean(column):.2f}" for column in zip(*some, strict=True)] if some else []
                print(f"| {OPERATORS * partitions} | {name} | {' | '.join(cells)} |", flush=True)
    finally:
        gateway.shutdown()


if __name__ == "__main__":
    main()
