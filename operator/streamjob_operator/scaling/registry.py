"""Scaling rules by name. A new rule is one module (or package), one line here, and its words in `catalogue`.

The contract suite then runs it.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:  # the spec reads the names, and rules read the spec
    from streamjob_operator.scaling.rule import ScalingRule

_FACTORIES = {
    "batch-time": "streamjob_operator.scaling.batch_time.rule:BatchTimeRule",
    "dhalion": "streamjob_operator.scaling.rivals.dhalion:DhalionRule",
    "ds2": "streamjob_operator.scaling.rivals.ds2:Ds2Rule",
    "flink": "streamjob_operator.scaling.rivals.flink:FlinkRule",
    "hpa": "streamjob_operator.scaling.rivals.hpa:HpaRule",
    "keda": "streamjob_operator.scaling.rivals.keda:KedaRule",
    "spark-dynamic": "streamjob_operator.scaling.rivals.spark_dynamic:SparkDynamicRule",
    "spark-streaming": "streamjob_operator.scaling.rivals.spark_streaming:SparkStreamingRule",
    "utilization": "streamjob_operator.scaling.utilization.rule:UtilizationRule",
}

DEFAULT = "batch-time"


def names() -> tuple[str, ...]:
    """Every rule there is, in alphabetical order."""
    return tuple(sorted(_FACTORIES))


def get(name: str) -> ScalingRule:
    """A new rule of that name. Raises ValueError with the names that exist."""
    if name not in _FACTORIES:
        raise ValueError(f"scaling rule: there is no rule '{name}'; choose one of {', '.join(names())}")
    module, _, factory = _FACTORIES[name].partition(":")
    return cast("ScalingRule", getattr(importlib.import_module(module), factory)())
