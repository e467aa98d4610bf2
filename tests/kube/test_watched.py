"""What the operator asks the API server for while its watches tell it everything."""

from __future__ import annotations

from kube_jobs import JOB, labels_of
from operator_process import OperatorProcess
from prometheus_client.parser import text_string_to_metric_families
from stage import Stage

WATCHED = ("streamjobs", "partitionmaps", "pods")
RELISTS = 3
"""One list of each kind may fall into the time of the test."""


def reads(operator: OperatorProcess) -> dict[str, float]:
    """Requests so far that read what is watched, by verb."""
    found = {"get": 0.0, "list": 0.0}
    for family in text_string_to_metric_families(operator.page("/metrics")[1]):
        for one in family.samples:
            verb = one.labels.get("verb", "")
            if one.name == "streamjob_operator_api_requests_total" and one.labels["resource"] in WATCHED:
                found[verb] = found.get(verb, 0.0) + one.value
    return found


def test_looks_and_cycles_of_an_adopted_job_read_nothing(stage: Stage) -> None:
    operator = stage.operator()
    wanted = {"matchLabels": {**labels_of(JOB), "spark-role": "driver"}}
    stage.job(balancing={"mode": "Off"}, applicationRef=wanted)
    stage.kubectl("label", "pod", f"{JOB}-driver", "spark-role=driver")
    stage.cycles(2)
    before = reads(operator)
    stage.cycles(6)
    after = reads(operator)
    assert after["get"] == before["get"]
    assert after["list"] - before["list"] <= RELISTS


def test_a_job_that_goes_while_nobody_watches_is_not_kept(stage: Stage) -> None:
    first = stage.operator()
    stage.job(balancing={"mode": "Off"})
    stage.cycles(1)
    assert first.end() == 0
    stage.kubectl("delete", "streamjob", JOB, "--wait=false")
    second = stage.operator()
    second.wait_for("This operator leads.")
    stage.kubectl("wait", "--for=delete", f"streamjob/{JOB}", "--timeout=60s")
