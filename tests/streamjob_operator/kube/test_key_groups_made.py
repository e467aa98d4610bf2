"""A change of key groups that has come to its end, and an edit before anything measures."""

from __future__ import annotations

from kept import Kept

from streamjob_operator.kube.api.kinds import PODS, STREAM_JOBS

APPLICATION = {"image": "i", "mainFile": "local:///job.py", "checkpoint": "s3a://b/c"}


def test_an_edit_of_the_application_does_not_change_key_groups_once_more() -> None:
    """The pod would be told that there are as many already, and the status say that there are none such."""
    kept = Kept(applicationRef=None, application=APPLICATION, balancing={"keyGroups": {"count": 16}})
    kept.look()
    kept.api.delete(PODS, "orders-driver", "n")
    there = kept.found(STREAM_JOBS, "orders")
    there["status"]["keyGroups"] = {"now": 8, "step": "End", "wanted": 16, "tried": "16:hash"}
    kept.look()
    kept.look()
    assert kept.found(PODS, "orders-driver")
    edited = {**kept.spec, "application": {**APPLICATION, "args": ["other"]}}
    kept.api.put(STREAM_JOBS, {**kept.found(STREAM_JOBS, "orders"), "spec": edited})
    kept.look()
    assert kept.condition("Ready") == "False/DriverRestarting"
    assert kept.status()["keyGroups"]["now"] == 16
