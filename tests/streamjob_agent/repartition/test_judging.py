"""When another number of key groups is refused, each with its sentence."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from streamjob_agent.repartition.judging import differences, refusals, unfit
from streamjob_agent.repartition.values import Contents, Facts, Store

FACTS = Facts(
    spark_version="4.3.0",
    batch=6,
    committed=6,
    key_groups=4,
    provider="org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider",
    operators=1,
    bytes=1_000,
    free_bytes=2_000,
)
STORE = Store(operator=1, operator_name="symmetricHashJoin", name="left-keyToNumValues")
WHOLE = Contents(key_groups=4, rows=10, keys_hash=77, rows_hash=88, misplaced=0, keyless=False)


def test_what_fits_is_not_refused() -> None:
    assert refusals(FACTS, 8) == ()
    assert refusals(dataclasses.replace(FACTS, free_bytes=None, spark_version="4.2.1"), 1) == ()


@pytest.mark.parametrize(
    ("other", "wanted", "said"),
    [
        ({"spark_version": "4.1.4"}, 8, "Spark 4.1.4 is here"),
        ({"spark_version": "5.0.0-SNAPSHOT"}, 8, "with 4.2 to 4.3"),
        ({}, 0, "--key-groups: 0 given; a number from 1 to 100000"),
        ({}, 4, "--key-groups: 4 given; that is how many there are now"),
        ({"free_bytes": 1_999}, 8, "There are 1,999 bytes free beside the checkpoint; 2,000 are needed"),
        ({"batch": None, "committed": None}, 8, "No batch was ever finished here"),
        ({"batch": 7}, 8, "Batch 7 was begun and not finished"),
        ({"operators": 0}, 8, "keeps no state"),
        ({"provider": "a.HDFSBackedStateStoreProvider"}, 8, "State is kept by a.HDFSBackedStateStoreProvider"),
        ({"provider": ""}, 8, "a provider that the checkpoint does not name"),
        ({"key_groups": None}, 8, "does not say how many key groups"),
    ],
)
def test_what_is_impossible_is_said(other: dict[str, Any], wanted: int, said: str) -> None:
    [sentence] = refusals(dataclasses.replace(FACTS, **other), wanted)
    assert said in sentence


@pytest.mark.parametrize(
    ("other", "said"),
    [
        ({"keyless": True}, "Operator 1 (symmetricHashJoin, left-keyToNumValues) has no key"),
        ({"key_groups": 1}, "has 1 key groups, the query 4"),
        ({"misplaced": 3}, "3 of 10 rows are in another key group"),
    ],
)
def test_state_that_cannot_be_spread_is_told(other: dict[str, Any], said: str) -> None:
    assert unfit({STORE: WHOLE}, 4) == ()
    [sentence] = unfit({STORE: dataclasses.replace(WHOLE, **other)}, 4)
    assert said in sentence


@pytest.mark.parametrize(
    ("other", "said"),
    [
        ({"key_groups": 7}, "has 7 key groups in place of 8"),
        ({"rows": 9}, "had 10 rows of state and has 9"),
        ({"keys_hash": 1}, "with other keys"),
        ({"rows_hash": 1}, "with other values"),
        ({"misplaced": 1}, "1 rows are in a key group that no task would look for them in"),
    ],
)
def test_each_difference_is_told(other: dict[str, Any], said: str) -> None:
    right = dataclasses.replace(WHOLE, key_groups=8)
    assert differences({STORE: WHOLE}, {STORE: right}, 8) == ()
    [sentence] = differences({STORE: WHOLE}, {STORE: dataclasses.replace(right, **other)}, 8)
    assert said in sentence


def test_a_store_that_is_gone_is_told() -> None:
    [sentence] = differences({STORE: WHOLE}, {}, 8)
    assert "left-keyToNumValues" in sentence
