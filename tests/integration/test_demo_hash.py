"""The demo's hash is Spark's: else its hot key groups would be somewhere else."""

from __future__ import annotations

import pathlib
import runpy
from typing import Any

import pytest

SPARK_HASH = pathlib.Path(__file__).parents[2] / "samples" / "demo" / "spark_hash.py"


@pytest.mark.spark
def test_hash_is_the_one_of_spark(spark_cluster: Any) -> None:
    hash_of_bigint = runpy.run_path(str(SPARK_HASH))["hash_of_bigint"]
    keys = [0, 1, -1, 42, 1_000_000, 2**31, 2**40 + 7, -(2**63), 2**63 - 1, *range(100, 200)]
    frame = spark_cluster.session.createDataFrame([(key,) for key in keys], "k long")
    found = frame.selectExpr("k", "hash(k) as h").collect()
    assert {row.k: row.h for row in found} == {key: hash_of_bigint(key) for key in keys}
