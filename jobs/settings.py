"""Spark's settings that every run of a job has, on a laptop or a cluster."""

from __future__ import annotations

COMMON = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.streaming.stateStore.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    ),
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
}
CHECKED = {"spark.sql.streaming.minBatchesToRetain": "100000"}
"""Besides, of runs whose answers are checked: that takes the checkpoint's logs of all batches."""
