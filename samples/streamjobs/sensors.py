"""Readings of sensors from a Kafka topic to running counts and sums: the script of kafka.yaml.

It is an ordinary PySpark Structured Streaming job that knows nothing of StreamJob. Each batch writes the sensors that
it changed to a file of its own.

    spark-submit sensors.py --bootstrap HOST:9092 --topic sensors --output sums --checkpoint checkpoint
"""

import argparse
import os

from pyspark.sql import SparkSession
from pyspark.sql import functions as F


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bootstrap", required=True, help="a Kafka broker, HOST:PORT")
    parser.add_argument("--topic", required=True, help="topic of readings: key is the sensor, value a whole number")
    parser.add_argument("--output", required=True, help="folder that receives the sums")
    parser.add_argument("--checkpoint", required=True, help="checkpoint of the query")
    parser.add_argument("--trigger", default="5 seconds", help="time between two batches")
    parser.add_argument("--rows-per-batch", default="100000", help="most readings that a batch takes in")
    return parser.parse_args()


def main():
    args = arguments()
    spark = SparkSession.builder.appName("sensors").getOrCreate()
    messages = (
        spark.readStream.format("kafka")
        .option("kafka.bootstrap.servers", args.bootstrap)
        .option("subscribe", args.topic)
        .option("startingOffsets", "earliest")
        .option("maxOffsetsPerTrigger", args.rows_per_batch)
        .load()
    )
    readings = messages.select(
        F.col("key").cast("string").alias("sensor"), F.col("value").cast("string").cast("long").alias("reading")
    )
    sums = readings.groupBy("sensor").agg(F.count("reading").alias("readings"), F.sum("reading").alias("total"))

    def write(frame, batch_id):
        os.makedirs(args.output, exist_ok=True)
        draft = f"{args.output}/draft"
        frame.toPandas().to_json(draft, orient="records", lines=True)
        os.replace(draft, f"{args.output}/batch-{batch_id}.json")  # again after a failure: the same file, whole

    query = (
        sums.writeStream.queryName("sensors")
        .outputMode("update")
        .foreachBatch(write)
        .option("checkpointLocation", args.checkpoint)
        .trigger(processingTime=args.trigger)
        .start()
    )
    query.awaitTermination()


if __name__ == "__main__":
    main()
