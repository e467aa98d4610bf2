"""A job as a script: an ordinary PySpark program that reads files as they come and writes a file for each batch.

    spark-submit jobs/script.py nexmark-5 --input FOLDER --out FOLDER

`python -m jobs feed` fills the input, `python -m jobs check` says whether the output is right.
"""

from __future__ import annotations

import argparse
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from pyspark.sql import SparkSession

from jobs import topics
from jobs.feed import prepare
from jobs.registry import find
from jobs.running import reader, start


def main() -> None:
    """Run until a query ends."""
    args = _arguments()
    job = find(args.job)
    spark = SparkSession.builder.appName(job.name).getOrCreate()
    prepare(job, args.input)
    if args.source == "kafka":
        most = dict.fromkeys(job.streams, args.max_offsets_per_trigger)
        prefix = args.topics or job.name
        read = topics.reader(spark, job, args.input, args.bootstrap, prefix, most, args.min_partitions)
    else:
        read = reader(spark, job, args.input, args.files_per_batch)
    for query in job.queries:
        start(query, read, args.out, args.trigger)
    spark.streams.awaitAnyTermination()


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("job", help="name, see `python -m jobs list`")
    parser.add_argument("--input", type=pathlib.Path, required=True, help="folder with a folder for each stream")
    parser.add_argument("--out", type=pathlib.Path, required=True, help="folder for output and checkpoints")
    parser.add_argument("--trigger", default="1 second", help="time between two batches")
    parser.add_argument("--files-per-batch", type=int, default=10, help="most files of a stream that a batch takes in")
    parser.add_argument("--source", choices=("files", "kafka"), default="files", help="where the streams are")
    parser.add_argument("--bootstrap", metavar="HOST:PORT", help="of Kafka: a broker")
    parser.add_argument("--topics", help="of Kafka: topics are this, a dot and a stream; without, the job's name")
    parser.add_argument(
        "--max-offsets-per-trigger", type=int, default=10_000, help="of Kafka: rows of a stream a batch"
    )
    parser.add_argument("--min-partitions", type=int, help="of Kafka: tasks that read a stream")
    args = parser.parse_args()
    if args.source == "kafka" and args.bootstrap is None:
        parser.error("--source kafka needs --bootstrap")
    return args


if __name__ == "__main__":
    main()
