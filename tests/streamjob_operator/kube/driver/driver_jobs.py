"""A StreamJob with an application, as the reconciler gets it."""

from __future__ import annotations

import json
from typing import Any

from streamjob_operator.kube.driver import JobFacts
from streamjob_operator.spec import Spec

APPLICATION = {
    "image": "registry.example/orders:1",
    "mainFile": "local:///opt/app/job.py",
    "args": ["--topic", "orders"],
    "restart": {"policy": "Always", "backoff": {"initial": "10s", "max": "2m"}},
}


def job_facts(application: dict[str, Any] | None = None, **fields: Any) -> JobFacts:
    document = {"application": {**APPLICATION, **(application or {})}, "executors": {"min": 2, "max": 6}}
    document |= fields.pop("spec", {})
    spec = Spec.model_validate_json(json.dumps(document))
    assert spec.application is not None
    given = {"name": "orders", "namespace": "streams", "generation": 1, "executors": 3, **fields}
    metadata = {"name": given["name"], "namespace": given["namespace"], "uid": "uid-1"}
    return JobFacts(**{"owner": {"metadata": metadata}, "spec": spec, "application": spec.application, **given})
