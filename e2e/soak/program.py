"""A user's program: `program.py FOLDER` starts, feeds, stops and fails queries by chance until FOLDER/stop appears.

It knows nothing of StreamJob; it samples what its own processes hold.
"""

from __future__ import annotations

import contextlib
import dataclasses
import gc
import json
import os
import pathlib
import random
import shutil
import sys
import threading
import time
import urllib.request
from typing import Any

from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from e2e.soak import samples
from e2e.soak.lives import Life, Tally, fate

STEP_S = 0.5
NATIVE = ("liblz4-", "librocksdbjni")


class Program:
    """Several queries at a time, each with a fate of its own."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.folder = folder
        self.order: dict[str, Any] = json.loads((folder / "order.json").read_text())
        builder = SparkSession.builder.appName("soak")
        for key, value in self.order["conf"].items():
            builder = builder.config(key, value)
        self.spark = builder.getOrCreate()
        self.spark.sparkContext.setLogLevel("FATAL")
        # What else happens depends on how fast this machine is; the queries' fates do not: each side has the same ones.
        self.chance, self.fates = random.Random(self.order["seed"]), random.Random(self.order["seed"])
        self.tally = Tally()
        self.begun = 0
        self.lives: list[Life] = []
        self._began_s = time.monotonic()
        self._sampled_s = 0.0
        self._next_life_s = 0.0
        (folder / "application").write_text(self.spark.sparkContext.applicationId)

    def run(self) -> None:
        """Until told to stop; queries that run then are not waited for, and those that hang are told."""
        while not (self.folder / "stop").exists():
            if len(self.lives) < self.order["at_once"] and time.monotonic() > self._next_life_s:
                self._next_life_s = time.monotonic() + self.order["every_s"]
                self.begin()
            for life in self.lives:
                self.step(life)
            self.lives = [life for life in self.lives if not life.over]
            self.trifle()
            if time.monotonic() - self._sampled_s > self.order["sample_s"]:
                with contextlib.suppress(OSError):  # a page that is late, a process that has just gone: the next time
                    self.sample()
            time.sleep(STEP_S)
        for life in self.lives:
            life.leave(time.monotonic())
        for query in self.spark.streams.active:
            query.stop()
        self.tell()
        self.spark.stop()

    def begin(self) -> None:
        """One query more."""
        name = f"life-{self.begun}"
        self.begun += 1
        given, folder = fate(self.fates, self.order["shapes"]), self.folder / "lives" / name
        self.lives.append(Life(name, given, folder, self.tally, time.monotonic()))

    def step(self, life: Life) -> None:
        """A query a little further. What nobody foresaw ends that query, and is told; the others go on."""
        try:
            life.step(self.spark)
        except Exception as error:  # noqa: BLE001 - told on the page, hours later
            self.tally.wrong.append(f"{life.name}, {life.fate.shape}: {' '.join(repr(error).split())[:300]}")
            life.over = True

    def trifle(self) -> None:
        """What else happens in a driver: a session made and dropped, a query that Spark refuses to start."""
        what = self.chance.random()
        if what < 0.05:
            self.spark.newSession().range(10).count()
            self.tally.sessions += 1
        elif what < 0.08:
            refused = self.folder / "lives" / "refused"
            rows = self.spark.readStream.format("rate").load().writeStream.outputMode("complete").format("console")
            try:
                rows.option("checkpointLocation", str(refused)).start()
            except AnalysisException:  # this mode needs an aggregation
                self.tally.refused += 1
            shutil.rmtree(refused, ignore_errors=True)

    def sample(self) -> None:
        """What both processes hold, after a collection of both."""
        gc.collect()
        java = self.spark.sparkContext._jvm.java
        java.lang.System.gc()
        factory = java.lang.management.ManagementFactory
        memory = factory.getMemoryMXBean()
        process = int(java.lang.ProcessHandle.current().pid())
        samples.keep(
            samples.Sample(
                at_s=round(time.monotonic() - self._began_s, 1),
                heap_bytes=memory.getHeapMemoryUsage().getUsed(),
                classes_bytes=memory.getNonHeapMemoryUsage().getUsed(),
                jvm_threads=factory.getThreadMXBean().getThreadCount(),
                jvm_files=_files(process),
                python_bytes=_resident_bytes(),
                python_threads=threading.active_count(),
                python_files=_files(os.getpid()),
                listeners=self.spark.sparkContext._jsc.sc().listenerBus().listeners().size(),
                page_bytes=self._page_bytes(),
                files=_files_below(os.environ["TMPDIR"]),
                starts=self.tally.started,
                failed_starts=self.tally.failed_otherwise,
                lives=self.begun,
            ),
            self.folder / "samples.jsonl",
        )
        self.tell()
        self._sampled_s = time.monotonic()

    def _page_bytes(self) -> int:
        address = self.folder / "address"
        if not address.exists():  # no agent in this driver
            return 0
        with urllib.request.urlopen(f"{address.read_text().strip()}/metrics", timeout=60) as answer:
            return len(answer.read())

    def tell(self) -> None:
        """The tally as one file that is whole at once."""
        draft = self.folder / "result.draft"
        draft.write_text(json.dumps(dataclasses.asdict(self.tally)))
        draft.rename(self.folder / "result.json")


def _files(process: int) -> int:
    return len(os.listdir(f"/proc/{process}/fd"))


def _files_below(folder: str) -> int:
    """Without those of executors: one that is killed leaves its folder and its native libraries behind."""
    count = 0
    for _, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith("executor-")]
        count += sum(not name.startswith(NATIVE) for name in names)
    return count


def _resident_bytes() -> int:
    pages = int(pathlib.Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


if __name__ == "__main__":
    Program(pathlib.Path(sys.argv[1])).run()
