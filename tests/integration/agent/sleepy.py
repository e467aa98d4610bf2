"""A job whose key groups take as long as their rows say: the values of a key are milliseconds to sleep, added up.

Counts and sums per key over files, with eight key groups, until a file named `stop` appears.
"""

import pathlib
import sys

from job_frame import Totals, run, session
from pyspark.sql import functions as F

folder, executors = pathlib.Path(sys.argv[1]), sys.argv[2]
spark = session(executors)
totals = Totals()
stream = spark.readStream.schema("k long, v long").option("maxFilesPerTrigger", 1).csv(str(folder / "input"))
counted = stream.groupBy("k").agg(F.count("*").alias("n"), F.sum("v").alias("s"), F.last("v").alias("ms"))
query = (
    counted.select("k", "n", "s", F.expr("reflect('java.lang.Thread', 'sleep', ms)").alias("slept"))
    .writeStream.outputMode("update")
    .foreachBatch(totals)
    .option("checkpointLocation", str(folder / "checkpoint"))
    .start()
)
run(query, folder, totals=totals)
