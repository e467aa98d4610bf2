"""Queries that keep their state in RocksDB, in a session of their own on the shared cluster."""

from __future__ import annotations

import pathlib
import sys
from typing import Any

import pytest

ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"

sys.path.insert(0, str(pathlib.Path(__file__).parent))


@pytest.fixture
def spark(spark_cluster: Any) -> Any:
    """A new session: `getOrCreate` would set what follows in the one that all tests share."""
    session = spark_cluster.session.newSession()
    for name, value in {
        "spark.sql.shuffle.partitions": "4",
        "spark.sql.streaming.stateStore.providerClass": ROCKSDB,
        "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
        "spark.sql.session.timeZone": "UTC",
        # With checksum files, as users' disks have them: the copy and what is put in its place must take them along.
        "fs.AbstractFileSystem.file.impl": "org.apache.hadoop.fs.local.LocalFs",
    }.items():
        session.conf.set(name, value)
    return session
