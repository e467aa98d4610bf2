"""Two executors with two slots each, a far checkpoint, all key groups change places twice: what came of it, as JSON."""

from __future__ import annotations

import collections
import json
import pathlib
import sys
import time
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from streamjob_agent.spark import connect
from streamjob_agent.spark.settings import recommended_settings

folder = pathlib.Path(sys.argv[1])
settings = {
    **recommended_settings(),
    "spark.master": "local-cluster[2,2,1024]",
    "spark.sql.shuffle.partitions": "8",
    "spark.ui.enabled": "false",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "fs.viewfs.mounttable.far.link./all": f"file://{folder}/far",
}
builder = SparkSession.builder
for key, value in settings.items():
    builder = builder.config(key, value)
session = builder.getOrCreate()
session.sparkContext.setLogLevel("FATAL")
for name in ("input", "far"):
    (folder / name).mkdir()
totals: dict[str, int] = {}
owners: dict[Any, str] = {}
written: collections.Counter[str] = collections.Counter()


def keep(frame: Any, _: int) -> None:
    totals.update({row.k: row.n for row in frame.collect()})


def run(number: int) -> None:
    """One more batch, and who ran its key groups."""
    keys = [f"k{at % 50}" for at in range(200 + number)]
    written.update(keys)
    (folder / f"{number}.csv").write_text("".join(f"{key}\n" for key in keys))
    (folder / f"{number}.csv").rename(folder / "input" / f"{number}.csv")
    query.processAllAvailable()
    session.sparkContext._jsc.sc().listenerBus().waitUntilEmpty()
    for group in bridge.drain().groups.get(str(query.id), ()):
        owners[group.key] = group.executor_id


until_s = time.monotonic() + 90.0
bridge = connect(session)
while len(executors := bridge.look().executors) < 2 and time.monotonic() < until_s:
    time.sleep(0.1)
counts = session.readStream.schema("k string").csv(str(folder / "input")).groupBy("k").agg(F.count("*").alias("n"))
writer = counts.writeStream.outputMode("update").foreachBatch(keep)
query = writer.option("checkpointLocation", "viewfs://far/all/checkpoint").start()
run(0)
obeyed = []
for turn in range(2):
    one, other = executors
    wanted = {key: other if owner == one.executor_id else one for key, owner in owners.items()}
    bridge.place(str(query.id), wanted)
    run(2 * turn + 1)
    run(2 * turn + 2)
    obeyed.append(owners == {key: executor.executor_id for key, executor in wanted.items()})
query.stop()
faults, counters = bridge.diagnostics()
found = {
    "rows": dict(sorted(totals.items())),
    "expected": dict(sorted(written.items())),
    "obeyed": obeyed,
    "ahead": counters["ahead"],
    "astray": counters["astray"],
    "faults": sorted(faults),
}
(folder / "found.json").write_text(json.dumps(found))
session.stop()
