"""A job whose tasks wait: each key for the milliseconds of its newest row, on the executor that this calls slow thrice.

Counts and sums per key over files, until a file named `stop` appears.
"""

import pathlib
import sys

from job_frame import Totals, run, session
from pyspark.sql import functions as F

EXECUTOR = "substring_index(reflect('java.lang.System', 'getProperty', 'user.dir'), '/', -1)"  # its folder is its id

folder, executors = pathlib.Path(sys.argv[1]), sys.argv[2]
spark = session(executors)
totals = Totals()
stream = spark.readStream.schema("k long, ms long, slow string").option("maxFilesPerTrigger", 1)
counted = (
    stream.csv(str(folder / "input"))
    .groupBy("k")
    .agg(F.count("*").alias("n"), F.sum("ms").alias("s"), F.last("ms").alias("ms"), F.last("slow").alias("slow"))
)
slept = F.expr(f"reflect('java.lang.Thread', 'sleep', cast(if(slow = {EXECUTOR}, 3, 1) * ms as bigint))")
query = (
    counted.select("k", "n", "s", slept.alias("slept"))
    .writeStream.outputMode("update")
    .foreachBatch(totals)
    .option("checkpointLocation", str(folder / "checkpoint"))
    .start()
)
run(query, folder, totals=totals)
