"""An ordinary job: counts and sums of each key, written to a file of its own by every batch."""

import json
import os
import sys
from pathlib import Path

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

source, target = (Path(one) for one in sys.argv[1:])
spark = SparkSession.builder.getOrCreate()


def keep(frame, batch):
    rows = {row.k: [row.n, row.s] for row in frame.collect()}
    draft = target / f".{batch}"
    draft.write_text(json.dumps(rows))
    draft.rename(target / f"{batch}.json")


rows = spark.readStream.schema("k string, v long").option("maxFilesPerTrigger", 1).json(str(source))
totals = rows.groupBy("k").agg(F.count("*").alias("n"), F.sum("v").alias("s"))
writer = totals.writeStream.outputMode("update").foreachBatch(keep)
query = writer.option("checkpointLocation", os.environ["STREAMJOB_CHECKPOINT"]).start()
query.awaitTermination()
