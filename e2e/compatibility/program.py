"""A user's program: `program.py FOLDER` runs the queries that FOLDER/order.json names until FOLDER/stop appears.

It knows nothing of StreamJob, but for the notebook that installs the agent while its query runs.
"""

from __future__ import annotations

import json
import pathlib
import sys
import time
from typing import Any, cast

from pyspark import SparkContext
from pyspark.sql import SparkSession

from e2e.compatibility.answers import in_order
from e2e.compatibility.lines import CLOSING_KEY, SCHEMA
from e2e.compatibility.queries import SHAPES, Read

POLL_S = 0.2


class Program:
    """Queries over one folder of files, and the questions that other files ask."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.folder = folder
        self.order: dict[str, Any] = json.loads((folder / "order.json").read_text())
        self.spark = self._session()
        self.queries: dict[str, Any] = {}

    def _session(self) -> Any:
        builder = SparkSession.builder.appName("compatibility")
        for key, value in self.order["conf"].items():
            builder = builder.config(key, value)
        spark = builder.getOrCreate()
        for key, value in self.order["session"].items():
            spark.conf.set(key, value)
        # Not the session's: one of Spark Connect has none, though its server is in this process.
        self.context = cast(Any, SparkContext._active_spark_context)
        self.context.setLogLevel("FATAL")
        return spark

    def run(self) -> None:
        """Until told to stop, or until every query has ended by itself."""
        if self.order["ended"]:
            self.start("ended", "counts").awaitTermination(3)
            self.queries.pop("ended").stop()
        for name, shape in self.order["queries"].items():
            self.start(name, shape)
        while not self.asked("stop") and any(query.isActive for query in self.queries.values()):
            self.answer()
            time.sleep(POLL_S)
        files = len(list((self.folder / "input").iterdir()))
        for name, query in self.queries.items():
            if query.isActive:
                SHAPES[self.order["queries"][name]].take_in(query, files)
                query.stop()
            elif query.exception() is not None:
                raise query.exception()
        self.tell("result.json")
        self.spark.stop()

    def answer(self) -> None:
        """Do what was asked for by a file, once each."""
        if self.asked("count"):
            self.tell("before.json")
            (self.folder / "count").unlink()
        if self.asked("restart"):
            for name, shape in self.order["queries"].items():
                self.queries[name].stop()
                self.start(name, shape)
            (self.folder / "restart").unlink()
        if self.asked("install"):
            import streamjob_agent

            streamjob_agent.install(self.spark)
            (self.folder / "install").unlink()

    def asked(self, name: str) -> bool:
        """Whether somebody made that file."""
        return (self.folder / name).exists()

    def start(self, name: str, shape: str) -> Any:
        """A query under its name, with a checkpoint of its own; a second time it goes on where it was."""
        writer = SHAPES[shape].build(self.read()).writeStream.queryName(name).outputMode(SHAPES[shape].mode)
        writer = writer.option("checkpointLocation", f"{self.order['checkpoint']}/{name}")
        if self.order["trigger"]:
            writer = writer.trigger(**self.order["trigger"])
        self.queries[name] = self.into(writer, self.folder / "said" / name).start()
        return self.queries[name]

    def into(self, writer: Any, folder: pathlib.Path) -> Any:
        """The writer with its sink: Spark's own files, or a function that is called with each batch."""
        if self.order["own_files"]:
            return writer.format("parquet").option("path", str(folder))
        folder.mkdir(parents=True, exist_ok=True)
        return writer.foreachBatch(lambda frame, batch: self.keep(frame, batch, folder / f"{batch}.json"))

    def keep(self, frame: Any, batch: int, path: pathlib.Path) -> None:
        """A batch's rows as a file that is whole at once; a batch that is run again replaces its own."""
        if self.order["own_jobs"]:
            frame.persist()
            frame.groupBy("k").count().orderBy("count").collect()
            frame.alias("a").join(frame.alias("b"), "k").count()
        if self.order["loses_shuffle"] and batch % 3 == 1:
            frame.count()
            self.lose_shuffle_files()
        draft = path.with_suffix(".draft")
        draft.write_text(json.dumps([[*row] for row in frame.collect()]))
        draft.rename(path)
        time.sleep(self.order["pause_s"])

    def lose_shuffle_files(self) -> None:
        """Those of one executor, as when a disk fails: who reads them has their stage run again."""
        files = list(pathlib.Path(self.context.getConf().get("spark.local.dir")).rglob("shuffle_*"))
        first = min(path.parents[1] for path in files)
        for path in files:
            if path.is_relative_to(first):
                path.unlink(missing_ok=True)

    def read(self) -> Read:
        """Sources of the same lines."""

        def lines() -> Any:
            reader = self.spark.readStream.schema(SCHEMA)
            if self.order["files_a_batch"]:
                reader = reader.option("maxFilesPerTrigger", self.order["files_a_batch"])
            return reader.csv(str(self.folder / "input")).selectExpr("k", "v", "timestamp_seconds(t) AS t")

        return lines

    def tell(self, name: str) -> None:
        """What the queries said so far, and how many tasks failed, as one file that is whole at once."""
        failed, java = self.seen()
        rows = {query: self.answer_of(query, shape) for query, shape in self.order["queries"].items()}
        draft = self.folder / f"{name}.draft"
        draft.write_text(json.dumps({"rows": rows, "failed_tasks": failed, "java": java}))
        draft.rename(self.folder / name)

    def seen(self) -> tuple[int, str]:
        """How many tasks failed, and the driver's Java."""
        summaries = self.context._jsc.sc().statusStore().executorList(False)
        failed = sum(summaries.apply(i).failedTasks() for i in range(summaries.size()))
        return failed, self.context._jvm.java.lang.System.getProperty("java.version")

    def answer_of(self, query: str, shape: str) -> list[list[Any]]:
        """All rows, or the newest of each key, without the line that closes windows."""
        folder = self.folder / "said" / query
        if self.order["own_files"]:
            rows = [[*row] for row in self.spark.read.parquet(str(folder)).collect()]
        else:
            files = sorted(folder.glob("*.json"), key=lambda path: int(path.stem))
            rows = [row for path in files for row in json.loads(path.read_text())]
        said = [row for row in rows if row[0] != CLOSING_KEY]
        return in_order({row[0]: row for row in said}.values() if SHAPES[shape].newest else said)


if __name__ == "__main__":
    Program(pathlib.Path(sys.argv[1])).run()
