"""Jobs by what they say of key groups, and cycles by what they saw of them."""

from __future__ import annotations

import json
from typing import Any

from small_models import placed

from streamjob_operator.spec import StreamJob
from streamjob_operator.values import CycleRecord, Reason, ScalingDecision, Verdict
from streamjob_planners.advice.more_groups import MoreGroups
from streamjob_planners.model import GroupId


def job(policy: dict[str, Any], **annotations: str) -> StreamJob:
    spec = {
        "application": {"mainFile": "job.py", "checkpoint": "/c"},
        "executors": {"min": 1, "max": 2},
        "balancing": {"keyGroups": policy},
    }
    metadata = {
        "name": "orders",
        "annotations": {f"streamjob.dev/{name}": value for name, value in annotations.items()},
    }
    document = {"apiVersion": "streamjob.dev/v1alpha1", "kind": "StreamJob", "metadata": metadata, "spec": spec}
    return StreamJob.model_validate_json(json.dumps(document))


def record(partitions: tuple[int, ...] | None, wanted: int | None, *, scaled: bool = True) -> CycleRecord:
    """A cycle that measured these key groups and found that so many might do; None where it could not measure, or where
    more would not help."""
    model = None
    if partitions is not None:
        ids = tuple(GroupId(operator=0, partition=one) for one in partitions)
        model = placed([1.0] * len(ids), [0] * len(ids), group_ids=ids)
    more = None if wanted is None else MoreGroups(now=4, wanted=wanted, shared=False)
    scaling = ScalingDecision(needed=1, target=1, reason=Reason.BALANCED, message="", more_groups=more)
    verdict = Verdict(
        act=False,
        reason=Reason.BALANCED,
        message="",
        plan=None,
        executors_target=None,
        marked_for_removal=(),
        remove=(),
    )
    return CycleRecord(
        at_s=0.0,
        snapshot=None,
        scaling=scaling if scaled else None,
        verdict=verdict,
        receipt=None,
        step_seconds={},
        model=model,
    )
