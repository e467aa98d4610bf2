"""Spark's offline repartition and its reader of state, both private or experimental."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from streamjob_agent.repartition.values import Contents, Refused, Store

T = TypeVar("T")
FORMAT = "spark.sql.streaming.stateStore.checkpointFormatVersion"
COLUMNS = {"partition_key", "column_family_name", "key_bytes", "value_bytes"}
"""Of a store as Spark's repartition itself reads it: each row as bytes, with the key that its shuffle has."""


class SparkEngine:
    """See :class:`streamjob_agent.repartition.operation.Engine`."""

    def __init__(self, session: Any) -> None:
        self._session = session

    @property
    def version(self) -> str:
        """See Engine."""
        return str(self._session.version)

    def repartition(self, checkpoint: str, key_groups: int, state_format: str) -> None:
        """See Engine."""
        manager = getattr(self._session, "_streamingCheckpointManager", None)
        if manager is None:
            raise Refused(f"This Spark {self.version} has no repartition of state.")
        self._session.conf.set(FORMAT, state_format)
        _asked("repartition", lambda: manager.repartition(checkpoint, key_groups, enforce_exactly_once_sink=True))

    def contents(self, checkpoint: str, batch: int) -> Mapping[Store, Contents]:
        """See Engine."""
        return _asked(
            "reader of state",
            lambda: {store: self._contents(checkpoint, batch, store) for store in self._stores(checkpoint, batch)},
        )

    def _whole(self) -> str:
        """The reader's internal option, whose name is Spark's own matter."""
        package = self._session._jvm.org.apache.spark.sql.execution.datasources.v2.state
        return str(package.StateSourceOptions.INTERNAL_ONLY_READ_ALL_COLUMN_FAMILIES())

    def _stores(self, checkpoint: str, batch: int) -> list[Store]:
        found = self._session.read.format("state-metadata").option("path", checkpoint).option("batchId", batch).load()
        return [
            Store(operator=int(row.operatorId), operator_name=str(row.operatorName), name=str(row.stateStoreName))
            for row in found.select("operatorId", "operatorName", "stateStoreName").distinct().collect()
        ]

    def _contents(self, checkpoint: str, batch: int, store: Store) -> Contents:
        reader = self._session.read.format("statestore").option("path", checkpoint).option("batchId", batch)
        named = reader.option("operatorId", store.operator).option("storeName", store.name)
        frame = named.option(self._whole(), "true").load()
        if not set(frame.columns) >= COLUMNS:
            raise Refused(f"Spark {self.version} reads state in another way than is known; nothing was changed.")
        key_groups = int(frame.rdd.getNumPartitions())
        parts = [f"partition_key.`{name}`" for name in frame.schema["partition_key"].dataType.names]
        row = frame.selectExpr(*_ROW, _astray(parts, key_groups)).selectExpr(*_SUMS).first()
        return Contents(
            key_groups=key_groups,
            rows=int(row["rows"]),
            keys_hash=int(row["keys_hash"] or 0),
            rows_hash=int(row["rows_hash"] or 0),
            misplaced=int(row["misplaced"] or 0),
            keyless=not parts,
        )


def _astray(parts: list[str], key_groups: int) -> str:
    """1 for a row in another key group than its key's. Each is read by the task of its key group, which tells where."""
    placed = f"pmod(hash({', '.join(parts)}), {key_groups})" if parts else "0"
    return f"CASE WHEN {placed} <> spark_partition_id() THEN 1 ELSE 0 END AS astray"


_ROW = (
    "xxhash64(column_family_name, key_bytes) AS key_hash",
    "xxhash64(column_family_name, key_bytes, value_bytes) AS row_hash",
)
_SUMS = (
    "count(*) AS rows",
    "sum(CAST(key_hash AS DECIMAL(38, 0))) AS keys_hash",
    "sum(CAST(row_hash AS DECIMAL(38, 0))) AS rows_hash",
    "sum(astray) AS misplaced",
)


def _asked(what: str, ask: Callable[[], T]) -> T:
    try:
        return ask()
    except Refused:
        raise
    except Exception as error:  # Spark's own words say what it does not support
        raise Refused(f"Spark's {what} failed; nothing was changed. {str(error).strip().splitlines()[0]}") from error
