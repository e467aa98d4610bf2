"""A job whose state lies on the heap: per key the longest text of `size` letters.

Executors of one slot and a heap of 512 MiB, three key groups, until a file named `stop` appears.
"""

import pathlib
import sys

from job_frame import run, session
from pyspark.sql import functions as F

folder, executors = pathlib.Path(sys.argv[1]), sys.argv[2]
spark = session(
    executors,
    memory_mib=512,
    settings={
        "spark.executor.memory": "512m",
        "spark.memory.fraction": "0.3",  # sorts go to disk early: the heap is for state
        # Two rows of 1.9 MB in each region.
        "spark.executor.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseG1GC -XX:G1HeapRegionSize=4m",
        "spark.executor.heartbeatInterval": "2s",
        "spark.sql.shuffle.partitions": "3",
        "spark.sql.streaming.stateStore.providerClass": (
            "org.apache.spark.sql.execution.streaming.state.HDFSBackedStateStoreProvider"
        ),
    },
)
stream = spark.readStream.schema("k long, size int").option("maxFilesPerTrigger", 1)
longest = (
    stream.csv(str(folder / "input"))
    .groupBy("k")
    .agg(F.max(F.expr("repeat('x', size)")).alias("text"))
    .select("k", F.length("text"))
)
query = (
    longest.writeStream.outputMode("update")
    .format("noop")
    .option("checkpointLocation", str(folder / "checkpoint"))
    .start()
)
run(query, folder)
