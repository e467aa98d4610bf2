"""Two chained stateful operators with many key groups and almost no work: what remains is Spark's own cost per task."""

from __future__ import annotations

import json
import pathlib
import sys
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql import functions as F


def main(config_path: str) -> None:
    """Run the wanted number of batches; write the progress of each as one JSON line.

    With `cpu` in the configuration, a file there gets what threads had spent after batch `warm` and at the end, or each
    `each_s` seconds, with the tasks that had ended of the stages that ran; with `gather_ms`, as many listeners that do
    nothing count events beside, see listener_queues.py; `operators` 1 leaves the second one out.
    """
    config = json.loads(pathlib.Path(config_path).read_text())
    spark = SparkSession.builder.getOrCreate()
    spark.sparkContext.setLogLevel("FATAL")
    stream = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", 20_000).load()
    first = stream.groupBy((F.col("value") % 5000).alias("k")).count()
    second = first.groupBy("count").agg(F.count("*").alias("n"))
    writer = (first if config.get("operators") == 1 else second).writeStream.outputMode("complete").format("noop")
    query = writer.option("checkpointLocation", config["checkpoint"]).start()
    seen, spent, threads = -1, [], clock(spark) if "cpu" in config else None
    each_s, told_s = config.get("each_s"), time.monotonic()
    handed = listeners(spark, config.get("gather_ms", ()))
    with open(config["progress"], "w") as out:
        while query.isActive and seen + 1 < config["batches"]:
            query.awaitTermination(0.2)
            if threads and each_s and time.monotonic() - told_s >= each_s:
                told_s = time.monotonic()
                spent.append({"batch": seen, "at_s": told_s, "tasks": ended(spark), **cpu(threads)})
                pathlib.Path(config["cpu"]).write_text(json.dumps(spent))
            if threads and not each_s and not spent and seen >= config["warm"]:
                spent.append({"batch": seen, **cpu(threads), **events(handed)})
            for progress in query.recentProgress:
                if progress["batchId"] > seen:
                    seen = progress["batchId"]
                    print(json.dumps({"batchId": seen, "durationMs": progress["durationMs"]}), file=out, flush=True)
                    if (
                        not each_s and spent and seen > spent[0]["batch"]
                    ):  # a run that is broken off has told what it came to
                        late = {"batch": seen, **cpu(threads), **events(handed)}
                        pathlib.Path(config["cpu"]).write_text(json.dumps([*spent, late]))
    query.stop()
    spark.stop()


def cpu(threads: Any) -> dict[str, Any]:
    """CPU seconds so far: of the JVM's threads by name and number, of the whole JVM, and of Python's other threads.

    The JVM's thread that answers this one is left out of the threads.
    """
    python_s = time.process_time() - time.thread_time()
    rows = [line.split("\t") for line in threads.spent().splitlines()]
    named_s = {f"{name}#{number}": int(ns) / 1e9 for number, name, ns in rows}
    return {"python_s": python_s, "threads_s": others_s(), "jvm_s": named_s, "driver_s": threads.whole() / 1e9}


def others_s() -> dict[str, float]:
    """CPU seconds so far of Python's other threads that run, by name and number; those that ended are in no row."""
    return {
        f"{one.name}#{one.ident}": time.clock_gettime(time.pthread_getcpuclockid(one.ident))
        for one in threading.enumerate()
        if one.ident and one is not threading.current_thread()
    }


def ended(spark: Any) -> int:
    """Tasks that have ended of the stages that run now."""
    tracker = spark.sparkContext.statusTracker()
    stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
    return sum(stage.numCompletedTasks for stage in stages if stage is not None)


def clock(spark: Any) -> Any:
    """A Threads in the driver's JVM."""
    return compiled(spark, "Threads")()


def listeners(spark: Any, gathers_ms: Sequence[int]) -> list[Any]:
    """A Handed for each, on an event queue of its own; of one class, since py4j knows a class by its name alone."""
    make = compiled(spark, "Handed") if gathers_ms else None
    found = [make() for _ in gathers_ms] if make else []
    for one, gather_ms in zip(found, gathers_ms, strict=True):
        one.gather(gather_ms)
        spark.sparkContext._jsc.sc().listenerBus().addToQueue(one, f"handed-{gather_ms}")
    return found


def events(handed: list[Any]) -> dict[str, int]:
    """How many the first of them has had."""
    return {"events": int(handed[0].events())} if handed else {}


def compiled(spark: Any, name: str) -> Callable[[], Any]:
    """What makes objects of the class of that name in this folder."""
    jvm, gateway = spark._jvm, spark.sparkContext._gateway
    compiler = jvm.org.codehaus.janino.SimpleCompiler()
    compiler.setParentClassLoader(jvm.java.lang.Thread.currentThread().getContextClassLoader())
    compiler.cook((pathlib.Path(__file__).parent / f"{name}.java").read_text())
    found = compiler.getClassLoader().loadClass(f"streamjob.benchmarks.{name}")
    constructor = found.getDeclaredConstructor(gateway.new_array(jvm.java.lang.Class, 0))
    return lambda: constructor.newInstance(gateway.new_array(jvm.java.lang.Object, 0))


if __name__ == "__main__":
    main(sys.argv[1])
