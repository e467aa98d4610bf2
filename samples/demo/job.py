"""Parcel scans to depot totals: an ordinary PySpark Structured Streaming job that knows nothing of StreamJob.

Hand scanners write JSON lines, and now and then send a scan twice. The job drops repeated scans (first stateful
operator), lets customs check every scan and keeps running totals for each depot (second stateful operator), and writes
the new totals of each batch to a file of its own.

    spark-submit job.py --input scans --output totals --checkpoint checkpoint
"""

import argparse
import os
import time

import pandas as pd
from pyspark.sql import SparkSession
from pyspark.sql.streaming.state import GroupStateTimeout

SCANS = "scan long, depot long, grams long"
TOTALS = "depot long, scans long, grams long, checksum long, checked long"
STATE = "scans long, grams long, checksum long"
CHECKSUM_MODULUS = 2_147_483_647


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--input", required=True, help="folder in which files of scans appear")
    parser.add_argument("--output", required=True, help="folder that receives the totals")
    parser.add_argument("--checkpoint", required=True, help="checkpoint of the query")
    parser.add_argument("--trigger", default="3 seconds", help="time between two batches")
    parser.add_argument("--check-ms", type=float, default=5.0, help="time that customs takes to check one scan")
    return parser.parse_args()


def totals_of_depot(check_seconds):
    """The function that keeps one depot's totals."""

    def update(key, frames, state):
        scans, grams, checksum = state.get if state.exists else (0, 0, 0)
        checked = 0
        for frame in frames:
            time.sleep(check_seconds * len(frame))  # stands for a call to the customs service: waiting, not computing
            checked += len(frame)
            grams += int(frame["grams"].sum())
            checksum = (checksum + int(frame["scan"].sum())) % CHECKSUM_MODULUS
        scans += checked
        state.update((scans, grams, checksum))
        columns = ("depot", "scans", "grams", "checksum", "checked")
        yield pd.DataFrame([(key[0], scans, grams, checksum, checked)], columns=columns)

    return update


def main():
    args = arguments()
    spark = SparkSession.builder.appName("parcels").getOrCreate()
    scans = spark.readStream.schema(SCANS).json(args.input)
    totals = (
        scans.dropDuplicates(["scan"])
        .groupBy("depot")
        .applyInPandasWithState(
            totals_of_depot(args.check_ms / 1000), TOTALS, STATE, "append", GroupStateTimeout.NoTimeout
        )
    )

    def write(frame, batch_id):
        os.makedirs(args.output, exist_ok=True)
        draft = f"{args.output}/draft"
        frame.toPandas().to_json(draft, orient="records", lines=True)
        os.replace(draft, f"{args.output}/batch-{batch_id}.json")  # again after a failure: the same file, whole

    query = (
        totals.writeStream.queryName("parcels")
        .outputMode("append")
        .foreachBatch(write)
        .option("checkpointLocation", args.checkpoint)
        .trigger(processingTime=args.trigger)
        .start()
    )
    query.awaitTermination()


if __name__ == "__main__":
    main()
