"""How much memory an executor's container, and state within it, may use, from the settings that sizes are made of."""

from __future__ import annotations

import re
from collections.abc import Mapping

ROCKSDB_BOUNDED = "spark.sql.streaming.stateStore.rocksdb.boundedMemoryUsage"
_MIB = 1024**2
_UNITS = {"": 1, "b": 1, "k": 1024, "m": _MIB, "g": 1024**3, "t": 1024**4, "p": 1024**5}
_SIZE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([kmgtp]?)i?b?\s*", re.IGNORECASE)
_CONTAINERS = ("k8s", "yarn")  # cluster managers that end a process which uses more
_FACTORS = ("spark.executor.memoryOverheadFactor", "spark.kubernetes.memoryOverheadFactor")


def container_bytes(master: str, conf: Mapping[str, str]) -> int | None:
    """Bytes of an executor's container as Spark sizes it: heap, overhead, off-heap and Python memory.

    None where no container holds the executor to a limit, or a setting is no size. Source: Spark's documentation of
    spark.executor.memoryOverhead.
    """
    if not master.startswith(_CONTAINERS):
        return None
    try:
        heap = _bytes(conf.get("spark.executor.memory", "1g"), _MIB)
        off_heap = conf.get("spark.memory.offHeap.enabled", "false").lower() == "true"
        return (
            heap
            + _overhead_bytes(heap, conf)
            + (_bytes(conf.get("spark.memory.offHeap.size", "0"), 1) if off_heap else 0)
            + _bytes(conf.get("spark.executor.pyspark.memory", "0"), _MIB)
        )
    except ValueError:
        return None


def heap_room_bytes(master: str, conf: Mapping[str, str]) -> int | None:
    """Bytes of an executor's heap: state on it cannot be more. What else lives there is not known, and not taken off.

    None in local mode, where the driver's heap holds the tasks, or where the setting is no size.
    """
    if re.match(r"local(\[|$)", master):
        return None
    try:
        return _bytes(conf.get("spark.executor.memory", "1g"), _MIB)
    except ValueError:
        return None


def native_room_bytes(master: str, conf: Mapping[str, str], pools_bytes: int) -> int | None:
    """Bytes of a container that neither the heap, the JVM's pools (`pools_bytes`) nor Spark's own off-heap memory take.

    RocksDB cannot have more. None without a container, or where RocksDB holds itself to a limit for the whole executor:
    what a store tells is then a share of that, which it does not take along.
    """
    if container_bytes(master, conf) is None or conf.get(ROCKSDB_BOUNDED, "false").lower() == "true":
        return None
    heap = _bytes(conf.get("spark.executor.memory", "1g"), _MIB)
    return max(0, _overhead_bytes(heap, conf) - pools_bytes)


def _overhead_bytes(heap: int, conf: Mapping[str, str]) -> int:
    if "spark.executor.memoryOverhead" in conf:
        return _bytes(conf["spark.executor.memoryOverhead"], _MIB)
    factor = next((float(conf[name]) for name in _FACTORS if name in conf), 0.1)
    return max(int(factor * heap), _bytes(conf.get("spark.executor.minMemoryOverhead", "384m"), _MIB))


def _bytes(text: str, unit: int) -> int:
    """A size as Spark reads it; `unit` is that of a bare number. Raises ValueError."""
    found = _SIZE.fullmatch(text)
    if found is None:
        raise ValueError(f"{text!r} is no size")
    number, suffix = found.groups()
    bare = text.strip().isdigit()
    return int(float(number) * (unit if bare else _UNITS[suffix.lower()]))
