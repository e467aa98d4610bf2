"""Which marks stay while an executor goes."""

from __future__ import annotations

from agent_reports import agent

from streamjob_operator.kube.pods.executors import ExecutorPod, ExecutorPods
from streamjob_operator.kube.pods.marks import keep_marks


def pods(**marked: bool) -> ExecutorPods:
    return ExecutorPods(
        pods=tuple(
            ExecutorPod(
                executor_id=name.removeprefix("e"),
                name=f"exec-{name}",
                namespace="jobs",
                uid=name,
                ready=True,
                marked=is_marked,
                trouble=None,
            )
            for name, is_marked in marked.items()
        )
    )


def test_a_mark_stays_on_an_executor_that_spark_has_forgotten_or_lets_go() -> None:
    known = agent(executors={"0": "ready", "1": "draining", "2": "leaving", "3": "dead"})
    found = pods(e0=True, e1=True, e2=True, e3=True, e4=True)
    assert keep_marks(found, known, ()) == ("2", "3", "4")


def test_a_mark_stays_on_an_executor_that_was_ordered_to_go() -> None:
    assert keep_marks(pods(e0=True, e1=True), agent(), ("1",)) == ("1",)


def test_an_executor_without_a_mark_gets_none() -> None:
    assert keep_marks(pods(e0=False, e7=False), agent(), ("0",)) == ()
