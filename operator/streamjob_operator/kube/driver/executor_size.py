"""What Spark asks for in an executor's pod, beside what its template says. Pure.

Source: Spark's documentation of spark.executor.memoryOverhead and of running on Kubernetes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from streamjob_operator.spec.quantities import LEAST_OVERHEAD_MIB, mebibytes, overhead_mib


def resources(settings: Mapping[str, str]) -> dict[str, Any]:
    """`resources` of the executor's container for these settings; empty where one of the sizes is none of Spark's."""
    memory_mib = _memory_mib(settings)
    if memory_mib is None:
        return {}
    memory, cores = f"{math.ceil(memory_mib)}Mi", "spark.kubernetes.executor"
    limit = settings.get(f"{cores}.limit.cores")
    return {
        "requests": {
            "cpu": settings.get(f"{cores}.request.cores", settings["spark.executor.cores"]),
            "memory": memory,
        },
        "limits": {"memory": memory, **({} if limit is None else {"cpu": limit})},
    }


def _memory_mib(settings: Mapping[str, str]) -> float | None:
    """Heap, overhead, off-heap and Python memory, MiB."""
    heap_mib = mebibytes(settings["spark.executor.memory"])
    off_heap = settings.get("spark.memory.offHeap.size", "0")
    parts = [
        heap_mib,
        None if heap_mib is None else _overhead_mib(heap_mib, settings),
        mebibytes(settings.get("spark.executor.pyspark.memory", "0")),
    ]
    if settings.get("spark.memory.offHeap.enabled", "false").lower() == "true":
        parts.append(int(off_heap) / 2**20 if off_heap.isdecimal() else mebibytes(off_heap))  # bare, it is bytes
    known = [one for one in parts if one is not None]
    return sum(known) if len(known) == len(parts) else None


def _overhead_mib(heap_mib: float, settings: Mapping[str, str]) -> float | None:
    stated = settings.get("spark.executor.memoryOverhead")
    if stated is not None:
        return mebibytes(stated)
    least_mib = mebibytes(settings.get("spark.executor.minMemoryOverhead", f"{LEAST_OVERHEAD_MIB:.0f}m"))
    try:
        factor = float(settings["spark.executor.memoryOverheadFactor"])
    except ValueError:
        return None
    return None if least_mib is None else overhead_mib(heap_mib, factor, least_mib)
