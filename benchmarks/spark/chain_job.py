"""Two chained stateful operators with many key groups and almost no work: what remains is Spark's own cost per task."""

from __future__ import annotations

import json
import pathlib
import sys

from pyspark.sql import SparkSession
from pyspark.sql import functions as F


def main(config_path: str) -> None:
    """Run the wanted number of batches; write the progress of each as one JSON line."""
    config = json.loads(pathlib.Path(config_path).read_text())
    spark = SparkSession.builder.getOrCreate()
    spark.sparkContext.setLogLevel("FATAL")
    stream = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", 20_000).load()
    first = stream.groupBy((F.col("value") % 5000).alias("k")).count()
    second = first.groupBy("count").agg(F.count("*").alias("n"))
    writer = second.writeStream.outputMode("complete").format("noop")
    query = writer.option("checkpointLocation", config["checkpoint"]).start()
    seen = -1
    with open(config["progress"], "w") as out:
        while query.isActive and seen + 1 < config["batches"]:
            query.awaitTermination(0.2)
            for progress in query.recentProgress:
                if progress["batchId"] > seen:
                    seen = progress["batchId"]
                    print(json.dumps({"batchId": seen, "durationMs": progress["durationMs"]}), file=out, flush=True)
    query.stop()
    spark.stop()


if __name__ == "__main__":
    main(sys.argv[1])
