"""How many key groups are wanted: by a person, by what was proposed and approved, by nobody."""

from __future__ import annotations

import json
from typing import Any

import pytest

from streamjob_operator.key_groups import KeyGroupsSeen, approval, wanted
from streamjob_operator.spec import StreamJob

SEEN = KeyGroupsSeen(now=4, proposed=16)


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


@pytest.mark.parametrize(
    ("policy", "annotations", "seen", "number"),
    [
        ({"count": 8}, {}, SEEN, 8),
        ({"count": 4}, {}, SEEN, None),
        ({"count": 8}, {}, None, None),
        ({"count": 8}, {"pause": "true"}, SEEN, None),
        ({"count": 8, "mode": "Approve"}, {"approve": approval(16)}, SEEN, 8),
        ({"mode": "Approve"}, {}, SEEN, None),
        ({"mode": "Approve"}, {"approve": "key-groups-16"}, SEEN, 16),
        ({"mode": "Approve"}, {"approve": "key-groups-32"}, SEEN, None),
        ({"mode": "Approve"}, {"approve": approval(16)}, KeyGroupsSeen(now=16), None),
        ({}, {"approve": approval(16)}, SEEN, None),
    ],
)
def test_who_decides(
    policy: dict[str, Any], annotations: dict[str, str], seen: KeyGroupsSeen | None, number: int | None
) -> None:
    assert wanted(job(policy, **annotations), seen) == number
