"""What answers in place of a Prometheus may say anything in JSON: it is told as Prometheus's fault, by a reason."""

from __future__ import annotations

import json
from typing import Any

import pytest
from agent_reports import agent
from prometheus_answers import sent
from test_prometheus_whole import answering

from streamjob_operator.kube.metrics.http import Connection, Settings
from streamjob_operator.kube.metrics.prometheus import PrometheusMetrics
from streamjob_operator.ports import Incomplete, Stale, Unavailable

NOW = [1_700_000_000.0, "1700000000"]
SERIES = {"metric": {"__name__": "up", "query": "query-1", "run": "r"}}
ANSWERS: dict[str, list[Any]] = {
    "a moment in place of times": [{**SERIES, "value": NOW}],
    "times without an end": [{**SERIES, "value": NOW, "values": []}],
    "no labels": [{"value": NOW, "values": [NOW]}],
    "labels that are none": [{"metric": {"pod": ["a"]}, "value": NOW, "values": [NOW]}],
    "no samples": [{**SERIES, "value": NOW, "values": [[1.0]]}],
    "a time that is none": [{**SERIES, "value": NOW, "values": [["now", "1"]]}],
    "a value that is none": [{**SERIES, "value": NOW, "values": [[1_700_000_000.0, "much"]]}],
    "no series": [1_700_000_000.0, "1700000000"],
    "no objects": [None],
}


@pytest.mark.parametrize("what", sorted(ANSWERS))
def test_an_answer_of_another_shape_is_told_with_a_reason(what: str) -> None:
    body = json.dumps({"status": "success", "data": {"resultType": "matrix", "result": ANSWERS[what]}}).encode()
    with answering(lambda handler: sent(handler, body)) as url:
        metrics = PrometheusMetrics(lambda: Settings(url=url), agent, "jobs")
        with pytest.raises((Unavailable, Stale, Incomplete)) as caught:
            metrics.observe(1_700_000_000.0, 30.0)
    assert caught.value.code is not None


@pytest.mark.parametrize(
    ("scheme", "host", "why"),
    [
        ("http", "127.0.0.1", "Failed to establish a new connection: [Errno 111] Connection refused."),
        ("https", "127.0.0.1", "Failed to establish a new connection: [Errno 111] Connection refused."),
        ("http", "nobody.invalid", "Failed to resolve 'nobody.invalid'"),
    ],
)
def test_where_nobody_answers_the_sentence_says_why_and_nothing_of_our_classes(
    scheme: str, host: str, why: str
) -> None:
    url = f"{scheme}://{host}:9"
    with pytest.raises(Unavailable) as told:
        Connection(Settings(url=url)).query("up")
    assert str(told.value).startswith(f"Prometheus at {url} does not answer: {why}")
