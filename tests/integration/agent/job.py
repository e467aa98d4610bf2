"""A job that knows nothing of StreamJob: counts and sums per key over files, until a file named `stop` appears."""

import pathlib
import sys

from job_frame import Totals, run, session
from pyspark.sql import functions as F

folder, executors = pathlib.Path(sys.argv[1]), sys.argv[2]
spark = session(executors)
totals = Totals()
stream = spark.readStream.schema("k string, v long").option("maxFilesPerTrigger", 1).csv(str(folder / "input"))
query = (
    stream.groupBy("k")
    .agg(F.count("*").alias("n"), F.sum("v").alias("s"))
    .writeStream.outputMode("update")
    .foreachBatch(totals)
    .option("checkpointLocation", str(folder / "checkpoint"))
    .start()
)
run(query, folder, totals=totals)
